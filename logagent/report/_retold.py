"""A diagnosis retold for people who do not read reports: a status update, a handover, a table for a postmortem.

An update says nothing beyond the outcome, names no host and holds no evidence id (ux.md 5.2); a handover adds open
questions and the exact commands; a timeline tells what code found from what a person gave.
"""

from datetime import datetime, timedelta

from logagent.diagnosis import Diagnosis
from logagent.errors import UsageError
from logagent.report import _facts
from logagent.report._escape import cell
from logagent.report._style import Style
from logagent.report._text import cited, clean, fit

KINDS = ("update", "handover", "timeline")
LONGEST = {"en": 400, "zh-CN": 120}
"""Characters of an update."""
_DUE = timedelta(minutes=30)
_FIVE = timedelta(minutes=5)
_GIVEN = frozenset({"alert", "note"})
"""Marks that a person or an alert set."""


def render(diagnosis: Diagnosis, kind: str, style: Style) -> str:
    """The text of a kind, without a newline at the end.

    Raises:
        UsageError: LA702, there is no such kind.
    """
    if kind == "update":
        return _update(diagnosis, style)
    if kind == "handover":
        return _handover(diagnosis, style)
    if kind == "timeline":
        return _timeline(diagnosis, style)
    reason = f"--as {clean(kind)[:40]}: there are {', '.join(KINDS)}"
    raise UsageError(reason, code="LA702", values={"reason": reason})


def _update(diagnosis: Diagnosis, style: Style) -> str:
    """State and impact; what is believed and how sure; what comes next and when. The head gives way, never the end."""
    most = LONGEST.get(style.language, LONGEST["en"])
    between, stop = style.say("join.next"), style.say("join.stop")
    tail = between.join(_belief(diagnosis, style)) + stop
    head = fit_characters(_state(diagnosis, style), max(40, most - len(tail) - len(between)), style)
    return fit_characters(f"{head}{between}{tail}", most, style)


def fit_characters(text: str, most: int, style: Style) -> str:
    """At most so many characters; a cut is marked."""
    return text if len(text) <= most else text[: most - len(style.ellipsis)].rstrip() + style.ellipsis


def _state(diagnosis: Diagnosis, style: Style) -> str:
    parts = [clean(diagnosis.summary.headline)]
    measured = _facts.impact(diagnosis, style) if diagnosis.outcome not in {"no_anomaly", "insufficient_data"} else []
    parts += [cited(text)[0] for text, _ in measured[:1]]
    if diagnosis.onset is not None and diagnosis.onset.certainty != "unknown":
        parts.append(style.say("update.since", since=_facts.since(diagnosis, style)[0]))
    return style.semicolon(*(_without_end(one) for one in dict.fromkeys(parts)))


def _belief(diagnosis: Diagnosis, style: Style) -> list[str]:
    _, text, _ = _facts.cause(diagnosis, style)
    outcome = diagnosis.outcome
    if outcome in {"no_anomaly", "insufficient_data"}:
        return [style.say(f"update.{outcome}")]
    believed = style.say(f"update.{outcome}", cause=_without_end(text))
    purpose, _ = _facts.next_step(diagnosis, style)
    due = style.clock(_due(diagnosis).isoformat())[:5]
    return [believed, style.say("update.next", step=_without_end(purpose), due=due)]


def _due(diagnosis: Diagnosis) -> datetime:
    """Half an hour after the run, to the next five minutes."""
    at = datetime.fromisoformat(diagnosis.created_at) + _DUE
    return at + (datetime.min.replace(tzinfo=at.tzinfo) - at) % _FIVE


def _without_end(text: str) -> str:
    return clean(text).rstrip(" .。")


def _handover(diagnosis: Diagnosis, style: Style) -> str:
    lines = [_update(diagnosis, style), ""]
    steps = sorted(diagnosis.next_steps, key=lambda step: step.order)
    if steps:
        lines.append(style.say("label.steps"))
        for step in steps:
            lines.append(f"{step.order}. {_facts.step_words(step, style)}")
            lines += [f"   {clean(step.command)}"] if step.command else []
        lines.append("")
    others = [one for one in diagnosis.hypotheses if one.state != "ruled_out"]
    if others:
        lines.append(style.say("label.hypotheses"))
        lines += [
            f"- {one.id} {_facts.hypothesis_state(one, style)}: {cited(clean(one.statement))[0]}" for one in others
        ]
        lines.append("")
    if diagnosis.open_questions:
        lines += [style.say("label.questions"), *(f"- {clean(one)}" for one in diagnosis.open_questions), ""]
    lines += [f"logagent show {diagnosis.id}", f"logagent verify {diagnosis.id}"]
    return "\n".join(lines)


def _timeline(diagnosis: Diagnosis, style: Style) -> str:
    head = [style.say(f"retold.{name}") for name in ("time", "event", "evidence", "by")]
    rows = sorted(_rows(diagnosis, style))
    table = [[at, cell(text), " ".join(ids), who] for at, text, ids, who in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *table])


def _rows(diagnosis: Diagnosis, style: Style) -> list[tuple[str, str, tuple[str, ...], str]]:
    """UTC, event, evidence, who; a change that is also a mark stands once."""
    found: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {}
    marks = [] if diagnosis.timeline is None else diagnosis.timeline.events
    for mark in marks:
        who = "given" if mark.kind in _GIVEN else "found"
        found[_utc(mark.at), clean(mark.label)] = (tuple(mark.evidence), style.say(f"retold.{who}"))
    for change in diagnosis.changes:
        key = (_utc(change.at), clean(change.label))
        found.setdefault(key, (tuple(change.evidence), style.say("retold.found")))
    for row in diagnosis.evidence:
        if row.kind == "sequence" and isinstance(row.value, str):
            found.setdefault((_utc(row.value), clean(row.statement)), ((row.id,), style.say("retold.found")))
    return [(at, fit(text, 160, style.ellipsis), ids, who) for (at, text), (ids, who) in found.items()]


def _utc(stamp: str) -> str:
    at = datetime.fromisoformat(stamp)
    return f"{(at - (at.utcoffset() or timedelta())).replace(tzinfo=None):%Y-%m-%d %H:%M:%S}"
