"""Times that stand for themselves: ISO 8601, epoch, access log, syslog; and date math on top of them."""

import calendar
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from logagent.expressions import expression

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
"""English month names; not `calendar`'s, which follow the locale."""
_MATH = expression(r"([+-])(\d{1,6})([yMwdhHms])|/([yMwdhHms])")
_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "H": 3_600, "m": 60, "s": 1}
_ZONED = expression(r"(.*)\[([\w/+-]{1,64})\]")
_NAMED_UTC = expression(r"(.*\d) ?(?:utc|gmt|z)", re.IGNORECASE)
_EPOCH = expression(r"(\d{10})(\d{3}|\d{6}|\d{9})?(?:\.(\d{1,9}))?", re.ASCII)
_ACCESS_LOG = expression(r"(\d\d?)/([A-Za-z]{3})/(\d{4}):(\d\d):(\d\d):(\d\d)(?:\.\d+)? ([+-])(\d\d):?(\d\d)", re.ASCII)
_SYSLOG = expression(r"([A-Za-z]{3}) +(\d\d?) (\d\d):(\d\d):(\d\d)", re.ASCII)
_ISO = expression(r"\d{4}[-/]?\d\d[-/]?\d\d(?:[T ].*)?", re.ASCII)
_CLOCK_ZONE = expression(r"(\d\d?:\d\d(?::\d\d)?) ?(?:(?:Z|UTC|GMT)|([+-])(\d\d):?(\d\d))", re.ASCII)
_OFFSET_GAP = expression(r"(\d) ([+-]\d\d:?\d\d)$")


def parse_absolute(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    """The instant that `text` writes out, or None where it has another form.

    Raises:
        ValueError: it has one of the forms but names no instant (25:61, month 13, an unknown zone).
    """
    zoned = _ZONED.fullmatch(text)
    if zoned:
        text, zone = zoned[1].strip(), _zone(zoned[2])
    else:
        named = _NAMED_UTC.fullmatch(text)
        if named and _ISO.fullmatch(named[1]):
            text, zone = named[1], UTC
    return _epoch(text) or _access_log(text) or _syslog(text, now, zone) or _iso(text, zone)


def clock_zone(text: str, zone: tzinfo) -> tuple[str, tzinfo]:
    """A clock time without its offset (`14:05+08:00`, `14:05Z`), and the zone it is meant in; other text as it is."""
    match = _CLOCK_ZONE.fullmatch(text)
    if not match:
        return text, zone
    if not match[2]:
        return match[1], UTC
    offset = timedelta(hours=int(match[3]), minutes=int(match[4]))
    return match[1], timezone(-offset if match[2] == "-" else offset)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(name) from error


def _epoch(text: str) -> datetime | None:
    match = _EPOCH.fullmatch(text)
    if not match:
        return None
    fraction = (match[2] or match[3] or "0").ljust(6, "0")[:6]
    return datetime.fromtimestamp(int(match[1]), UTC) + timedelta(microseconds=int(fraction))


def _access_log(text: str) -> datetime | None:
    match = _ACCESS_LOG.fullmatch(text)
    if not match or match[2].lower() not in MONTHS:
        return None
    offset = timedelta(hours=int(match[8]), minutes=int(match[9]))
    return datetime(
        int(match[3]),
        MONTHS[match[2].lower()],
        int(match[1]),
        int(match[4]),
        int(match[5]),
        int(match[6]),
        tzinfo=timezone(-offset if match[7] == "-" else offset),
    )


def _syslog(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    match = _SYSLOG.fullmatch(text)
    if not match or match[1].lower() not in MONTHS:
        return None
    year = now.astimezone(zone).year
    month, day = MONTHS[match[1].lower()], int(match[2])
    if (month, day) == (2, 29):
        while not calendar.isleap(year):
            year -= 1
    at = datetime(year, month, day, int(match[3]), int(match[4]), int(match[5]), tzinfo=zone)
    return at.replace(year=year - 1) if at > now + timedelta(days=1) else at


def _iso(text: str, zone: tzinfo) -> datetime | None:
    if not _ISO.fullmatch(text):
        return None
    date, rest = text[:10].replace("/", "-"), text[10:]
    at = datetime.fromisoformat(date + _OFFSET_GAP.sub(r"\1\2", rest))
    return at if at.tzinfo else at.replace(tzinfo=zone)


def date_math(start: datetime, text: str, zone: tzinfo) -> datetime:
    """Elasticsearch date math: `-1d/d+9h`. Days, weeks, months and years, and rounding, count in `zone`.

    Raises:
        ValueError: a part is no step of date math.
        OverflowError: the result lies outside the years 1 to 9999.
    """
    at, position = start, 0
    while position < len(text):
        match = _MATH.match(text, position)
        if not match:
            raise ValueError(text[position:])
        position = match.end()
        at = floor(at.astimezone(zone), match[4]) if match[4] else _step(at, int(match[1] + match[2]), match[3], zone)
    return at.astimezone(UTC)


def _step(at: datetime, number: int, unit: str, zone: tzinfo) -> datetime:
    if unit in "yM":
        return _add_months(at.astimezone(zone), number * (12 if unit == "y" else 1))
    if unit in "wd":  # wall-clock days, so that a day with 23 or 25 hours is one day
        return at.astimezone(zone) + timedelta(days=number * (7 if unit == "w" else 1))
    return at.astimezone(UTC) + timedelta(seconds=number * _SECONDS[unit])


def _add_months(at: datetime, months: int) -> datetime:
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    if not 1 <= year <= 9999:  # noqa: PLR2004 - the years datetime knows
        raise OverflowError(year)
    last = calendar.monthrange(year, month + 1)[1]
    return at.replace(year=year, month=month + 1, day=min(at.day, last))


_FLOOR = {
    "y": {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0},
    "M": {"day": 1, "hour": 0, "minute": 0, "second": 0},
    "d": {"hour": 0, "minute": 0, "second": 0},
    "h": {"minute": 0, "second": 0},
    "m": {"second": 0},
    "s": {},
}


def floor(at: datetime, unit: str) -> datetime:
    """Start of the year, month, week (Monday), day, hour, minute or second that `at` lies in, in its own zone."""
    if unit == "w":
        at, unit = at - timedelta(days=at.weekday()), "d"
    fields = _FLOOR[unit.replace("H", "h")]
    return at.replace(**fields, microsecond=0)  # type: ignore[arg-type]
