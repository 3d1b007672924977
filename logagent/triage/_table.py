"""The table of the command `patterns`: every pattern that was counted, and what the others hold."""

from dataclasses import dataclass

from logagent.analysis.keywords import keywords
from logagent.diagnosis import Pattern
from logagent.triage._assemble import in_order, pattern_out
from logagent.triage._findings import Findings
from logagent.triage._statements import Clean


@dataclass(frozen=True, slots=True)
class PatternTable:
    """All patterns that were counted, and what the others hold."""

    rows: list[Pattern]
    others: int
    """Patterns that were not counted."""
    lines: int
    """Lines of the stretch that are in no row."""
    total: int
    keywords: tuple[str, ...] = ()
    """Words that the stretch has more of than the baseline; not cleaned."""


def pattern_table(findings: Findings, total: int, clean: Clean) -> PatternTable:
    """Rows in the order of the report; `total` lines are in the stretch that is looked at."""
    window, found = findings.analysis.window, in_order(findings)
    told = {template for one in findings.patterns for template in one.templates}
    others = {window.miner.alike[template] for template in window.by_template if template not in told}
    rest = max(0, total - sum(one.count for one in found))
    rows = [pattern_out(findings, one, clean) for one in found]
    return PatternTable(rows, len(others), rest, total, words_of(findings))


def words_of(findings: Findings) -> tuple[str, ...]:
    """Words and names over-represented in the stretch that is looked at, against the baseline inside what was read."""
    start, events = findings.bad.start.timestamp(), findings.analysis.window.events
    now = [(event.message, event.weight) for event in events if event.time >= start]
    base = [(event.message, event.weight) for event in events if event.time < start]
    earlier = start - min((event.time for event in events), default=start)
    if not base or earlier <= 0:
        return ()
    return keywords(now, base, scale=findings.bad.seconds / earlier)
