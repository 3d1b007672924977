"""The sentences that all formats share: what, since, cause, next, data. A reader who knows one format knows all."""

from datetime import UTC

from logagent.diagnosis import (
    Check,
    CheckResult,
    Diagnosis,
    Hypothesis,
    ImpactMeasure,
    NextStep,
    Pattern,
    Span,
)
from logagent.expressions import expression
from logagent.report._style import Style, Tone
from logagent.report._text import cited, clean, kilo, number, percent, rounded, seconds
from logagent.times import delay

Cited = tuple[str, list[str]]
"""A sentence and the evidence ids that it rests on."""
TONES: dict[str, Tone] = {"ongoing": "bad", "intermittent": "bad", "recovering": "warn", "recovered": "good"}
CHECKS: tuple[tuple[str, CheckResult], ...] = (
    ("clear", "no_signal"),
    ("not_possible", "not_possible"),
    ("skipped", "skipped"),
)
"""Label and result of the groups of checks that a report lists."""
_LEAST_LIFT = 1.5
_SAME_RATIO = 0.001
_SHORT = {
    "service.name": "service",
    "service.version": "version",
    "service.environment": "environment",
    "host.name": "host",
    "cloud.availability_zone": "zone",
    "cloud.region": "region",
    "kubernetes.pod.name": "pod",
    "kubernetes.namespace": "namespace",
    "k8s.pod.name": "pod",
    "k8s.namespace.name": "namespace",
    "http.response.status_code": "status",
}
"""What an engineer calls a dimension; the queries keep the field's own name."""


def status(diagnosis: Diagnosis, style: Style) -> tuple[str, Tone]:
    """The first word of the report and its tone."""
    if diagnosis.outcome == "no_anomaly":
        return style.say("status.recovered" if diagnosis.status == "recovered" else "status.no_anomaly"), "good"
    if diagnosis.outcome == "insufficient_data":
        return style.say("status.insufficient_data"), "warn"
    return style.say(f"status.{diagnosis.status}"), TONES.get(diagnosis.status, "warn")


def banners(diagnosis: Diagnosis, style: Style) -> list[str]:
    """What a reader must know before the headline: replayed or partial data, warnings of the run."""
    found = []
    if diagnosis.tool.mode == "replay":
        found.append(style.say("banner.demo_model" if diagnosis.usage.llm else "banner.demo"))
    if not diagnosis.data_quality.complete:
        found.append(style.say("banner.partial", why=_why_partial(diagnosis, style)))
    loud = [one for one in diagnosis.data_quality.caveats if one.severity == "critical"]
    return [*found, *(f"{clean(one.code)}  {clean(one.text)}" for one in loud)]


_UNTIMED = ("untimed", "untimed_in")
"""Caveats that say why data are partial."""


def _why_partial(diagnosis: Diagnosis, style: Style) -> str:
    quality = diagnosis.data_quality
    if quality.shards and quality.shards.failed:
        return style.say("banner.partial_shards", failed=quality.shards.failed, total=quality.shards.total)
    if quality.timed_out:
        return style.say("banner.partial_timeout")
    untimed = [one for one in quality.caveats if one.code in _UNTIMED and one.severity == "warning"]
    if untimed:
        return clean(untimed[0].text)
    return style.say("banner.partial_clusters" if quality.clusters else "banner.partial_other")


def day(diagnosis: Diagnosis, style: Style) -> str:
    """`2026-11-24 ` where the window lies on another day than the report, else ""."""
    end = style.local(diagnosis.window.to)
    return "" if end.date() == style.local(diagnosis.created_at).date() else f"{end:%Y-%m-%d} "


def span(diagnosis: Diagnosis, style: Style) -> str:
    """The window in local time with date and offset: `2026-11-24 14:01 to 14:31 +08:00`."""
    start, end = style.local(diagnosis.window.from_), style.local(diagnosis.window.to)
    offset = style.offset(diagnosis.window.to)
    if start.date() != end.date():
        return f"{style.say('timeline.span', start=f'{start:%Y-%m-%d %H:%M}', end=f'{end:%Y-%m-%d %H:%M}')} {offset}"
    text = style.say("timeline.span", start=f"{start:%H:%M}", end=f"{end:%H:%M}")
    return f"{day(diagnosis, style)}{text} {offset}"


# -- what ------------------------------------------------------------------------------------------------------------


def impact(diagnosis: Diagnosis, style: Style) -> list[Cited]:
    """How bad, with denominators: the failing share first, then who.

    Where nothing fails it is what the leading explanation rests on (a service that fell silent), and the summary.
    """
    measures = diagnosis.impact or {}
    first = _failing(measures, style)
    if (slow := _slow(measures, style)) is not None:
        return [slow, first] if first is not None and _any_failing(measures) else [slow]
    if first is None or not _any_failing(measures):
        return _seen(diagnosis)
    parts, ids = [], []
    for key in ("users", "services", "hosts"):
        measure = measures.get(key)
        if measure is not None and measure.value:
            parts.append(_who(key, measure, style))
            ids += measure.evidence
    if only := _only(diagnosis, style):
        parts.append(only)
    second = [(style.semicolon(*parts), list(dict.fromkeys(ids)))] if parts else []
    return [first, *second]


def _seen(diagnosis: Diagnosis) -> list[Cited]:
    """The first row that the leading explanation rests on, then what the summary says besides."""
    first = min(diagnosis.hypotheses, key=lambda one: one.rank, default=None)
    is_anomaly = diagnosis.outcome not in {"no_anomaly", "insufficient_data"}
    wanted = first.supporting[:1] if first is not None and is_anomaly else []
    rows = [(clean(one.statement), [one.id]) for one in diagnosis.evidence if one.id in wanted]
    said = [cited(part) for part in _SENTENCE.findall(clean(diagnosis.summary.what_is_happening))]
    rest = [(text, ids) for text, ids in said if text and not set(ids) & set(wanted)]
    merged = (" ".join(text for text, _ in rest), [one for _, ids in rest for one in ids])
    return [*rows, merged] if merged[0] else rows or [merged]


_SENTENCE = expression(r".+?\][.。]|.+$")
"""A sentence of the summary ends behind the rows that it cites."""


def _failing(measures: dict[str, ImpactMeasure], style: Style) -> Cited | None:
    events, ratio, requests = measures.get("events"), measures.get("error_ratio"), measures.get("requests")
    if ratio is not None and ratio.value and requests is not None and requests.value:
        part = _failing_requests(events, ratio.value, requests.value)
        whole = number(requests.value)
        unit = style.say("impact.requests_unit")
        values = {"part": part, "whole": whole, "unit": unit, "ratio": percent(ratio.value)}
        if ratio.baseline is None:
            return style.say("impact.ratio_only", **values), ratio.evidence
        return style.say("impact.ratio", before=percent(ratio.baseline), **values), ratio.evidence
    if events is None or events.value is None:
        return None
    part = _approximate(events, style)
    if events.baseline is None:
        return style.say("impact.events_only", part=part), events.evidence
    what, steady = style.say("impact.events", part=part, before=number(events.baseline)), measures.get("steady_events")
    if steady is not None and steady.value:
        what = style.say("impact.steady", what=what, steady=number(steady.value))
    return what, events.evidence


def _slow(measures: dict[str, ImpactMeasure], style: Style) -> Cited | None:
    """How slow, where that is the trouble: failing events then come second."""
    latency, calls = measures.get("latency"), measures.get("slow_calls")
    if latency is None or latency.value is None:
        return None
    known = calls is not None and calls.value is not None
    key = ("slow" if known else "slower") + ("" if latency.baseline is not None else "_only")
    values = {"name": clean(latency.field or ""), "now": delay(latency.value), "before": delay(latency.baseline or 0)}
    if calls is not None and calls.value is not None:
        values |= {"slow": number(calls.value), "calls": _whole(calls)}
        values["seen"] = style.say("impact.sampled") if calls.approximate else ""
    return style.say(f"impact.{key}", **values), latency.evidence


def _whole(measure: ImpactMeasure) -> str:
    """`27` of `of 27 services`."""
    return "".join(char for char in measure.unit or "" if char.isdigit() or char == ",")


def _any_failing(measures: dict[str, ImpactMeasure]) -> bool:
    return any(one.value for key, one in measures.items() if key in {"events", "error_ratio"})


def _failing_requests(events: ImpactMeasure | None, ratio: float, requests: float) -> str:
    """The numerator of the ratio: the failing events where they are the failing requests, else computed back."""
    counted = events.value if events is not None else None
    if counted is not None and abs(counted / requests - ratio) < _SAME_RATIO:
        return number(counted)
    return f"{round(ratio * requests):,}"


def _who(key: str, measure: ImpactMeasure, style: Style) -> str:
    """`about 1,240 users`, `2 of 9 services`."""
    shown = _approximate(measure, style)
    if key == "users":
        return style.say("impact.users", n=shown)
    whole = _whole(measure)
    return style.say(f"impact.{key}" if whole else f"impact.{key}_only", n=shown, whole=whole)


def _approximate(measure: ImpactMeasure, style: Style) -> str:
    shown = number(measure.value or 0)
    return style.say("impact.about", n=shown) if measure.approximate else shown


def dimension(name: str) -> str:
    """What an engineer calls the dimension: `zone` for `cloud.availability_zone`."""
    return _SHORT.get(name, clean(name))


def _only(diagnosis: Diagnosis, style: Style) -> str:
    """The one value of a dimension that holds all failures, where healthy traffic has others."""
    for radius in diagnosis.blast_radius:
        top = radius.values[0] if radius.values else None
        if top is None or (top.share_in_anomaly or 0) < 0.995 or (top.lift or 0) < _LEAST_LIFT:  # noqa: PLR2004 - all
            continue
        return style.say("impact.only", name=dimension(radius.dimension), value=clean(top.value))
    return ""


# -- since -----------------------------------------------------------------------------------------------------------


def since(diagnosis: Diagnosis, style: Style) -> Cited:
    """Since when, how sure, and whether it goes on."""
    onset = diagnosis.onset
    if onset is None or onset.certainty == "unknown":
        return style.semicolon(style.say("since.unknown"), *_until(diagnosis, style)), []
    utc = f"{style.local(onset.started_at).astimezone(UTC):%H:%M:%S}Z"
    local = style.local(onset.started_at)
    is_today = not style.dated and not day(diagnosis, style)
    at = f"{local:%H:%M:%S}" if is_today else f"{local:%Y-%m-%d %H:%M:%S}"
    key = "since.at"
    if onset.certainty == "before_window":
        key = "since.before_window" if onset.earliest else "since.lookback"
    offset, opens = style.offset(onset.started_at), style.clock(diagnosis.window.from_)
    key += "_utc" if offset == "+00:00" else ""
    parts = [style.say(key, at=at, offset=offset, utc=utc, opens=opens)]
    if onset.certainty == "interval" and onset.earliest and onset.latest:
        low, at_, high = (style.local(one) for one in (onset.earliest, onset.started_at, onset.latest))
        width = max((at_ - low).total_seconds(), (high - at_).total_seconds(), 1.0)
        parts[0] = style.comma(parts[0], style.say("since.within", seconds=seconds(width)))
    return style.semicolon(*parts, *_until(diagnosis, style)), onset.evidence


def _until(diagnosis: Diagnosis, style: Style) -> list[str]:
    """Whether it goes on, with the time of the last failing line."""
    onset = diagnosis.onset
    if diagnosis.status == "recovered" and onset is not None and onset.ended_at:
        return [style.say("since.recovered", ended=style.clock(onset.ended_at))]
    last = last_seen(diagnosis)
    if last is None or diagnosis.status not in {"ongoing", "recovering", "intermittent"}:
        return []
    return [style.say(f"since.{diagnosis.status}", last=style.clock(last))]


def last_seen(diagnosis: Diagnosis) -> str | None:
    """When a new or spiking pattern was seen last."""
    times = [one.last_seen for one in diagnosis.patterns if one.change in {"new", "spiking"} and one.last_seen]
    return max(times, default=None)


# -- cause and next --------------------------------------------------------------------------------------------------


def cause(diagnosis: Diagnosis, style: Style) -> tuple[str, str, list[str]]:
    """Label, sentence, ids: the cause where the outcome allows one, else the strongest lead."""
    summary = diagnosis.summary
    if diagnosis.outcome in {"confirmed", "probable"} and summary.probable_cause:
        return (style.say("label.cause"), *cited(clean(summary.probable_cause)))
    if summary.strongest_lead:
        return (style.say("label.lead"), *cited(clean(summary.strongest_lead)))
    return style.say("label.cause"), style.say("cause.none"), []


def verdict(diagnosis: Diagnosis, style: Style) -> str:
    """`confirmed, high confidence: ...` with the reasons, and what capped it."""
    confidence = diagnosis.confidence
    level = style.say(f"confidence.{confidence.level}")
    if confidence.capped_by:
        level = style.say("confidence.capped", confidence=level, cap=style.say(f"cap.{confidence.capped_by}"))
    outcome = style.say(f"outcome.{diagnosis.outcome}")
    reasons = style.semicolon(*(clean(one) for one in confidence.reasons))
    if not reasons:
        return style.say("confidence.line", outcome=outcome, confidence=level)
    return style.say("confidence.why", outcome=outcome, confidence=level, reasons=reasons)


def next_step(diagnosis: Diagnosis, style: Style) -> tuple[str, str]:
    """Purpose of the first step and its command, or ""."""
    steps = sorted(diagnosis.next_steps, key=lambda step: step.order)
    if steps:
        return step_words(steps[0], style), clean(steps[0].command)
    text, _ = cited(clean(diagnosis.summary.recommended_next))
    return text or style.say("cause.nothing"), ""


def step_words(step: NextStep, style: Style) -> str:
    """What the step is for; an idea of the model is marked as such."""
    idea = f" ({style.say('cause.unverified_idea')})" if step.source == "model" else ""
    return clean(step.purpose) + idea


# -- the rest --------------------------------------------------------------------------------------------------------


def first(pattern: Pattern, style: Style) -> str:
    """When it was first seen; `chronic` where the baseline has it too."""
    if pattern.change == "new" and pattern.first_seen:
        return style.clock(pattern.first_seen)
    if pattern.baseline_count or pattern.first_seen_is_lower_bound:
        return style.say("pattern.chronic")
    return style.clock(pattern.first_seen) if pattern.first_seen else "-"


def usual(pattern: Pattern, style: Style) -> str:
    """Lines of a pattern to be expected by the baseline; never 0 where there were some."""
    before = pattern.baseline_count
    if before is None:
        return style.say("pattern.no_usual")
    return "<1" if 0 < before < 0.5 else number(round(before))  # noqa: PLR2004 - would be rounded to 0


def hypothesis_state(one: Hypothesis, style: Style) -> str:
    """`leading`, `ruled out`; a graded one that leads says its grade elsewhere (verdict)."""
    return style.say(f"label.{one.state}")


def grade(one: Hypothesis, style: Style) -> str:
    """The grade that code gave, in the words of the outcome; "" without one."""
    return style.say(f"outcome.{_GRADES[one.grade]}") if one.grade else ""


_GRADES = {"confirmed": "confirmed", "likely": "probable", "possible": "inconclusive"}


def checks(diagnosis: Diagnosis, result: CheckResult) -> list[Check]:
    """The checks with that result, in order."""
    return [one for one in diagnosis.checks if one.result == result]


def data_line(diagnosis: Diagnosis, style: Style) -> str:
    """Completeness, shards, lag, coverage, sampling, masks."""
    quality = diagnosis.data_quality
    parts = [style.say("data.complete" if quality.complete else "data.partial"), *_answered(diagnosis, style)]
    if quality.sampling and quality.sampling.probability < 1:
        parts.append(style.say("data.sampled", share=percent(quality.sampling.probability)))
    for name in ("trace.id", "service.name"):
        share = quality.field_coverage.get(name)
        if share is not None and share < 1:
            parts.append(style.say("data.coverage", field=name, share=rounded(share)))
    if quality.redactions:
        parts.append(style.say("data.redacted", n=quality.redactions))
    if quality.suspicious_content:
        parts.append(style.say("data.suspicious", n=quality.suspicious_content))
    if diagnosis.window.now_from == "newest_event" and diagnosis.window.now:
        parts.append(style.say("data.newest", at=style.clock(diagnosis.window.now)))
    return style.comma(*parts)


def _answered(diagnosis: Diagnosis, style: Style) -> list[str]:
    """What the store said of its own answers: shards, time limit, ingest lag."""
    quality, parts = diagnosis.data_quality, []
    if quality.shards and diagnosis.usage.store.backend != "embedded":
        parts.append(style.say("data.shards", ok=quality.shards.successful, total=quality.shards.total))
    if quality.timed_out:
        parts.append(style.say("data.timed_out"))
    lag = quality.ingest_lag_seconds
    if lag is not None and lag.p95 is not None:
        parts.append(style.say("data.lag", seconds=seconds(lag.p95)))
    return parts


def base_line(diagnosis: Diagnosis, style: Style) -> str:
    """What the window was compared with, and why."""
    baseline = diagnosis.window.baseline
    if baseline is None or not (baseline.ranges or baseline.reason):
        return style.say("base.none")
    spans = [_range(one, diagnosis, style) for one in baseline.ranges]
    reason = clean(baseline.reason)
    where = style.comma(*spans)
    return style.paren(where, reason) if where else reason


def _range(one: Span, diagnosis: Diagnosis, style: Style) -> str:
    """A range of the baseline; the date where it is not the day of the window."""
    if style.dated:
        return style.say("timeline.span", start=style.minute(one.from_), end=style.minute(one.to))
    text = style.say("timeline.span", start=style.minute(one.from_), end=style.minute(one.to))
    start = style.local(one.from_)
    return text if start.date() == style.local(diagnosis.window.from_).date() else f"{start:%m-%d} {text}"


def cost_line(diagnosis: Diagnosis, style: Style) -> str:
    """Requests, tokens, money, seconds."""
    usage, model = diagnosis.usage, diagnosis.usage.llm
    key = "cost.local" if usage.store.backend == "embedded" else "cost.store"
    parts = [style.say(key, requests=usage.store.requests, took=seconds(usage.store.took_ms / 1000))]
    if model is None:
        parts.append(style.say("cost.no_model"))
    else:
        tokens = style.say("cost.model", sent=kilo(model.input_tokens), received=kilo(model.output_tokens))
        money = style.say("cost.money", amount=f"{model.cost.amount:.2f}") if model.cost else ""
        parts.append(style.comma(tokens, money))
    return style.semicolon(*parts, seconds(usage.duration_ms / 1000))


def notes(diagnosis: Diagnosis) -> list[str]:
    """Caveats that are no banner: code and text."""
    return [
        f"{clean(one.code)}: {clean(one.text)}" if one.code[:2] == "LA" else clean(one.text)
        for one in diagnosis.data_quality.caveats
        if one.severity != "critical"
    ]
