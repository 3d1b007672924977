"""Weights, samples and the span asked about."""

import random

from logagent.analysis.facts import Event
from logagent.analysis.survey import survey
from tests.unit.scenarios import ERROR, INFO, T0, catalogue, line, sort, times, traffic

REFUSED = "connect to ledger-db:5432 failed: Connection refused"


def errors(at: list[float], service: str = "booking") -> list[Event]:
    return [line(each, service, ERROR, REFUSED) for each in at]


def weighted(events: list[Event], weight: float) -> list[Event]:
    for event in events:
        event.weight = weight
    return events


def test_figures_are_sums_of_weights() -> None:
    rng = random.Random(1)
    calm = weighted(traffic(rng, "booking", 0, 1800, 6), 40.0)
    bad = weighted(errors([1000, *times(rng, 1000, 1790, 20)]), 7.0)
    found = survey(sort(calm + bad), catalogue())
    steady = next(fact for fact in found.facts if fact.kind == "steady_error")
    assert steady.figures["count"] == 21 * 7.0
    assert steady.text.startswith("147 x")
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.mechanism in ("net.refused", "db.unavailable")


def test_estimated_weights_do_not_make_a_test_more_certain() -> None:
    calm = weighted([line(at, "booking", INFO, "rooms listed") for at in range(0, 1800, 6)], 500.0)
    bad = weighted([line(at, "booking", ERROR, "could not list rooms") for at in (900, 930, 960)], 500.0)
    exact = survey(sort(calm + bad), catalogue()).facts
    estimated = survey(sort(calm + bad), catalogue(), exact=False).facts
    assert any(fact.kind == "episode" for fact in exact)
    assert not any(fact.kind in ("episode", "spike") for fact in estimated)


def test_what_was_over_before_the_span_asked_about_is_no_cause_of_it() -> None:
    rng = random.Random(2)
    calm = traffic(rng, "booking", 0, 7200, 5)
    bad = errors([800, *times(rng, 800, 1200, 40)])
    events = sort(calm + bad)
    whole = survey(events, catalogue())
    later = survey(events, catalogue(), window=(T0 + 3600, T0 + 7200))
    assert whole.conclusion.verdict == "cause"
    assert later.conclusion.verdict == "no_anomaly"


def test_what_began_before_the_span_and_goes_on_has_an_onset_before_the_window() -> None:
    rng = random.Random(3)
    calm = traffic(rng, "booking", 0, 7200, 5)
    bad = errors([3000, *times(rng, 3000, 7190, 300)])
    found = survey(sort(calm + bad), catalogue(), window=(T0 + 3600, T0 + 7200))
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.onset_kind == "before_window"
    assert found.conclusion.onset is not None
    assert abs(found.conclusion.onset[1] - T0 - 3000) < 30


def test_a_burst_of_the_baseline_does_not_hide_the_one_asked_about() -> None:
    rng = random.Random(4)
    calm = traffic(rng, "booking", 0, 7200, 5)
    text = "could not print the bill: printer tray missing"
    before = [line(at, "booking", ERROR, text) for at in times(rng, 600, 700, 60)]
    asked = [line(at, "booking", ERROR, text) for at in times(rng, 5000, 5100, 40)]
    found = survey(sort(calm + before + asked), catalogue(), window=(T0 + 3600, T0 + 7200))
    kept = [fact for fact in found.facts if fact.kind in ("episode", "spike")]
    assert kept
    assert all(fact.onset is not None and fact.onset[1] >= T0 + 5000 - 60 for fact in kept)


def test_a_recovered_fault_says_when_its_last_failing_line_was() -> None:
    rng = random.Random(5)
    calm = traffic(rng, "booking", 0, 3600, 4)
    bad = errors([1000, *times(rng, 1000, 1300, 50), 1300])
    found = survey(sort(calm + bad), catalogue())
    assert found.conclusion.status == "recovered"
    assert found.conclusion.ended == T0 + 1300


def test_the_first_line_of_a_new_pattern_is_an_exact_onset() -> None:
    rng = random.Random(6)
    events = sort(traffic(rng, "booking", 0, 1800, 4) + errors([1000, *times(rng, 1000, 1790, 40)]))
    found = survey(events, catalogue())
    assert found.conclusion.onset_kind == "exact"
    assert found.conclusion.onset is not None
    assert found.conclusion.onset[1] == T0 + 1000


def test_a_fault_that_opens_the_window_began_before_it() -> None:
    rng = random.Random(7)
    events = sort(traffic(rng, "booking", 0, 1800, 8) + errors([3, *times(rng, 3, 1795, 120)]))
    found = survey(events, catalogue())
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.onset_kind == "before_window"


def test_one_event_is_enough_to_ask_about() -> None:
    found = survey([line(0, "booking", INFO, "ready")], catalogue())
    assert found.conclusion.verdict == "no_anomaly"


def test_events_of_one_instant_are_read() -> None:
    found = survey(errors([0.0] * 30), catalogue())
    assert found.conclusion.ranking[0].service == "booking"
