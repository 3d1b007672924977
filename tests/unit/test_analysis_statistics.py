"""The statistics: against brute force, and against what they must never say."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.analysis.statistics import (
    band,
    benjamini_hochberg,
    fisher_greater,
    g_test,
    least_p,
    quantile,
    scan_episode,
    scan_step,
)

small = st.integers(0, 12)


@given(small, small, small, small)
def test_fisher_equals_the_sum_over_all_tables(k1, more1, k2, more2):
    n1, n2, hits = k1 + more1, k2 + more2, k1 + k2
    if not (n1 and n2 and hits):
        assert fisher_greater(k1, n1, k2, n2) == 1.0
        return
    whole = math.comb(n1 + n2, hits)
    tail = sum(math.comb(n2, k) * math.comb(n1, hits - k) for k in range(k2, min(n2, hits) + 1)) / whole
    assert fisher_greater(k1, n1, k2, n2) == pytest.approx(tail, abs=1e-12)


def test_fisher_stands_large_and_fractional_counts():
    assert fisher_greater(1_000, 1_000_000, 2_000, 1_000_000) < 1e-60
    assert fisher_greater(1_000.4, 1e6, 1_000.2, 1e6) == pytest.approx(0.5, abs=0.02)
    assert fisher_greater(2_000, 1_000_000, 1_000, 1_000_000) == pytest.approx(1.0)


def test_a_clean_cut_has_the_permutation_p():
    step = scan_step([0] * 6 + [1] * 4)
    assert step is not None
    assert (step.k, step.before, step.after) == (6, 0.0, 1.0)
    assert step.p == pytest.approx(1 / math.comb(10, 4))
    assert least_p(4, 10) == pytest.approx(step.p)


def test_a_sequence_without_change_has_no_step():
    assert scan_step([1] * 10) is None
    assert scan_step([]) is None


def test_an_alert_limits_where_a_step_may_lie():
    step = scan_step([0] * 6 + [1] * 4, lambda k: k == 8)
    assert step is not None
    assert step.k == 8


@given(st.lists(st.integers(0, 1), min_size=2, max_size=40))
def test_p_of_a_step_is_a_probability(outcomes):
    step = scan_step(outcomes)
    assert step is None or 0 <= step.p <= 1


def test_an_episode_is_found_where_it_is():
    counts = [1.0] * 20 + [30.0] * 5 + [1.0] * 35
    found = scan_episode(counts, [10.0] * 60)
    assert found is not None
    assert (found.first, found.last) == (20, 25)
    assert found.gain > 50
    assert found.inside == 150


def test_noise_lowers_the_gain_of_an_episode():
    calm = scan_episode([2.0] * 30 + [20.0] * 3 + [2.0] * 27, [10.0] * 60)
    wild = scan_episode([0.0, 6.0] * 15 + [20.0] * 3 + [0.0, 6.0] * 13 + [0.0], [10.0] * 60)
    assert calm is not None
    assert wild is not None
    assert wild.phi > 2
    assert wild.gain < calm.gain / 2


def test_nothing_is_no_episode():
    assert scan_episode([0.0] * 10, [1.0] * 10) is None
    assert scan_episode([], []) is None


def test_quantiles_are_linear():
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
    assert quantile([7], 0.95) == 7


def test_g_test_knows_exposure():
    assert g_test(60, 10, 6, 1) == pytest.approx(1.0)
    assert g_test(0, 30) < 1e-6
    assert g_test(0, 0) == 1.0
    assert g_test(5, 5, 0, 1) == 1.0


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_g_test_is_a_probability(now, before):
    assert 0 <= g_test(now, before) <= 1


def test_false_discovery_rate_keeps_what_stands_together():
    assert benjamini_hochberg([0.01, 0.02, 0.03, 0.04, 0.05]) == [True] * 5
    assert benjamini_hochberg([0.04, 0.9, 0.9]) == [False] * 3
    assert benjamini_hochberg([]) == []


def test_a_band_has_a_poisson_floor_and_never_goes_below_nothing():
    quiet = band([0, 0, 0, 0])
    assert (quiet.low, quiet.high) == (0.0, 3.0)
    wide = band([100, 160, 40, 130, 70])
    assert wide.high == pytest.approx(100 + 3 * 1.4826 * 30)
    assert wide.outside(400)
    assert not wide.outside(120)
    assert band([]).high == 3.0
