"""Buckets of the survey's timeline."""

import pytest

from logagent.stores._local_counts import MOST_BUCKETS
from logagent.triage._counting import interval_for

DAY = 86_400


@pytest.mark.parametrize(
    ("seconds", "step"), [(60, 1), (1_800, 30), (DAY, 1_800), (30 * DAY, 43_200), (365 * DAY, 7 * DAY)]
)
def test_about_sixty_buckets_whatever_the_window(seconds: int, step: int) -> None:
    assert interval_for(seconds) == step


def test_a_window_of_decades_stays_within_what_a_store_answers() -> None:
    for years in (2, 7, 20, 130):
        assert years * 365 * DAY / interval_for(years * 365 * DAY) <= MOST_BUCKETS
