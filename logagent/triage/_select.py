"""Which patterns the survey counts exactly: the rows of the analysis, most telling first, each with its query."""

import re
from collections import Counter

from logagent.analysis.digest_rows import PatternRow, pattern_rows
from logagent.analysis.facts import Event
from logagent.analysis.flows import Flow, fold
from logagent.analysis.pattern_query import pattern_node
from logagent.analysis.redact import Redactor
from logagent.analysis.sanitise import sanitise
from logagent.expressions import expression
from logagent.logs import LogRecord, Severity, instant
from logagent.query import Level, Node, Or, Phrase, Range, conjunction
from logagent.triage._findings import Findings, PatternFinding

MOST, MOST_OF_MANY = 40, 28
"""Patterns that are counted again; the others stay in the analysis."""
KEPT = 12
OFTEN = 2
"""Places for the most frequent lines of all the others: a table without them says little."""
ENOUGH = 5
"""Lines in the baseline from which their absence tells something."""
TEMPLATE = 400
SERVICES = 6
BLAND = 24
"""Characters under which a message says too little by itself."""
READ = 4_000
"""Characters of a message in which the words of its query are looked for."""
_NONCE = "0000"
_SLOT = expression(r"<[^<>\s]{1,24}>")
_STATUS_CLASS = expression(r"status-[a-e]xx")
_FAILED = expression(r"(?:^| )\[failed: .*", re.DOTALL)
_LINED = expression(r"[#:]\d{1,9}$")


def select_patterns(findings: Findings) -> list[PatternFinding]:
    """The MOST telling patterns of the window, with P ids in that order.

    Some places are kept for quiet lines that are new or no longer come, which loud steady ones would take.
    """
    window = findings.analysis.window
    rows = fold(window, list(pattern_rows(window, findings.analysis.facts, findings.bad.start.timestamp())))
    most = MOST if findings.material.complete else MOST_OF_MANY
    late = [pair for pair in rows[most:] if findings.good and _came_or_went(pair[0])][:KEPT]
    frequent = sorted(rows[most - len(late) - OFTEN :], key=lambda pair: -pair[0].count)
    often = [pair for pair in frequent[:OFTEN] if pair not in late and len(rows) > most]
    chosen = [*rows[: most - len(late) - len(often)], *often, *late]
    return [_finding(findings, row, flow, f"P{place}") for place, (row, flow) in enumerate(chosen, 1)]


def _came_or_went(row: PatternRow) -> bool:
    return (not row.after and row.before >= ENOUGH) or (not row.before and row.after > 0)


def _finding(findings: Findings, row: PatternRow, flow: Flow | None, name: str) -> PatternFinding:
    window = findings.analysis.window
    hit = window.hits.get(row.templates[0])
    return PatternFinding(
        id=name,
        template=_shown(row.text, row.sample.message),
        node=_node(findings, row),
        services=dict(row.services),
        severity=row.severity,
        change="steady",
        count=round(row.after),
        baseline_count=round(row.before),
        expected=row.before,
        first=instant(row.first),
        last=instant(row.last),
        mechanism=row.mechanism,
        strong=hit is not None and not hit.weak,
        cited=row.cited,
        priority=row.priority,
        levels=Severity(row.level).name if row.level is not None else "-",
        every_level=_every_level(findings, row),
        note=row.note,
        sample=row.sample.record,
        templates=row.templates,
        quiet=row.quiet,
        flow=flow,
    )


def _every_level(findings: Findings, row: PatternRow) -> tuple[str, ...]:
    window = findings.analysis.window
    counts: Counter[int] = Counter()
    for template in row.templates:
        for index in window.by_template.get(template, ()):
            event = window.events[index]
            if event.level is not None:
                counts[event.level] += max(1, round(event.weight))
    return tuple(Severity(level).name for level, _ in counts.most_common()) or ("-",)


def _shown(text: str, message: str) -> str:
    """A template for readers: a status class as `5xx`, without the mark that the miner appends to failed requests.

    A secret with digits is no longer known as one once they are a slot, so its word is left out here.
    """
    plain = _FAILED.sub("", text)
    shown = _visible(message)
    if shown != sanitise(" ".join(message[:READ].split())):
        plain = " ".join(word if _whole(word, shown) else "<*>" for word in plain.split())
    classed = _STATUS_CLASS.sub(lambda match: f"{ord(match[0][7]) - ord('a') + 1}xx", plain)
    return " ".join(classed.split())[:TEMPLATE]


def _whole(word: str, shown: str) -> bool:
    """Whether the literal parts of a word with a slot stand in the masked message."""
    return "<" not in word or all(part in shown for part in _SLOT.split(word))


def _visible(message: str) -> str:
    """A message as a report shows it: masked, one line."""
    return sanitise(Redactor(_NONCE)(" ".join(message[:READ].split())))


def _node(findings: Findings, row: PatternRow) -> Node:
    """A query for the lines of a row: its services, its call site, its literal words."""
    window = findings.analysis.window
    record = row.sample.record
    template = row.templates[0]
    if record is None:
        return pattern_node(window.miner.common(row.templates), service=window.service(template))
    services = _writers(findings, row)
    site = _site(findings, record) if len({window.miner.keys[t][1] for t in row.templates}) == 1 else ""
    if site and _LINED.search(site) and _plain(row.sample):
        level = [Level(int(record.severity))] if record.severity is not None else []
        return conjunction(_service_node(services), Phrase("logger", site), *level)
    masked = window.miner.common(row.templates)
    text = _literal_text(masked, record.message)
    where = [Phrase("logger", site)] if site else []
    literal = pattern_node(text, levels=_levels(findings, row))
    return conjunction(
        _service_node(services), *where, literal, *_error_node(text, record), *_status_node(masked, record)
    )


def _writers(findings: Findings, row: PatternRow) -> list[str]:
    """Services of the row by their field; none where one of them is the object of a platform event."""
    window = findings.analysis.window
    names: list[str] = []
    for template in row.templates:
        for index in window.by_template.get(template, ())[:1]:
            record = window.events[index].record
            if record is None or not record.service:
                return []
            names.append(record.service)
    return list(dict.fromkeys(names))


def _status_node(masked: str, record: LogRecord) -> list[Node]:
    """The miner keeps the class of an HTTP status apart; so does the query, where a field holds it."""
    found = _STATUS_CLASS.search(masked)
    if record.status is None or (found is None and " [failed: " not in masked):
        return []
    first = record.status // 100
    return [Range("status", f"{first}00", f"{first}99")]


def _service_node(services: list[str]) -> Node:
    if not services or len(services) > SERVICES:
        return conjunction()
    return Phrase("service", services[0]) if len(services) == 1 else Or(tuple(Phrase("service", s) for s in services))


def _site(findings: Findings, record: LogRecord) -> str:
    return record.logger if findings.description.fields.roles.get("logger") else ""


def _plain(event: Event) -> bool:
    """Templates of such events are their call site (templates.mine)."""
    return event.level is not None and event.level < Severity.ERROR and not event.failed


def _literal_text(text: str, message: str) -> str:
    """The part of a template that stands in the message of its sample as a report shows it.

    The rest came from other fields, or is a secret or no visible text: a report would hold another query then.
    """
    shown = _visible(message)
    head = text.split(" | ", 1)[0].split(" [failed: ", 1)[0]
    return " ".join(word if _usable(word, shown) else "<*>" for word in head.split())


def _usable(word: str, shown: str) -> bool:
    """Slots and status classes are handled later."""
    return word in shown or ("<" in word and sanitise(word) == word) or "status-" in word


def _levels(findings: Findings, row: PatternRow) -> tuple[int, ...]:
    """Severities of all its lines; none where a line has none."""
    window = findings.analysis.window
    indices = (index for template in row.templates for index in window.by_template.get(template, ()))
    found = {window.events[index].level for index in indices} or {row.level}
    known = bool(findings.description.fields.levels) and None not in found
    return tuple(sorted(level for level in found if level is not None)) if known else ()


def _error_node(text: str, record: LogRecord) -> list[Node]:
    """A bland or empty message is told apart by the class of its error."""
    words = [word for word in text.split() if "<" not in word]
    if record.error_type and len(" ".join(words)) < BLAND:
        return [Phrase("error_type", record.error_type)]
    return []
