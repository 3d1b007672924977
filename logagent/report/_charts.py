"""Sparklines: one row of glyphs, always the last cell of its row (their width is ambiguous in East Asia)."""

from collections.abc import Sequence
from itertools import pairwise

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-:=+*#"


def pooled(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values; neighbours are pooled by their maximum, so that no peak is lost."""
    if len(values) <= width:
        return list(values)
    edges = [len(values) * place // width for place in range(width + 1)]
    return [max(values[low:high]) for low, high in pairwise(edges)]


def sparkline(values: Sequence[float], width: int, *, unicode: bool = True) -> str:
    """Heights from 0 to the largest value; "" where there is nothing to draw.

    >>> sparkline([0, 1, 7], 10), sparkline([0, 1, 7], 10, unicode=False)
    ('▁▂█', '_.#')
    """
    shown = pooled([max(0.0, value) for value in values], max(1, width))
    if not shown:
        return ""
    glyphs = _BLOCKS if unicode else _ASCII
    top = max(shown) or 1.0
    return "".join(glyphs[min(len(glyphs) - 1, int(value / top * (len(glyphs) - 1) + 0.5))] for value in shown)
