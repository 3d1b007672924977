"""Slow services from the gaps between consecutive lines of one request (analysis.md 3.5).

A gap belongs to the services on either side of it: a directed edge (a, b), or (a, a) for work inside a service.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logagent.analysis.facts import Fact
from logagent.analysis.gaps import (
    EDGE_MIN,
    TIE,
    EdgeGaps,
    Gap,
    SlowEdges,
    cover,
    depth_of,
    edge_table,
    figures_of,
    fit_of,
    gaps,
)
from logagent.analysis.limits import ALPHA, MIN_SIDE, REACHABLE, RISE
from logagent.analysis.statistics import Step, fisher_greater, least_p, quantile, scan_step
from logagent.analysis.study import Study
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
_SUSPECTS, _PEERS = 4, 3


@dataclass(slots=True)
class _Slowing:
    """One change in time of the requests with a slow gap at a service."""

    p: float
    onset: tuple[float, float]
    before: float
    after: float
    n: tuple[int, int]


def slow_services(study: Study) -> list[Fact]:
    """Services that explain the slow gaps: with a change in time (`slow`) or only against their peers (`slow_peer`)."""
    window = study.window
    if not window.traces:
        return []
    every, floor = gaps(window)
    depth = depth_of(window)
    slowings = _slowings(study, every)
    found = _explain(every, slowings, depth) if slowings else []
    if not any(fact.kind == "slow" for fact in found):
        found = _peers(window, every, floor, depth) or found
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
        if step is not None and _slows(step, step.p * len(tests)):
            onset = (rows[step.k - 1][0], rows[step.k][0])
            n = (step.n_before, step.n_after)
            found[service] = _Slowing(min(1.0, step.p * len(tests)), onset, step.before, step.after, n)
    return found


def _slows(step: Step, p: float) -> bool:
    large = step.after - step.before >= RISE and step.after >= AFTER
    return large and p <= _FAINT * ALPHA and min(step.n_before, step.n_after) >= MIN_SIDE


def _explain(every: list[Gap], slowings: Mapping[str, _Slowing], depth: Mapping[str, int]) -> list[Fact]:
    best = min(slowings.values(), key=lambda s: (s.p, s.onset, s.before, s.after, s.n))
    table = edge_table(every, best.onset[1])
    slow_edges = {edge for edge, row in table.items() if _newly_slow(row)}
    if not slow_edges:
        return []
    blame = SlowEdges(every, table, slow_edges, depth, fit_of(table, slow_edges))
    order = blame.order()
    facts = (_slow_fact(blame, order, service, slowings.get(service)) for service in order[:_SUSPECTS])
    return [fact for fact in facts if fact is not None]


def _newly_slow(row: EdgeGaps) -> bool:
    if row.after < EDGE_MIN:
        return False
    return row.slow / row.after - (row.slow_before / row.before if row.before else 0.0) >= NEWLY


def _slow_fact(blame: SlowEdges, order: Sequence[str], service: str, slowing: _Slowing | None) -> Fact | None:
    """One service against the slow edges; only the first of the order, untied and with a change, is `slow`."""
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
    tied, lead = blame.tied(order), service == order[0]
    covered = cover({edge: blame.table[edge] for edge in blame.slow_edges}, service)
    sure = slowing is not None and slowing.p <= ALPHA
    claim = sure and lead and not tied and covered >= COVER
    share = blame.fit[service] / blame.fit[order[0]]
    median = quantile([gap.seconds for gap in rows], 0.5)
    change = (
        f"requests with a slow step {slowing.before:.0%} of {slowing.n[0]} before, "
        f"{slowing.after:.0%} of {slowing.n[1]} after; "
        if slowing
        else ""
    )
    text = (
        f"latency: {service} slow: {change}median delay {median:.2f} s at its slow steps ({blame.where(service)})"
        + _untold(tied, lead=lead)
    )
    return Fact(
        "slow" if claim else "slow_hint",
        service,
        slowing.p if slowing else 1.0,
        text,
        slowing.onset if slowing else None,
        units=frozenset(gap.trace for gap in rows),
        weight=1.0 if claim else 2.2 * share if tied or lead else share,
        figures=figures_of(rows, blame, service),
    )


def _untold(tied: Sequence[str], *, lead: bool) -> str:
    return f"; not to be told from {', '.join(tied)}" if tied and lead else ""


def _peers(window: Window, every: list[Gap], floor: float, depth: Mapping[str, int]) -> list[Fact]:
    """Edges far slower than those between the other services; the change in time is asked only afterwards."""
    for gap in every:
        gap.slow = gap.seconds >= floor
    cross = {edge: row for edge, row in edge_table(every, None).items() if edge[0] != edge[1]}
    slow_edges = {edge for edge, row in cross.items() if row.slow >= EDGE_MIN and row.slow >= _PEER_SHARE * row.after}
    if not slow_edges:
        return []
    blame = SlowEdges(every, cross, slow_edges, depth, fit_of(cross, slow_edges))
    order = blame.order()
    facts = (_peer_fact(blame, order, service, (floor, len(window.services))) for service in order[:_PEERS])
    return [fact for fact in facts if fact is not None]


def _peer_fact(blame: SlowEdges, order: Sequence[str], service: str, scale: tuple[float, int]) -> Fact | None:
    """One service against the calls between the others; `scale` is (floor in seconds, number of services)."""
    floor, services = scale
    rows = sorted(
        (gap for gap in blame.every if gap.edge in blame.slow_edges and service in gap.edge), key=lambda gap: gap.time
    )
    hits = [gap for gap in rows if gap.slow]
    other = [gap for gap in blame.every if gap.edge[0] != gap.edge[1] and service not in gap.edge]
    slow_others = sum(gap.slow for gap in other)
    p = fisher_greater(slow_others, len(other), len(hits), len(rows)) * services
    if len(hits) < _PEER_HITS or p > _PEER_P:
        return None
    lead, tied = service == order[0], [s for s in order if s != service and blame.fit[s] * TIE > blame.fit[order[0]]]
    since = _since(rows)
    claim = since is not None and lead and not tied and cover(blame.table, service) >= COVER
    median = quantile([gap.seconds for gap in hits], 0.5)
    text = (
        f"latency: calls to and from {service} took {median:.2f} s (median of the slow ones) in {len(hits)} of "
        f"{len(rows)}; other calls at or above {floor:.2f} s: {slow_others} of {len(other)} ({blame.where(service)})"
        + _untold(tied, lead=lead)
    )
    return Fact(
        "slow" if claim else "slow_peer",
        service,
        min(1.0, p),
        text,
        since,
        units=frozenset(gap.trace for gap in hits),
        weight=1.0 if lead else blame.fit[service] / blame.fit[order[0]] * 0.9,
        figures=figures_of(hits, blame, service),
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
