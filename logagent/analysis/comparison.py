"""How much two stretches differ in a count or a number, and whether bursts alone would explain it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from logagent.analysis.statistics import fisher_greater, g_test, overdispersion, quantile
from logagent.diagnosis import Change

SPIKE, RISE, FALL = 3.0, 1.25, 0.8
"""Ratios of rates from which a change is worth its name (ux.md 3.1)."""
LEAST = 5
"""Records, seen or expected, from which a change of rate is told."""
RATE = 0.05
"""False discovery rate over all rows of a comparison."""
_SLICES = 12
_FEWEST = 4
"""Slices of time with a value, on either side, below which a shift of a number is no finding."""
_OFTEN = 0.95


@dataclass(frozen=True, slots=True)
class Tally:
    """Records of one kind in one stretch, by bucket; `exposure` is what they are counted against: seconds or events."""

    counts: tuple[float, ...]
    exposures: tuple[float, ...]

    @property
    def total(self) -> float:
        """All records."""
        return sum(self.counts)

    @property
    def exposure(self) -> float:
        """All seconds, or all events."""
        return sum(self.exposures)

    @property
    def rate(self) -> float:
        """Records by unit of exposure."""
        return self.total / self.exposure if self.exposure else 0.0

    @property
    def phi(self) -> float:
        """Overdispersion: 1 for a steady trickle, the size of the bursts for bursts."""
        return overdispersion(list(zip(self.counts, self.exposures, strict=True)))


@dataclass(frozen=True, slots=True)
class Contrast:
    """B against A: `ratio` of the rates (None where A has none), `p` that bursts of this size do as much by chance."""

    ratio: float | None
    p: float


def contrast(a: Tally, b: Tally) -> Contrast:
    """Quasi-Poisson G-test: both counts are divided by the larger overdispersion, so that one burst is one event.

    >>> steady, twice = Tally((5.0,) * 10, (60.0,) * 10), Tally((10.0,) * 10, (60.0,) * 10)
    >>> contrast(steady, twice).p < 0.001
    True
    """
    phi = max(a.phi, b.phi)
    p = g_test(b.total / phi, a.total / phi, b.exposure, a.exposure)
    return Contrast(b.rate / a.rate if a.total else None, p)


def change_of(a: Tally, b: Tally, found: Contrast, *, stands: bool) -> Change:
    """The word for a change; `stands` tells whether its p survived that of the other rows."""
    if not a.total and b.total:
        return "new"
    expected = a.rate * b.exposure
    if not stands or max(b.total, expected) < LEAST or found.ratio is None:
        return "steady"
    if not b.total:
        return "vanished"
    if found.ratio >= SPIKE:
        return "spiking"
    return "rising" if found.ratio >= RISE else "falling" if found.ratio <= FALL else "steady"


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles of a number in one stretch."""

    n: int
    p50: float
    p95: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Of at least one value."""
        return cls(len(values), quantile(values, 0.5), quantile(values, _OFTEN))


Timed = tuple[float, float]
"""(seconds, value)"""


def shift(a: Sequence[Timed], b: Sequence[Timed]) -> float:
    """P-value that the median or the upper end of a number is the same on both sides.

    Mood's median test over the quantiles of slices of time, not over values: values of one moment are alike, and a
    thousand of one burst are one observation. 1 where there are too few slices to tell.

    >>> calm = [(float(t), 10.0 + t % 3) for t in range(240)]
    >>> shift(calm, [(t, 3 * value) for t, value in calm]) < 0.001, shift(calm, calm)
    (True, 1.0)
    """
    return min(1.0, 2 * min(_median_test(a, b, q) for q in (0.5, _OFTEN)))


def _median_test(a: Sequence[Timed], b: Sequence[Timed], q: float) -> float:
    first, second = _slices(a, q), _slices(b, q)
    if min(len(first), len(second)) < _FEWEST:
        return 1.0
    middle = quantile([*first, *second], 0.5)
    high_a, high_b = sum(value > middle for value in first), sum(value > middle for value in second)
    low_a, low_b = sum(value < middle for value in first), sum(value < middle for value in second)
    up = max(
        fisher_greater(high_a, len(first), high_b, len(second)),
        fisher_greater(low_b, len(second), low_a, len(first)),
    )
    down = max(
        fisher_greater(high_b, len(second), high_a, len(first)),
        fisher_greater(low_a, len(first), low_b, len(second)),
    )
    return min(1.0, 2 * min(up, down))


def _slices(points: Sequence[Timed], q: float) -> list[float]:
    """The quantile in each slice of time that has a value."""
    if not points:
        return []
    start, end = min(at for at, _ in points), max(at for at, _ in points)
    width = (end - start) / _SLICES or 1.0
    groups: defaultdict[int, list[float]] = defaultdict(list)
    for at, value in points:
        groups[min(_SLICES - 1, int((at - start) / width))].append(value)
    return [quantile(values, q) for values in groups.values()]
