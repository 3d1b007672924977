"""The Diagnosis from what was found and judged; every list in it cites evidence that was asked again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from logagent.diagnosis import (
    Baseline,
    BlastRadius,
    Caveat,
    ChangeEvent,
    Check,
    Confidence,
    Diagnosis,
    Hypothesis,
    ImpactMeasure,
    NextStep,
    Onset,
    OutcomeName,
    Pattern,
    Request,
    Severity,
    Span,
    Status,
    Summary,
    Timeline,
    TimelineEvent,
    ToolInfo,
    Usage,
    Window,
)
from logagent.evidence import Ledger
from logagent.logs import instant, iso
from logagent.triage._checks import checks_of
from logagent.triage._findings import Findings, PatternFinding
from logagent.triage._hypotheses import Words, suspect_of
from logagent.triage._latency import slowness
from logagent.triage._quality import data_quality
from logagent.triage._standing import standing
from logagent.triage._statements import Clean, evidence_out
from logagent.verify import Judgement

PATTERNS = 20
OPENS = 0.05
"""Share of what was looked at, from its start, in which a beginning is none."""
LABEL = 160
CITED = 6.0
"""Priority from which a pattern is the ground of a fact."""


@dataclass(slots=True)
class Frame:
    """What the run knows besides the findings."""

    id: str
    created_at: datetime
    tool: ToolInfo
    language: str
    request: Request
    now_from: str
    usage: Usage
    trimmed_seconds: float = 0.0
    caveats: list[Caveat] = field(default_factory=list)
    redactions: int = 0
    severity: Severity | None = None


@dataclass(slots=True)
class Story:
    """Words and choices that stand in the diagnosis, by rule or by the model."""

    summary: Summary
    hypotheses: list[Hypothesis]
    next_steps: list[NextStep]
    open_questions: list[str]
    cited: list[str] = field(default_factory=list)


def assemble(
    frame: Frame, findings: Findings, ledger: Ledger, judgement: Judgement, story: Story, say: tuple[Words, Clean]
) -> Diagnosis:
    """One Diagnosis. Evidence is listed only where something cites it."""
    words, clean = say
    patterns = [pattern_out(findings, one, clean) for one in shown_patterns(findings)]
    checks = checks_of(findings, words)
    onset = _onset(findings, words, judgement.outcome)
    changes = _changes(findings, words, clean)
    used = _used(findings, story, patterns, checks, changes)
    return Diagnosis(
        id=frame.id,
        created_at=iso(frame.created_at),
        tool=frame.tool,
        language=frame.language,
        request=frame.request,
        window=_window(frame, findings, words),
        outcome=judgement.outcome,
        status=_status(findings, judgement.outcome),
        severity=frame.severity,
        confidence=confidence(judgement, story, words),
        summary=story.summary,
        onset=onset,
        impact=_impact(findings, judgement.outcome, story),
        timeline=_timeline(findings, onset, changes),
        patterns=patterns,
        blast_radius=_blast(findings, clean),
        changes=changes,
        evidence=evidence_out(ledger, used, findings, words, clean),
        hypotheses=story.hypotheses,
        checks=checks,
        next_steps=story.next_steps,
        open_questions=story.open_questions,
        data_quality=data_quality(findings, words, clean, caveats=frame.caveats, redactions=frame.redactions),
        usage=frame.usage,
    )


def _window(frame: Frame, findings: Findings, words: Words) -> Window:
    scope, baseline = findings.scope, findings.baseline
    undivided = baseline.method == "before_onset" and not findings.good
    return Window(
        from_=iso(scope.window.start),
        to=iso(scope.window.end),
        display_time_zone=words.zone,
        now=iso(scope.now),
        now_from="clock" if frame.now_from == "clock" else "newest_event",
        trimmed_seconds=frame.trimmed_seconds or None,
        baseline=Baseline(
            method=baseline.method,
            ranges=[Span(from_=iso(one.start), to=iso(one.end)) for one in findings.good],
            reason=words.say(f"baseline.{'no_onset' if undivided else baseline.reason}"),
        ),
    )


def _status(findings: Findings, outcome: OutcomeName) -> Status:
    if outcome == "no_anomaly" and standing(findings) == "over":
        return "recovered"
    return "unknown" if outcome in {"no_anomaly", "insufficient_data"} else findings.conclusion.status


def confidence(judgement: Judgement, story: Story, words: Words) -> Confidence:
    """The level that code set, with its reasons in words."""
    leading = next((one for one in story.hypotheses if one.state == "leading"), None)
    rows = {
        "mechanism_line": leading.mechanism_lines if leading else [],
        "second_row": leading.discriminating if leading else [],
        "contradicted": leading.contradicting if leading else [],
    }
    reasons = [words.say(f"reason.{key}", rows=" ".join(rows.get(key, [])[:3])) for key in judgement.reasons]
    return Confidence(level=judgement.level, reasons=reasons, capped_by=judgement.capped_by)


def _onset(findings: Findings, words: Words, outcome: OutcomeName) -> Onset | None:
    """Since when; a trouble that is already there where the lookback begins has no known beginning."""
    conclusion, volume = findings.conclusion, findings.volume
    quiet = outcome == "no_anomaly"
    if quiet and standing(findings) == "over" and volume.last_before is not None:
        start = iso(findings.good[0].start)
        return Onset(started_at=start, certainty="unknown", ended_at=iso(volume.last_before))
    if not quiet and _older_than_looked(findings):
        edge, method = iso(lookback(findings)), words.say("method.lookback")
        rows = [findings.onset_row] if findings.onset_row else []
        return Onset(started_at=edge, latest=edge, certainty="before_window", method=method, evidence=rows)
    if conclusion.onset is None:
        return None
    good, bad = instant(conclusion.onset[0]), instant(conclusion.onset[1])
    method = "open" if conclusion.onset_kind == "before_window" else "change_point"
    return Onset(
        started_at=iso(bad),
        earliest=iso(min(good, bad)),
        latest=iso(bad),
        certainty=conclusion.onset_kind,
        method=words.say(f"method.{method}"),
        ended_at=iso(instant(conclusion.ended)) if conclusion.ended else None,
        evidence=[findings.onset_row] if findings.onset_row else [],
    )


def lookback(findings: Findings) -> datetime:
    """The first instant that was looked at."""
    touching = [one.start for one in findings.baseline.ranges if one.end == findings.scope.window.start]
    return min([findings.bad.start, *touching])


def _older_than_looked(findings: Findings) -> bool:
    """Whether as much failed before the window, and no beginning is seen after that of the lookback."""
    if standing(findings) != "chronic":
        return False
    onset = findings.conclusion.onset
    start = lookback(findings)
    return onset is None or instant(onset[1]) - start <= OPENS * (findings.bad.end - start)


def _impact(findings: Findings, outcome: OutcomeName, story: Story) -> dict[str, ImpactMeasure]:
    volume, row = findings.volume, [findings.volume_row] if findings.volume_row else []
    before = bool(findings.good)
    out = {
        "events": ImpactMeasure(
            value=volume.failing,
            baseline=round(volume.failing_before, 1) if before else None,
            unit="failing events",
            evidence=row,
        )
    }
    if volume.steady:
        out["steady_events"] = ImpactMeasure(value=volume.steady, unit="failing events, as frequent in the baseline")
    if volume.ratio is not None and findings.failing is not None:
        out.update(_shares(findings, row))
    out["services"] = ImpactMeasure(value=volume.services_failing, unit=f"of {volume.services} services")
    if volume.hosts_failing is not None:
        out["hosts"] = ImpactMeasure(value=volume.hosts_failing, unit=f"of {volume.hosts} hosts", field="host.name")
    if volume.users_failing is not None:
        out["users"] = ImpactMeasure(value=volume.users_failing, unit="users", approximate=True, field="user.id")
    else:
        out["users"] = ImpactMeasure(value=None, reason_missing="no user.id field")
    return out if outcome == "no_anomaly" else out | _slow_calls(findings, story)


def _slow_calls(findings: Findings, story: Story) -> dict[str, ImpactMeasure]:
    """How slow, and how many calls, where that is what the leading hypothesis is about."""
    service = story.hypotheses[0].entity.get("service.name", "") if story.hypotheses else ""
    slow = slowness(findings, suspect_of(findings, service))
    if slow is None:
        return {}
    row = [slow.row] if slow.row else []
    before = round(slow.before, 6) if slow.before is not None else None
    out = {"latency": ImpactMeasure(value=round(slow.now, 6), baseline=before, unit="s", field=slow.name, evidence=row)}
    if slow.calls:
        unit = f"of {slow.calls} sampled calls" if slow.sampled else f"of {slow.calls} calls"
        out["slow_calls"] = ImpactMeasure(value=slow.slow, unit=unit, approximate=slow.sampled, evidence=row)
    return out


def _shares(findings: Findings, row: list[str]) -> dict[str, ImpactMeasure]:
    """Share of failing requests: of the service in which the trouble is seen, else of all that were looked at."""
    volume, symptom, compared = findings.volume, findings.symptom, bool(findings.good)
    ratio, before, whole = volume.ratio, volume.ratio_before, volume.requests
    unit, whole_before = f"of {volume.unit}", round(volume.requests_before, 1) if compared else None
    if symptom is not None:
        ratio, before, whole = symptom.ratio, symptom.ratio_before, symptom.whole
        unit, row, whole_before = f"of requests of {symptom.service}", [symptom.row], symptom.whole_before
    rounded = round(ratio or 0.0, 6)
    was = round(before, 6) if compared and before is not None else None
    out = {"error_ratio": ImpactMeasure(value=rounded, baseline=was, unit=unit, evidence=row)}
    if volume.unit == "requests":
        out["requests"] = ImpactMeasure(value=whole, baseline=whole_before, unit="requests", evidence=row)
    return out


def _timeline(findings: Findings, onset: Onset | None, changes: Sequence[ChangeEvent]) -> Timeline | None:
    line = findings.timeline
    if line is None:
        return None
    marks = [TimelineEvent(at=c.at, kind="change", label=c.label, evidence=c.evidence) for c in changes]
    if onset is not None:
        if onset.earliest:  # the edge of what was looked at is no beginning
            marks.append(TimelineEvent(at=onset.started_at, kind="onset", label="onset", evidence=onset.evidence))
        if onset.ended_at:
            marks.append(TimelineEvent(at=onset.ended_at, kind="recovery", label="recovery"))
    line.events = sorted(marks, key=lambda mark: mark.at)
    return line


def shown_patterns(findings: Findings) -> list[PatternFinding]:
    """The patterns of the report: changed ones first, in order of how telling they are."""
    return in_order(findings)[:PATTERNS]


def in_order(findings: Findings) -> list[PatternFinding]:
    """All patterns that have a line, in the order of `shown_patterns`."""
    order = {"new": 0, "spiking": 0, "vanished": 0, "rising": 1, "falling": 2, "steady": 3}
    kept = [p for p in findings.patterns if p.count or p.baseline_count]
    return sorted(kept, key=lambda p: (-(p.priority >= CITED), order[p.change], -p.priority))


def pattern_out(findings: Findings, found: PatternFinding, clean: Clean) -> Pattern:
    """A pattern as the diagnosis states it."""
    compared, since = bool(findings.good), found.since or found.first
    ratio = round(found.count / found.expected, 3) if compared and found.expected else None
    return Pattern(
        id=found.id,
        template=clean(found.template),
        change=found.change,
        count=found.count,
        baseline_count=round(found.expected, 3) if compared else None,
        ratio=ratio,
        first_seen=iso(since) if since else None,
        first_seen_is_lower_bound=True if since and not compared else None,
        last_seen=iso(found.last) if found.last else None,
        fields={"service.name": list(found.services)[:8], "log.level": list(found.every_level)},
        sparkline=_sparkline(findings, found),
        evidence=[found.evidence] if found.evidence else [],
    )


def _sparkline(findings: Findings, found: PatternFinding, buckets: int = 30) -> list[float]:
    """Counts over the analysed span, from the events that were read."""
    window = findings.analysis.window
    counts = [0.0] * buckets
    for template in found.templates:
        for index in window.by_template[template]:
            event = window.events[index]
            place = int((event.time - window.start) / window.length * buckets)
            counts[max(0, min(buckets - 1, place))] += event.weight
    return [round(count, 1) for count in counts]


def _blast(findings: Findings, clean: Clean) -> list[BlastRadius]:
    """Values are text of logs: a tenant may be an e-mail address."""
    return [
        one.model_copy(
            update={
                "values": [value.model_copy(update={"value": clean(value.value)}) for value in one.values],
                "unaffected": [clean(value) for value in one.unaffected],
            }
        )
        for one in findings.blast[:8]
    ]


def _changes(findings: Findings, words: Words, clean: Clean) -> list[ChangeEvent]:
    """A new version first, then one entry for each kind of change of a service: its earliest line."""
    onset = findings.conclusion.onset
    out = []
    deployed = findings.deployment
    if deployed is not None and onset is not None:
        values = {"service": deployed.service, "version": deployed.version, "before": deployed.before}
        label = clean(words.say("change.deployment", **values))
        ahead = round(onset[1] - deployed.at.timestamp(), 3)
        rows = [deployed.row] if deployed.row else []
        out.append(
            ChangeEvent(kind="deployment", at=iso(deployed.at), seconds_before_onset=ahead, label=label, evidence=rows)
        )
    found = zip(findings.conclusion.changes, findings.change_rows, strict=False)
    seen: set[tuple[str, str]] = set()
    for change, row in sorted(found, key=lambda pair: -pair[0].seconds_before):
        if (change.service, change.kind) in seen:
            continue
        seen.add((change.service, change.kind))
        at = instant(change.event.time if change.event else (onset[1] if onset else 0) - change.seconds_before)
        out.append(
            ChangeEvent(
                kind=change.kind,
                at=iso(at),
                seconds_before_onset=round(change.seconds_before, 3),
                label=clean(f"{change.service}: {change.text}")[:LABEL],
                evidence=[row] if row else [],
            )
        )
    return out


def _used(
    findings: Findings,
    story: Story,
    patterns: Sequence[Pattern],
    checks: Sequence[Check],
    changes: Sequence[ChangeEvent],
) -> list[str]:
    """Every id that stands somewhere in the diagnosis."""
    ids = [
        findings.volume_row,
        findings.symptom.row if findings.symptom else "",
        findings.onset_row,
        *findings.blast_rows.values(),
        *story.cited,
    ]
    ids += [row for _, _, row in findings.first_trouble]
    for hypothesis in story.hypotheses:
        ids += [
            *hypothesis.supporting,
            *hypothesis.contradicting,
            *hypothesis.discriminating,
            *hypothesis.mechanism_lines,
        ]
    for rows in ([p.evidence for p in patterns], [c.evidence for c in checks], [c.evidence for c in changes]):
        ids += [one for row in rows for one in row]
    return [one for one in dict.fromkeys(ids) if one]
