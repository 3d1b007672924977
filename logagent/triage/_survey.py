"""The survey: a fixed number of coarse questions, bad stretch against good, every row an Evidence with its query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from logagent.analysis.facts import Fact
from logagent.analysis.mechanisms import Catalogue
from logagent.analysis.pattern_query import failing_node
from logagent.analysis.sanitise import looks_like_instructions
from logagent.analysis.survey import survey as analyse
from logagent.evidence import EvidenceQuery, Figure, Ledger
from logagent.logs import Severity, TimeWindow, instant, iso
from logagent.query import Exists, Node, Phrase, Scope, conjunction, to_text
from logagent.stores._base import Description, LogStore, Measure
from logagent.triage import _counting as counting
from logagent.triage._baseline import BaselineChoice
from logagent.triage._findings import FAILING, FactRow, Findings, PatternFinding, Symptom, Volume
from logagent.triage._read import Material, read
from logagent.triage._select import select_patterns
from logagent.triage._summary import symptom_of

Report = Callable[[str, str], None]
"""Called at the end of a step with its name and its one-line finding."""
NOISE_RATIO = 1.25
NOISE_LIMIT = 4
EXTRA_LIMIT = 6
LIFT, HALF = 2.0, 0.5
LEAD = timedelta(seconds=10)
"""First trouble is looked for from this long before the onset: background failures of earlier do not count."""
SERVER_ERROR = 500
CALM = frozenset({"TRACE", "DEBUG", "INFO"})


@dataclass(frozen=True, slots=True)
class Run:
    """What a survey needs: the store, what may be looked at, and where evidence is written down."""

    store: LogStore
    scope: Scope
    description: Description
    baseline: BaselineChoice
    catalogue: Catalogue
    ledger: Ledger
    report: Report
    alert: float | None = None
    """Seconds since the epoch of the alert, where one is known."""
    focus: tuple[str, ...] = ()
    """Services asked for."""


def survey(run: Run) -> Findings | None:
    """All that code can say about the window before any model is asked; None where it holds no event.

    At most about 20 requests.
    """
    span = _span(run)
    counted = run.store.count([Measure(run.scope.query(window=span)), Measure(run.scope.query())])
    totals = [value.value if isinstance(value.value, int) else 0 for value in counted.values]
    if not totals[1]:
        return None
    run.report("scope", _scope_line(run.description, totals[1]))
    material = read(run.store, run.scope, span, totals[0], run.catalogue)
    if not material.events:
        return None
    findings = _analyse(run, material, span)
    findings.completeness += [counted.completeness, *material.completeness]
    changed = _patterns(run, findings)
    _failing(run, findings)
    counting.count_volume(run.store, findings)
    run.report("volume", f"{findings.volume.events:,} events, {findings.volume.failing:,} failing")
    counting.count_timeline(run.store, findings)
    run.report("errors", _errors_line(findings))
    run.report("patterns", changed)
    counting.count_blast(run.store, findings)
    _rows(run, findings)
    return findings


def _scope_line(description: Description, events: int) -> str:
    """What was found: format, the fields that play the main roles, number of events."""
    kinds = ", ".join(dict.fromkeys(source.note for source in description.sources[:3] if source.note))
    named = {"time": "timestamp", "level": "severity", "service": "service", "message": "message"}
    fields = description.fields
    chosen = [
        f"{word}={choice.name}" + (f" {fields.coverage(role):.0%}" if fields.coverage(role) < 1 else "")
        for word, role in named.items()
        if (choice := fields.first(role)) is not None
    ]
    return ", ".join(part for part in (kinds, *chosen, f"{events:,} events") if part)


def _span(run: Run) -> TimeWindow:
    """Window plus the baseline range that touches it."""
    window = run.scope.window
    touching = [one for one in run.baseline.ranges if one.end == window.start]
    return TimeWindow(touching[0].start if touching else window.start, window.end)


def _analyse(run: Run, material: Material, span: TimeWindow) -> Findings:
    window = run.scope.window
    asked = (window.start.timestamp(), window.end.timestamp()) if span != window else None
    result = analyse(
        material.events,
        run.catalogue,
        trace_events=material.trace_events,
        alert=run.alert,
        window=asked,
        exact=material.exact,
    )
    bad, good = window, run.baseline.ranges
    onset = result.conclusion.onset
    if run.baseline.method == "before_onset" and onset is not None:
        cut = instant(onset[1])
        if window.start < cut < window.end:
            bad, good = TimeWindow(cut, window.end), (TimeWindow(window.start, cut),)
    findings = Findings(run.scope, run.description, run.baseline, material, result, bad, tuple(good), focus=run.focus)
    levels = run.description.fields.levels
    findings.levels_known = any(levels.get(one) for one in (Severity.WARN, Severity.ERROR, Severity.FATAL))
    findings.suspicious = sum(1 for event in material.events if looks_like_instructions(event.message))
    return findings


def _patterns(run: Run, findings: Findings) -> str:
    """Select and count the telling patterns; what changed, in words."""
    findings.patterns = select_patterns(findings)
    counting.count_patterns(run.store, findings, findings.patterns)
    counting.classify(findings, findings.patterns)
    changed = [p.change for p in findings.patterns]
    words = [f"{changed.count(name)} {name}" for name in ("new", "spiking", "vanished") if name in changed]
    return ", ".join(words) or "none changed"


def _failing(run: Run, findings: Findings) -> None:
    """The query for failing events: by level, status and patterns that fail without saying so, without noise."""
    fields = run.description.fields
    severity = bool(fields.levels.get(Severity.ERROR) or fields.levels.get(Severity.FATAL))
    status = bool(fields.roles.get("status"))
    bad = [p for p in findings.patterns if p.exact and (p.severity >= FAILING or _calmly_broken(p))]
    noise = [p for p in bad if _is_noise(p) and not p.cited][:NOISE_LIMIT]
    hidden = [p for p in bad if p not in noise and not _covered(findings, p, severity=severity, status=status)]
    findings.failing = failing_node(
        severity=severity,
        status=status,
        extra=[p.node for p in hidden[:EXTRA_LIMIT]],
        noise=[p.node for p in noise],
    )
    findings.requests = counting.request_node(findings)


def _calmly_broken(pattern: PatternFinding) -> bool:
    """Says how something broke, at a level that means nothing: a strong cue fails whatever the level (ux.md 3.1)."""
    return pattern.strong and pattern.severity > 0 and pattern.levels in CALM


def _is_noise(pattern: PatternFinding) -> bool:
    """As frequent in the baseline as now."""
    return pattern.baseline_count >= counting.MIN_RECORDS and pattern.count < NOISE_RATIO * max(pattern.expected, 1e-9)


def _covered(findings: Findings, pattern: PatternFinding, *, severity: bool, status: bool) -> bool:
    """Whether level or status already mark its lines as failing."""
    events = findings.analysis.window.events
    sample = next((events[i] for t in pattern.templates for i in findings.analysis.window.by_template[t][:1]), None)
    if sample is None or sample.record is None:
        return False
    record = sample.record
    marked = severity and record.severity is not None and record.severity >= Severity.ERROR
    return marked or (status and record.status is not None and record.status >= SERVER_ERROR)


def _errors_line(findings: Findings) -> str:
    if findings.anomalous_services:
        return "outside the band: " + ", ".join(findings.anomalous_services[:4])
    return "inside the band" if findings.good else "no baseline"


def _rows(run: Run, findings: Findings) -> None:
    """Evidence rows: the share of failing events, then patterns, first sights, facts, blast radius, changes."""
    findings.volume_row = _volume_row(run, findings)
    for pattern in findings.patterns:
        pattern.evidence = _pattern_row(run, findings, pattern)
    _trouble_rows(run, findings)
    _blast_rows(run, findings)
    _change_rows(run, findings)
    for suspect in findings.conclusion.ranking[:5]:
        for fact in suspect.facts[:6]:
            findings.facts.append(FactRow(fact, _fact_row(run, findings, fact)))
    onset = findings.conclusion.onset
    run.report("onset", iso(instant(onset[1])) if onset else "none")
    dimensions = [
        f"{row.dimension} {row.values[0].value}" for row in findings.blast[:2] if (row.values[0].lift or 0) >= LIFT
    ]
    run.report("spread", "only " + ", only ".join(dimensions) if dimensions else "no dimension stands out")


def _query(run: Run, node: Node, window: TimeWindow, figure: Figure) -> EvidenceQuery:
    return EvidenceQuery(to_text(conjunction(run.scope.base, node)), window, figure, run.scope.indices)


def _volume_row(run: Run, findings: Findings) -> str:
    """The ratio of failing events; a plain count where there is no denominator."""
    volume: Volume = findings.volume
    if findings.failing is None:
        row = run.ledger.add(
            "count",
            f"{volume.events} events",
            _query(run, conjunction(), findings.bad, Figure("count")),
            value=volume.events,
            unit="events",
            baseline_value=round(volume.events_before, 1) if findings.good else None,
        )
        return row.id
    focus = findings.focus_node
    whole = conjunction(focus, findings.requests) if findings.requests is not None else focus
    part = conjunction(findings.failing, whole)
    ratio, before = volume.ratio, volume.ratio_before
    count = volume.failing_requests if volume.unit == "requests" else volume.failing
    total = volume.requests if volume.unit == "requests" else volume.events
    row = run.ledger.add(
        "rate",
        f"{count} of {total} {volume.unit} fail",
        _query(run, part, findings.bad, Figure("ratio", of=to_text(conjunction(run.scope.base, whole)))),
        value=ratio,
        unit="ratio",
        baseline_value=before,
    )
    return row.id


def _pattern_row(run: Run, findings: Findings, pattern: PatternFinding) -> str:
    """The count of a pattern; a line of it, where no query finds just its lines."""
    row = run.ledger.add(
        ("absence" if pattern.count == 0 else "count") if pattern.exact else "sample",
        pattern.template,
        _query(run, pattern.node, findings.bad, Figure("count" if pattern.exact else "documents")),
        value=pattern.count,
        unit="lines",
        baseline_value=pattern.baseline_count if findings.good else None,
        samples=(pattern.sample,) if pattern.sample is not None else (),
        service=pattern.service,
        onset=pattern.first,
    )
    return row.id


def _trouble_rows(run: Run, findings: Findings) -> None:
    """First line of the pattern that the leading fact rests on, order of first trouble, share of the symptom."""
    lead = _leading_pattern(findings)
    lead_span = TimeWindow(_span(run).start, findings.bad.end)
    span = _trouble_span(findings)
    suspect = findings.conclusion.ranking[0].service if findings.conclusion.ranking else ""
    symptom = symptom_of(findings, suspect) if findings.anomalous_services else ""
    asked = counting.TroubleQuestion(lead.node if lead else None, lead_span, _troubled(findings), span, symptom)
    trouble = counting.count_trouble(run.store, findings, asked)
    if lead is not None and trouble.lead_first is not None:
        row = run.ledger.add(
            "first_seen",
            lead.template,
            _query(run, lead.node, lead_span, Figure("first", "timestamp")),
            value=iso(trouble.lead_first),
            samples=(lead.sample,) if lead.sample is not None else (),
            service=lead.service,
        )
        findings.onset_row = lead.first_evidence = row.id
    for first, service in trouble.firsts:
        node = conjunction(Phrase("service", service), findings.failing or conjunction())
        query = _query(run, node, span, Figure("first", "timestamp"))
        row = run.ledger.add("sequence", service, query, value=iso(first), service=service)
        findings.first_trouble.append((first, service, row.id))
    _symptom_row(run, findings, symptom, trouble.shares)


def _leading_pattern(findings: Findings) -> PatternFinding | None:
    """The pattern of the leading suspect that tells the onset: new before the rest, strong before weak, early."""
    conclusion = findings.conclusion
    if not conclusion.ranking or conclusion.onset is None:
        return None
    templates = {fact.template for fact in conclusion.ranking[0].facts if fact.template is not None}
    cited = [p for p in findings.patterns if p.exact and templates & set(p.templates) and p.first is not None]
    return min(cited, key=lambda p: (p.change != "new", not p.strong, p.first), default=None)


def _troubled(findings: Findings) -> tuple[str, ...]:
    """Services that fail more than usual, or are suspected."""
    if findings.failing is None or not findings.good:
        return ()
    names = [*findings.anomalous_services, *(s.service for s in findings.conclusion.ranking[:4])]
    known = set(findings.analysis.window.services)
    return tuple(name for name in dict.fromkeys(names) if name in known)[:8]


def _trouble_span(findings: Findings) -> TimeWindow:
    """From shortly before the onset to the end: background failures of earlier do not count."""
    onset = findings.conclusion.onset
    start = max(findings.bad.start, instant(onset[0]) - LEAD) if onset else findings.bad.start
    return TimeWindow(min(start, findings.bad.end), findings.bad.end)


def _symptom_row(run: Run, findings: Findings, service: str, shares: Sequence[int]) -> None:
    """The share of failing requests of the service in which the trouble is seen."""
    if not service or len(shares) <= 1 or not shares[1] or findings.failing is None:
        return
    whole = conjunction(Phrase("service", service), findings.requests or conjunction())
    ratio_of = Figure("ratio", of=to_text(conjunction(run.scope.base, whole)))
    row = run.ledger.add(
        "rate",
        service,
        _query(run, conjunction(whole, findings.failing), findings.bad, ratio_of),
        value=shares[0] / shares[1],
        unit="ratio",
        baseline_value=sum(shares[2::2]) / sum(shares[3::2]) if sum(shares[3::2]) else None,
        service=service,
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
            "distribution",
            f"{radius.dimension} {lead.value}",
            _query(run, node, findings.bad, Figure("ratio", of=of)),
            value=lead.share_in_anomaly,
            unit="ratio",
            baseline_value=lead.share_in_baseline,
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
            "sample",
            change.text,
            _query(run, Phrase("service", change.service), around, Figure("documents")),
            value=1,
            samples=(record,),
            service=change.service,
        )
        findings.change_rows.append(row.id)


def _fact_row(run: Run, findings: Findings, fact: Fact) -> str:
    """The pattern row that shows a fact; else a row of the documents it was read from."""
    templates = _templates_of(fact)
    for pattern in findings.patterns:
        if templates & set(pattern.templates):
            return pattern.evidence
    window = findings.analysis.window
    records = [
        event.record
        for template in sorted(templates)
        for index in window.by_template.get(template, [])[:2]
        if (event := window.events[index]).record is not None
    ]
    if not records:
        return ""
    row = run.ledger.add(
        "sample",
        fact.text[:200],
        _query(run, Phrase("service", fact.service), findings.bad, Figure("documents")),
        value=len(records[:3]),
        samples=tuple(records[:3]),
        service=fact.service,
    )
    return row.id


def _templates_of(fact: Fact) -> set[int]:
    found = {fact.template} if fact.template is not None else set()
    more = fact.figures.get("templates", ())
    if isinstance(more, list | tuple):
        found.update(more)
    for key in ("a", "b"):
        if isinstance(value := fact.figures.get(key), int):
            found.add(value)
    return found
