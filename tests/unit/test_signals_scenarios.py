"""Seeded scenarios: faults are found with service, onset, mechanism and status; look-alikes are never claimed."""

import random

import pytest

from logagent.analysis.survey import Survey, survey
from tests.unit.scenarios import FAULTS, LOOKALIKES, T0, Scenario, Want, catalogue

SEEDS = (11, 12)


def asked(make: Scenario, seed: int) -> tuple[Survey, Want | None]:
    """What the survey says about one scenario."""
    number = (FAULTS + LOOKALIKES).index(make)
    events, want = make(random.Random(1000 * number + seed))
    return survey(events, catalogue()), want


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", FAULTS)
def test_a_fault_is_claimed_with_its_service_onset_mechanism_and_status(make: Scenario, seed: int) -> None:
    found, want = asked(make, seed)
    conclusion = found.conclusion
    assert want is not None
    assert conclusion.verdict == "cause", conclusion.reason
    assert want.root in (conclusion.ranking[0].service, conclusion.entity)
    if want.mechanisms:
        assert conclusion.mechanism in want.mechanisms
    if want.onset is not None:
        assert conclusion.onset is not None
        assert abs(conclusion.onset[1] - T0 - want.onset) <= want.tolerance
        assert conclusion.onset[0] <= conclusion.onset[1]
    assert conclusion.status == want.status
    assert conclusion.grade in ("likely", "confirmed")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", LOOKALIKES)
def test_a_lookalike_is_never_claimed(make: Scenario, seed: int) -> None:
    found, want = asked(make, seed)
    assert want is None
    assert found.conclusion.verdict != "cause", found.conclusion.reason
    assert found.conclusion.grade == "possible"
