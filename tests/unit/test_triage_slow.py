"""Slow calls in a diagnosis: they are the impact, date the onset, and have evidence that is asked again."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from logagent.analysis.facts import Event
from logagent.report import render
from logagent.triage import render_digest
from tests.acceptance.scene import Ran, check, line, run, settings, write
from tests.unit.scenarios import T0
from tests.unit.test_signals_blame import BAR, Delay, rooms
from tests.unit.test_signals_directions import talks

SINCE, UNTIL = "2026-11-30T12:00:00Z", "2026-11-30T12:10:00Z"
HINT = "no instances available for rates"


def records(events: list[Event]) -> Iterator[dict[str, object]]:
    for event in events:
        more = {"trace.id": event.trace, "log.logger": event.callsite}
        yield line(event.time - T0, event.message, service=event.service, **more)


@pytest.fixture(scope="module")
def delayed(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Calls of `codes` to `login` take a second more from 4:30 on, and another service fails as ever."""
    folder = tmp_path_factory.mktemp("slow")
    lines = list(records(talks(random.Random(1), lambda number: (1.0, float(number % 2)))))
    lines += [line(second, f"table {second} is taken", "error", "seats") for second in range(5, 600, 20)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    return run(settings(folder), files=(write(folder, lines),), since=SINCE, until=UNTIL)


def test_slow_calls_are_the_impact_and_the_headline(delayed: Ran) -> None:
    impact = delayed.diagnosis.impact or {}
    slow, calls = impact["latency"], impact["slow_calls"]
    assert (slow.field, slow.unit) == ("codes -> login", "s")
    assert slow.value == pytest.approx(1.0, abs=0.05)
    assert slow.baseline is not None
    assert slow.baseline < 0.01
    assert calls.unit == f"of {calls.value} calls"
    said = f"likely codes: {calls.value} of {calls.value} calls to login are slow: 1.00 s, 3 ms before"
    assert delayed.diagnosis.summary.headline == said
    assert "codes: " in delayed.diagnosis.summary.what_is_happening
    for text in (render(delayed.diagnosis, "terminal"), render(delayed.diagnosis, "markdown")):
        assert re.search(r"calls of codes -\\?> login\s+are\s+slow: 1\.00 s", text)
    check(delayed)


def test_the_onset_is_shown_by_the_lines_of_the_first_slow_call(delayed: Ran) -> None:
    onset = delayed.diagnosis.onset
    assert onset is not None
    (row,) = (delayed.ledger.get(one) for one in onset.evidence)
    assert row is not None
    assert {record.service for record in row.samples} == {"codes", "login"}
    assert row.verification.state == "verified"
    assert row.id in delayed.diagnosis.hypotheses[0].supporting


def test_errors_as_frequent_as_ever_are_no_first_trouble(delayed: Ran) -> None:
    assert delayed.findings.first_trouble == []
    assert "first trouble" not in render_digest(delayed.findings)


def test_each_suspect_has_a_row_of_its_own(tmp_path: Path) -> None:
    lines = [line(s, f"page {s} served", service="web") for s in range(0, 600, 2)]
    for number, service in ((12, "desk"), (7, "purse"), (5, "mail")):
        spent = {"event.duration": 3_000_000_000}
        lines += [line(40 * n + 1, "request completed", service=service, **spent) for n in range(number)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    slow = [row for row in ran.findings.facts if row.fact.kind == "slow_number"]
    assert len(slow) == 3
    assert len({row.evidence for row in slow}) == 3
    for one in slow:
        row = ran.ledger.get(one.evidence)
        assert row is not None
        assert row.query.figure.op == "ratio"
        assert row.service == one.fact.service
        assert row.value == 1.0
    check(ran)


def test_a_silence_is_a_count_that_is_asked_again(tmp_path: Path) -> None:
    lines = [line(s, f"page {s} served", service="web") for s in range(600)]
    lines += [line(s, f"bill {s} sent", service="mail") for s in range(0, 240, 3)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    silent = next(row for row in ran.findings.facts if row.fact.kind == "silent")
    row = ran.ledger.get(silent.evidence)
    assert row is not None
    assert (row.kind, row.value, row.baseline_value, row.service) == ("absence", 0, 80, "mail")
    assert row.verification.state in {"verified", "unverified"}
    check(ran)


def test_checks_say_what_the_digest_says(tmp_path: Path) -> None:
    lines = [line(s, f"page {s} served", service="web", **{"trace.id": f"trace-{s:06d}"}) for s in range(0, 600, 2)]
    lines += [line(7, "page of a guest begun", service="web", **{"trace.id": "trace-000000"})]
    lines += [line(s, HINT, "error", "web") for s in (50, 250, 450)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    found = {one.name: one for one in ran.diagnosis.checks}
    digest = render_digest(ran.findings)
    shown = next(p for p in ran.findings.patterns if p.mechanism.startswith("upstream"))
    assert shown.evidence in digest
    assert (found["upstream"].result, found["upstream"].evidence) == ("signal", [shown.evidence])
    absent = re.search(r"^ABSENT no line of: (.*); a silent fault writes none$", digest, re.MULTILINE)
    assert absent is not None
    assert {one.name for one in ran.diagnosis.checks if one.result == "no_signal"} >= set(absent[1].split(", "))


def test_empty_stretches_of_the_timeline_are_counted(tmp_path: Path) -> None:
    lines = [line(s, f"page {s} served") for s in range(0, 600, 2)]
    lines += [line(580 + n, f"guest {n} lost", "error") for n in range(9)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    time = re.search(r"^TIME .*$", render_digest(ran.findings), re.MULTILINE)
    assert time is not None
    assert re.search(r"\((?:5\d|4\d) empty\)", time[0])
    assert "....." not in time[0]


def told(folder: Path, delay: Delay) -> Ran:
    """Requests over five services with a delay from the middle on."""
    lines = list(records(rooms(delay)))
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(folder), files=(write(folder, lines),), since=SINCE, until="2026-11-30T12:31:00Z")
    check(ran)
    return ran


def test_slow_everywhere_names_all_and_accuses_nobody(tmp_path: Path) -> None:
    found = told(tmp_path, lambda _a, _b, _rng: 0.5).diagnosis
    assert found.outcome == "inconclusive"
    assert found.summary.headline.startswith("slow everywhere (bar, cellar, desk, room, spa), a shared cause: ")


def test_a_pair_is_named_and_neither_is_likely(tmp_path: Path) -> None:
    found = told(tmp_path, lambda a, b, _: float((a, b) == ("bar", "room"))).diagnosis
    assert found.outcome == "inconclusive"
    assert found.summary.headline.startswith("bar -> room: 120 of 120 calls ")
    assert found.summary.headline.endswith("; not to be told which of the two")


def test_a_third_of_the_calls_slow_is_no_all_clear(tmp_path: Path) -> None:
    ran = told(tmp_path, lambda a, b, rng: float((a, b) == ("bar", "room") and rng.random() < 0.3))
    assert ran.diagnosis.outcome == "inconclusive"
    assert next(one for one in ran.diagnosis.checks if one.name == "latency").result == "signal"


def test_slow_calls_of_a_sample_are_said_to_be_sampled(tmp_path: Path) -> None:
    lines = list(records(rooms(lambda a, b, _: float(a == BAR != b), number=1300)))
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until="2026-11-30T12:31:00Z")
    assert not ran.findings.material.complete
    assert re.search(r"likely bar: (\d+) of \1 sampled calls ", ran.diagnosis.summary.headline)
    assert re.search(r"of \d+ sampled calls", render(ran.diagnosis, "terminal"))
    caveat = next(one.text for one in ran.diagnosis.data_quality.caveats if one.code == "sampled")
    assert "exact" not in caveat
    check(ran)
