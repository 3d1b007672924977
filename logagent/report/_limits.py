"""How much of each part fits on one screen; what is left out is counted, never dropped silently."""

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Rows and lines that each part may show."""

    prose: int = 3
    """Lines of a sentence of the head; what is happening keeps two."""
    patterns: int = 5
    pattern_lines: int = 2
    values: int = 4
    hypotheses: int = 4
    marks: int = 3
    check_lines: int = 2
    notes: int = 2
    unaffected: int = 2
    """Lines that name what is not affected."""
    foot: int = 2
    """Lines of a row of the foot."""


_REDUCTIONS: tuple[tuple[str, int], ...] = (
    ("prose", 2),
    ("hypotheses", 3),
    ("values", 3),
    ("patterns", 4),
    ("check_lines", 1),
    ("unaffected", 1),
    ("hypotheses", 2),
    ("foot", 1),
    ("patterns", 3),
    ("marks", 2),
    ("notes", 1),
    ("pattern_lines", 1),
    ("values", 2),
    ("unaffected", 0),
    ("hypotheses", 1),
    ("patterns", 2),
    ("values", 1),
    ("values", 0),
    ("marks", 1),
    ("prose", 1),
)
"""What is given up, one after the other: the least telling first."""


def steps() -> Iterator[Limits]:
    """Limits from the most generous to the tightest."""
    limits = Limits()
    yield limits
    for name, value in _REDUCTIONS:
        limits = replace(limits, **{name: value})
        yield limits


ALL = Limits(
    prose=99,
    patterns=999,
    pattern_lines=99,
    values=999,
    hypotheses=99,
    marks=99,
    check_lines=99,
    notes=99,
    unaffected=99,
    foot=99,
)
"""No limit, for -vv."""
SHORT_LAYOUT = Limits(check_lines=4)
"""For the layouts without a cause, which have room."""
