"""What is said where nothing is unusual: over which window, against what, with which figures."""

from logagent.diagnosis import Diagnosis
from logagent.report import _facts
from logagent.report._style import Style
from logagent.report._text import clean, number, percent


def sentences(diagnosis: Diagnosis, style: Style) -> list[str]:
    """What was looked at, what it was compared with, and the figures; first what has ended, where something has."""
    services = diagnosis.request.scope.fields.get("service.name", [])
    scope = ", ".join(clean(one) for one in services) or style.say("quiet.everything")
    found = [style.say("quiet.line", scope=scope, span=_facts.span(diagnosis, style))]
    baseline = diagnosis.window.baseline
    if baseline is not None and baseline.ranges:
        found.append(style.say("quiet.against", base=_facts.base_line(diagnosis, style)))
    found.append(style.comma(*figures(diagnosis, style)))
    return [clean(diagnosis.summary.headline), *found] if diagnosis.status == "recovered" else found


def figures(diagnosis: Diagnosis, style: Style) -> list[str]:
    """Share of failing requests or number of failing events, changed patterns, changes."""
    measures = diagnosis.impact or {}
    ratio, events = measures.get("error_ratio"), measures.get("events")
    found = []
    if ratio is not None and ratio.value is not None:
        key = "errors_only" if ratio.baseline is None else "errors"
        found.append(style.say(f"quiet.{key}", ratio=percent(ratio.value), before=percent(ratio.baseline or 0)))
    elif events is not None and events.value is not None:
        key = "no_errors_only" if events.baseline is None else "no_errors"
        found.append(style.say(f"quiet.{key}", n=number(events.value), before=number(events.baseline or 0)))
    changed = sum(one.change in {"new", "spiking", "vanished"} for one in diagnosis.patterns)
    found.append(style.say("quiet.changed", n=changed) if changed else style.say("quiet.no_change"))
    changes = len(diagnosis.changes)
    return [*found, style.say("quiet.deploys", n=changes) if changes else style.say("quiet.no_deploys")]
