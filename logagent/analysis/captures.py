"""Captures: logs of some services from one time and of others from another, side by side in one source.

The end of such a capture is no silence and its start no restart; what lies in another one is nothing to compare with.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

GAP = 0.25
"""Share of the window in which nothing is written between two captures."""
LINES = 5
"""Lines that a capture has at least."""
OPENING_S = 60.0
"""What a service says this soon after a capture begins is how it begins."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Services that log in one stretch of time only, none of them in another."""

    services: tuple[str, ...]
    start: float
    end: float

    def overlaps(self, start: float, end: float) -> bool:
        """Whether the capture and a stretch have time in common."""
        return self.start < end and start <= self.end


def separate(spans: Mapping[str, tuple[float, float, int]]) -> list[Capture]:
    """The captures, oldest first; empty where all is one.

    Args:
        spans: service -> time of its first line, of its last one, and number of lines.
    """
    order = sorted(spans.items(), key=lambda pair: pair[1])
    if not order:
        return []
    length = max(end for _, (_, end, _) in order) - order[0][1][0]
    groups: list[list[str]] = []
    last = 0.0
    for service, (start, end, _) in order:
        if groups and start - last <= GAP * length:
            groups[-1].append(service)
            last = max(last, end)
        else:
            groups.append([service])
            last = end
    if len(groups) == 1 or any(sum(spans[name][2] for name in group) < LINES for group in groups):
        return []
    return [_capture(group, spans) for group in groups]


def _capture(services: Iterable[str], spans: Mapping[str, tuple[float, float, int]]) -> Capture:
    own = {service: spans[service] for service in services}
    return Capture(tuple(own), min(span[0] for span in own.values()), max(span[1] for span in own.values()))
