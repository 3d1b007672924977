"""The digest as the model reads it: one row a line, most telling first, within a budget (prompts.md 3).

Log text in it is masked before it is cut; the loop masks and frames the whole once more.
"""

import math
from collections.abc import Callable, Iterator
from datetime import datetime

from logagent.analysis.facts import Fact
from logagent.diagnosis import Point
from logagent.expressions import expression
from logagent.logs import TimeWindow, instant, iso
from logagent.triage._clear import families_clear
from logagent.triage._findings import Findings, PatternFinding

Clean = Callable[[str], str]
CHARS_PER_TOKEN = 4
SAMPLE = 240
FACT, FACTS = 400, 3
END = 80
"""Characters of the first and the last line of a flow."""
SERVICES = 4
FILL_TOKENS, FILL_CHANGED = 1_000, 1_400
"""Rows of quiet lines are added up to here only: those as frequent as ever, and those that came or went."""
WORTH = 1.0
CHANGED = 2.0
TURNED = 1.0
"""Priority gained by a pattern that stops or begins within the window."""
FEWEST, CHANCE = 4, 0.02
EARLY, LATE = "only early", "only late"
LIFT = 2.0
BARS = "▁▂▃▄▅▆▇█"
EMPTY = expression(r"\.{12,}")
"""Empty buckets in a row that are counted and not drawn."""


def render_digest(findings: Findings, budget: int = 6_000, clean: Clean = str) -> str:
    """The digest, at most `budget` tokens (characters / 4); what was dropped is counted in the section's head.

    `clean` masks and sanitises log text; it is applied before anything is cut, so that half a secret cannot pass.
    """
    head = [*_scope(findings), *_trouble(findings, clean), *_suspects(findings, clean)]
    tail = [*_where(findings), *_absent(findings)]
    room = (budget - 30) * CHARS_PER_TOKEN - sum(len(line) + 1 for line in head + tail)
    rows, shown = _pattern_rows(findings, room, clean)
    whole = max(len(findings.patterns), len(findings.analysis.window.by_template))
    title = f"PATTERNS ({_kinds(findings)}; {shown} of {whole} shown; now | base | first..last | service | text)"
    text = "\n".join([*head, title, *rows, *tail])
    return text[: budget * CHARS_PER_TOKEN]


def _kinds(findings: Findings) -> str:
    if not findings.good:
        return f"no baseline: none is known to be new; {EARLY}, {LATE}: within the window, beyond chance"
    changes = [p.change for p in findings.patterns]
    return ", ".join(f"{name} {changes.count(name)}" for name in ("new", "spiking", "vanished", "rising", "falling"))


def _scope(findings: Findings) -> Iterator[str]:
    volume, scope, description = findings.volume, findings.scope, findings.description
    sources = ", ".join(scope.indices[:4] or [s.name for s in description.sources[:4]])
    base = "; ".join(f"{iso(one.start)}..{iso(one.end)}" for one in findings.good) or "none"
    yield (
        f"SCOPE  {sources} | {volume.services or 1} services, {volume.hosts or '?'} hosts | {volume.events:,} events | "
        f"{iso(findings.bad.start)}..{iso(findings.bad.end)} | baseline {findings.baseline.method} ({base})"
    )
    worst = findings.worst
    fields = description.fields
    roles = ("severity", "service", "trace_id", "status", "host")
    cover = ", ".join(f"{r} {fields.coverage(r):.0%}" for r in roles if fields.roles.get(r))
    sampled = "" if findings.material.complete else f", patterns from {findings.material.share:.1%} of the events"
    partial = "" if worst.complete else " INCOMPLETE"
    lag = f", lag p95 {description.lag_seconds:.0f} s" if description.lag_seconds else ""
    shards = f"{worst.shards_successful}/{worst.shards_total} shards{partial}{lag}"
    yield f"DATA   {shards}, {cover or 'no roles known'}{sampled}{_captures(findings)}"


def _captures(findings: Findings) -> str:
    """Parts of the logs that have no service and no time in common: nothing follows from what one of them lacks."""
    parts = []
    for one in findings.analysis.captures:
        ends = [_clock(instant(at), findings.scope.window) for at in (one.start, one.end)]
        parts.append(f"{', '.join(one.services[:SERVICES])} only {'..'.join(ends)}")
    return f" | separate captures? {'; '.join(parts)}: no common time, compare nothing across" if parts else ""


def _trouble(findings: Findings, clean: Clean) -> Iterator[str]:
    volume, conclusion = findings.volume, findings.conclusion
    if findings.failing is not None:
        ratio, before = volume.ratio, volume.ratio_before
        was = f" (base {volume.failing_before:,.0f})" if findings.good else ""
        compared = f"{before:.1%} -> " if before is not None else ""
        share = f", ratio {compared}{ratio:.1%} of {volume.unit}" if ratio is not None else ""
        yield (
            f"{findings.volume_row}  failing events {volume.failing:,}{was} in {volume.services_failing} of "
            f"{volume.services} services{share}"
        )
    if conclusion.onset:
        first = f"{iso(instant(conclusion.onset[0]))}..{iso(instant(conclusion.onset[1]))}"
        row = f"{findings.onset_row}  " if findings.onset_row else ""
        order = " | ".join(f"{iso(at)} {service} {row}" for at, service, row in findings.first_trouble)
        yield f"ONSET  {row}{first} ({conclusion.onset_kind}), {conclusion.status}" + (
            f"; first trouble by service: {order}" if order else ""
        )
    if findings.timeline and findings.timeline.series:
        step = findings.timeline.interval_seconds
        points = findings.timeline.series[0].points
        what = f"{findings.timeline.unit} per {step} s"
        yield f"TIME   {what} | {_band(points)} | {_bars(points)} | last {points[-1].count:g}"
    if (new := findings.deployment) is not None and conclusion.onset:
        ahead = conclusion.onset[1] - new.at.timestamp()
        what = f"{new.service} {new.version} first logs, before {new.before}"
        yield f"CHANGE {new.row}  deployment {ahead:.0f} s before onset: {what}"
    for change, row in zip(conclusion.changes, findings.change_rows, strict=False):
        support = f"; failing lines name {', '.join(change.shared)}" if change.supported else "; coincides"
        when = f"{change.kind} {change.seconds_before:.0f} s before onset"
        yield f'CHANGE {row}  {when}, {change.service}: "{clean(change.text)[:160]}"{support}'


def _band(points: list[Point]) -> str:
    first = next((p for p in points if p.expected_high is not None), None)
    return f"base {first.expected_low:g}-{first.expected_high:g}" if first else "no base"


def _bars(points: list[Point]) -> str:
    top = max((p.count for p in points), default=0)
    bars = "".join(BARS[min(7, int(8 * p.count / (top + 1e-9)))] if p.count else "." for p in points)
    return EMPTY.sub(lambda run: f"({len(run[0])} empty)", bars)


def _suspects(findings: Findings, clean: Clean) -> Iterator[str]:
    conclusion = findings.conclusion
    if not conclusion.ranking:
        return
    said = any(conclusion.reason == fact.text for fact in conclusion.ranking[0].facts[:FACTS])
    yield f"SUSPECTS by rule (verdict {conclusion.verdict}{'' if said else f': {clean(conclusion.reason)[:200]}'})"
    for place, suspect in enumerate(conclusion.ranking[:4], 1):
        notes = f" ({'; '.join(suspect.notes[:2])})" if suspect.notes else ""
        yield f"  {place}. {suspect.service} score {suspect.score:.1f}{notes}"
        for fact in suspect.facts[:FACTS]:
            yield f"     {findings.row_of(fact) or '-'} {_fact(fact, clean)}"


def _fact(fact: Fact, clean: Clean) -> str:
    since = f" since {iso(instant(fact.onset[1]))}" if fact.onset else ""
    return f"{fact.kind}: {clean(fact.text)[:FACT]}{since}"


def _pattern_rows(findings: Findings, room: int, clean: Clean) -> tuple[list[str], int]:
    rows: list[str] = []
    used = 0
    compared = bool(findings.good or findings.analysis.captures)
    turns = {pattern.id: "" if compared else _turn(findings, pattern) for pattern in findings.patterns}
    for pattern in sorted(findings.patterns, key=lambda p: -(_weight(p) + (TURNED if turns[p.id] else 0.0))):
        line = _pattern_line(findings, pattern, clean, turns[pattern.id])
        if used + len(line) + 1 > min(room, _room(pattern, turned=bool(turns[pattern.id])) * CHARS_PER_TOKEN):
            continue
        rows.append(line)
        used += len(line) + 1
    return rows, len(rows)


def _room(pattern: PatternFinding, *, turned: bool) -> float:
    """Tokens up to which a row is added."""
    if pattern.change == "steady" and not turned:
        return FILL_TOKENS if pattern.quiet or pattern.priority < WORTH else math.inf
    return FILL_CHANGED if pattern.quiet else math.inf


def _turn(findings: Findings, pattern: PatternFinding) -> str:
    """EARLY or LATE where a pattern keeps to one end of the window more than traffic and chance explain.

    Without a baseline this is all that hints at a change. Lines of one request count once.
    """
    window = findings.analysis.window
    start, end = findings.bad.start.timestamp(), findings.bad.end.timestamp()
    inside = [
        i for t in pattern.templates for i in window.by_template.get(t, ()) if start <= window.events[i].time < end
    ]
    requests = {window.events[i].trace or i for i in inside}
    if not inside or len(requests) < FEWEST:
        return ""
    times = [window.events[i].time for i in inside]
    whole = sum(start <= event.time < end for event in window.events)
    after = sum(max(times) < event.time < end for event in window.events) / whole
    before = sum(start <= event.time < min(times) for event in window.events) / whole
    if (1 - after) ** len(requests) < CHANCE:
        return EARLY
    return LATE if (1 - before) ** len(requests) < CHANCE else ""


def _weight(pattern: PatternFinding) -> float:
    """Priority, where what changed goes before steady warnings."""
    return pattern.priority + (CHANGED if pattern.change in {"new", "spiking", "vanished"} else 0.0)


def _pattern_line(findings: Findings, pattern: PatternFinding, clean: Clean, turn: str) -> str:
    services = ", ".join(
        f"{name} x{n:g}" if len(pattern.services) > 1 else name for name, n in pattern.services.items()
    )
    mark = f" | {pattern.mechanism}{' strong' if pattern.strong else ''}" if pattern.mechanism else ""
    ends = [_clock(at, findings.bad) for at in (pattern.first, pattern.last) if at]
    when = "..".join(dict.fromkeys(ends)) or "-"
    text = _text(pattern, clean)
    note = f" {{{clean(pattern.note)}}}" if pattern.note else ""
    change, before = (pattern.change, f"{pattern.baseline_count:,}") if findings.good else (turn or "seen", "-")
    return (
        f"{pattern.evidence}  {change} {pattern.count:,} | {before} | {when} | "
        f"{services} {pattern.levels}{mark} | {text}{note}"
    )


def _text(pattern: PatternFinding, clean: Clean) -> str:
    """A real line; of a flow its size and its two ends."""
    sample = pattern.sample.message if pattern.sample else pattern.template
    if pattern.flow is None:
        return _quoted(sample, SAMPLE, clean)
    flow = pattern.flow
    others = [name for name in flow.services if name not in pattern.services]
    more = f" (and {', '.join(others[:SERVICES])}{' ...' if others[SERVICES:] else ''})" if others else ""
    ends = f"{_quoted(sample, END, clean)} to {_quoted(flow.last.message, END, clean)}"
    runs = f"{flow.runs:,} runs" if flow.runs > 1 else "1 run"
    return f"flow of {flow.kinds} kinds of lines{more}, {runs}, from {ends}"


def _quoted(message: str, limit: int, clean: Clean) -> str:
    text = " ".join(clean(message).split())
    return f'"{text[:limit]}"' + (f" (+{len(text) - limit} chars)" if len(text) > limit else "")


def _clock(at: datetime, window: TimeWindow) -> str:
    """A time to the second, with its date where the window holds more than one day."""
    text = iso(at)
    return f"{text[11 if window.start.date() == window.end.date() else 5 : 19]}Z"


def _where(findings: Findings) -> Iterator[str]:
    parts = []
    for radius in findings.blast[:5]:
        lead = radius.values[0]
        row = findings.blast_rows.get(radius.dimension, "")
        if (lead.lift or 0) >= LIFT:
            parts.append(
                f'{row} {radius.dimension}="{lead.value}": {lead.share_in_anomaly or 0:.0%} of failing, '
                f"{lead.share_in_baseline or 0:.0%} of healthy"
            )
        else:
            parts.append(f"{radius.dimension}: no difference")
    if parts:
        yield "WHERE  " + " | ".join(parts)


def _absent(findings: Findings) -> Iterator[str]:
    if absent := families_clear(findings):
        yield f"ABSENT no line of: {', '.join(absent)}; a silent fault writes none"
