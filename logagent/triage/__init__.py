"""The survey (digest) and the diagnosis by rule: what code can say before, and without, any model."""

from logagent.triage._assemble import Frame, Story, assemble, confidence, shown_patterns
from logagent.triage._baseline import BASELINES, BaselineChoice, choose_baseline
from logagent.triage._digest import render_digest
from logagent.triage._findings import Findings, PatternFinding
from logagent.triage._hypotheses import (
    Words,
    discriminating_rows,
    grounds,
    mechanism_rows,
    rule_hypotheses,
    suspect_of,
)
from logagent.triage._run import Run
from logagent.triage._standing import standing
from logagent.triage._statements import sample
from logagent.triage._summary import HEADLINE, fit, summary
from logagent.triage._survey import survey
from logagent.triage._table import PatternTable, pattern_table

__all__ = [
    "BASELINES",
    "HEADLINE",
    "BaselineChoice",
    "Findings",
    "Frame",
    "PatternFinding",
    "PatternTable",
    "Run",
    "Story",
    "Words",
    "assemble",
    "choose_baseline",
    "confidence",
    "discriminating_rows",
    "fit",
    "grounds",
    "mechanism_rows",
    "pattern_table",
    "render_digest",
    "rule_hypotheses",
    "sample",
    "shown_patterns",
    "standing",
    "summary",
    "survey",
    "suspect_of",
]
