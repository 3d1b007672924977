"""A new version of the suspect as a change event: the logs show it although no line says "deployed"."""

from collections import Counter
from datetime import timedelta

from logagent.analysis.facts import Event
from logagent.logs import instant
from logagent.triage._findings import Deployment, Findings

LOOK_BACK = timedelta(minutes=30)
OPENING = 0.02
"""Share of the events' span at its start in which a first sight tells nothing."""


def find_deployment(findings: Findings) -> Deployment | None:
    """The newest version of the leading suspect whose first line lies within 30 minutes before the onset.

    None where the events are a sample (a first sight would be chance), where no other version logged before it, or
    where nothing is claimed.
    """
    conclusion, window = findings.conclusion, findings.analysis.window
    if not findings.material.complete or conclusion.verdict != "cause" or conclusion.onset is None:
        return None
    service = conclusion.ranking[0].service
    own = [event for event in window.events if event.service == service and _version(event)]
    first: dict[str, float] = {}
    for event in own:
        first.setdefault(_version(event), event.time)
    onset = conclusion.onset[1]
    earliest = max(onset - LOOK_BACK.total_seconds(), window.start + OPENING * window.length)
    new = [name for name, at in first.items() if earliest <= at <= onset]
    if not new:
        return None
    newest = max(new, key=lambda name: first[name])
    before = Counter(_version(event) for event in own if event.time < first[newest])
    if not before:
        return None
    return Deployment(instant(first[newest]), service, newest, before.most_common(1)[0][0])


def _version(event: Event) -> str:
    return event.record.version if event.record is not None else ""
