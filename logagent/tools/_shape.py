"""A series as text: runs folded, and so many marks of time that the time of each bucket can be read."""

from collections.abc import Callable, Sequence
from itertools import groupby

_RUN = 3
"""Equal neighbours from which a run is written as `0x12`."""
_EMPTY = frozenset({"0", "-"})
_MARKED = 6
"""Buckets after which the time is told again."""


def shape(values: Sequence[str], clock: Callable[[int], str]) -> str:
    """`0x12 @14:05:00 3 40 412`: the time stands before the first bucket behind a run, and before every sixth.

    >>> shape(["0"] * 4 + ["3", "40"], lambda place: f"14:0{place}")
    '0x4 @14:04 3 40'
    """
    parts: list[str] = []
    place = unmarked = 0
    for value, group in groupby(values):
        length = len(list(group))
        if length >= _RUN:
            parts += [f"@{clock(place)}"] if unmarked >= _MARKED and value not in _EMPTY else []
            parts.append(f"{value}x{length}")
            place, unmarked = place + length, _MARKED
            continue
        for _ in range(length):
            if unmarked >= _MARKED:
                parts.append(f"@{clock(place)}")
                unmarked = 0
            parts.append(value)
            place, unmarked = place + 1, unmarked + 1
    return " ".join(parts)
