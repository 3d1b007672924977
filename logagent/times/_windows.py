"""The window a question speaks of, in words."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from logagent.expressions import expression
from logagent.logs import TimeWindow
from logagent.times._absolute import floor, parse_absolute
from logagent.times._points import CLOCK, POINT, Point, read
from logagent.times._text import DURATION, JUST_NOW_SECONDS, canonical, seconds_of

QUESTION_LIMIT = 4_000
"""Only this many first characters of a question are read for time words."""
SIDE = timedelta(minutes=15)
"""On each side of a point in time (as --at)."""
BEFORE = timedelta(minutes=30)
"""Length of the window of "before 14:05"."""
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)

_QUOTED = expression(r'`[^`]*`|"[^"]*"|“[^”]*”|「[^」]*」')
_COMPARED = expression(r"\b(?:vs\b\.?|versus|compared? (?:to|with)|than|relative to|different from) .*", re.DOTALL)
"""What is compared with is not the window: "volume is down vs yesterday"."""
_START, _END = r"(?<![\w.:/\[-])", r"(?![\w:/-])"
_ISO = r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:z| ?[+-]\d\d:?\d\d)?"
_ANY = rf"(?:{_ISO}|{POINT})"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_START + pattern + _END, re.ASCII)


_BETWEEN = _compiled(
    rf"(?:between |from )?(?P<a>{_ANY}|\d{{1,2}})(?: ?(?:-|~|–|—) ?| to | and | until | till )(?P<b>{_ANY}|\d{{1,2}}\b)"
)
_LAST = _compiled(rf"(?:last|past) (?P<a>(?:{DURATION}){{1,3}})")
_LEADING = _compiled(rf"(?:since|after|from) (?P<a>{_ANY}|{DURATION}(?:ago|back))")
_TRAILING = _compiled(rf"(?P<a>{_ANY}|{DURATION}(?:ago|back)) (?:onwards?|on|till now|to now|until now)")
_BEFORE = _compiled(rf"(?:before (?P<a>{_ANY})|(?P<b>{_ISO}|{CLOCK}) back)")
_AGO = _compiled(rf"(?P<a>{DURATION}(?:ago|back)|just-now)")
_CALENDAR = _compiled("(?P<a>this-week|last-week|last-month)")
_POINT = _compiled(rf"(?P<a>{_ANY})")


class _Reader:
    """Reads matches against one "now"; all methods answer (start, end) in UTC."""

    def __init__(self, now: datetime, zone: tzinfo) -> None:
        self._now, self._zone = now, zone

    def between(self, match: re.Match[str]) -> tuple[datetime, datetime] | None:
        first, last = match["a"], match["b"]
        start_iso, end_iso = self._iso(first), self._iso(last)
        if start_iso and end_iso:
            return start_iso, end_iso
        a, b = _pair(first, last)
        if a is None or b is None:
            return None
        start = start_iso or a.bounds(self._now, self._zone)[0]
        end = end_iso or b.bounds(self._now, self._zone)[1]
        if b.clock is not None and not end_iso:
            end += _DAY * -((end - start) // _DAY)  # first such clock time after the start
        return start, end

    def last(self, match: re.Match[str]) -> tuple[datetime, datetime] | None:
        seconds = seconds_of(match["a"].strip())
        return (self._now - timedelta(seconds=seconds), self._now) if seconds else None

    def since(self, match: re.Match[str]) -> tuple[datetime, datetime] | None:
        ago = seconds_of(match["a"].strip())
        if ago is not None:
            return self._now - timedelta(seconds=ago), self._now
        bounds = self._bounds(match["a"])
        return (bounds[0], self._now) if bounds else None

    def before(self, match: re.Match[str]) -> tuple[datetime, datetime] | None:
        bounds = self._bounds(match["a"] or match["b"])
        return (bounds[0] - BEFORE, bounds[0]) if bounds else None

    def ago(self, match: re.Match[str]) -> tuple[datetime, datetime] | None:
        if match["a"] == "just-now":
            return self._now - timedelta(seconds=JUST_NOW_SECONDS), self._now
        seconds = seconds_of(match["a"].strip())
        if seconds is None:
            return None
        at = self._now - timedelta(seconds=seconds)
        return at - SIDE, at + SIDE

    def calendar(self, match: re.Match[str]) -> tuple[datetime, datetime]:
        local = self._now.astimezone(self._zone)
        week = floor(local, "w")
        if match["a"] == "this-week":
            return week, self._now
        if match["a"] == "last-week":
            return week - _WEEK, week
        month = floor(local, "M")
        return floor(month - _DAY, "M"), month

    def point(self, match: re.Match[str]) -> tuple[datetime, datetime] | None:
        bounds = self._bounds(match["a"])
        if bounds is None:
            return None
        start, end = bounds
        return (start - SIDE, end + SIDE) if start == end else bounds

    def _bounds(self, words: str) -> tuple[datetime, datetime] | None:
        absolute = self._iso(words)
        if absolute:
            return absolute, absolute
        point = read(words)
        return point.bounds(self._now, self._zone) if point else None

    def _iso(self, words: str) -> datetime | None:
        return parse_absolute(words.upper(), self._now, self._zone) if re.fullmatch(_ISO, words) else None


def _pair(first: str, last: str) -> tuple[Point | None, Point | None]:
    """Both ends of a range; a bare hour or an end without a day takes day and part from the other end."""
    bare = [words.isdigit() for words in (first, last)]
    if all(bare):  # "2 to 3 retries" is no time
        return None, None
    a = read(f"{first}:00" if bare[0] else first)
    b = read(f"{last}:00" if bare[1] else last)
    if a is None or b is None:
        return a, b
    if not bare[0] and not bare[1] and not (a.day or b.day or a.part or b.part):
        return a, b
    return _inherit(first, a, b), _inherit(last, b, a)


def _inherit(words: str, point: Point, other: Point) -> Point:
    """`point` with the day and the part of day that only `other` names: "2 and 3 last night"."""
    if point.day or (point.part and not other.day):
        return point
    part = point.part or other.part
    clock = f"{words}:00" if words.isdigit() else words
    if part == point.part:
        return Point(other.day, part, point.clock)
    again = read(f"{clock} {part}") if part else None
    return Point(other.day, part, again.clock if again else point.clock)


_READERS: tuple[tuple[re.Pattern[str], Callable[[_Reader, re.Match[str]], tuple[datetime, datetime] | None]], ...] = (
    (_BETWEEN, _Reader.between),
    (_LAST, _Reader.last),
    (_LEADING, _Reader.since),
    (_TRAILING, _Reader.since),
    (_BEFORE, _Reader.before),
    (_AGO, _Reader.ago),
    (_CALENDAR, _Reader.calendar),
    (_POINT, _Reader.point),
)
"""Specific before general: the first that matches and can be read decides."""


def find_window(question: str, now: datetime, zone: tzinfo) -> TimeWindow | None:
    """See `logagent.times.parse_window_words`."""
    words = _COMPARED.sub("", canonical(_QUOTED.sub(" ", question[:QUESTION_LIMIT])))
    reader = _Reader(now, zone)
    for pattern, read_match in _READERS:
        for match in pattern.finditer(words):
            found = read_match(reader, match)
            window = _clipped(found, now) if found else None
            if window:
                return window
    return None


def _clipped(span: tuple[datetime, datetime], now: datetime) -> TimeWindow | None:
    start, end = span[0].astimezone(UTC), min(span[1], now).astimezone(UTC)
    return TimeWindow(start, end) if start < end else None
