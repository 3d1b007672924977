"""Which stretch of time the window is compared with (ux.md 3.1), and how it is read."""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from logagent.diagnosis import BaselineMethod
from logagent.logs import TimeWindow

_WEEK = timedelta(days=7)
_DAY = timedelta(days=1)
BASELINES = ("auto", "previous", "yesterday", "last-week", "none")
"""What may be asked for by name."""
ENOUGH = 0.9
"""Share of the previous window that must hold events: a source seldom begins on the second."""


@dataclass(frozen=True, slots=True)
class BaselineChoice:
    """The ranges to compare with, why these, and how much history there was before the window."""

    method: BaselineMethod
    ranges: tuple[TimeWindow, ...]
    reason: str
    """Key of a sentence in texts (diagnosis.baseline.*)."""
    history: timedelta = timedelta(0)

    @property
    def seconds(self) -> float:
        """Length of all ranges together."""
        return sum(one.seconds for one in self.ranges)


def choose_baseline(
    asked: str, window: TimeWindow, oldest: datetime | None, zone: tzinfo, explicit: TimeWindow | None = None
) -> BaselineChoice:
    """The baseline of a run.

    Args:
        asked: auto, previous, yesterday, last-week or none (an explicit range comes in `explicit`).
        window: the bad window.
        oldest: time of the scope's oldest event; None where nothing is known.
        zone: the same time of another day means the same clock time in this zone.
        explicit: `A..B` of the user.
    """
    history = max(window.start - oldest, timedelta(0)) if oldest else timedelta(0)
    previous = TimeWindow(window.start - (window.end - window.start), window.start)
    if explicit is not None:
        return BaselineChoice("explicit", (explicit,), "explicit", history)
    if asked == "none":
        return BaselineChoice("none", (), "none", history)
    if asked == "previous":
        return BaselineChoice("previous", (previous,), "asked", history)
    if asked == "yesterday":
        return BaselineChoice("same_hour_yesterday", (_days_before(window, 1, zone),), "asked", history)
    if asked == "last-week":
        return BaselineChoice("same_hour_last_week", (_days_before(window, 7, zone),), "asked", history)
    return _automatic(window, previous, history, zone)


def _automatic(window: TimeWindow, previous: TimeWindow, history: timedelta, zone: tzinfo) -> BaselineChoice:
    """The first that the history allows."""
    length = window.end - window.start
    if history >= 8 * _DAY and length <= _DAY:
        return BaselineChoice("blend", (previous, _days_before(window, 7, zone)), "blend", history)
    if history >= 2 * _DAY and length <= _DAY:
        return BaselineChoice("same_hour_yesterday", (_days_before(window, 1, zone),), "yesterday", history)
    if history >= ENOUGH * length > timedelta(0):
        return BaselineChoice("previous", (previous,), "previous", history)
    return BaselineChoice("before_onset", (), "before_onset", history)


def _days_before(window: TimeWindow, days: int, zone: tzinfo) -> TimeWindow:
    """The same clock time `days` earlier; across a change of daylight saving the length stays that of the window.

    A window that would reach into its own baseline (longer than `days`, or a day of 23 hours) gets the stretch before.
    """
    length = window.end - window.start
    local = window.start.astimezone(zone)
    start = min((local - timedelta(days=days)).astimezone(window.start.tzinfo), window.start - length)
    return TimeWindow(start, start + length)
