"""The survey: a fixed number of coarse questions, bad stretch against good, every row an Evidence with its query."""

from collections.abc import Sequence

from logagent.analysis.captures import Capture
from logagent.analysis.pattern_query import failing_node
from logagent.analysis.sanitise import looks_like_instructions
from logagent.analysis.survey import survey as analyse
from logagent.logs import Severity, TimeWindow, instant
from logagent.stores._base import Description, Measure
from logagent.triage import _counting as counting
from logagent.triage._exclusive import keep_apart
from logagent.triage._findings import FAILING, Findings, PatternFinding
from logagent.triage._longer import calm_part, is_longer, lengthened, look_back
from logagent.triage._read import Material, read
from logagent.triage._rows import write_rows
from logagent.triage._run import Run
from logagent.triage._select import select_patterns
from logagent.triage._standing import standing

NOISE_RATIO = 1.25
NOISE_LIMIT = 4
EXTRA_LIMIT = 6
SERVER_ERROR = 500
CALM = frozenset({"TRACE", "DEBUG", "INFO"})


def survey(run: Run) -> Findings | None:
    """All that code can say about the window before any model is asked; None where it holds no event.

    At most about 20 requests.
    """
    look = look_back(run)
    asked = [Measure(run.scope.query(window=run.span)), Measure(run.scope.query()), *look.measures]
    counted = run.store.count(asked)
    totals = [value.value if isinstance(value.value, int) else 0 for value in counted.values]
    if not totals[1]:
        return None
    run.report("scope", _scope_line(run.description, totals[1]))
    total = totals[0]
    if (longer := look.choose(totals[2:], total)) is not None:
        run, total = lengthened(run, longer[0]), longer[1]
    span = run.span
    material = read(run.store, run.scope, span, total, run.catalogue)
    if not material.events:
        return None
    findings = _analyse(run, material, span)
    findings.completeness += [counted.completeness, *material.completeness]
    changed = _patterns(run, findings)
    _failing(run, findings)
    counting.count_impact(run.store, findings)
    run.report("volume", f"{findings.volume.events:,} events, {findings.volume.failing:,} failing")
    run.report("errors", _errors_line(findings))
    run.report("patterns", changed)
    write_rows(run, findings)
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
    if is_longer(run.baseline):
        good = (calm_part(window, good[0], onset),)
    elif run.baseline.method == "before_onset" and onset is not None:
        cut = instant(onset[1])
        if window.start < cut < window.end:
            bad, good = TimeWindow(cut, window.end), (TimeWindow(window.start, cut),)
    good = _comparable(result.captures, bad, good)
    findings = Findings(run.scope, run.description, run.baseline, material, result, bad, tuple(good), focus=run.focus)
    levels = run.description.fields.levels
    findings.levels_known = any(levels.get(one) for one in (Severity.WARN, Severity.ERROR, Severity.FATAL))
    findings.suspicious = sum(1 for event in material.events if looks_like_instructions(event.message))
    return findings


def _comparable(captures: Sequence[Capture], bad: TimeWindow, good: Sequence[TimeWindow]) -> tuple[TimeWindow, ...]:
    """The good stretches as far as they lie in a capture that also has lines in the bad one."""
    start, end = bad.start.timestamp(), bad.end.timestamp()
    shared = [one for one in captures if one.overlaps(start, end)]
    if len(shared) == len(captures):
        return tuple(good)
    cut = [
        TimeWindow(max(one.start, instant(part.start)), min(one.end, instant(part.end)))
        for one in good
        for part in shared
        if part.overlaps(one.start.timestamp(), one.end.timestamp())
    ]
    return tuple(one for one in cut if one.start < one.end)


def _patterns(run: Run, findings: Findings) -> str:
    """Select and count the telling patterns; what changed, in words."""
    findings.patterns = select_patterns(findings)
    keep_apart(findings, findings.patterns)
    counting.count_patterns(run.store, findings, findings.patterns)
    counting.classify(findings, findings.patterns)
    changed = [p.change for p in findings.patterns]
    words = [f"{changed.count(name)} {name}" for name in ("new", "spiking", "vanished") if name in changed]
    return ", ".join(words) or "none changed"


def _failing(run: Run, findings: Findings) -> None:
    """The query for failing events: by level, status and patterns that fail without saying so; and without noise."""
    fields = run.description.fields
    severity = bool(fields.levels.get(Severity.ERROR) or fields.levels.get(Severity.FATAL))
    status = bool(fields.roles.get("status"))
    bad = [p for p in findings.patterns if p.exact and (p.severity >= FAILING or _calmly_broken(p))]
    noise = [p for p in bad if _is_noise(p) and not p.cited][:NOISE_LIMIT]
    hidden = [p for p in bad if p not in noise and not _covered(findings, p, severity=severity, status=status)]
    extra = [p.node for p in hidden[:EXTRA_LIMIT]]
    findings.fresh = failing_node(severity=severity, status=status, extra=extra, noise=[p.node for p in noise])
    extra += [p.node for p in noise if not _covered(findings, p, severity=severity, status=status)]
    findings.failing = failing_node(severity=severity, status=status, extra=extra)
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
    share = f"{findings.volume.ratio or 0.0:.1%} of {findings.volume.unit} fail"
    if not findings.good:
        return f"{share}, no baseline"
    return {"chronic": f"{share}, as before", "over": "fewer than before"}.get(standing(findings), "inside the band")
