"""The table of the command `patterns`: every pattern that was counted, and what the others hold."""

from dataclasses import dataclass

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


def pattern_table(findings: Findings, total: int, clean: Clean) -> PatternTable:
    """Rows in the order of the report; `total` lines are in the stretch that is looked at."""
    window, found = findings.analysis.window, in_order(findings)
    told = {template for one in findings.patterns for template in one.templates}
    others = {window.miner.alike[template] for template in window.by_template if template not in told}
    rest = max(0, total - sum(one.count for one in found))
    return PatternTable([pattern_out(findings, one, clean) for one in found], len(others), rest, total)
