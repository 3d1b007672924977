"""A report within a budget: parts are given up in a fixed order; head, caveats and link never (ux.md 5.1)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Keep:
    """How much of each part is written."""

    samples: int = 5
    """Lines of the log shown of a row of evidence."""
    rows: int = 200
    """Rows of evidence."""
    checks: int = _ALL
    """Checks named in each group; 0 leaves checks and open questions out."""
    timeline: bool = True
    patterns: int = 60
    values: int = 3
    """Values of a dimension."""
    dimensions: int = _ALL
    hypotheses: int = _ALL
    steps: int = _ALL
    impact: bool = True
    """Who is hit, behind how many."""
    cost: bool = True
    """Baseline and cost, behind the data quality and the caveats."""


_REDUCTIONS: tuple[tuple[str, Any], ...] = (
    ("samples", 1),
    ("rows", 60),
    ("patterns", 40),
    ("samples", 0),
    ("rows", 30),
    ("patterns", 20),
    ("rows", 0),
    ("checks", 0),
    ("patterns", 10),
    ("values", 2),
    ("patterns", 3),
    ("dimensions", 3),
    ("values", 1),
    ("timeline", False),
    ("hypotheses", 2),
    ("steps", 2),
    ("patterns", 2),
    ("dimensions", 2),
    ("hypotheses", 1),
    ("steps", 0),
    ("patterns", 0),
    ("dimensions", 0),
    ("hypotheses", 0),
    ("cost", False),
    ("impact", False),
)
"""What is given up, one after the other: details of the evidence first, then what stands beyond the first rows."""


def steps() -> Iterator[Keep]:
    """From everything to the head, the caveats and the link alone."""
    keep = Keep()
    yield keep
    for name, value in _REDUCTIONS:
        keep = replace(keep, **{name: value})
        yield keep


def fitted(compose: Callable[[Keep], str], budget: int, more: str, measure: Callable[[str], int] = len) -> str:
    """The fullest text that fits.

    Args:
        compose: the text with what is kept; its first lines are the head, its last paragraph holds the link.
        budget: the most that `measure` may give.
        more: the sentence that says that something was left out.
        measure: characters, or bytes where the reader counts those.

    Where even the head with caveats and link is too long, lines go from its end, but never the first and the last.
    """
    text = ""
    for keep in steps():
        text = compose(keep)
        if keep != Keep():
            text = f"{text}\n\n{more}"
        if measure(text) <= budget:
            return text
    head, _, link = text.removesuffix(f"\n\n{more}").rpartition("\n\n")
    lines = head.split("\n")
    while len(lines) > 1 and measure("\n".join([*lines, "", link, "", more])) > budget:
        lines.pop()
    return "\n".join([*lines, "", link, "", more])
