"""The sparkline with what lies below it, for eyes and for a screen reader."""

from datetime import UTC, datetime, timedelta

import pytest
from wcwidth import wcswidth

from logagent.diagnosis import Alert, Diagnosis, Point, TimelineEvent
from logagent.report import render

START = datetime(2026, 11, 24, 5, 31, tzinfo=UTC)


def lead_in(outage: Diagnosis) -> Diagnosis:
    """Thirty calm minutes before the window."""
    line = outage.timeline
    assert line is not None
    calm = [Point(at=f"{START + timedelta(minutes=minute):%Y-%m-%dT%H:%M:%SZ}", count=2) for minute in range(30)]
    line.series[0].points[:0] = calm
    return outage


def below(text: str) -> tuple[str, str]:
    """The sparkline and the row below it."""
    lines = text.splitlines()
    place = next(at for at, line in enumerate(lines) if "█" in line or "#" in line)
    return lines[place], lines[place + 1]


@pytest.mark.parametrize(("language", "word"), [("en", "baseline"), ("zh-CN", "基线")])
def test_marks_stand_below_their_buckets_and_the_baseline_is_named(outage: Diagnosis, language: str, word: str) -> None:
    chart, row = below(render(lead_in(outage), language=language))
    left = wcswidth(chart) - 45
    assert word in row
    assert wcswidth(row[: row.index("A")]) == left + 32  # 14:03 is the third minute of the window
    assert wcswidth(row[: row.index("B")]) == left + 34
    assert wcswidth(row[: row.rindex("|") + 1]) == left + 30


def test_marks_of_one_bucket_stand_side_by_side(outage: Diagnosis) -> None:
    assert outage.timeline is not None
    outage.timeline.events.append(
        TimelineEvent(at="2026-11-24T06:03:15Z", kind="restart", label="payment-api restarts")
    )
    text = render(lead_in(outage))
    assert "AB" in below(text)[1]
    assert "B 14:03:15  restart  payment-api restarts" in text


def test_the_alert_is_a_mark(outage: Diagnosis) -> None:
    outage.request.alert = Alert(source="alertmanager", name="OrderErrors", starts_at="2026-11-24T06:08:00Z")
    for output in ("text", "md", "html"):
        text = render(outage, output)
        assert "14:08:00" in text
        assert "OrderErrors" in text


def test_a_screen_reader_gets_sentences_and_no_drawing(outage: Diagnosis) -> None:
    text = render(outage, accessible=True, unicode=False)
    assert "peak 212 at 14:11" in text
    assert "14:01 to" not in text  # the row of the sparkline
    assert "159 now, 0 usual, first 14:05:20" in text
    assert "PATTERNS  now" not in text
    assert text.isascii()


def test_what_is_not_affected_and_where_are_counted_when_there_is_no_room(outage: Diagnosis) -> None:
    outage.summary.probable_cause = "word " * 200
    outage.hypotheses = [outage.hypotheses[0].model_copy(update={"id": f"H{n}", "rank": n}) for n in range(1, 9)]
    outage.next_steps[0].command = "kubectl get " + "x" * 900
    text = render(outage)
    assert "WHERE" in text
    assert "more" in text.split("WHERE", 1)[1].splitlines()[0]
