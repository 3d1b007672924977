"""What was looked for, and whether there was a sign of it, negative results too (ux.md 3.1)."""

from logagent.analysis.gaps import longest
from logagent.diagnosis import Check
from logagent.logs import instant, iso
from logagent.times import delay
from logagent.triage._clear import FEW, families, families_clear, families_possible, families_seen
from logagent.triage._findings import Findings
from logagent.triage._hypotheses import Words
from logagent.triage._standing import fails_much, standing

_FAILING_SHARE = 0.01
"""Share of failing events that is no small one."""
LONG_S, PAUSE_S = 1.0, 600.0
"""Seconds from which the longest step of a request is told, and beyond which it is a pause between two requests."""


def checks_of(findings: Findings, words: Words) -> list[Check]:
    """Volume, errors, latency, silence, changes, then each family of mechanisms (ux.md 3.1)."""
    fields = findings.description.fields
    kinds = {fact.kind for suspect in findings.conclusion.ranking for fact in suspect.facts}
    row = [findings.volume_row] if findings.volume_row else []
    possible = findings.failing is not None
    failing = findings.anomalous or bool(findings.anomalous_services) or _fails_more(findings)
    failing = failing or fails_much(findings) or bool(standing(findings))
    errors = Check(
        name=words.say("check.errors"),
        result="not_possible" if not possible else "signal" if failing else "no_signal",
        detail=None if possible else words.say("check.not_possible_severity"),
        evidence=row if failing else [],
    )
    timed = bool(fields.roles.get("duration") or fields.roles.get("trace_id"))
    slow = any(kind.startswith("slow") for kind in kinds)
    latency = Check(
        name=words.say("check.latency"),
        result="signal" if slow else "no_signal" if timed else "not_possible",
        detail=_long_steps(findings, words) if timed or slow else words.say("check.not_possible_duration"),
    )
    named = bool(fields.roles.get("service"))
    silence = Check(
        name=words.say("check.silence"),
        result="signal" if "silent" in kinds else "no_signal" if named else "not_possible",
        detail=None if named else words.say("check.not_possible_service"),
    )
    changed = Check(name=words.say("check.changes"), result="signal" if findings.conclusion.changes else "no_signal")
    return [errors, latency, silence, changed, *_families(findings, words), *_unread(findings, words)]


def _long_steps(findings: Findings, words: Words) -> str | None:
    """The longest step between two lines of a request, where it is long, whether it tells anything or not."""
    worst = longest(findings.analysis.window)
    if worst is None or not LONG_S <= worst.seconds <= PAUSE_S:
        return None
    way = " -> ".join(dict.fromkeys(worst.edge))
    return words.say("check.long_step", longest=delay(worst.seconds), way=way, at=iso(instant(worst.time)))


def _fails_more(findings: Findings) -> bool:
    """Whether the share of failing events is no small one, and not the usual one."""
    volume = findings.volume
    return (volume.ratio or 0.0) >= _FAILING_SHARE and (volume.ratio or 0.0) > 2 * (volume.ratio_before or 0.0)


def _families(findings: Findings, words: Words) -> list[Check]:
    """Each family: clear, or spoken of. What the lines cannot tell is left out."""
    seen, clear, possible = families_seen(findings), families_clear(findings), families_possible(findings)
    window = findings.analysis.window
    entries, patterns = window.catalogue.entries, sorted(findings.patterns, key=lambda p: not p.strong)
    rows = {entries[p.mechanism].family: p.evidence for p in reversed(patterns) if p.mechanism in entries}
    return [
        Check(
            name=_family_name(words, family),
            result="no_signal" if family in clear else "signal",
            evidence=[rows[family]] if family in seen and rows.get(family) else [],
        )
        for family in families(findings)
        if family in seen or family in possible
    ]


def _family_name(words: Words, family: str) -> str:
    """In the language of the report; a family of the user's own as it is."""
    try:
        return words.say(f"family.{family}")
    except KeyError:
        return family


def _unread(findings: Findings, words: Words) -> list[Check]:
    """Says that words of causes could not be looked for, and why."""
    if len(families_possible(findings)) == len(families(findings)):
        return []
    few = findings.volume.events < FEW
    detail = words.say("check.not_possible_few" if few else "check.not_possible_messages", n=findings.volume.events)
    return [Check(name=words.say("check.causes"), result="not_possible", detail=detail)]
