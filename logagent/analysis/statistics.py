"""The few statistics the analysis needs, in plain Python.

Counts may be sums of weights; tests that need whole numbers round them.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

_NEGLIGIBLE = 1e-18
_NOTHING = 1e-9
"""Weights below it are rounding errors of none."""
_MAD_TO_SIGMA = 1.4826
_NEARLY_ALL = 0.95
_MIN_OUTSIDE = 5
"""Events and buckets outside an episode below which their spread is not estimated."""


def _log_choose(n: float, k: float) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def fisher_greater(k1: float, n1: float, k2: float, n2: float) -> float:
    """One-sided Fisher exact test: chance of `k2` or more hits among `n2` when `k1` of `n1` share the rate.

    >>> round(fisher_greater(0, 5, 5, 5), 6)
    0.003968
    """
    first_hits, first, second_hits, second = round(k1), round(n1), round(k2), round(n2)
    hits = first_hits + second_hits
    lowest, highest = max(0, hits - first), min(second, hits)
    if not hits or not first or not second or second_hits <= lowest:
        return 1.0
    mode = (second + 1) * (hits + 1) / (first + second + 2)
    if second_hits > mode:
        return min(1.0, _tail(second_hits, highest, (first, second, hits)))
    return max(0.0, 1.0 - _tail(second_hits - 1, lowest, (first, second, hits)))


def _tail(start: int, stop: int, table: tuple[int, int, int]) -> float:
    """Sum of hypergeometric probabilities from `start` away from the mode to `stop` (included)."""
    first, second, hits = table
    log_start = _log_choose(second, start) + _log_choose(first, hits - start) - _log_choose(first + second, hits)
    step = 1 if stop >= start else -1
    term = total = 1.0
    for k in range(start, stop, step):
        if step > 0:
            term *= (second - k) * (hits - k) / ((k + 1) * (first - hits + k + 1))
        else:
            term *= k * (first - hits + k) / ((second - k + 1) * (hits - k + 1))
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return math.exp(log_start + math.log(total))


def least_p(hits: float, n: float) -> float:
    """Smallest p that a 0/1 sequence with so many hits could ever reach (Tarone 1990)."""
    return math.exp(-_log_choose(n, hits))


def _log_likelihood(k: float, n: float) -> float:
    if k <= 0 or k >= n:
        return 0.0
    p = k / n
    return k * math.log(p) + (n - k) * math.log(1 - p)


@dataclass(frozen=True, slots=True)
class Step:
    """The best single change of a 0/1 sequence: it lies before the item with index `k`."""

    k: int
    before: float
    """Rate of hits before."""
    after: float
    n_before: int
    n_after: int
    p: float


def scan_step(outcomes: Sequence[int], allowed: Callable[[int], bool] | None = None) -> Step | None:
    """Best single change of a 0/1 sequence (likelihood scan, Hinkley & Hinkley 1970), or None without one.

    A clean cut (all hits on one side) has the exact permutation p `1 / C(n, hits)`; else p is Fisher's at the best
    place times the number of places tried. `allowed(k)` limits the places (a known alert time).

    >>> scan_step([0, 0, 0, 0, 1, 1, 1, 1]).k
    4
    """
    n, hits = len(outcomes), sum(outcomes)
    best, best_gain, tried, left = None, 0.0, 0, 0
    whole = _log_likelihood(hits, n)
    for k in range(1, n):
        left += outcomes[k - 1]
        if allowed is not None and not allowed(k):
            continue
        tried += 1
        gain = _log_likelihood(left, k) + _log_likelihood(hits - left, n - k) - whole
        if gain > best_gain:
            best, best_gain = (k, left), gain
    return None if best is None else _step(best, n, hits, tried)


def _step(best: tuple[int, int], n: int, hits: int, tried: int) -> Step:
    k, left = best
    right = hits - left
    before, after = left / k, right / (n - k)
    if left in (0, k) and right in (0, n - k) and tried > 1:
        p = least_p(hits, n)
    elif after >= before:
        p = fisher_greater(left, k, right, n - k) * tried
    else:
        p = fisher_greater(k - left, k, n - k - right, n - k) * tried
    return Step(k, before, after, k, n - k, min(1.0, p))


def poisson_gain(inside: float, expected: float, total: float) -> float:
    """Kulldorff's log likelihood ratio for `inside` events where `expected` of `total` were due."""
    if inside <= 0 or expected <= 0 or inside <= expected:
        return 0.0
    outside = total - inside
    gain = inside * math.log(inside / expected)
    if outside > 0:
        gain += outside * math.log(outside / (total - expected))
    return gain


@dataclass(frozen=True, slots=True)
class EpisodeScan:
    """The best interval of buckets: `first` to `last` (excluded). `phi` is the overdispersion outside."""

    first: int
    last: int
    gain: float
    inside: float
    expected: float
    phi: float


def scan_episode(
    counts: Sequence[float], exposure: Sequence[float], allowed: Callable[[int], bool] | None = None
) -> EpisodeScan | None:
    """Best interval of buckets with too many events (spatial scan statistic, Kulldorff 1997, in one dimension).

    The gain is divided by the overdispersion of the counts outside the interval, at least 1 (quasi-Poisson).
    `allowed(i)` limits the first bucket of the interval.
    """
    n, total, weight = len(counts), sum(counts), sum(exposure)
    if not total or not weight:
        return None
    best: tuple[float, int, int, float, float] | None = None
    summed, exposed = [0.0, *accumulate(counts)], [0.0, *accumulate(exposure)]
    for i, j in _intervals(counts, allowed):
        share = exposed[j + 1] - exposed[i]
        inside, expected = summed[j + 1] - summed[i], total * share / weight
        if inside <= expected or j - i + 1 == n or (share >= _NEARLY_ALL * weight and i == 0):
            continue
        gain = poisson_gain(inside, expected, total)
        if best is None or gain > best[0]:
            best = (gain, i, j + 1, inside, expected)
    if best is None:
        return None
    gain, first, last, inside, expected = best
    outside = [*zip(counts[:first], exposure[:first], strict=True), *zip(counts[last:], exposure[last:], strict=True)]
    phi = overdispersion(outside)
    return EpisodeScan(first, last, gain / phi, inside, expected, phi)


def _intervals(counts: Sequence[float], allowed: Callable[[int], bool] | None) -> Iterator[tuple[int, int]]:
    """First and last bucket of each interval that can be the best: it begins and ends with an event."""
    busy = [i for i, count in enumerate(counts) if count > 0]
    for place, i in enumerate(busy):
        if allowed is None or allowed(i):
            for j in busy[place:]:
                yield i, j


def overdispersion(rest: Sequence[tuple[float, float]]) -> float:
    """Variance over mean of counts against their exposure, at least 1; 1 where there is too little to tell."""
    exposed = [(count, due) for count, due in rest if due > 0]
    out, out_exposure = sum(count for count, _ in exposed), sum(due for _, due in exposed)
    if out < _MIN_OUTSIDE or len(exposed) < _MIN_OUTSIDE:
        return 1.0
    rate = out / out_exposure
    return max(1.0, sum((count - rate * due) ** 2 / (rate * due) for count, due in exposed) / (len(exposed) - 1))


def quantile(values: Sequence[float], q: float) -> float:
    """Linear quantile of an unsorted, non-empty list.

    >>> quantile([3, 1, 2], 0.5)
    2.0
    """
    ordered = sorted(values)
    place = (len(ordered) - 1) * q
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (ordered[high] - ordered[low]) * (place - low))


def g_test(now: float, expected: float, exposure_now: float = 1.0, exposure_before: float = 1.0) -> float:
    """P-value that two Poisson counts differ, each against its exposure (seconds, or events in total).

    >>> g_test(20, 20)
    1.0
    >>> g_test(40, 10) < 1e-4
    True
    """
    total = now + expected
    if total <= _NOTHING or exposure_now <= 0 or exposure_before <= 0:
        return 1.0
    share = exposure_now / (exposure_now + exposure_before)
    gain = 0.0
    for count, due in ((now, total * share), (expected, total * (1 - share))):
        if count > _NOTHING:
            gain += count * math.log(count / due)
    return math.erfc(math.sqrt(max(0.0, gain)))


def benjamini_hochberg(ps: Sequence[float], rate: float = 0.05) -> list[bool]:
    """Which of the tests stand at a false discovery rate (Benjamini & Hochberg 1995), in the order given.

    >>> benjamini_hochberg([0.001, 0.9, 0.02])
    [True, False, True]
    """
    order = sorted(range(len(ps)), key=ps.__getitem__)
    kept = 0
    for place, index in enumerate(order, 1):
        if ps[index] <= rate * place / len(ps):
            kept = place
    stands = set(order[:kept])
    return [index in stands for index in range(len(ps))]


@dataclass(frozen=True, slots=True)
class Band:
    """What a series usually does: median and the range of its buckets; `sigma` is the scaled MAD."""

    median: float
    low: float
    high: float
    sigma: float

    def outside(self, value: float) -> bool:
        """Whether a bucket leaves the band."""
        return value < self.low or value > self.high


def band(counts: Sequence[float]) -> Band:
    """Band of baseline buckets: median ± 3 scaled MAD, at least ± 3 sqrt(max(median, 1)), never below 0 (ux.md 3.1).

    >>> band([10, 12, 9, 11, 10]).high
    19.486832980505138
    """
    if not counts:
        return Band(0.0, 0.0, 3.0, 0.0)
    median = quantile(counts, 0.5)
    sigma = _MAD_TO_SIGMA * quantile([abs(count - median) for count in counts], 0.5)
    half = 3 * max(sigma, math.sqrt(max(median, 1.0)))
    return Band(median, max(0.0, median - half), median + half, sigma)
