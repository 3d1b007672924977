"""Slow services from the gaps between consecutive lines of one request (analysis.md 3.5).

A gap belongs to the services on either side of it: a directed edge (a, b), or (a, a) for work inside a service.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logagent.analysis.directions import figures_of
from logagent.analysis.facts import Fact
from logagent.analysis.gaps import (
    EDGE_MIN,
    EdgeGaps,
    Gap,
    SlowEdges,
    cover,
    depth_of,
    edge_table,
    fit_of,
    gaps,
)
from logagent.analysis.limits import ALPHA, MIN_SIDE, REACHABLE, RISE
from logagent.analysis.statistics import fisher_greater, least_p, scan_step
from logagent.analysis.study import Study
from logagent.analysis.suspicion import View, view
from logagent.analysis.window import Window

NEWLY = 0.25
"""Rise of an edge's slow share that makes it a slow edge."""
AFTER = 0.6
"""Least share of slow requests after a change."""
COVER = 0.6
"""Share of all slow gaps that a claim must touch."""
_PEER_SHARE = 0.3
_PEER_HITS = 5
_PEER_P = 1e-4
_FAINT = 20
"""Times the significance up to which a change still ranks a service."""
_SOME, _SOME_P, _SOME_SIDE = 0.15, 1e-3, 10
"""A part of the calls slow: least rise of the share (of requests, and of an edge's gaps), significance, requests."""
_SOME_WEIGHT = 0.4
"""Such a rise is a signal, and nothing is claimed on it."""
_SUSPECTS, _PEERS = 4, 3
_EXPLAINED = 0.34
"""What is left of a fact where the direction of the delay tells that another service sends late."""


@dataclass(slots=True)
class _Slowing:
    """One change in time of the requests with a slow gap at a service."""

    p: float
    onset: tuple[float, float]
    before: float
    after: float
    n: tuple[int, int]

    @property
    def large(self) -> bool:
        """Whether most requests are slow since, and few were before."""
        enough = self.after - self.before >= RISE and self.after >= AFTER
        return enough and self.p <= _FAINT * ALPHA and min(self.n) >= MIN_SIDE

    @property
    def some(self) -> bool:
        """Whether a part of the requests became slow, for certain."""
        return self.after - self.before >= _SOME and self.p <= _SOME_P and min(self.n) >= _SOME_SIDE


def slow_services(study: Study) -> list[Fact]:
    """Services that explain the slow gaps: with a change in time (`slow`) or only against their peers (`slow_peer`)."""
    window = study.window
    if not window.traces:
        return []
    every, floor = gaps(window)
    depth = depth_of(window)
    steps = _slowings(study, every)
    found = _explain(window, every, {name: one for name, one in steps.items() if one.large}, depth)
    if not any(fact.kind == "slow" or "everywhere" in fact.figures for fact in found):
        some = [] if found else _some(window, every, steps, depth)
        found = _peers(window, every, floor, depth) or found or some
    return found


def _slowings(study: Study, every: Sequence[Gap]) -> dict[str, _Slowing]:
    """Per service: requests with a slow gap at the service, one step in time."""
    touch: defaultdict[str, dict[str, tuple[float, bool]]] = defaultdict(dict)
    for gap in every:
        for service in set(gap.edge):
            time, slow = touch[service].get(gap.trace, (gap.time, False))
            touch[service][gap.trace] = (min(time, gap.time), slow or gap.slow)
    tests = {}
    for service, by_trace in touch.items():
        rows = sorted(by_trace.values())
        if len(rows) >= 2 * MIN_SIDE and least_p(sum(slow for _, slow in rows), len(rows)) <= REACHABLE:
            tests[service] = rows
    found = {}
    for service, rows in tests.items():
        step = scan_step([int(slow) for _, slow in rows], study.near([time for time, _ in rows]))
        if step is not None and step.after > step.before:
            onset = (rows[step.k - 1][0], rows[step.k][0])
            n = (step.n_before, step.n_after)
            found[service] = _Slowing(min(1.0, step.p * len(tests)), onset, step.before, step.after, n)
    return found


def _some(window: Window, every: list[Gap], slowings: Mapping[str, _Slowing], depth: Mapping[str, int]) -> list[Fact]:
    """Hints where a part of the requests became slow: too few for a cause, too many for an all-clear."""
    found = _explain(window, every, {name: one for name, one in slowings.items() if one.some}, depth, least=_SOME)
    for fact in found:
        fact.kind = "slow_hint"
        fact.weight *= _SOME_WEIGHT
    return found


def _explain(
    window: Window,
    every: list[Gap],
    slowings: Mapping[str, _Slowing],
    depth: Mapping[str, int],
    least: float = NEWLY,
) -> list[Fact]:
    """The services behind the edges whose slow share rose by `least` with the surest change."""
    if not slowings:
        return []
    best = min(slowings.values(), key=lambda s: (s.p, s.onset, s.before, s.after, s.n))
    table = edge_table(every, best.onset[1])
    slow_edges = {edge for edge, row in table.items() if _rise(row) >= least}
    if not slow_edges:
        return []
    blame = SlowEdges(every, table, slow_edges, depth, fit_of(table, slow_edges))
    seen = view(window, blame, table)
    facts = (_slow_fact(seen, service, slowings.get(service)) for service in seen.order[:_SUSPECTS])
    return [fact for fact in facts if fact is not None]


def _rise(row: EdgeGaps) -> float:
    """Rise of the slow share of an edge; 0 where there are few gaps."""
    if row.after < EDGE_MIN:
        return 0.0
    return row.slow / row.after - (row.slow_before / row.before if row.before else 0.0)


def _slow_fact(seen: View, service: str, slowing: _Slowing | None) -> Fact | None:
    """One service against the slow edges; only the first of the order, told and with a change, is `slow`."""
    blame = seen.blame
    rows = [
        gap
        for gap in blame.every
        if gap.slow
        and service in gap.edge
        and gap.edge in blame.slow_edges
        and (slowing is None or gap.time >= slowing.onset[1])
    ]
    if not rows:
        return None
    lead = service == seen.order[0]
    covered = cover({edge: blame.table[edge] for edge in blame.slow_edges}, service)
    sure = slowing is not None and slowing.p <= ALPHA
    claim = sure and lead and seen.told and covered >= COVER
    share = blame.fit[service] / blame.fit[seen.order[0]]
    change = (
        f"{slowing.after:.0%} of {slowing.n[1]} requests of {service} have a slow step, {slowing.before:.0%} of "
        f"{slowing.n[0]} before; "
        if slowing
        else ""
    )
    return Fact(
        "slow" if claim else "slow_hint",
        service,
        slowing.p if slowing else 1.0,
        f"latency: {change}{seen.text(service)}",
        slowing.onset if slowing else None,
        units=frozenset(gap.trace for gap in rows),
        weight=1.0 if claim else 2.2 * share if lead or (seen.tied and not seen.sender) else share,
        figures=figures_of(seen.window, rows, blame, service, seen.table) | seen.figures(service),
    )


def _peers(window: Window, every: list[Gap], floor: float, depth: Mapping[str, int]) -> list[Fact]:
    """Edges far slower than those between the other services; the change in time is asked only afterwards."""
    for gap in every:
        gap.slow = gap.seconds >= floor
    cross = {edge: row for edge, row in edge_table(every, None).items() if edge[0] != edge[1]}
    slow_edges = {edge for edge, row in cross.items() if row.slow >= EDGE_MIN and row.slow >= _PEER_SHARE * row.after}
    if not slow_edges:
        return []
    blame = SlowEdges(every, cross, slow_edges, depth, fit_of(cross, slow_edges))
    since = _since(_calls(blame, blame.order()[0]))
    seen = view(window, blame, edge_table(every, since[1] if since else None))
    facts = (_peer_fact(seen, service, (floor, len(window.services))) for service in seen.order[:_PEERS])
    return [fact for fact in facts if fact is not None]


def _calls(blame: SlowEdges, service: str) -> list[Gap]:
    """The gaps of the slow edges of a service, oldest first."""
    return sorted(
        (gap for gap in blame.every if gap.edge in blame.slow_edges and service in gap.edge), key=lambda gap: gap.time
    )


def _peer_fact(seen: View, service: str, scale: tuple[float, int]) -> Fact | None:
    """One service against the calls between the others; `scale` is (floor in seconds, number of services)."""
    floor, services = scale
    blame, order = seen.blame, seen.order
    rows = _calls(blame, service)
    hits = [gap for gap in rows if gap.slow]
    other = [gap for gap in blame.every if gap.edge[0] != gap.edge[1] and service not in gap.edge]
    slow_others = sum(gap.slow for gap in other)
    p = fisher_greater(slow_others, len(other), len(hits), len(rows)) * services
    if len(hits) < _PEER_HITS or p > _PEER_P:
        return None
    lead = service == order[0]
    since = _since(rows)
    calls = {edge: row for edge, row in seen.table.items() if edge[0] != edge[1]}
    claim = since is not None and lead and seen.told and cover(calls, service) >= COVER
    text = f"latency: {seen.text(service)}; calls of others at or above {floor:.2f} s: {slow_others} of {len(other)}"
    share = blame.fit[service] / blame.fit[order[0]] * 0.9
    return Fact(
        "slow" if claim else "slow_peer",
        service,
        min(1.0, p),
        text,
        since,
        units=frozenset(gap.trace for gap in hits),
        weight=1.0 if lead else share * _EXPLAINED if seen.sender else share,
        figures=figures_of(seen.window, hits, blame, service, seen.table) | seen.figures(service),
    )


def _since(rows: Sequence[Gap]) -> tuple[float, float] | None:
    """Onset of slow calls, per request: (last good, first bad), or None if they do not change.

    The order in time is independent of how slow a service is against its peers, so no correction for the choice of
    the service.
    """
    by_trace: dict[str, tuple[float, bool]] = {}
    for gap in rows:
        time, slow = by_trace.get(gap.trace, (gap.time, False))
        by_trace[gap.trace] = (min(time, gap.time), slow or gap.slow)
    order = sorted(by_trace.values())
    step = scan_step([int(slow) for _, slow in order]) if len(order) > 1 else None
    if step is None or step.p > ALPHA or step.after - step.before < RISE or step.n_before <= 1:
        return None
    return order[step.k - 1][0], order[step.k][0]
