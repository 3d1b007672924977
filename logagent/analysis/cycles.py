"""Trouble that comes and goes: bursts at even distances with healthy lines in between."""

import re
from collections.abc import Sequence
from itertools import pairwise

from logagent.analysis.facts import Event
from logagent.expressions import expression

UP = expression(
    r"\b(?:up|closed|recovered|restored|re-?connected|connected|available|resolved|healthy|ok|active|established|resumed|"
    r"ready|listening)\b",
    re.IGNORECASE,
)
_MIN_BURSTS = 4
_GAP_S = 20.0
_PAUSE_SHARE = 0.03
_HEALTHY_PAUSES = 0.7
_BUSY = 0.6


def period_of(bad: Sequence[Event], healthy: Sequence[Event]) -> float | None:
    """Mean distance in seconds between at least four bursts of `bad` at even distances, or None.

    Bursts are parted by more than 20 s, 3 % of the span and, from 15 lines on, four median gaps. Single lines at even
    distances are a retry unless a healthy line in between says that the thing came up.

    Args:
        bad: failing events, oldest first.
        healthy: healthy events of the same service, oldest first.
    """
    if len(bad) < _MIN_BURSTS:
        return None
    bursts = _bursts([event.time for event in bad])
    if len(bursts) < _MIN_BURSTS:
        return None
    pauses = [(end, start) for (_, end), (start, _) in pairwise(bursts)]
    dense = len(bad) / len(bursts)
    steps = [b[0] - a[0] for a, b in pairwise(bursts)]
    mean = sum(steps) / len(steps)
    spread = (sum((step - mean) ** 2 for step in steps) / len(steps)) ** 0.5 / mean
    if spread > _tolerance(dense, len(bursts)):
        return None
    if dense < 2 and _filled(pauses, [e for e in healthy if UP.search(e.message)]) < _HEALTHY_PAUSES * len(pauses):  # noqa: PLR2004  # the dearest test, so it comes late
        return None
    busy = sum(end - start for start, end in bursts) / max(1e-6, bursts[-1][1] - bursts[0][0])
    even = busy <= _BUSY and _filled(pauses, healthy) >= _HEALTHY_PAUSES * len(pauses)
    return mean if even else None


def _bursts(times: list[float]) -> list[tuple[float, float]]:
    gaps = sorted(b - a for a, b in pairwise(times))
    many = 15
    median = 4 * gaps[len(gaps) // 2] if len(times) >= many else 0.0
    bar = max(_GAP_S, _PAUSE_SHARE * (times[-1] - times[0]), median)
    bursts = [(times[0], times[0])]
    for time in times[1:]:
        start, end = bursts[-1]
        if time - end > bar:
            bursts.append((time, time))
        else:
            bursts[-1] = (start, time)
    return bursts


def _tolerance(dense: float, bursts: int) -> float:
    """Largest coefficient of variation of the distances: strict for sparse bursts, -1 for too few of them."""
    sparse, full, few = 3, 6, 5
    if dense < sparse:
        return 0.1 if bursts >= few else -1.0
    if bursts < few:
        return 0.1
    return 0.15 if dense < full else 0.3


def _filled(pauses: list[tuple[float, float]], events: Sequence[Event]) -> int:
    """How many of the pauses hold one of the events."""
    return sum(any(end < event.time < start for event in events) for end, start in pauses)
