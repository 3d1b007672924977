"""Which families of mechanisms are clear: no line that fails has their words, and no figure tells of them."""

import re
from collections.abc import Sequence

from logagent.analysis.events import full_text
from logagent.analysis.mechanisms import Entry
from logagent.triage._findings import Findings

FEW = 20
"""Events under which the absence of words tells nothing."""
_WARNING = 1
"""Severity class from which the words of a line count (analysis.lexicon.severity_class)."""
_SHORT = 5
"""Characters under which a word must stand by itself."""
_WORDS = {
    "memory": ("memory", "oom", "heap"),
    "timeout": ("timeout", "timed out", "deadline"),
    "tls": ("certificate", "handshake"),
    "auth": ("unauthorized", "forbidden", "credential"),
    "quota": ("rate limit", "throttl"),
    "dns": ("dns", "no such host"),
}
"""Words of a family beside its name and the terms of its mechanisms."""
_STATUS = {
    504: ("timeout", "upstream"),
    502: ("upstream",),
    503: ("upstream",),
    507: ("disk",),
    429: ("quota", "limits"),
}
_TOLD_BY_STATUS = ("timeout", "upstream", "quota")
"""Families that the answers of an access log can tell of."""
_CHANGES = {"deployment": "deploy", "config": "config"}


def families(findings: Findings) -> list[str]:
    """All families, in the order of the list."""
    return list(dict.fromkeys(entry.family for entry in _entries(findings)))


def families_possible(findings: Findings) -> list[str]:
    """Those of which the lines could tell: not many lines, or lines without messages, tell little or nothing."""
    sources = findings.description.sources
    if sources and all(one.note == "access log" for one in sources):
        return [name for name in families(findings) if name in _TOLD_BY_STATUS]
    return families(findings) if findings.volume.events >= FEW else []


def families_clear(findings: Findings) -> list[str]:
    """Those of which nothing was seen, and nothing in the report speaks."""
    touched = families_seen(findings) | _worded(findings) | _answered(findings) | _changed(findings)
    return [name for name in families_possible(findings) if name not in touched]


def families_seen(findings: Findings) -> set[str]:
    """Mechanism families of which a line occurs in the events that were read, or a pattern that is shown."""
    window = findings.analysis.window
    entries = window.catalogue.entries
    shown = {entries[p.mechanism].family for p in findings.patterns if p.mechanism in entries}
    hits = [hit for hit in window.hits.values() if hit is not None and not hit.weak]
    return shown | {hit.family for hit in hits} | {entries[one].family for hit in hits for one in hit.every}


def _entries(findings: Findings) -> Sequence[Entry]:
    return [one for one in findings.analysis.window.catalogue.entries.values() if one.kind == "mechanism"]


def _worded(findings: Findings) -> set[str]:
    """Families whose words stand in a line that warns or fails."""
    window = findings.analysis.window
    loud = [t for t, indices in window.by_template.items() if indices and window.severity[t] >= _WARNING]
    text = "\n".join(full_text(window.events[window.by_template[t][0]]).lower() for t in loud)
    words = {entry.family: {entry.family, *_WORDS.get(entry.family, ())} for entry in _entries(findings)}
    for entry in _entries(findings):
        words[entry.family].update(one.lower() for one in entry.terms)
    return {family for family, own in words.items() if any(_stands(word, text) for word in own)}


def _stands(word: str, text: str) -> bool:
    if word not in text:
        return False
    return len(word) >= _SHORT or re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z])", text) is not None


def _answered(findings: Findings) -> set[str]:
    """Families that the status of a request speaks of."""
    records = (event.record for event in findings.analysis.window.events)
    codes = {record.status for record in records if record is not None and record.status is not None}
    return {family for code in codes for family in _STATUS.get(code, ())}


def _changed(findings: Findings) -> set[str]:
    kinds = {change.kind for change in findings.conclusion.changes} | ({"deployment"} if findings.deployment else set())
    return {_CHANGES[kind] for kind in kinds if kind in _CHANGES}
