"""Which patterns the survey counts exactly: the rows of the analysis, most telling first, each with its query."""

import re

from logagent.analysis.digest_rows import PatternRow, pattern_rows
from logagent.analysis.facts import Event
from logagent.logs import LogRecord, Severity, instant
from logagent.query import Level, Node, Or, Phrase, conjunction
from logagent.triage._findings import Findings, PatternFinding
from logagent.triage._patterns import pattern_node

MOST = 48
"""Patterns that are counted again; the others stay in the analysis."""
SERVICES = 6
BLAND = 24
"""Characters under which a message says too little by itself."""
_LINED = re.compile(r"[#:]\d{1,9}$")


def select_patterns(findings: Findings) -> list[PatternFinding]:
    """The MOST telling patterns of the window, with P ids in that order."""
    window = findings.analysis.window
    rows = pattern_rows(window, findings.analysis.facts, findings.bad.start.timestamp())
    return [_finding(findings, row, f"P{place}") for place, row in enumerate(rows[:MOST], 1)]


def _finding(findings: Findings, row: PatternRow, name: str) -> PatternFinding:
    window = findings.analysis.window
    hit = window.hits.get(row.templates[0])
    return PatternFinding(
        id=name,
        template=" ".join(window.display(row.templates[0]).split())[:400],
        node=_node(findings, row),
        services=dict(row.services),
        severity=row.severity,
        change="steady",
        count=round(row.after),
        baseline_count=round(row.before),
        expected=row.before,
        first=instant(row.first),
        last=instant(row.last),
        mechanism=row.mechanism or "",
        strong=hit is not None and not hit.weak,
        cited=row.cited or "",
        priority=row.priority,
        levels=Severity(row.level).name if row.level is not None else "-",
        note=row.note,
        sample=row.sample.record,
        templates=tuple(row.templates),
    )


def _node(findings: Findings, row: PatternRow) -> Node:
    """A query for the lines of a row: its services, its call site, its literal words."""
    window = findings.analysis.window
    record = row.sample.record
    template = row.templates[0]
    if record is None:
        return pattern_node(window.text(template), service=window.service(template))
    services = [name for name in row.services if _writes(findings, name)]
    site = _site(findings, record)
    if site and _LINED.search(site) and _plain(row.sample):
        level = [Level(int(record.severity))] if record.severity is not None else []
        return conjunction(_service_node(services), Phrase("logger", site), *level)
    text = _literal_text(window.text(template), record)
    return conjunction(
        _service_node(services),
        pattern_node(text, logger=site, levels=_levels(findings, row)),
        *_error_node(text, record),
    )


def _writes(findings: Findings, service: str) -> bool:
    """Whether the name stands in the service field (an object of a platform event does not)."""
    window = findings.analysis.window
    return any(e.record is not None and e.record.service == service for e in window.events[:1]) or any(
        window.events[ix[0]].record is not None and window.events[ix[0]].record.service == service  # type: ignore[union-attr]
        for t, ix in window.by_template.items()
        if window.service(t) == service
    )


def _service_node(services: list[str]) -> Node:
    if not services or len(services) > SERVICES:
        return conjunction()
    return Phrase("service", services[0]) if len(services) == 1 else Or(tuple(Phrase("service", s) for s in services))


def _site(findings: Findings, record: LogRecord) -> str:
    return record.logger if findings.description.fields.roles.get("logger") else ""


def _plain(event: Event) -> bool:
    """Templates of such events are their call site (templates.mine)."""
    return event.level is not None and event.level < Severity.ERROR and not event.failed


def _literal_text(text: str, record: LogRecord) -> str:
    """The part of a template that stands in the message of its sample; the rest came from other fields."""
    flat = " ".join(record.message.split())
    head = text.split(" | ", 1)[0].split(" [failed: ", 1)[0]
    words = [word if word in flat or "<" in word or "status-" in word else "<*>" for word in head.split()]
    return " ".join(words)


def _levels(findings: Findings, row: PatternRow) -> tuple[int, ...]:
    record = row.sample.record
    known = bool(findings.description.fields.levels)
    return (int(record.severity),) if known and record is not None and record.severity is not None else ()


def _error_node(text: str, record: LogRecord) -> list[Node]:
    """A bland or empty message is told apart by the class of its error."""
    words = [word for word in text.split() if "<" not in word]
    if record.error_type and len(" ".join(words)) < BLAND:
        return [Phrase("error_type", record.error_type)]
    return []
