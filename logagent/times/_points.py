"""One point in time in words: a day, a part of the day, a clock time, in any sensible combination."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from logagent.expressions import expression
from logagent.times._absolute import MONTHS

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = "|".join(MONTHS)
_WEEKDAY = r"(?:last-week-|last |on )?(?:mon|tue|tues|wed|wednes|thu|thurs?|fri|sat|satur|sun)(?:day)?\b"
_DATE = (
    rf"(?:\d{{4}}-)?\d\d-\d\d\b|\d{{4}}/\d\d/\d\d\b|(?:{_MONTHS})[a-z]* \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTHS})[a-z]*\b(?: \d{{4}}\b)?"
)
_DAY = rf"(?:today|yesterday|[23]-days-back|{_WEEKDAY}|{_DATE})"
_PART = "(?:small-hours|morning|noontime|afternoon|evening|night)"
CLOCK = r"(?:\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m\b)?|\d{1,2} ?[ap]m\b)"
POINT = (
    rf"(?:{_DAY}(?:,? (?:at |around |about )?{_PART})?(?: (?:at |around |about )?(?:{CLOCK}|\d{{1,2}}\b))?"
    rf"|{_PART}(?: (?:at |around )?{CLOCK})?"
    rf"|(?:{CLOCK}|\d{{1,2}})(?: (?:on |in the |of )?{_DAY}(?: {_PART})?| (?:in the )?{_PART})|{CLOCK})"
)
"""A point as a regular expression over canonical text; `read` takes it apart."""
_POINT = rf"(?:at |around |about )?(?P<point>{POINT})"
_FIND_DAY, _FIND_PART = rf"(?<![\w-]){_DAY}", rf"(?<![\w-]){_PART}\b"
"""Large expressions: `re` compiles and keeps them when they are first used, which few runs do."""
_FIND_CLOCK = expression(r"(?<![\d-])(\d{1,2})(?::(\d\d))?(?::(\d\d))?(?: ?([ap])m)?(?![\d-])")

_PARTS = {
    "small-hours": (0, 6),
    "morning": (6, 12),
    "noontime": (12, 13),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
}
"""Hours after local midnight at which a part of the day begins and ends."""
_HALF = 12
_SMALL_HOURS = 6


@dataclass(frozen=True, slots=True)
class Point:
    """What was said. `clock` is (hour, minute, second) as seconds after midnight of `day`, or None."""

    day: str
    part: str
    clock: int | None

    def bounds(self, now: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
        """First and last instant meant, in UTC; equal for a clock time. Without a day: the latest occurrence.

        Raises:
            ValueError: no such day.
            OverflowError: outside the years 1 to 9999.
        """
        today = now.astimezone(zone).date()
        day = _date_of(self.day, today) if self.day else today
        start, end = self._seconds()
        first, last = _local(day, start, zone), _local(day, end, zone)
        yearless = not self.day or self.day in ("today", "yesterday")
        if yearless and first > now:
            return _local(day, start - 86_400, zone), _local(day, end - 86_400, zone)
        return first, last

    def _seconds(self) -> tuple[int, int]:
        if self.clock is not None:
            return self.clock, self.clock
        if self.part:
            start, end = _PARTS[self.part]
            return start * 3_600, end * 3_600
        return 0, 86_400


def _local(day: date, seconds: int, zone: tzinfo) -> datetime:
    """Wall-clock time `seconds` after midnight of `day`, counted on the clock face, as UTC."""
    wall = datetime(day.year, day.month, day.day) + timedelta(seconds=seconds)  # noqa: DTZ001 - made aware below
    return wall.replace(tzinfo=zone).astimezone(UTC)


def _date_of(words: str, today: date) -> date:
    if words == "today":
        return today
    if words == "yesterday":
        return today - timedelta(days=1)
    if words.endswith("-days-back"):
        return today - timedelta(days=int(words[0]))
    name = words.removeprefix("last-week-").removeprefix("last ").removeprefix("on ")[:3]
    if name in _WEEKDAYS and not words[0].isdigit():
        return _weekday(words, _WEEKDAYS.index(name), today)
    return _calendar_day(words, today)


def _weekday(words: str, number: int, today: date) -> date:
    monday = today - timedelta(days=today.weekday())
    if words.startswith("last-week-"):
        return monday + timedelta(days=number - 7)
    back = (today.weekday() - number) % 7
    return today - timedelta(days=7 if back == 0 and words.startswith("last ") else back)


def _calendar_day(words: str, today: date) -> date:
    month_name = re.search(_MONTHS, words)
    numbers = [int(digits) for digits in re.findall(r"\d+", words)]
    if month_name:
        day, year = numbers[0], (numbers[1] if len(numbers) > 1 else 0)
        month = MONTHS[month_name[0]]
    else:
        *years, month, day = numbers
        year = years[0] if years else 0
    if year:
        return date(year, month, day)
    this_year = date(today.year, month, day)
    return this_year if this_year <= today else date(today.year - 1, month, day)


def read(words: str) -> Point | None:
    """Take one point in canonical form apart; None where `words` is something else."""
    match = re.fullmatch(_POINT, words.strip())
    if not match:
        return None
    rest = match["point"]
    day = re.search(_FIND_DAY, rest)
    if day:
        rest = rest[: day.start()] + " " + rest[day.end() :]
    part = re.search(_FIND_PART, rest)
    part_word = part[0] if part else ""
    clock = _FIND_CLOCK.search(rest)
    seconds = _clock_seconds(clock, part_word) if clock else None
    return Point(day[0] if day else "", part_word, seconds)


def _clock_seconds(match: re.Match[str], part: str) -> int:
    hour, minute, second = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    if hour > 24 or minute > 59 or second > 59:  # noqa: PLR2004 - a clock face
        raise ValueError(match[0])
    if match[4]:
        hour = hour % _HALF + (_HALF if match[4] == "p" else 0)
    return _hour_in(part, hour) * 3_600 + minute * 60 + second


def _hour_in(part: str, hour: int) -> int:
    """Hours after midnight: 10 in the evening is 22; 2 in the night is 26, the small hours of the next day."""
    if part in ("evening", "night"):
        if hour in (0, _HALF):
            return 24
        return hour + (24 if hour < _SMALL_HOURS else _HALF if hour < _HALF else 0)
    if part in ("afternoon", "noontime"):
        return hour + _HALF if hour < 11 else hour  # noqa: PLR2004 - 11 at noontime is before noon
    return 0 if part == "small-hours" and hour == _HALF else hour


def find_point(words: str, now: datetime, zone: tzinfo) -> datetime | None:
    """The instant a whole canonical text names (the start of a day or of a part of one), or None."""
    point = read(words)
    return point.bounds(now, zone)[0] if point else None


def is_clock_only(words: str) -> bool:
    """Whether the text is a clock time without a day, so that several days could be meant."""
    point = read(words)
    return point is not None and not point.day and point.clock is not None
