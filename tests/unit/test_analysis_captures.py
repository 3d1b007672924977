"""Logs of different services from different times: the end of one part is no silence, its start no restart."""

from pathlib import Path

from logagent.analysis.captures import separate
from logagent.analysis.facts import Event
from logagent.analysis.survey import Survey, survey
from logagent.triage import render_digest
from tests.acceptance.scene import check, run, settings, write
from tests.acceptance.scene import line as record
from tests.unit.scenarios import catalogue

HOUR = 3600.0


def lines(service: str, start: float, end: float, step: float = 5.0) -> list[Event]:
    opening = [Event(start, service, 2, f"{service}: server started, version 2.1.{int(start)}")]
    number = int((end - start) / step)
    return opening + [Event(start + step * n, service, 2, f"page {n} of {service} served") for n in range(1, number)]


def ask(*parts: list[Event]) -> Survey:
    return survey(sorted((e for part in parts for e in part), key=lambda event: event.time), catalogue())


def kinds(found: Survey) -> set[str]:
    return {fact.kind for fact in found.facts}


def test_parts_without_a_common_time_are_separate_captures() -> None:
    first, second = separate({"a": (0, 100, 50), "b": (1000, 1100, 50), "c": (1050, 1090, 9)})
    assert (first.services, first.start, first.end) == (("a",), 0, 100)
    assert (second.services, second.start, second.end) == (("b", "c"), 1000, 1100)


def test_services_that_follow_each_other_or_hardly_log_are_one_capture() -> None:
    assert separate({"a": (0, 600, 50), "b": (500, 1100, 50)}) == []
    assert separate({"a": (0, 500, 50), "b": (600, 1100, 50)}) == []
    assert separate({"a": (0, 1, 2), "b": (1000, 1100, 50)}) == []
    assert separate({}) == []


def test_the_end_of_a_capture_is_no_silence() -> None:
    apart = ask(lines("desk", 0, HOUR), lines("purse", 9 * HOUR, 10 * HOUR), lines("mail", 9 * HOUR, 10 * HOUR))
    assert len(apart.captures) == 2
    assert "silent" not in kinds(apart)
    silent = ask(lines("desk", 0, HOUR / 2), lines("purse", 0, HOUR), lines("mail", 0, HOUR))
    assert not silent.captures
    assert "silent" in kinds(silent)


def test_the_start_of_a_capture_is_no_change() -> None:
    broken = [Event(9 * HOUR + 300 + n, "purse", 4, "Connection refused: ledger:5432") for n in range(200)]
    found = ask(lines("desk", 0, HOUR), lines("purse", 9 * HOUR, 10 * HOUR), broken)
    assert found.conclusion.onset is not None
    assert found.conclusion.changes == []


def test_the_digest_says_it_and_compares_nothing_across(tmp_path: Path) -> None:
    rows = [record(second, f"guest {second} checked", service="desk") for second in range(0, 60, 2)]
    rows += [record(540 + n / 2, f"bill {n} written", service="purse") for n in range(120)]
    ran = run(
        settings(tmp_path), files=(write(tmp_path, rows),), since="2026-11-30T12:00:00Z", until="2026-11-30T12:10:00Z"
    )
    text = render_digest(ran.findings)
    assert "separate captures? desk only " in text
    assert "vanished" not in {pattern.change for pattern in ran.findings.patterns}
    assert ran.findings.good == ()
    check(ran)
