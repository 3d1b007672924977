"""Times at the start of log lines, and what follows them in the usual order."""

import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS = {name: index for index, name in enumerate(_NAMES, 1)}
_MONTH = "|".join(MONTHS)

KINDS: dict[str, str] = {
    "iso": r"\d{4}[-/]\d\d?[-/]\d\d?[T\s,]\s?\d\d?:\d\d:\d\d(?:[.,:]\d{1,9})?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?",
    "clf": rf"\d\d?/(?:{_MONTH})/\d{{4}}:\d\d:\d\d:\d\d\s[+-]\d{{4}}",
    "ctime": rf"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+)?(?:{_MONTH})\s+\d\d?\s+\d\d:\d\d:\d\d(?:[.,]\d+)?(?:\s\d{{4}})?",
    "daymonth": rf"\d\d?[\s-](?:{_MONTH})(?:[\s-]\d{{2,4}})?\s\d\d:\d\d:\d\d(?:[.,]\d+)?",
    "bgl": r"\d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.\d+",
    "short": r"\d\d[-./]\d\d(?:[-./]\d\d(?:\d\d)?)?\s\d\d:\d\d:\d\d(?:[.,]\d+)?",
    "hdfs": r"\d{6}\s+\d?\d:?\d\d:?\d\d",
    "health": r"\d{8}-\d\d?:\d\d?:\d\d?:\d+",
    "basic": r"\d{8}T\d{6}(?:[.,]\d+)?Z?",
    "epoch": r"1\d{9}(?:\d{3})?(?:\.\d+)?",
}
"""Shapes of stamps by name; the more certain ones first."""


def pattern(kind: str) -> str:
    """Regular expression of a stamp that stands alone between blanks, brackets or bars."""
    return rf"(?:^|(?<=[\s\[\]|\"'(<>]))(?P<time>{KINDS[kind]})(?=$|[\s\]\[|,:;\"')>])"


def converter(kind: str, now: datetime) -> Callable[[str], str | None]:
    """Turns a stamp into a text that the store reads: ISO 8601, with or without zone, or an epoch number."""
    convert = _CONVERTERS.get(kind)
    if convert is None:
        return _iso if kind == "iso" else str
    return functools.lru_cache(4_096)(lambda text: convert(text, now))


def _iso(text: str) -> str | None:
    """`2026/1/3 4:05:06,123` and the like; usual stamps go through untouched."""
    if len(text) > 18 and text[4] == "-" and text[10] in "T " and text[13] == ":":  # noqa: PLR2004 - full width
        text = text[:19] + "." + text[20:] if text[19:20] == ":" else text
        return text[:19] + text[19:].replace(" ", "").replace("UTC", "Z")
    found = re.match(r"(\d{4})[-/](\d\d?)[-/](\d\d?)[T\s,]\s?(\d\d?):(\d\d):(\d\d)[.,:]?(\d*)\s?(.*)", text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    return f"{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute}:{second}{'.' + fraction if fraction else ''}{zone}"


def _ctime(text: str, now: datetime) -> str | None:
    found = re.search(rf"({_MONTH})\s+(\d\d?)\s+(\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:\s(\d{{4}}))?", text)
    return found and _dated(found[5], MONTHS[found[1]], found[2], (found[3], found[4]), now)


def _daymonth(text: str, now: datetime) -> str | None:
    found = re.match(rf"(\d\d?)[\s-]({_MONTH})[\s-](?:(\d{{2,4}})\s)?(\d\d:\d\d:\d\d)(?:[.,](\d+))?", text)
    return found and _dated(found[3], MONTHS[found[2]], found[1], (found[4], found[5]), now)


def _bgl(text: str, now: datetime) -> str | None:
    del now
    date, hour, rest = text[:10], text[11:13], text[14:]
    return f"{date}T{hour}:{rest[:2]}:{rest[3:5]}.{rest[6:]}"


def _short(text: str, now: datetime) -> str | None:
    """`30.11.2026 14:05:06`, `17/06/09 20:10:40` (year first), `11/30/2026 14:05:06` or `11-30 14:05:06`."""
    date, clock = text.split(maxsplit=1)
    clock, _, fraction = clock.replace(",", ".").partition(".")
    first, second, *rest = re.split(r"[-./]", date)
    if not rest:
        month, day = (second, first) if "." in date or int(first) > _MONTHS else (first, second)
        return _dated("", int(month), day, (clock, fraction), now)
    (last,) = rest
    if len(last) == 2 and "." not in date and int(second) <= _MONTHS:  # noqa: PLR2004 - two digits
        return _dated(first, int(second), last, (clock, fraction), now)
    month, day = (second, first) if "." in date or int(first) > _MONTHS else (first, second)
    return _dated(last, int(month), day, (clock, fraction), now)


def _hdfs(text: str, now: datetime) -> str | None:
    date, clock = text.split()
    digits = clock.replace(":", "").zfill(6)
    return _dated(date[:2], int(date[2:4]), date[4:], (f"{digits[:2]}:{digits[2:4]}:{digits[4:]}", ""), now)


def _health(text: str, now: datetime) -> str | None:
    date, _, clock = text.partition("-")
    hour, minute, second, millis = clock.split(":")
    time = f"{hour:0>2}:{minute:0>2}:{second:0>2}"
    return _dated(date[:4], int(date[4:6]), date[6:], (time, millis.zfill(3)), now)


def _basic(text: str, now: datetime) -> str | None:
    del now
    return f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[9:11]}:{text[11:13]}:{text[13:].replace(',', '.')}"


def _dated(year: str | None, month: int, day: str, clock: tuple[str, str | None], now: datetime) -> str | None:
    """ISO text; a missing year is the last one in which the day is not in the future."""
    time, fraction = clock
    if year:
        full = int(year) + (2_000 if len(year) == 2 else 0)  # noqa: PLR2004 - 26 is 2026
    else:
        full = now.astimezone(UTC).year
        try:
            if datetime(full, month, int(day), tzinfo=UTC) > now + timedelta(days=1):
                full -= 1
        except ValueError:
            full -= (full % 4) or 4  # 29 February
    return f"{full:04}-{month:02}-{int(day):02}T{time}{'.' + fraction if fraction else ''}"


_MONTHS = 12
_CONVERTERS: dict[str, Callable[[str, datetime], str | None]] = {
    "ctime": _ctime,
    "daymonth": _daymonth,
    "bgl": _bgl,
    "short": _short,
    "hdfs": _hdfs,
    "health": _health,
    "basic": _basic,
}
