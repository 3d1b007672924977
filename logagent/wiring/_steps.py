"""Next steps: read-only actions of the catalogue that fit the leading mechanism, then the lines themselves."""

from collections import Counter
from datetime import datetime, timedelta

from logagent.analysis.actions import ActionCatalogue
from logagent.analysis.facts import UNNAMED
from logagent.diagnosis import Hypothesis, NextStep, OutcomeName
from logagent.logs import instant, iso
from logagent.query import Phrase, to_text
from logagent.settings import RunOptions, with_source
from logagent.triage import Findings, Words, suspect_of

MOST = 3
RECENT = "10m"
_TO_SECOND = timedelta(microseconds=999_999)
"""Commands name whole seconds: the window grows by less than one."""
_LEAD = timedelta(minutes=5)
"""How long before the onset the lines are read that may have led to it."""
_ONE_HOST = 0.8
"""A host is named where it writes this share of the lines in question: else none is the place to look."""
_STILL = timedelta(hours=1)
"""How long after its end a window is recent enough to ask whether the trouble goes on."""


def next_steps(
    findings: Findings,
    hypotheses: list[Hypothesis],
    words: Words,
    actions: ActionCatalogue,
    judged: tuple[OutcomeName, datetime],
    options: RunOptions,
) -> list[NextStep]:
    """At most three steps. Commands come from the catalogue only; the last step reads the lines of the first row.

    Questions to the logs name the source of this run, so that they can be pasted; what came from standard input is
    gone, and such a step is left in words. `judged` is the outcome and when it was found: what ended long before is not
    asked whether it goes on.
    """
    outcome, clock = judged
    if outcome in {"no_anomaly", "insufficient_data"} or not hypotheses:
        return []
    leading = hypotheses[0]
    chosen = actions.choose(
        leading.mechanism_id or "",
        tuple(one.mechanism_id for one in hypotheses[1:] if one.mechanism_id),
        _slots(findings, leading, clock),
        words=_product_words(findings, leading),
        lang=words.texts.language,
        checks=_first_checks(findings, leading, words.texts.language),
    )
    steps = [
        NextStep(
            order=place,
            purpose=step.purpose,
            tests=[leading.id],
            source="catalogue",
            action=step.action or None,
            command=_with_source(step.command, options) or None,
            command_kind=step.kind,
            read_only=True,
            expect_if_true=step.expect_if_true or None,
            expect_if_false=step.expect_if_false or None,
        )
        for place, step in enumerate(chosen[: MOST - 1], 1)
    ]
    row = next(iter(leading.mechanism_lines or leading.supporting), "")
    if row:
        steps.append(
            NextStep(
                order=len(steps) + 1,
                purpose=words.say("step.read", row=row),
                tests=[leading.id],
                source="catalogue",
                command=f"logagent show last {row}",
                command_kind="logagent",
            )
        )
    return steps


def _with_source(command: str, options: RunOptions) -> str:
    """The command with the files or indices that this run was given."""
    if not command.startswith("logagent "):
        return command
    if "-" in options.files:
        return ""
    return with_source(command, options.source_words)


def _first_checks(findings: Findings, leading: Hypothesis, language: str) -> tuple[str, ...]:
    """What the mechanism list advises to look at first, in words."""
    entry = findings.analysis.window.catalogue.entries.get(leading.mechanism_id or "")
    if entry is None:
        return ()
    key = "zh" if language.startswith("zh") else "en"
    return tuple(entry.first_checks.get(key) or entry.first_checks.get("en", ()))


def _slots(findings: Findings, leading: Hypothesis, clock: datetime) -> dict[str, str]:
    """Values for the templates: platform fields of the suspect's own records, and what code made for this run."""
    service = leading.entity.get("service.name", "")
    is_field = bool(findings.description.fields.roles.get("service"))  # else the name comes from a text
    named = service if service != UNNAMED and is_field else ""
    slots = {
        "service": named,
        "since": iso(findings.bad.start.replace(microsecond=0)),
        "before": iso((_onset(findings) - _LEAD).replace(microsecond=0)),
        "until": iso((findings.bad.end + _TO_SECOND).replace(microsecond=0)),
        "query": to_text(Phrase("service", named)) if named else "",
        "index": next(iter(findings.scope.indices), ""),
        "recent": RECENT if max(clock, findings.scope.now) - findings.bad.end <= _STILL else "",
    }
    suspect = suspect_of(findings, service)
    window = findings.analysis.window
    templates = [fact.template for fact in (suspect.facts if suspect else []) if fact.template is not None]
    events = [window.events[i] for t in templates for i in window.by_template.get(t, [])[:3]]
    events += [event for event in window.events if event.service == service][:1]
    for event in events:
        record = event.record
        if record is None:
            continue
        own = {"pod": record.pod, "namespace": record.namespace, "trace_id": record.trace_id}
        for name, value in own.items():
            if value:
                slots.setdefault(name, value)
    if not _elsewhere(findings, leading):
        slots["host"] = _host(findings, service, templates)
    slots |= _named(findings, templates)
    return {name: value for name, value in slots.items() if value}


def _onset(findings: Findings) -> datetime:
    onset = findings.conclusion.onset
    return instant(onset[0]) if onset else findings.bad.start


def _elsewhere(findings: Findings, leading: Hypothesis) -> bool:
    """Whether the mechanism is at home in a product that the suspect only calls: its own host is not the place."""
    entry = findings.analysis.window.catalogue.entries.get(leading.mechanism_id or "")
    service = leading.entity.get("service.name", "").lower()
    return entry is not None and bool(entry.owner) and not any(word in service for word in entry.owner)


def _host(findings: Findings, service: str, templates: list[int]) -> str:
    """The host that writes nearly all lines of the suspect's mechanism (without one: of the suspect), or ""."""
    window = findings.analysis.window
    lines = [window.events[i] for t in templates for i in window.by_template.get(t, [])]
    lines = [event for event in lines if event.service == service] or [e for e in window.events if e.service == service]
    hosts = Counter(event.record.host for event in lines if event.record is not None and event.record.host)
    top, count = hosts.most_common(1)[0] if hosts else ("", 0)
    return top if count >= _ONE_HOST * hosts.total() else ""


def _named(findings: Findings, templates: list[int]) -> dict[str, str]:
    """Port, database and topic that a mechanism line of the suspect names.

    A port belongs to the host beside it: both are taken where that host writes records itself, else neither, for a
    command against another host's port misleads, and a name that only a log line has is no place to connect to.
    """
    hits = findings.analysis.window.hits
    for template in templates:
        hit = hits.get(template)
        if hit is None or hit.weak:
            continue
        named = {key: hit.names[key] for key in ("port", "database", "topic") if hit.names.get(key)}
        host, _, port = (hit.names.get("endpoint") or "").rpartition(":")
        if host and any(event.record and event.record.host == host for event in findings.analysis.window.events):
            named |= {"host": host, "port": port}
        elif host:
            named.pop("port", None)
        return named
    return {}


def _product_words(findings: Findings, leading: Hypothesis) -> str:
    """Text in which a product name is looked for: the suspect and its lines."""
    lines = [p.template for p in findings.patterns if p.evidence in leading.supporting]
    return " ".join([leading.entity.get("service.name", ""), *lines])
