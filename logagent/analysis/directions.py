"""Which way a delay goes: each direction of the calls between two services, since an onset and before it.

What a service sends through a delayed path is late every time. What is sent to it is late only where a connection is
opened first, for then its own answer to the opening is late. So one direction that is always late, with another one
that is late at times and the steps inside both services as ever, tells the sender from the receiver.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logagent.analysis.gaps import EDGE_MIN, STEP_S, Edge, EdgeGaps, Gap, SlowEdges
from logagent.analysis.statistics import quantile
from logagent.analysis.window import Window
from logagent.times import delay

_EARLIER = 2
"""Calls before the onset, all of them fast, that a direction needs."""
_HALF = 0.5
_PAIRS = 2
"""Neighbours of a service that are shown."""
_KINDS = 4
_SEEN = 2
"""Slow steps whose lines are cited: the first, which dates the onset, and a usual one."""

Table = Mapping[Edge, EdgeGaps]


@dataclass(frozen=True, slots=True)
class Sender:
    """The one of two services whose messages to the other are all late."""

    service: str
    other: str
    sure: bool
    """The way back is late at times, by as much: it is the sender's path, and not what the other does first."""

    @property
    def text(self) -> str:
        """What tells the two apart."""
        if self.sure:
            return "all that is sent is late, what comes back at times: the way out of the sender is slow"
        return f"the way out of the sender is slow, or what {self.other} does before its next line"


def sender(table: Table, a: str, b: str) -> Sender | None:
    """Which of two services sends late, or None where the calls between them do not tell."""
    late = [(x, y) for x, y in ((a, b), (b, a)) if _always_late(table.get((x, y)))]
    if len(late) != 1 or not (_as_ever(table.get((a, a))) and _as_ever(table.get((b, b)))):
        return None
    x, y = late[0]
    sent = (row for edge, row in table.items() if edge[0] == x and edge[1] not in (x, y) and row.after >= EDGE_MIN)
    received = (row for edge, row in table.items() if edge[1] == y and edge[0] not in (x, y) and row.after >= EDGE_MIN)
    if not all(map(_always_late, sent)) or any(map(_always_late, received)):
        return None
    return Sender(x, y, _late_at_times(table.get((y, x)), quantile(table[x, y].later, 0.5)))


def _always_late(row: EdgeGaps | None) -> bool:
    if row is None or row.after < EDGE_MIN or row.slow < row.after:
        return False
    return row.before >= _EARLIER and not row.slow_before and min(row.later) >= max(row.earlier) + STEP_S


def _late_at_times(row: EdgeGaps | None, delay: float) -> bool:
    """Whether some, not all, are late, by about as much or more."""
    if row is None or row.after < EDGE_MIN:
        return False
    as_much = sum(seconds >= _HALF * delay for seconds in row.later)
    return 0 < as_much < row.after and as_much >= _HALF * row.slow


def _as_ever(row: EdgeGaps | None) -> bool:
    """Whether the steps inside a service take as long as before, as far as they are seen at all."""
    if row is None or not row.after:
        return True
    usual = quantile(row.earlier, 0.5) if row.earlier else 0.0
    return not row.slow and quantile(row.later, 0.5) <= usual + max(STEP_S, _HALF * usual)


def calls_text(table: Table, blame: SlowEdges, service: str) -> str:
    """The slow calls of a service, now and before, both ways, the worst neighbours first; then what it does itself."""
    slow = sorted((e for e in blame.slow_edges if service in e), key=lambda e: (-_share(table, e), -_slow(table, e), e))
    parts: dict[frozenset[str], str] = {}
    for edge in slow:
        pair = frozenset(edge)
        if pair in parts or edge not in table:
            continue
        back = table.get((edge[1], edge[0])) if edge[0] != edge[1] else None
        parts[pair] = _way(edge, table[edge]) + (f"; back: now {back.slow} of {back.after}" if back else "")
    return "; ".join(list(parts.values())[:_PAIRS])


def own_text(table: Table, services: Sequence[str]) -> str:
    """The steps inside services that are as long as before."""
    rows = [row for s in services if (row := table.get((s, s))) and row.after and row.before and _as_ever(row)]
    longest = max(rows, key=lambda row: quantile(row.later, 0.5), default=None)
    return f"; own steps unchanged, {_median(longest.later)}, {_median(longest.earlier)} before" if longest else ""


def _share(table: Table, edge: Edge) -> float:
    row = table.get(edge)
    return row.slow / row.after if row and row.after else 0.0


def _slow(table: Table, edge: Edge) -> int:
    row = table.get(edge)
    return row.slow if row else 0


def _way(edge: Edge, row: EdgeGaps) -> str:
    name = f"{edge[0]} -> {edge[1]}" if edge[0] != edge[1] else f"inside {edge[0]}"
    before = f" | before {row.slow_before} of {row.before}, p50 {_median(row.earlier)}" if row.before else ""
    return f"{name}: now {row.slow} of {row.after} slow, p50 {_median(row.late or row.later)}{before}"


def _median(seconds: Sequence[float]) -> str:
    return delay(quantile(seconds, 0.5)) if seconds else "-"


def figures_of(window: Window, rows: Sequence[Gap], blame: SlowEdges, service: str, table: Table) -> dict[str, object]:
    """Figures of slow gaps: templates on either side of the slowest, the worst direction, and lines to be cited."""
    slowest = sorted(rows, key=lambda gap: -gap.seconds)
    order = sorted(rows, key=lambda gap: gap.time)
    shown = [order[0], slowest[len(slowest) // 2]][: min(_SEEN, len(rows))]
    worst = max(
        (e for e in blame.slow_edges if service in e and e in table),
        key=lambda e: (_share(table, e), _slow(table, e), e),
        default=None,
    )
    return {
        "median": quantile([gap.seconds for gap in rows], 0.5),
        "fit": blame.fit[service],
        "n": len(rows),
        "last": max(gap.time for gap in rows),
        "templates": list(dict.fromkeys(t for gap in slowest[:_KINDS] for t in (gap.a, gap.b))),
        "way": _figure(worst, table[worst]) if worst is not None else None,
        "seen": [window.trace_docs[i] for i in dict.fromkeys(i for gap in shown for i in gap.lines)],
    }


@dataclass(frozen=True, slots=True)
class WayFigure:
    """The slow calls from `a` to `b` (the same for work inside a service) in numbers; times in seconds.

    `now` is the median of the slow ones, `before` of all before the onset.
    """

    a: str
    b: str
    slow: int
    calls: int
    now: float
    before: float | None


def _figure(edge: Edge, row: EdgeGaps) -> WayFigure:
    before = quantile(row.earlier, 0.5) if row.earlier else None
    return WayFigure(*edge, row.slow, row.after, quantile(row.late or row.later, 0.5), before)
