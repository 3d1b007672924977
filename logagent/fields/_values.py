"""How values look: instants, durations, class names of errors."""

import re
from contextlib import suppress
from datetime import UTC, datetime

from logagent.expressions import expression

_DIGITS = expression(r"\d{9,19}(?:\.\d+)?\Z")
_DURATION = expression(r"\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)\s*\Z")
_MS_PER_UNIT = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}
_UNIT_OF_NAME: tuple[tuple[re.Pattern[str], float], ...] = (
    (expression(r"event\.duration$|nano|[._]ns$|Ns$|^Duration$|OriginDuration$"), 1e-6),
    (expression(r"micro|[._]us$|Us$"), 1e-3),
    (expression(r"milli|[._]ms$|Ms$|MS$"), 1.0),
    (expression(r"sec(?:ond)?s?$|[._]s$|^(?:nginx\.access\.)?(?:upstream_)?(?:request|response)_time$"), 1e3),
)
_STAMPS = ("%d/%b/%Y:%H:%M:%S %z", "%a %b %d %H:%M:%S %Y", "%Y/%m/%d %H:%M:%S", "%d %b %Y %H:%M:%S")
_ERROR_CLASS = expression(
    r"(?<![\w.$/-])((?:[A-Za-z_$][\w$]*\.){0,12}[A-Z][\w$]*(?:Exception|Error|Throwable|Fault|Failure|Timeout|Interrupt))"
    r"(?![\w$(/-])"
)
_OLDEST, _NEWEST = 631_152_000, 4_102_444_800  # 1990 and 2100: what counts as a time of a log, in epoch seconds


def instant_of(value: object) -> datetime | None:
    """A time as logs write it: ISO 8601 (no zone = UTC), common log format, or epoch s, ms, us, ns by magnitude.

    >>> instant_of("1534860261221373")
    datetime.datetime(2018, 8, 21, 14, 4, 21, 221373, tzinfo=datetime.timezone.utc)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, int | float):
        return _of_epoch(value)
    text = str(value).strip()
    if _DIGITS.match(text):
        return _of_epoch(int(text) if text.isdigit() else float(text))
    if len(text) < 10 or len(text) > 64:  # noqa: PLR2004 - a date has 10 characters
        return None
    return _of_text(text)


def milliseconds(name: str, value: object) -> float | None:
    """A duration in milliseconds; the unit comes from the value (`12ms`), else from the field's name, else ms."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        match = _DURATION.match(value)
        if match:
            return float(match[1]) * _MS_PER_UNIT[match[2]]
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or not 0 <= value < 1e18:  # noqa: PLR2004 - 30 years of nanoseconds
        return None
    return value * next((unit for pattern, unit in _UNIT_OF_NAME if pattern.search(name)), 1.0)


def error_class_in(text: str) -> str:
    """The first class name of an error in a text (`java.io.IOException`), or "".

    >>> error_class_in("Commit log sync failed: java.io.IOException: Disk full")
    'java.io.IOException'
    """
    match = _ERROR_CLASS.search(text[:20_000])
    return match[1] if match else ""


def _of_epoch(number: float) -> datetime | None:
    for divisor in (1, 1_000, 1_000_000, 1_000_000_000):
        if _OLDEST <= number / divisor < _NEWEST:
            micros = number * (1_000_000 // divisor) if divisor < 1_000_000_000 else number // 1_000  # noqa: PLR2004
            return datetime.fromtimestamp(micros // 1_000_000, UTC).replace(microsecond=int(micros % 1_000_000))
    return None


def _of_text(text: str) -> datetime | None:
    with suppress(ValueError):
        if not text[:4].isdigit() or text[4] not in "-/":
            raise ValueError
        at = datetime.fromisoformat(text.replace("/", "-") if text[4] == "/" else text.removesuffix(" UTC"))
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    for stamp in _STAMPS:
        with suppress(ValueError):
            at = datetime.strptime(text, stamp)  # noqa: DTZ007 - the zone is added where the stamp has none
            return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None
