"""A model server that answers at random never takes the diagnosis away (`evals.chaos` runs 500 of these)."""

from collections.abc import Iterator

import pytest

from evals.chaos import DEADLINE_S, GRACE_S, SOCKET_DEADLINE_S, Stage, Tally, run_in_fake_time, run_over_sockets, stage

SEEDS = 60
SOCKET_SEEDS = range(900, 906)


@pytest.fixture(scope="module")
def calm() -> Iterator[Stage]:
    with stage(DEADLINE_S) as one:
        yield one


def test_whatever_the_server_sends_a_run_ends_in_time_with_a_diagnosis_and_a_reason(calm: Stage) -> None:
    tally = Tally()
    for seed in range(SEEDS):
        run_in_fake_time(calm, seed, tally)
    assert not tally.faults
    assert tally.runs == SEEDS
    assert tally.worst_overrun_s <= GRACE_S
    assert len(tally.played) >= 9, "every kind of answer was played"
    assert {"submitted", "model_lost", "deadline"} <= set(tally.stops)


def test_the_same_over_real_sockets() -> None:
    tally = Tally()
    with stage(SOCKET_DEADLINE_S) as one:
        for seed in SOCKET_SEEDS:
            run_over_sockets(one, seed, tally)
    assert not tally.faults
    assert tally.slowest_s <= SOCKET_DEADLINE_S + GRACE_S
