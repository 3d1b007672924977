"""Gaps between consecutive lines of one request, the edges they belong to, and who explains the slow ones.

A gap belongs to the services on either side of it: a directed edge (a, b), or (a, a) for work inside a service.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from logagent.analysis.limits import MIN_SIDE
from logagent.analysis.statistics import quantile
from logagent.analysis.window import Window

Edge = tuple[str, str]

FLOOR_S = 0.25
"""Slow against the other services of the window (and 30 times their median)."""
STEP_S = 0.05
"""Slow against the fast quartile of the same two statements (and 5 times it)."""
FACTOR = 5.0
TIE = 1.5
"""Lead of the best service below which nobody is claimed."""
EDGE_MIN = 3
"""Gaps of an edge that count."""
_MANY = 20


@dataclass(slots=True)
class Gap:
    """One step in time between two lines of a request; `a` and `b` are their templates."""

    time: float
    trace: str
    edge: Edge
    seconds: float
    a: int
    b: int
    lines: tuple[int, int]
    """Its two lines, as indices into the window's `trace_docs`."""
    slow: bool = False


@dataclass(slots=True)
class EdgeGaps:
    """Gaps of one edge before and after an onset: how many are slow, and all of them in seconds."""

    slow_before: int = 0
    earlier: list[float] = field(default_factory=list)
    slow: int = 0
    later: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    """Those of `later` that are slow."""

    @property
    def before(self) -> int:
        """Gaps before the onset."""
        return len(self.earlier)

    @property
    def after(self) -> int:
        """Gaps since the onset."""
        return len(self.later)


@dataclass(slots=True)
class SlowEdges:
    """Slow edges and how well each service explains them."""

    every: list[Gap]
    table: Mapping[Edge, EdgeGaps]
    slow_edges: set[Edge]
    depth: Mapping[str, int]
    fit: dict[str, float] = field(default_factory=dict)

    def order(self) -> list[str]:
        """Services by fit, of equal ones the deeper first."""
        return sorted(self.fit, key=lambda service: (-round(self.fit[service], 6), -self.depth.get(service, 0)))

    def tied(self, order: Sequence[str]) -> list[str]:
        """Services that fit nearly as well as the first."""
        return [service for service in order[1:] if self.fit[service] * TIE > self.fit[order[0]]]


def gaps(window: Window) -> tuple[list[Gap], float]:
    """All gaps, each marked slow or not, and the floor above which a call is slow against the others."""
    by_pair: defaultdict[tuple[int, int], list[Gap]] = defaultdict(list)
    every = list(steps_of(window))
    for gap in every:
        by_pair[gap.a, gap.b].append(gap)
    cross = [gap.seconds for gap in every if gap.edge[0] != gap.edge[1]]
    floor = max(FLOOR_S, 30 * quantile(cross, 0.5)) if len(cross) >= _MANY else float("inf")
    for rows in by_pair.values():
        limit = floor
        if len(rows) >= 2 * MIN_SIDE:
            base = quantile([gap.seconds for gap in rows], 0.25)
            limit = min(floor, max(FACTOR * base, base + STEP_S))
        for gap in rows:
            gap.slow = gap.seconds >= limit
    return every, floor


def steps_of(window: Window) -> Iterator[Gap]:
    """Every step in time between two lines of a request."""
    for trace, indices in window.traces.items():
        for i, j in pairwise(indices):
            a, b = window.trace_docs[i], window.trace_docs[j]
            yield Gap(a.time, trace, (a.service, b.service), b.time - a.time, a.template, b.template, (i, j))


def longest(window: Window) -> Gap | None:
    """The longest of all steps."""
    return max(steps_of(window), key=lambda gap: gap.seconds, default=None)


def edge_table(every: Iterable[Gap], onset: float | None) -> dict[Edge, EdgeGaps]:
    """Gaps per edge; without an onset all count as after it."""
    table: defaultdict[Edge, EdgeGaps] = defaultdict(EdgeGaps)
    for gap in every:
        row = table[gap.edge]
        if onset is None or gap.time >= onset:
            row.slow += gap.slow
            row.later.append(gap.seconds)
            if gap.slow:
                row.late.append(gap.seconds)
        else:
            row.slow_before += gap.slow
            row.earlier.append(gap.seconds)
    return dict(table)


def fit_of(table: Mapping[Edge, EdgeGaps], slow_edges: set[Edge]) -> dict[str, float]:
    """Per service: share of its edges that are slow, times the share of the slow gaps that it touches.

    The product separates a slow callee (all its edges are slow, few of its caller's) from a slow caller.
    """
    total = sum(table[edge].slow for edge in slow_edges)
    fit = {}
    for service in sorted({service for edge in slow_edges for service in edge}):
        own = [edge for edge, row in table.items() if service in edge and row.after >= EDGE_MIN]
        touched = sum(table[edge].slow for edge in slow_edges if service in edge)
        fit[service] = sum(edge in slow_edges for edge in own) / max(1, len(own)) * touched / max(1, total)
    return fit


def cover(rows: Mapping[Edge, EdgeGaps], service: str) -> float:
    """Share of all slow gaps after the onset that touch a service."""
    total = sum(row.slow for row in rows.values())
    return sum(row.slow for edge, row in rows.items() if service in edge) / max(1, total)


def depth_of(window: Window) -> dict[str, int]:
    """Calls received minus calls made per service: the deeper service of a tie is asked first."""
    depth: defaultdict[str, int] = defaultdict(int)
    for (caller, callee), number in window.call_edges().items():
        depth[callee] += number
        depth[caller] -= number
    return dict(depth)
