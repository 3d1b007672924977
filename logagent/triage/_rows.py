"""The evidence rows of a survey: each a figure with the query that gives it again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from logagent.analysis.facts import Fact
from logagent.analysis.figures import seen
from logagent.evidence import Claim, Figure
from logagent.logs import TimeWindow, instant, iso
from logagent.query import Exists, Phrase, conjunction, to_text
from logagent.stores._base import Measure
from logagent.triage import _counting as counting
from logagent.triage._deployment import find_deployment
from logagent.triage._fact_rows import fact_questions, pattern_of, write_fact_rows
from logagent.triage._findings import Findings, PatternFinding, Symptom, Volume
from logagent.triage._hypotheses import CLAIMABLE
from logagent.triage._longer import is_longer
from logagent.triage._run import Run
from logagent.triage._summary import symptom_of

LIFT, HALF = 2.0, 0.5
_SLOW = frozenset({"slow", "slow_shift", "slow_endpoint", "slow_peer", "slow_hint", "slow_number"})
_TROUBLE = (CLAIMABLE - _SLOW) | {"relay", "stops", "silent"}
LEAD = timedelta(seconds=10)
"""First trouble is looked for from this long before the onset: background failures of earlier do not count."""


def write_rows(run: Run, findings: Findings) -> None:
    """Evidence rows: the share of failing events, then patterns, first sights, facts, blast radius, changes."""
    findings.volume_row = _volume_row(run, findings)
    for pattern in findings.patterns:
        pattern.evidence = _pattern_row(run, findings, pattern)
    questions = fact_questions(run, findings)
    trouble = _trouble_rows(run, findings, [measure for one in questions for measure in one.measures])
    _blast_rows(run, findings)
    _change_rows(run, findings)
    _deployment_row(run, findings)
    write_fact_rows(run, findings, questions, trouble.more)
    findings.onset_row = findings.onset_row or _slow_row(findings)
    onset = findings.conclusion.onset
    run.report("onset", iso(instant(onset[1])) if onset else "none")
    dimensions = [
        f"{row.dimension} {row.values[0].value}" for row in findings.blast[:2] if (row.values[0].lift or 0) >= LIFT
    ]
    run.report("spread", "only " + ", only ".join(dimensions) if dimensions else "no dimension stands out")


def _volume_row(run: Run, findings: Findings) -> str:
    """The ratio of failing events; a plain count where there is no denominator."""
    volume: Volume = findings.volume
    if findings.failing is None:
        row = run.ledger.add(
            Claim(
                "count",
                f"{volume.events} events",
                run.query(conjunction(), findings.bad, Figure("count")),
                value=volume.events,
                unit="events",
                baseline_value=round(volume.events_before, 1) if findings.good else None,
            )
        )
        return row.id
    focus = findings.focus_node
    whole = conjunction(focus, findings.requests) if findings.requests is not None else focus
    part = conjunction(findings.failing, whole)
    ratio, before = volume.ratio, volume.ratio_before
    count = volume.failing_requests if volume.unit == "requests" else volume.failing
    total = volume.requests if volume.unit == "requests" else volume.events
    row = run.ledger.add(
        Claim(
            "rate",
            f"{count} of {total} {volume.unit} fail",
            run.query(part, findings.bad, Figure("ratio", of=to_text(conjunction(run.scope.base, whole)))),
            value=ratio,
            unit="ratio",
            baseline_value=before,
        )
    )
    return row.id


def _pattern_row(run: Run, findings: Findings, pattern: PatternFinding) -> str:
    """The count of a pattern; a line of it, where no query finds just its lines."""
    row = run.ledger.add(
        Claim(
            ("absence" if pattern.count == 0 else "count") if pattern.exact else "sample",
            pattern.template,
            run.query(pattern.node, findings.bad, Figure("count" if pattern.exact else "documents")),
            value=pattern.count,
            unit="lines",
            baseline_value=pattern.baseline_count if findings.good else None,
            samples=(pattern.sample,) if pattern.sample is not None else (),
            service=pattern.service,
            onset=pattern.first,
        )
    )
    return row.id


def _slow_row(findings: Findings) -> str:
    """The row whose lines show the first slow step, where a slow step dates the onset."""
    ranking = findings.conclusion.ranking
    slow = [fact for fact in ranking[0].facts if seen(fact) and fact.onset] if ranking else []
    return findings.row_of(slow[0]) if slow and slow[0].onset == findings.conclusion.onset else ""


def _trouble_rows(run: Run, findings: Findings, more: list[Measure]) -> counting.Trouble:
    """First line of the pattern that the leading fact rests on, order of first trouble, share of the symptom.

    `more` is asked in the same request.
    """
    lead = _leading_pattern(findings)
    lead_span = TimeWindow(run.span.start, findings.bad.end)
    span = _trouble_span(findings)
    suspect = findings.conclusion.ranking[0].service if findings.conclusion.ranking else ""
    symptom = symptom_of(findings, suspect) if findings.anomalous_services else ""
    asked = counting.TroubleQuestion(lead.node if lead else None, lead_span, _troubled(findings), span, symptom, more)
    trouble = counting.count_trouble(run.store, findings, asked)
    if lead is not None and trouble.lead_first is not None:
        row = run.ledger.add(
            Claim(
                "first_seen",
                lead.template,
                run.query(lead.node, lead_span, Figure("first", "timestamp")),
                value=iso(trouble.lead_first),
                samples=(lead.sample,) if lead.sample is not None else (),
                service=lead.service,
            )
        )
        findings.onset_row = row.id
    for first, service in trouble.firsts:
        node = conjunction(Phrase("service", service), findings.fresh or conjunction())
        query = run.query(node, span, Figure("first", "timestamp"))
        row = run.ledger.add(Claim("sequence", service, query, value=iso(first), service=service))
        findings.first_trouble.append((first, service, row.id))
    _symptom_row(run, findings, symptom, trouble.shares)
    return trouble


def _leading_pattern(findings: Findings) -> PatternFinding | None:
    """The pattern of the leading suspect that tells the onset: new before the rest, strong before weak, early."""
    conclusion = findings.conclusion
    if not conclusion.ranking or conclusion.onset is None:
        return None
    templates = {fact.template for fact in conclusion.ranking[0].facts if fact.template is not None}
    cited = [p for p in findings.patterns if p.exact and templates & set(p.templates) and p.first is not None]
    return min(cited, key=lambda p: (p.change != "new", not p.strong, p.first), default=None)


def _troubled(findings: Findings) -> tuple[str, ...]:
    """Services that fail more than usual, or of which a fact says that something broke; what is slow fails nothing."""
    if findings.failing is None or not findings.good:
        return ()
    ranked = (s.service for s in findings.conclusion.ranking[:4] if any(_breaks(findings, f) for f in s.facts))
    names = [*findings.anomalous_services, *ranked]
    known = set(findings.analysis.window.services)
    return tuple(name for name in dict.fromkeys(names) if name in known)[:8]


def _breaks(findings: Findings, fact: Fact) -> bool:
    """Whether a fact tells of failures that were not there all the time."""
    if fact.kind in _TROUBLE:
        return True
    pattern = pattern_of(findings, fact) if fact.kind not in _SLOW else None
    return pattern is not None and pattern.change in {"new", "spiking", "rising"}


def _trouble_span(findings: Findings) -> TimeWindow:
    """From shortly before the onset to the end: background failures of earlier do not count."""
    onset = findings.conclusion.onset
    start = max(findings.bad.start, instant(onset[0]) - LEAD) if onset else findings.bad.start
    if onset and is_longer(findings.baseline):
        start = max(findings.baseline.ranges[0].start, instant(onset[0]) - LEAD)
    return TimeWindow(min(start, findings.bad.end), findings.bad.end)


def _symptom_row(run: Run, findings: Findings, service: str, shares: Sequence[int]) -> None:
    """The share of failing requests of the service in which the trouble is seen."""
    if not service or len(shares) <= 1 or not shares[1] or findings.failing is None:
        return
    whole = conjunction(Phrase("service", service), findings.requests or conjunction())
    ratio_of = Figure("ratio", of=to_text(conjunction(run.scope.base, whole)))
    row = run.ledger.add(
        Claim(
            "rate",
            service,
            run.query(conjunction(whole, findings.failing), findings.bad, ratio_of),
            value=shares[0] / shares[1],
            unit="ratio",
            baseline_value=sum(shares[2::2]) / sum(shares[3::2]) if sum(shares[3::2]) else None,
            service=service,
        )
    )
    findings.symptom = Symptom(service, shares[0], shares[1], sum(shares[2::2]), sum(shares[3::2]), row.id)


def _blast_rows(run: Run, findings: Findings) -> None:
    """The share of the leading value of each telling dimension."""
    failing = findings.failing
    if failing is None:
        return
    if findings.blast_service:
        failing = conjunction(Phrase("service", findings.blast_service), failing)
    for radius in findings.blast:
        lead = radius.values[0]
        if (lead.lift or 0) < LIFT or (lead.share_in_anomaly or 0) < HALF:
            continue
        node = conjunction(failing, Phrase(radius.dimension, lead.value))
        exists = conjunction(failing, Exists(radius.dimension))
        of = to_text(conjunction(run.scope.base, exists))
        row = run.ledger.add(
            Claim(
                "distribution",
                f"{radius.dimension} {lead.value}",
                run.query(node, findings.bad, Figure("ratio", of=of)),
                value=lead.share_in_anomaly,
                unit="ratio",
                baseline_value=lead.share_in_baseline,
            )
        )
        findings.blast_rows[radius.dimension] = row.id


def _change_rows(run: Run, findings: Findings) -> None:
    """Change lines near the onset, each a document."""
    for change in findings.conclusion.changes:
        record = change.event.record if change.event is not None else None
        if record is None or record.timestamp is None:
            findings.change_rows.append("")
            continue
        around = TimeWindow(record.timestamp, record.timestamp + timedelta(seconds=1))
        row = run.ledger.add(
            Claim(
                "sample",
                change.text,
                run.query(Phrase("service", change.service), around, Figure("documents")),
                value=1,
                samples=(record,),
                service=change.service,
            )
        )
        findings.change_rows.append(row.id)


def _deployment_row(run: Run, findings: Findings) -> None:
    """The first line of a new version of the suspect, asked for by a query."""
    found = find_deployment(findings)
    if found is None:
        return
    node = conjunction(Phrase("service", found.service), Phrase("version", found.version))
    span = TimeWindow(run.span.start, findings.bad.end)
    row = run.ledger.add(
        Claim(
            "first_seen",
            f"{found.service} {found.version}",
            run.query(node, span, Figure("first", "timestamp")),
            value=iso(found.at),
            service=found.service,
        )
    )
    findings.deployment = replace(found, row=row.id)
