"""Words and names that are over-represented in one set of lines against another, English and Chinese."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from logagent.analysis.templates import typed_mask

MOST = 8
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{3,30}")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_SHORTEST, _LONGEST = 2, 4
"""Han characters of a word: nothing tells words apart there, so all runs of these lengths are counted."""
_READ = 500
_PRIOR = 10.0
"""Lines that the common rate of a word counts for on either side, before any is seen."""
_LEAST = 0.5
"""And at least so many, so that one line of a rare word is no certainty."""
_RATIO = 3.0
"""Rate against the other side from which a word is told."""
_SURE = 1.0
"""Standard errors of the log odds from which a word is told: two lines where there were none."""
Lines = Iterable[tuple[str, float]]
"""(text, how many lines it stands for)"""


@dataclass(slots=True)
class _Use:
    counts: list[float] = field(default_factory=lambda: [0.0, 0.0])
    line: str = ""
    """A line that holds it."""


def keywords(now: Lines, base: Lines, *, scale: float = 1.0, most: int = MOST) -> tuple[str, ...]:
    """Words that `now` has more of, most telling first; never a piece of a secret.

    Log odds with an informative Dirichlet prior (Monroe, Colaresi & Quinn 2008) over lines that hold the word, so that
    one rare word of one line does not beat one of a hundred. Of Chinese runs, one that only stands inside a longer one
    is left out.

    Args:
        now: the failing or the new lines.
        base: what is usual.
        scale: how much longer `now` is than `base`, in time.
        most: words at most.

    >>> keywords([("payment refused by vault", 9.0)], [("payment settled", 90.0)])
    ('refused', 'vault')
    """
    uses: defaultdict[str, _Use] = defaultdict(_Use)
    totals = [0.0, 0.0]
    for side, lines in enumerate((now, base)):
        for text, weight in lines:
            totals[side] += weight
            for word in set(_words(text[:_READ])):
                uses[word].counts[side] += weight
                uses[word].line = uses[word].line or text
    scored = [
        (score, word, use)
        for word, use in uses.items()
        if use.counts[0] > _RATIO * use.counts[1] * scale and (score := _log_odds(use.counts, totals)) >= _SURE
    ]
    scored.sort(key=lambda one: (-one[0], -len(one[1]), one[1]))
    telling = (word for _, word, use in _widest(scored) if word in typed_mask(use.line).lower())
    return tuple(islice(telling, most))


def _words(text: str) -> Iterator[str]:
    low = text.lower()
    yield from _WORD.findall(low)
    for run in _HAN.findall(low):
        for size in range(_SHORTEST, min(_LONGEST, len(run)) + 1):
            for start in range(len(run) - size + 1):
                yield run[start : start + size]


def _log_odds(counts: list[float], totals: list[float]) -> float:
    """Standard errors by which the log odds of a word differ between the sides; without a base, its own weight."""
    rate = sum(counts) / max(1.0, sum(totals))
    sides = []
    for count, total in zip(counts, totals, strict=True):
        held = count + max(_LEAST, _PRIOR * rate)
        sides.append((held, max(1e-9, total + _PRIOR - held)))
    (a, not_a), (b, not_b) = sides
    gap = math.log(a / not_a) - math.log(b / not_b)
    return gap / math.sqrt(1 / a + 1 / b)


def _widest(scored: list[tuple[float, str, _Use]]) -> Iterator[tuple[float, str, _Use]]:
    """Without Chinese runs that a longer one of as many lines holds, or overlaps."""
    kept: list[tuple[str, list[float]]] = []
    for score, word, use in scored:
        inside = any(use.counts == counts and _overlap(word, other) for other, counts in kept)
        if word.isascii() or not inside:
            kept.append((word, use.counts))
            yield score, word, use


def _overlap(word: str, other: str) -> bool:
    """Whether two runs are one, or pieces of one text that are cut at different places."""
    if word.isascii() or other.isascii():
        return False
    if word in other:
        return True
    return any(word.startswith(other[-n:]) or word.endswith(other[:n]) for n in range(1, min(len(word), len(other))))
