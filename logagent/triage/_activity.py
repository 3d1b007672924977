"""Each service over time, all its events and those that fail: what a heat map shows."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime

from logagent.diagnosis import Point, ServiceActivity
from logagent.logs import instant
from logagent.stores._base import Series
from logagent.triage._findings import Findings

SERVICES = 16
"""Services that one reads at a glance."""
SPLIT = 20
"""Values of a split: beyond that many a service that is missing may fail all the same."""

Counts = dict[str, list[float]]


def activity(
    findings: Findings, points: Sequence[Point], failing: Sequence[Series], every: Sequence[Series] | None
) -> list[ServiceActivity]:
    """At most SERVICES of them: suspects first, then those that fail most, then the loudest.

    Args:
        findings: for the events that were read, and for who is suspected.
        points: the buckets, oldest first; both counts have one figure for each.
        failing: failing events by service.
        every: all events by service; None where all were read, so that they need not be asked for.
    """
    starts = [datetime.fromisoformat(point.at) for point in points]
    bad = _placed(failing, starts)
    seen = _read(findings, starts) if every is None else _placed(every, starts)
    if len(failing) >= SPLIT:
        seen = {name: counts for name, counts in seen.items() if name in bad}
    suspected = [one.service for one in findings.conclusion.ranking[: SERVICES // 2]]

    def order(name: str) -> tuple[int, float, float]:
        place = suspected.index(name) if name in suspected else len(suspected)
        return place, -sum(bad.get(name, ())), -sum(seen[name])

    nothing = [0.0] * len(starts)
    return [
        ServiceActivity(name=name, events=seen[name], failing=bad.get(name, nothing) if failing else [])
        for name in sorted((name for name in seen if name and any(seen[name])), key=order)[:SERVICES]
    ]


def _placed(series: Iterable[Series], starts: Sequence[datetime]) -> Counts:
    """Counts by service in the given buckets."""
    out: Counts = {}
    for one in series:
        counts = {bucket.at: float(bucket.count) for bucket in one.buckets}
        out[one.name] = [counts.get(at, 0.0) for at in starts]
    return out


def _read(findings: Findings, starts: Sequence[datetime]) -> Counts:
    """Counts by service of the events that were read."""
    out: Counts = {}
    for event in findings.analysis.window.events:
        if findings.focus and event.service not in findings.focus:
            continue
        place = bisect_right(starts, instant(event.time)) - 1
        if place >= 0:
            out.setdefault(event.service, [0.0] * len(starts))[place] += event.weight
    return out
