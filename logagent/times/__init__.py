"""Time expressions of people, in English and Chinese, as absolute UTC instants; "now" is always an argument.

Nothing here looks at a clock. What "now" is for a file or a cluster: ux.md 2.2.
"""

from datetime import UTC, datetime, timedelta, tzinfo

from logagent.errors import UsageError
from logagent.expressions import expression
from logagent.logs import TimeWindow
from logagent.times._absolute import clock_zone, date_math, parse_absolute
from logagent.times._points import find_point, is_clock_only
from logagent.times._text import LENGTH_LIMIT, canonical, seconds_of

_DAY = timedelta(days=1)
_SHOWN = 40
_MONTHS_OR_MINUTES = expression(r"\dM(?![A-Za-z])")
"""`5M` is months in date math and minutes to a tired person: refused."""


def parse_time(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Read one instant.

    Accepted: ISO 8601 (with offset, `Z`, `[Zone/Name]`), epoch in s, ms, us or ns, access-log and syslog times,
    date math (`now-1d/d+9h`, `2026-11-29||-1h`), durations before now (`30m`, `2 hours ago`, `半小时前`) and clock
    words (`14:05`, `yesterday 22:00`, `last night`, `昨晚10点`, `今早9点左右`, `刚才`).

    Args:
        text: at most 128 characters.
        now: what relative times count back from; aware.
        zone: zone in which times without an offset are read.

    Returns:
        An aware datetime in UTC. A bare clock time is its latest occurrence up to now.

    Raises:
        UsageError: LA701, the text is no time, or one outside the years 1 to 9999.

    >>> parse_time("30m", datetime(2026, 11, 30, 14, 31, tzinfo=UTC), UTC).isoformat()
    '2026-11-30T14:01:00+00:00'
    """
    try:
        found = _parse(text, now, zone)
    except (ValueError, OverflowError) as error:
        raise _unreadable(text) from error
    if found is None:
        raise _unreadable(text)
    return found


def _parse(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    stripped = text.strip()
    if not stripped or len(stripped) > LENGTH_LIMIT:
        return None
    if stripped == "now" or stripped.startswith(("now+", "now-", "now/")):
        return date_math(now, stripped[3:], zone)
    start, bars, math = stripped.partition("||")
    absolute = parse_absolute(start.strip(), now, zone)
    if absolute is not None:
        return date_math(absolute, math, zone)
    return None if bars or _MONTHS_OR_MINUTES.search(stripped) else _parse_words(stripped, now, zone)


def _parse_words(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    text, zone = clock_zone(text, zone)
    words = canonical(text)
    ago = seconds_of(words)
    if ago is not None:
        return (now - timedelta(seconds=ago)).astimezone(UTC)
    return find_point(words, now, zone)


def parse_until(text: str, start: datetime, now: datetime, zone: tzinfo) -> datetime:
    """Read the end of a window that begins at `start`: as `parse_time`, but a bare clock time is the first after it.

    So `--since 23:50 --until 00:20` spans midnight, and an end later than the newest event of a file stays a day
    that the file covers.

    Raises:
        UsageError: LA701.
    """
    end = parse_time(text, now, zone)
    if end < start and is_clock_only(canonical(text.strip())):
        end += _DAY
    elif end - _DAY > start and is_clock_only(canonical(text.strip())):
        end -= _DAY * ((end - start) // _DAY)
    return end


def parse_span(text: str, now: datetime, zone: tzinfo) -> TimeWindow:
    """Read `A..B` (the explicit form of --baseline); either side as in `parse_time`.

    Raises:
        UsageError: LA701, a side is no time, or B is not after A.
    """
    first, dots, last = text.partition("..")
    if not dots:
        raise _unreadable(text)
    start = parse_time(first, now, zone)
    end = parse_until(last, start, now, zone)
    if end <= start:
        raise UsageError(f"{text[:_SHOWN]} ends before it starts", code="LA701", values={"span": text[:_SHOWN]})
    return TimeWindow(start, end)


def parse_duration(text: str) -> timedelta:
    """Read a length of time: `30s`, `1h30m`, `2d`, `-8h`, `500ms`, `半小时`.

    Raises:
        UsageError: LA701; a bare number has no unit and is refused.

    >>> parse_duration("1h30m").total_seconds()
    5400.0
    """
    stripped = text.strip()
    negative = stripped.startswith("-")
    size = stripped[1:] if stripped[:1] in ("+", "-") else stripped
    words = canonical(size) if len(size) <= LENGTH_LIMIT else ""
    seconds = seconds_of(words) if words[:1].isdigit() and not words.endswith(("ago", "back")) else None
    if seconds is None:
        raise _unreadable(text)
    try:
        return timedelta(seconds=-seconds if negative else seconds)
    except OverflowError as error:
        raise _unreadable(text) from error


def delay(seconds: float) -> str:
    """How long a call takes, in words of any language.

    >>> delay(0.0034), delay(1.0072)
    ('3 ms', '1.01 s')
    """
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def parse_window_words(question: str, now: datetime, zone: tzinfo) -> TimeWindow | None:
    """Find the window that a question speaks of: `between 2 and 3 last night`, `since 14:05`, `最近半小时`.

    Quoted text and code spans are ignored. A point in time becomes 15 minutes on each side; the end is never later
    than `now`. Where the question compares two windows, the first one counts.

    Returns:
        The window, or None where the question names no time (the caller's default holds then).
    """
    from logagent.times._windows import find_window  # noqa: PLC0415 - its expressions cost 15 ms, for `ask` only

    try:
        return find_window(question, now, zone)
    except (ValueError, OverflowError):  # "the 31 November", "last 9999 weeks": no window, the default holds
        return None


def _unreadable(text: str) -> UsageError:
    shown = "".join(char if char.isprintable() else "?" for char in text.strip())
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
    return UsageError(f'cannot read the time "{shown}"', code="LA701", values={"text": shown})
