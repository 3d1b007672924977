"""Typed access to the figures of a fact and to the numbers of a field."""

import math

from logagent.analysis.facts import Event, Fact
from logagent.logs import instant


def measure(value: object) -> float | None:
    """A finite number of a field, as float; None for anything else (a bool is no number).

    >>> measure(3), measure(True), measure(float("nan"))
    (3.0, None, None)
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return None


def number(fact: Fact, name: str, default: float = 0.0) -> float:
    """A numeric figure, or `default` where the fact has none of that name."""
    value = fact.figures.get(name)
    return float(value) if isinstance(value, int | float) else default


def word(fact: Fact, name: str) -> str | None:
    """A figure that is a text, or None."""
    value = fact.figures.get(name)
    return value if isinstance(value, str) else None


def flag(fact: Fact, name: str) -> bool:
    """Whether a figure is set and true."""
    return bool(fact.figures.get(name))


def lines(fact: Fact) -> list[str]:
    """Sample lines of a fact, most telling first."""
    value = fact.figures.get("lines")
    return [line for line in value if isinstance(line, str)] if isinstance(value, list | tuple) else []


def events(fact: Fact) -> list[Event]:
    """The events a mechanism fact rests on; other facts name templates instead."""
    return _events(fact, "docs")


def seen(fact: Fact) -> list[Event]:
    """The lines that show a slow step: those on either side of the first one, and of a usual one."""
    return _events(fact, "seen")


def _events(fact: Fact, name: str) -> list[Event]:
    value = fact.figures.get(name)
    return [event for event in value if isinstance(event, Event)] if isinstance(value, list | tuple) else []


def clock(time: float) -> str:
    """`02:41:24` in UTC, as facts name times."""
    return instant(time).strftime("%H:%M:%S")
