"""The survey (digest) and the diagnosis by rule: what code can say before, and without, any model."""

from logagent.triage._assemble import Frame, Story, assemble, shown_patterns
from logagent.triage._baseline import BaselineChoice, choose_baseline
from logagent.triage._digest import render_digest
from logagent.triage._findings import Findings, PatternFinding
from logagent.triage._hypotheses import Words, grounds, rule_hypotheses
from logagent.triage._run import Run
from logagent.triage._statements import sample
from logagent.triage._summary import fit, summary
from logagent.triage._survey import survey

__all__ = [
    "BaselineChoice",
    "Findings",
    "Frame",
    "PatternFinding",
    "Run",
    "Story",
    "Words",
    "assemble",
    "choose_baseline",
    "fit",
    "grounds",
    "render_digest",
    "rule_hypotheses",
    "sample",
    "shown_patterns",
    "summary",
    "survey",
]
