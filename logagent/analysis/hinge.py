"""The best fit of a constant that turns into a line: where a slow growth begins."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Hinge:
    """`level` until the point `k`, then a line of `slope` per second; `first` to `last` are nearly as good places."""

    k: int
    level: float
    slope: float
    first: int
    last: int
    error: float
    """Sum of squared residuals."""
    step_error: float
    """The same for the best single step."""
    flat_error: float
    """The same for a constant."""

    @property
    def fit(self) -> float:
        """Share of the variation that the hinge explains, 0 to 1."""
        return 1 - self.error / self.flat_error if self.flat_error > 0 else 0.0

    def chance(self, points: int) -> float:
        """P of such a fit for independent noise: F test of two terms, times the places tried.

        F with 2 and m degrees of freedom has the closed tail `(1 - fit) ** (m / 2)`.
        """
        return min(1.0, points * math.pow(1 - self.fit, (points - 3) / 2))

    def end(self, points: Sequence[Point]) -> float:
        """Height of the line at the last point."""
        return self.level + self.slope * (points[-1][0] - points[self.k][0])


@dataclass(frozen=True, slots=True)
class _Fit:
    error: float
    k: int
    level: float
    slope: float


def hinge(points: Sequence[Point]) -> Hinge:
    """Fit a hinge over all places of the bend, in linear time.

    Args:
        points: (time in seconds, value), oldest first, at least 5 of them.

    >>> bend = hinge([(t, 10 + 2 * max(0, t - 6)) for t in range(12)])
    >>> bend.k, round(bend.slope, 3)
    (6, 2.0)
    """
    values = [value for _, value in points]
    n = len(points)
    mean = sum(values) / n
    flat = sum((value - mean) ** 2 for value in values)
    fits = _fits(points, mean, flat)
    best = min(fits, key=lambda fit: (fit.error, fit.k))
    bar = best.error * (1 + 4.0 / max(4, n - 3)) + 1e-9
    near = [fit.k for fit in fits if fit.error <= bar]
    step = _step_error(values, mean, flat)
    return Hinge(best.k, best.level, best.slope, min(near), max(near), best.error, step, flat)


def _fits(points: Sequence[Point], mean: float, flat: float) -> list[_Fit]:
    """One fit per place, by sums over the points from that place on."""
    n, origin = len(points), points[0][0]
    times = [time - origin for time, _ in points]
    offsets = [value - mean for _, value in points]
    sum_t = _suffix(times)
    sum_tt = _suffix([t * t for t in times])
    sum_y = _suffix(offsets)
    sum_ty = _suffix([t * y for t, y in zip(times, offsets, strict=True)])
    fits = []
    for k in range(n - 3):
        count, start = n - k, times[k]
        total = sum_t[k] - count * start
        spread = sum_tt[k] - 2 * start * sum_t[k] + count * start * start - total * total / n
        if spread <= 0:
            continue
        product = sum_ty[k] - start * sum_y[k]
        slope = product / spread
        fits.append(_Fit(max(0.0, flat - product * slope), k, mean - slope * total / n, slope))
    return fits or [_Fit(flat, 0, mean, 0.0)]


def _suffix(values: Sequence[float]) -> list[float]:
    return list(accumulate(reversed(values)))[::-1]


def _step_error(values: Sequence[float], mean: float, flat: float) -> float:
    """Sum of squares around the best single step."""
    n, left, best = len(values), 0.0, flat
    for k in range(1, n):
        left += values[k - 1]
        before, after = left / k, (mean * n - left) / (n - k)
        best = min(best, flat - k * (before - mean) ** 2 - (n - k) * (after - mean) ** 2)
    return best
