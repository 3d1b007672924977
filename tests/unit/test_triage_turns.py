"""Without a baseline: what keeps to one end of the window, what a ratio is of, which families have no line."""

import re
from pathlib import Path

import pytest

from logagent.triage import render_digest
from tests.acceptance.scene import Ran, line, run, settings, write

SINCE, UNTIL = "2026-11-30T12:00:00Z", "2026-11-30T12:10:00Z"


@pytest.fixture(scope="module")
def unknown_before(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Ten minutes and nothing before: bookings end at 12:02, refunds begin at 12:07, a registry error all through."""
    lines = [line(s, "search of trips", service="travel", **{"trace.id": f"trace-t-{s:06d}"}) for s in range(0, 600, 3)]
    lines += [
        line(s, "booking placed", service="booking", **{"trace.id": f"trace-b-{s:06d}"}) for s in range(0, 120, 10)
    ]
    lines += [
        line(s, "refund started", service="refund", **{"trace.id": f"trace-r-{s:06d}"}) for s in range(420, 600, 15)
    ]
    lines += [line(s, "seat chosen", service="booking", **{"trace.id": "trace-b-000600"}) for s in range(590, 594)]
    lines += [
        line(s, "java.lang.IllegalStateException: No instances available for seat-api", "error", "travel")
        for s in range(0, 600, 40)
    ]
    folder = tmp_path_factory.mktemp("turns")
    lines.sort(key=lambda one: str(one["@timestamp"]))
    return run(settings(folder), files=(write(folder, lines),), since=SINCE, until=UNTIL, baseline="none")


def test_a_pattern_of_one_end_of_the_window_is_marked(unknown_before: Ran) -> None:
    text = render_digest(unknown_before.findings)
    early = r'only early 12 \| - \| 12:00:00Z\.\.12:01:50Z \| booking .*"booking placed"'
    late = r'only late 12 \| - \| 12:07:00Z\.\.12:09:45Z \| refund .*"refund started"'
    for row in (early, late, r'seen 200 .*"search of trips"'):
        assert re.search(rf"^E\d+  {row}", text, re.MULTILINE)


def test_lines_of_one_request_are_no_trend(unknown_before: Ran) -> None:
    assert re.search(r'^E\d+  seen 4 .*"seat chosen"', render_digest(unknown_before.findings), re.MULTILINE)


def test_no_change_is_claimed_without_a_baseline(unknown_before: Ran) -> None:
    text = render_digest(unknown_before.findings)
    assert "no baseline: none is known to be new" in text
    assert "0.0% ->" not in text


def test_lines_with_a_trace_id_are_events_and_no_requests(unknown_before: Ran) -> None:
    assert unknown_before.findings.volume.unit == "events"
    assert re.search(r"ratio [\d.]+% of events", render_digest(unknown_before.findings))


def test_a_family_with_a_row_is_not_called_absent(unknown_before: Ran) -> None:
    text = render_digest(unknown_before.findings)
    assert "upstream.unavailable" in text
    absent = re.search(r"^ABSENT no line of: (.*)$", text, re.MULTILINE)
    assert absent
    assert "upstream" not in absent[1]


def test_times_of_several_days_carry_their_date(tmp_path: Path) -> None:
    lines = [line(s, "tick", service="clock") for s in range(0, 2 * 86_400, 600)]
    ran = run(
        settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until="2026-12-02T12:00:00Z", baseline="none"
    )
    assert "11-30T12:00:00Z..12-02T11:50:00Z" in render_digest(ran.findings)
