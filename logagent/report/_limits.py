"""How much of each part fits on one screen; what is left out is counted, never dropped silently."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Rows and lines that each part may show."""

    prose: int = 2
    """Lines of a sentence of the head, and of a row of the foot."""
    patterns: int = 5
    pattern_lines: int = 2
    values: int = 4
    hypotheses: int = 4
    marks: int = 3
    check_lines: int = 2
    notes: int = 2


STEPS = (
    Limits(),
    Limits(patterns=4, values=3, hypotheses=3),
    Limits(patterns=3, values=3, hypotheses=3, marks=2, check_lines=1, notes=1),
    Limits(patterns=3, pattern_lines=1, values=2, hypotheses=2, marks=2, check_lines=1, notes=1),
    Limits(prose=1, patterns=2, pattern_lines=1, values=1, hypotheses=1, marks=1, check_lines=1, notes=1),
)
"""Tried in this order until the report fits."""
ALL = Limits(prose=99, patterns=999, pattern_lines=99, values=999, hypotheses=99, marks=99, check_lines=99, notes=99)
"""No limit, for -vv."""
SHORT_LAYOUT = Limits(check_lines=4)
"""For the layouts without a cause, which have room."""
