"""A window that opens in a trouble: its figures are of all that fails, and the report says that it is older."""

import random
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from logagent.report import render
from tests.acceptance.scene import Line, Ran, at, check, impact, line, run, settings, write

HOUR = 3600
OOM = "reserve failed: redis: OOM command not allowed when used memory > 'maxmemory'"


def shop(begin: float, end: float = HOUR, *, seconds: range = range(0, HOUR, 5)) -> Iterator[Line]:
    """Calls of three services; of those from `begin` to `end` four in ten fail."""
    chance = random.Random(7)
    for second in seconds:
        bad = begin <= second < end and chance.random() < 0.4
        status: dict[str, Any] = {"http.response.status_code": 503 if bad else 201}
        yield line(second, OOM if bad else "reserved in 3 ms", "error" if bad else "info", "inventory")
        text = "checkout failed: inventory responded 503" if bad else f"order {second} placed"
        yield line(second + 0.1, text, "error" if bad else "info", "checkout", **status)
        text = f"POST /api/checkout -> {502 if bad else 201}"
        yield line(second + 0.2, text, "warn" if bad else "info", "gateway", **status)


def ran(folder: Path, lines: Iterable[Line], since: float, until: float = HOUR, **options: Any) -> Ran:
    path = write(folder, sorted(lines, key=lambda one: moment(one["@timestamp"])))
    return run(settings(folder), files=(path,), since=at(since), until=at(until), **options)


def moment(text: object) -> datetime:
    return datetime.fromisoformat(str(text))


def failing(lines: Iterable[Line], start: float, end: float) -> int:
    """Events that fail by level or status, counted by hand."""
    codes = "http.response.status_code"
    inside = [one for one in lines if moment(at(start)) <= moment(one["@timestamp"]) < moment(at(end))]
    return sum(one["log.level"] == "error" or int(str(one.get(codes, 0))) >= 500 for one in inside)


def text(found: Ran) -> str:
    return " ".join(render(found.diagnosis, "text").split())


def test_a_window_that_opens_in_the_outage_counts_all_that_fails_against_the_time_before_it(tmp_path: Path) -> None:
    lines = list(shop(2472))
    found = ran(tmp_path, lines, 3000)
    volume = found.findings.volume
    assert volume.failing == failing(lines, 3000, HOUR) > 100
    assert volume.failing_before == 0
    assert (volume.services_failing, volume.services) == (3, 3)
    onset = found.diagnosis.onset
    assert onset is not None
    assert onset.certainty == "before_window"
    assert at(2472) <= onset.started_at < at(2500)
    assert found.findings.conclusion.ranking[0].service == "inventory"
    assert not {"checkout", "gateway"} & {name for one in found.diagnosis.blast_radius for name in one.unaffected}
    assert found.diagnosis.severity is not None
    assert found.diagnosis.severity.suggested in {"SEV1", "SEV2"}
    assert "before the window opens (12:50:00)" in text(found)
    check(found)


def test_an_outage_longer_than_window_and_baseline_is_dated_by_what_lies_before(tmp_path: Path) -> None:
    lines = list(shop(3000, 2 * HOUR, seconds=range(0, 2 * HOUR, 5)))
    found = ran(tmp_path, lines, 5400, 2 * HOUR)
    assert found.findings.volume.failing == failing(lines, 5400, 2 * HOUR)
    assert found.findings.volume.failing_before == 0
    assert found.diagnosis.onset is not None
    assert at(3000) <= found.diagnosis.onset.started_at < at(3060)
    assert found.usage.requests <= 20
    check(found)


def test_an_outage_older_than_the_logs_is_no_quiet_and_its_beginning_is_unknown(tmp_path: Path) -> None:
    lines = list(shop(0, seconds=range(2400, HOUR, 5)))
    found = ran(tmp_path, lines, 3000)
    assert found.findings.volume.failing == failing(lines, 3000, HOUR)
    assert found.diagnosis.outcome != "no_anomaly"
    assert "before the window" in found.diagnosis.summary.headline
    assert {one.name: one.result for one in found.diagnosis.checks}["error rate"] == "signal"
    onset = found.diagnosis.onset
    assert onset is not None
    assert (onset.certainty, onset.earliest) == ("before_window", None)
    assert found.diagnosis.timeline is not None
    assert "onset" not in {one.kind for one in found.diagnosis.timeline.events}
    assert "where the lookback begins, and when the window opens (12:50:00)" in text(found)
    check(found)


def test_where_the_baseline_failed_and_the_window_does_not_it_has_recovered(tmp_path: Path) -> None:
    lines = list(shop(2400, 2880))
    found = ran(tmp_path, lines, 3000)
    assert found.findings.volume.failing == 0
    assert found.findings.volume.failing_before == failing(lines, 2400, 3000) > 50
    assert found.diagnosis.status == "recovered"
    assert found.diagnosis.onset is not None
    assert found.diagnosis.onset.ended_at is not None
    assert at(2800) < found.diagnosis.onset.ended_at < at(2880)
    assert {one.name: one.result for one in found.diagnosis.checks}["error rate"] == "signal"
    assert text(found).startswith("RECOVERED")
    check(found)


def test_what_is_as_frequent_as_before_counts_and_is_told_apart(tmp_path: Path) -> None:
    lines = [line(second, f"served page {second} from cache") for second in range(0, 600, 2)]
    lines += [line(n, f"favicon {n} not found on disk", "error") for n in range(0, 600, 60)]
    lines += [line(400 + n, f"write of block {n} failed with EIO", "error") for n in range(60)]
    found = ran(tmp_path, lines, 300, 600)
    assert impact(found, "events").value == 65
    assert impact(found, "steady_events").value == 5
    assert "5 of them as frequent before" in text(found)
    check(found)


@pytest.mark.parametrize("asked", ["previous", "none"])
def test_a_baseline_that_was_asked_for_stays(tmp_path: Path, asked: str) -> None:
    found = ran(tmp_path, shop(2472), 3000, baseline=asked)
    assert found.diagnosis.window.baseline is not None
    assert found.diagnosis.window.baseline.method == asked
    check(found)


def test_a_share_is_told_by_the_nearest_honest_fraction_or_in_per_cent(tmp_path: Path) -> None:
    lines = [
        line(
            n, f"GET /cart answered request {n}", **{"http.response.status_code": 503 if n > 300 and n % 5 < 2 else 200}
        )
        for n in range(600)
    ]
    assert "2 in 5 requests fail" in ran(tmp_path, lines, 300, 600).diagnosis.summary.headline


def test_what_is_usual_is_of_the_length_of_the_window(tmp_path: Path) -> None:
    lines = list(shop(3000, 2 * HOUR, seconds=range(0, 2 * HOUR, 5)))
    found = ran(tmp_path, lines, 5400, 2 * HOUR)
    placed = next(one for one in found.diagnosis.patterns if one.template.startswith("order"))
    assert placed.baseline_count == pytest.approx(360, rel=0.01)
    assert placed.change == "falling"


def test_without_a_baseline_the_errors_are_told_as_a_share(tmp_path: Path) -> None:
    lines = list(shop(0, seconds=range(0, 600, 5)))
    found = ran(tmp_path, lines, 0, 600, baseline="none")
    told = [str(getattr(one, "text", "")) for one in found.events if getattr(one, "name", "") == "errors"]
    assert "% of requests fail, no baseline" in told[-1]


def results(found: Ran) -> dict[str, str]:
    return {one.name: one.result for one in found.diagnosis.checks}


def test_clear_is_only_what_no_failing_line_speaks_of(tmp_path: Path) -> None:
    found = results(ran(tmp_path, shop(2472), 3000))
    assert found["memory"] == "signal"
    assert found["upstream"] == "signal"
    assert found["tls"] == "no_signal"
    lines = list(shop(9 * HOUR)) + [
        line(3100 + n, "GET /search answered", "info", "edge", **{"http.response.status_code": 504}) for n in range(40)
    ]
    assert results(ran(tmp_path, lines, 3000))["timeout"] == "signal"


def test_few_lines_and_access_logs_clear_no_causes(tmp_path: Path) -> None:
    few = results(ran(tmp_path, [line(n, f"page {n} served") for n in range(12)], 0, 600))
    assert few["words of causes"] == "not_possible"
    assert not {"memory", "tls", "disk"} & set(few)
    rows = [
        f'203.0.113.9 - - [30/Nov/2026:12:{n // 60:02d}:{n % 60:02d} +0000] "GET /cart HTTP/1.1" 200 512 "-" "curl"'
        for n in range(600)
    ]
    path = tmp_path / "access.log"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    quiet = results(run(settings(tmp_path), files=(str(path),), since=at(300), until=at(600)))
    assert quiet["words of causes"] == "not_possible"
    assert quiet["timeout"] == "no_signal"
    assert not {"memory", "tls", "disk", "deploy"} & set(quiet)


def test_trouble_all_through_the_only_window_there_is_says_nothing_of_the_time_before(tmp_path: Path) -> None:
    found = ran(tmp_path, shop(0, HOUR), 0, HOUR)
    assert "before the window" not in found.diagnosis.summary.headline
    assert found.diagnosis.outcome != "no_anomaly"
