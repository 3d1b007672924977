"""What counts as a failing event: level, status, or a pattern that fails without saying so."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from logagent.query import to_text
from tests.acceptance.scene import NOON, Line, Ran, at, check, impact, line, run, settings, write

SINCE, UNTIL = "2026-11-30T12:05:00Z", "2026-11-30T12:10:00Z"


def traffic(**more: Any) -> list[dict[str, object]]:
    """Ten minutes of lines that nothing is wrong with."""
    return [line(second, f"served page {second} from cache", **more) for second in range(0, 600, 2)]


def ran(folder: Path, lines: Iterable[Line], **options: Any) -> Ran:
    ordered = sorted(lines, key=lambda one: str(one.get("@timestamp")))
    return run(settings(folder), files=(write(folder, ordered),), since=SINCE, until=UNTIL, **options)


def status(code: int) -> dict[str, Any]:
    return {"http.response.status_code": code}


def figures(found: Ran) -> tuple[int, float]:
    return found.findings.volume.failing, found.findings.volume.failing_before


def test_errors_and_worse_fail(tmp_path: Path) -> None:
    lines = traffic()
    lines += [line(300 + n, f"write of block {n} failed", "error") for n in range(30)]
    lines += [line(300 + n, f"panic in thread {n}", "fatal") for n in range(5)]
    lines += [line(300 + n, f"slow disk {n}", "warn") for n in range(40)]
    found = ran(tmp_path, lines)
    assert figures(found) == (35, 0)
    assert impact(found, "error_ratio").unit == "of events"
    assert impact(found, "error_ratio").value == pytest.approx(35 / 225, abs=1e-6)
    check(found)


def test_a_status_of_500_or_more_fails_whatever_the_level(tmp_path: Path) -> None:
    lines = traffic(**status(200))
    answers = [200, 302, 404, 499, 500, 503, 599]
    lines += [line(300 + n, f"GET /cart answered request {n}", **status(answers[n % 7])) for n in range(70)]
    found = ran(tmp_path, lines)
    assert figures(found) == (30, 0)
    volume = found.findings.volume
    assert (volume.unit, volume.requests, volume.failing_requests) == ("requests", 220, 30)
    check(found)


def test_requests_are_events_with_a_status_and_the_others_are_no_denominator(tmp_path: Path) -> None:
    lines = traffic(**status(200))
    lines += [line(300 + n, f"could not save draft {n}", "error") for n in range(50)]
    lines += [line(300 + n, f"GET /x {n}", "error", **status(500)) for n in range(50)]
    found = ran(tmp_path, lines)
    volume = found.findings.volume
    assert (volume.failing, volume.requests, volume.failing_requests) == (100, 200, 50)
    assert impact(found, "error_ratio").value == 0.25
    check(found)


def test_without_levels_a_strong_cue_fails(tmp_path: Path) -> None:
    plain = [{"@timestamp": at(n), "service.name": "db-proxy", "message": f"query {n} done"} for n in range(600)]
    plain += [
        {
            "@timestamp": at(360 + n * 2),
            "service.name": "db-proxy",
            "message": f"FATAL: remaining connection slots are reserved for superuser, backend {n}",
        }
        for n in range(100)
    ]
    found = ran(tmp_path, plain)
    assert figures(found) == (100, 0)
    assert any(caveat.code == "no_levels" for caveat in found.diagnosis.data_quality.caveats)
    check(found)


def test_without_levels_status_or_cue_nothing_can_be_said_to_fail(tmp_path: Path) -> None:
    plain = [{"@timestamp": at(n), "service.name": "clock", "message": f"tick {n} of the clock"} for n in range(600)]
    found = ran(tmp_path, plain)
    assert found.findings.failing is None
    assert found.diagnosis.outcome in {"no_anomaly", "insufficient_data"}
    checks = {one.name: one.result for one in found.diagnosis.checks}
    assert "not_possible" in checks.values()
    check(found)


def test_all_lines_at_info_hide_no_cue(tmp_path: Path) -> None:
    lines = traffic()
    lines += [
        line(360 + n * 2, f"HikariPool-1 - Connection is not available, request timed out after {30000 + n}ms")
        for n in range(100)
    ]
    found = ran(tmp_path, lines)
    assert figures(found) == (100, 0)
    check(found)


def test_errors_as_frequent_as_ever_count_and_are_told_apart(tmp_path: Path) -> None:
    lines = traffic()
    lines += [line(n, f"favicon {n} not found on disk", "error") for n in range(0, 600, 3)]
    lines += [line(400 + n, f"write of block {n} failed with EIO", "error") for n in range(60)]
    found = ran(tmp_path, lines)
    assert figures(found) == (160, 100)
    assert found.findings.volume.steady == 100
    assert "NOT" in to_text(found.findings.fresh)  # type: ignore[arg-type]
    assert "NOT" not in to_text(found.findings.failing)  # type: ignore[arg-type]
    check(found)


def test_noise_that_grew_is_not_left_out(tmp_path: Path) -> None:
    lines = traffic()
    lines += [line(n, f"favicon {n} not found on disk", "error") for n in range(0, 300, 3)]
    lines += [line(n, f"favicon {n} not found on disk", "error") for n in range(300, 600)]
    found = ran(tmp_path, lines)
    assert figures(found) == (300, 100)
    check(found)


def test_the_store_counts_what_the_report_says(tmp_path: Path) -> None:
    lines = traffic()
    lines += [line(300 + n, f"write of block {n} failed", "error") for n in range(30)]
    found = ran(tmp_path, lines)
    row = found.ledger.get(found.findings.volume_row)
    assert row is not None
    assert row.value == pytest.approx(30 / 180)
    assert "level>=error" in row.query.text
    assert row.query.window.start >= NOON


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("INFO", "ERR"),
        ("Information", "Error"),
        ("info", "SEVERE"),
        ("I", "E"),
        ("30", "50"),
        ("信息", "错误"),
        ("notice", "critical"),
    ],
)
def test_levels_are_read_however_they_are_written(tmp_path: Path, good: str, bad: str) -> None:
    lines = [{**one, "log.level": good} for one in traffic()]
    lines += [line(300 + n, f"write of block {n} failed", bad) for n in range(30)]
    found = ran(tmp_path, lines)
    assert figures(found)[0] == 30
    assert found.findings.levels_known


def test_what_was_excluded_by_hand_is_in_no_figure(tmp_path: Path) -> None:
    lines = traffic()
    lines += [line(300 + n, f"favicon {n} not found on disk", "error") for n in range(90)]
    lines += [line(400 + n, f"write of block {n} failed with EIO", "error") for n in range(60)]
    found = ran(tmp_path, lines, excludes=("favicon",))
    assert figures(found) == (60, 0)
    assert found.diagnosis.request.scope.exclude == ["favicon"]
    assert all("favicon" not in p.template for p in found.findings.patterns)
    assert all("favicon" in row.query.text for row in found.diagnosis.evidence if row.query.figure.op == "count")  # type: ignore[union-attr]
    check(found)
