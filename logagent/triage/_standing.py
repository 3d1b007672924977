"""How the failing of the window stands to that of the baseline: as bad before, or over."""

from collections.abc import Iterator
from typing import Literal

from logagent.triage._findings import Findings

HIGH = 0.05
"""Share of failing events, or requests, that is high whether it is usual or not."""
ALIKE = 0.5
"""A baseline that fails at least this much of what the window fails is no good one."""
LEAST = 5
"""Failing events below which a share says little."""

Standing = Literal["", "chronic", "over"]


def standing(findings: Findings) -> Standing:
    """`chronic`: much fails, and about as much did before; `over`: much failed before, and no longer.

    A baseline inside the window says nothing of the time before it.
    """
    if all(one.start >= findings.scope.window.start for one in findings.good):
        return ""
    pairs = list(_shares(findings))
    if any(now >= HIGH and before >= max(HIGH, ALIKE * now) for now, before in pairs):
        return "chronic"
    if any(before >= HIGH and now <= ALIKE * before for now, before in pairs):
        return "over"
    return ""


def fails_much(findings: Findings) -> bool:
    """Whether the share of failing events is high, usual or not."""
    volume = findings.volume
    shares = [volume.ratio or 0.0, (findings.symptom.ratio or 0.0) if findings.symptom else 0.0]
    return volume.failing >= LEAST and max(shares) >= HIGH


def _shares(findings: Findings) -> Iterator[tuple[float, float]]:
    """(now, before) of events and of requests, where so many fail that a share can be told."""
    volume = findings.volume
    wholes = [(volume.failing, volume.events, volume.failing_before, volume.events_before)]
    wholes.append((volume.failing_requests, volume.requests, volume.failing_requests_before, volume.requests_before))
    for part, whole, before, whole_before in wholes:
        if whole and whole_before and max(part, before) >= LEAST:
            yield part / whole, before / whole_before
