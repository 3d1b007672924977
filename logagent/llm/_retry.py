"""How long to wait before the same request is sent again (llm-endpoints.md 14)."""

import re
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Final

from logagent.expressions import expression
from logagent.llm._failure import Failure

MAX_TRIES: Final = 3
"""In all, for one reply; changes of the request are not counted."""
MAX_WAIT: Final = 120.0
"""Seconds a server may ask us to wait; above that the call fails at once and says the time."""
POLL: Final = 2.0
"""Seconds between two looks at a server that loads its model."""
SOON: Final = 0.5
"""Seconds until an address is tried again at which nobody listens."""

_BASE: Final = 0.5
_TOP: Final = 20.0
_OVERLOADED: Final = 529
_EPOCH_MS: Final = 1e11
_EPOCH_S: Final = 1e9
_SAID = expression(
    r"(?:try again in|retry(?:delay\"?:? ?\"?| in| after))\s*((?:[\d.]+\s*(?:ms|h|m|s)[a-z]*\s*)+)", re.IGNORECASE
)
_PART = expression(r"([\d.]+)\s*(ms|h|m|s)", re.IGNORECASE)
_UNIT: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0}


def asked_wait(failure: Failure, now: float) -> float | None:
    """Seconds the server asks for, by header, then by text; None where it says nothing.

    Args:
        failure: the refusal.
        now: seconds since the epoch, for dates.

    >>> asked_wait(Failure(429, headers={"retry-after-ms": "850", "retry-after": "3"}), 0.0)
    0.85
    """
    headers = failure.headers
    exact = _number(headers.get("retry-after-ms", ""))
    if exact is not None:
        return exact / 1000
    plain = headers.get("retry-after", "")
    seconds = _number(plain)
    if seconds is None and plain:
        seconds = _until_date(plain, now)
    if seconds is None:
        seconds = _until_reset(headers.get("x-ratelimit-reset", ""), now)
    return _in_text(f"{failure.message} {failure.body}") if seconds is None else max(0.0, seconds)


def backoff(tried: int, failure: Failure, random: Callable[[], float]) -> float:
    """Full jitter between half a second and 20 s, growing with each try; longer for an overloaded server.

    Args:
        tried: tries so far, at least 1.
        failure: what the last one brought.
        random: gives a number in [0, 1).
    """
    base = _BASE * 4 if failure.status == _OVERLOADED or "overloaded" in failure.text else _BASE
    return base + random() * (min(_TOP, base * 2.0 ** (tried + 1)) - base)


def forbids_retry(failure: Failure) -> bool:
    """Whether the server says that a repetition is useless."""
    return failure.headers.get("x-should-retry", "").lower() == "false"


def demands_retry(failure: Failure) -> bool:
    """Whether the server says that a repetition may help, whatever the status."""
    return failure.headers.get("x-should-retry", "").lower() == "true"


def _number(text: str) -> float | None:
    try:
        value = float(text.strip())
    except ValueError:
        return None
    return value if 0 <= value < _EPOCH_S else None


def _until_date(text: str, now: float) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except ValueError:
        return None


def _until_reset(text: str, now: float) -> float | None:
    """An instant in milliseconds or seconds since the epoch; a small number is no instant and is not used."""
    try:
        value = float(text)
    except ValueError:
        return None
    if value >= _EPOCH_MS:
        return value / 1000 - now
    return value - now if value >= _EPOCH_S else None


def _in_text(text: str) -> float | None:
    found = _SAID.search(text)
    if not found:
        return None
    return sum(float(number) * _UNIT[unit.lower()] for number, unit in _PART.findall(found[1]) if _is_number(number))


def _is_number(text: str) -> bool:
    return text.count(".") <= 1 and text != "."
