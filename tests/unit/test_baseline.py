"""Which stretch of time a window is compared with."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from logagent.logs import TimeWindow
from logagent.triage import BaselineChoice, choose_baseline

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HALF_HOUR = timedelta(minutes=30)
WINDOW = TimeWindow(NOON, NOON + HALF_HOUR)
PREVIOUS = TimeWindow(NOON - HALF_HOUR, NOON)
DAY = timedelta(days=1)


def automatic(history: timedelta, window: TimeWindow = WINDOW) -> BaselineChoice:
    return choose_baseline("auto", window, window.start - history, UTC)


@pytest.mark.parametrize(
    ("history", "method", "ranges"),
    [
        (8 * DAY, "blend", (PREVIOUS, WINDOW.shifted(-7 * DAY))),
        (8 * DAY - timedelta(seconds=1), "same_hour_yesterday", (WINDOW.shifted(-DAY),)),
        (2 * DAY, "same_hour_yesterday", (WINDOW.shifted(-DAY),)),
        (2 * DAY - timedelta(seconds=1), "previous", (PREVIOUS,)),
        (HALF_HOUR, "previous", (PREVIOUS,)),
        (timedelta(minutes=28), "previous", (PREVIOUS,)),
        (timedelta(minutes=20), "before_onset", ()),
        (timedelta(0), "before_onset", ()),
        (-DAY, "before_onset", ()),
    ],
)
def test_the_first_that_the_history_allows(history: timedelta, method: str, ranges: tuple[TimeWindow, ...]) -> None:
    found = automatic(history)
    assert (found.method, found.ranges) == (method, ranges)
    assert found.history == max(history, timedelta(0))
    assert found.seconds == sum(one.seconds for one in ranges)


def test_without_any_known_event_the_window_is_compared_with_itself() -> None:
    assert choose_baseline("auto", WINDOW, None, UTC).method == "before_onset"


def test_a_window_without_length_has_no_previous_one() -> None:
    assert automatic(DAY, TimeWindow(NOON, NOON)).method == "before_onset"


def test_a_window_longer_than_a_day_is_never_compared_with_the_day_before() -> None:
    window = TimeWindow(NOON, NOON + timedelta(hours=30))
    found = automatic(20 * DAY, window)
    assert (found.method, found.ranges[0].end) == ("previous", window.start)


@pytest.mark.parametrize("history", [timedelta(minutes=28), HALF_HOUR, 2 * DAY, 8 * DAY, 30 * DAY])
@pytest.mark.parametrize("hours", [0.01, 0.5, 23, 24, 25])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Shanghai", "Australia/Lord_Howe"])
def test_a_baseline_never_overlaps_its_window(history: timedelta, hours: float, zone: str) -> None:
    for start in (NOON, datetime(2026, 10, 25, 5, 0, tzinfo=UTC), datetime(2026, 3, 29, 5, 0, tzinfo=UTC)):
        window = TimeWindow(start, start + timedelta(hours=hours))
        found = choose_baseline("auto", window, start - history, ZoneInfo(zone))
        assert all(one.end <= window.start for one in found.ranges), found
        assert all(one.seconds == pytest.approx(window.seconds) for one in found.ranges)


@pytest.mark.parametrize(
    ("asked", "method", "ranges"),
    [
        ("none", "none", ()),
        ("previous", "previous", (PREVIOUS,)),
        ("yesterday", "same_hour_yesterday", (WINDOW.shifted(-DAY),)),
        ("last-week", "same_hour_last_week", (WINDOW.shifted(-7 * DAY),)),
    ],
)
def test_what_is_asked_for_is_taken_whatever_the_history(
    asked: str, method: str, ranges: tuple[TimeWindow, ...]
) -> None:
    for oldest in (None, NOON, NOON - 30 * DAY):
        found = choose_baseline(asked, WINDOW, oldest, UTC)
        assert (found.method, found.ranges) == (method, ranges)
        assert found.reason == ("none" if asked == "none" else "asked")


def test_a_window_longer_than_what_is_asked_for_gets_the_stretch_before_it() -> None:
    window = TimeWindow(NOON, NOON + timedelta(hours=30))
    found = choose_baseline("yesterday", window, None, UTC)
    assert found.ranges == (TimeWindow(NOON - timedelta(hours=30), NOON),)


def test_a_range_of_the_user_wins() -> None:
    own = TimeWindow(NOON - 3 * DAY, NOON - 2 * DAY)
    found = choose_baseline("auto", WINDOW, NOON - 30 * DAY, UTC, own)
    assert (found.method, found.ranges, found.history) == ("explicit", (own,), 30 * DAY)


def test_the_day_before_the_end_of_summer_time_is_25_hours_away() -> None:
    """9 o'clock in Berlin on 25 October 2026 is 08:00 UTC, and was 07:00 UTC the day before."""
    nine = datetime(2026, 10, 25, 9, 0, tzinfo=BERLIN).astimezone(UTC)
    window = TimeWindow(nine, nine + HALF_HOUR)
    found = choose_baseline("yesterday", window, None, BERLIN)
    assert found.ranges[0] == TimeWindow(
        datetime(2026, 10, 24, 7, 0, tzinfo=UTC), datetime(2026, 10, 24, 7, 30, tzinfo=UTC)
    )
    assert choose_baseline("yesterday", window, None, UTC).ranges[0].start == nine - DAY


def test_the_day_before_the_start_of_summer_time_is_23_hours_away() -> None:
    nine = datetime(2026, 3, 29, 9, 0, tzinfo=BERLIN).astimezone(UTC)
    found = choose_baseline("yesterday", TimeWindow(nine, nine + HALF_HOUR), None, BERLIN)
    assert nine - found.ranges[0].start == timedelta(hours=23)
    assert found.seconds == HALF_HOUR.total_seconds()


def test_a_week_before_the_end_of_summer_time_has_the_same_clock_time() -> None:
    nine = datetime(2026, 10, 26, 9, 0, tzinfo=BERLIN).astimezone(UTC)
    found = choose_baseline("auto", TimeWindow(nine, nine + HALF_HOUR), nine - 9 * DAY, BERLIN)
    assert found.method == "blend"
    assert found.ranges[1].start.astimezone(BERLIN) == datetime(2026, 10, 19, 9, 0, tzinfo=BERLIN)


def test_a_clock_time_that_the_day_before_did_not_have_still_gives_a_full_range() -> None:
    """02:30 does not exist in Berlin on 29 March 2026."""
    at = datetime(2026, 3, 30, 2, 30, tzinfo=BERLIN).astimezone(UTC)
    found = choose_baseline("yesterday", TimeWindow(at, at + HALF_HOUR), None, BERLIN)
    assert found.seconds == HALF_HOUR.total_seconds()
    assert found.ranges[0].end < at
