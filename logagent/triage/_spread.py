"""Where failures are over-represented: versions, hosts, pods, zones, paths."""

from collections.abc import Sequence

from logagent.diagnosis import BlastRadius, BlastValue
from logagent.fields import ECS
from logagent.logs import Completeness
from logagent.query import All, Node, Not, Phrase, conjunction
from logagent.stores._base import FieldCounts, LogStore
from logagent.triage._findings import Findings

BLAST_ROLES = ("version", "host", "pod", "namespace", "environment", "container", "service", "url")


def count_blast(store: LogStore, findings: Findings) -> list[Completeness]:
    """Which values are over-represented among failing against healthy events of the same stretch: two requests.

    Where a suspect stands out, its own events are compared: its victims would hide on which version or host it fails.
    """
    fields = findings.description.fields
    roles = [role for role in BLAST_ROLES if fields.roles.get(role)]
    names = [*roles, *_more_dimensions(findings)]
    if findings.failing is None or not names:
        return []
    suspect = _suspect(findings)
    seen: list[Completeness] = []
    if suspect and _blast(store, findings, names, Phrase("service", suspect), seen):
        findings.blast_service = suspect
    else:
        _blast(store, findings, names, All(), seen)
    return seen


def _suspect(findings: Findings) -> str:
    """The service that the analysis blames, if it logs under that name."""
    conclusion = findings.conclusion
    name = conclusion.ranking[0].service if conclusion.verdict == "cause" and conclusion.ranking else ""
    known = any(e.record is not None and e.record.service == name for e in findings.analysis.window.events)
    return name if name and known else ""


def _blast(store: LogStore, findings: Findings, names: Sequence[str], within: Node, seen: list[Completeness]) -> bool:
    """Fill `findings.blast` from the events that match `within`; False where none of them fails."""
    scope, bad, failing_node = findings.scope, findings.bad, findings.failing or All()
    failing = store.top_values(scope.query(conjunction(within, failing_node), bad), names, size=12)
    seen.append(failing.completeness)
    if not any(one.values for one in failing.fields):
        return False
    healthy = store.top_values(scope.query(conjunction(within, Not(failing_node)), bad), names, size=50)
    seen.append(healthy.completeness)
    rows = (_blast_row(hit, usual) for hit, usual in zip(failing.fields, healthy.fields, strict=True))
    findings.blast = [row for row in rows if row is not None]
    findings.blast.sort(key=lambda row: -(row.values[0].lift or 0) * (row.values[0].share_in_anomaly or 0))
    return True


def _more_dimensions(findings: Findings) -> list[str]:
    """Plain fields whose name says a zone, region, node or flag: they split traffic and have few values."""
    words = ("zone", "region", "node", "cluster", "tenant", "canary", "flag", "shard", "datacenter", "build")
    taken = {choice.name for choices in findings.description.fields.roles.values() for choice in choices}
    known = findings.description.fields.names
    names = [n for n, kind in known.items() if n not in taken and kind in {"keyword", "boolean", "text"}]
    return [n for n in names if any(word in n.lower().rsplit(".", 2)[-1] for word in words)][:4]


def _blast_row(hit: FieldCounts, usual: FieldCounts) -> BlastRadius | None:
    """Shares of one dimension, or None where it says nothing (one value only, or too many)."""
    bad = sum(v.count for v in hit.values) + hit.other
    good = sum(v.count for v in usual.values) + usual.other
    healthy = {v.value: v.count for v in usual.values}
    if not bad or len({*healthy, *(v.value for v in hit.values)}) <= 1 or hit.other > bad / 2:
        return None
    values = []
    for one in hit.values[:5]:
        share, base = one.count / bad, healthy.get(one.value, 0) / good if good else 0.0
        lift = share / max(base, 0.5 / max(good, 1)) if good else None
        values.append(
            BlastValue(
                value=one.value,
                affected_events=one.count,
                share_in_anomaly=round(share, 4),
                share_in_baseline=round(base, 4) if good else None,
                lift=round(lift, 2) if lift is not None else None,
            )
        )
    whole = bad + hit.missing
    named = {v.value for v in hit.values}
    return BlastRadius(
        dimension=ECS.get(hit.field, hit.field),  # type: ignore[call-overload]
        coverage=round(bad / whole, 3) if whole else None,
        values=values,
        unaffected=[v for v in healthy if v not in named][:6] if not hit.other else [],
    )
