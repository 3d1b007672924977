"""Faults in traced requests: left-out steps, errors, delays, and a callee that is gone; healthy traffic is left alone."""

import random
from dataclasses import replace

import pytest

from logagent.analysis.facts import Event, Fact
from logagent.analysis.survey import Survey, survey
from tests.unit.scenarios import INFO, T0, Requests, catalogue, line, other, sort

SEEDS = (1, 2)


def ask(events: list[Event], **more: object) -> Survey:
    return survey(events, catalogue(), **more)  # type: ignore[arg-type]


def step_fact(found: Survey, kind: str) -> Fact:
    return next(fact for fact in found.conclusion.ranking[0].facts if fact.kind == kind)


def without_price(rows: list[Event]) -> list[Event]:
    return [row for row in rows if row.message != "price added"]


def failing_tariff(rows: list[Event]) -> list[Event]:
    kept = rows[:4]
    error = other(kept[-1], "lookup gave nothing for this guest")
    return [*kept, error, other(error, "Request processing failed: 500 from upstream", service="orders")]


def no_stock(rows: list[Event]) -> list[Event]:
    kept = rows[:6]
    return [*kept, other(kept[-1], 'POST "http://stock:8080/rooms": Connection refused')]


def slow_prices(rows: list[Event]) -> list[Event]:
    late = 0.0
    for before, row in zip([None, *rows[:-1]], rows, strict=True):
        if before is not None and before.service != row.service and "prices" in (before.service, row.service):
            late += 1.2
        row.time += late
    return rows


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_that_is_left_out_is_blamed_on_its_own_service(seed: int) -> None:
    found = ask(Requests().make(random.Random(seed), without_price))
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.ranking[0].service == "orders"
    fact = step_fact(found, "own_gone")
    assert found.window.text(int(str(fact.figures["b"]))) == "price added"
    assert fact.figures["lines"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_callee_that_fails_is_blamed_and_the_caller_that_relays_is_not(seed: int) -> None:
    found = ask(Requests().make(random.Random(seed), failing_tariff))
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.ranking[0].service == "prices"
    assert found.conclusion.onset is not None
    assert 0.4 * 600 <= found.conclusion.onset[1] - T0 <= 0.55 * 600


@pytest.mark.parametrize("seed", SEEDS)
def test_a_callee_that_answers_nobody_any_more_is_unreachable(seed: int) -> None:
    found = ask(Requests().make(random.Random(seed), no_stock))
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.ranking[0].service == "stock"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_slow_callee_is_found_by_the_gaps_around_it(seed: int) -> None:
    found = ask(Requests().make(random.Random(seed), slow_prices))
    assert found.conclusion.ranking[0].service == "prices"
    assert {fact.kind for fact in found.conclusion.ranking[0].facts} & {"slow", "slow_hint", "slow_peer"}


@pytest.mark.parametrize("seed", SEEDS)
def test_healthy_requests_are_no_anomaly_with_and_without_an_alert(seed: int) -> None:
    events = Requests().make(random.Random(seed))
    assert ask(events).conclusion.verdict == "no_anomaly"
    assert ask(events, alert=T0 + 300).conclusion.verdict == "no_anomaly"


def test_a_fault_far_from_the_alert_is_not_taken_for_its_cause() -> None:
    events = Requests(number=300, span=3600).make(random.Random(4), without_price)
    assert ask(events, alert=T0 + 3300).conclusion.verdict != "cause"
    assert ask(events, alert=T0 + 0.45 * 3600).conclusion.verdict == "cause"


def test_steps_may_come_from_a_separate_sample_of_traces() -> None:
    rng = random.Random(5)
    traced = Requests().make(rng, without_price)
    groups = [line(at, "gate", INFO, "request accepted") for at in range(0, 600, 10)]
    for group in groups:
        group.weight = 50.0
    found = ask(sort(groups), trace_events=traced)
    assert found.conclusion.ranking[0].service == "orders"
    assert found.conclusion.verdict == "cause"


def test_without_trace_ids_a_statement_is_missed_by_its_partner() -> None:
    rng = random.Random(6)
    events = Requests(number=400, span=1800).make(rng, without_price)
    found = ask(events, use_traces=False)
    assert not found.window.traces
    gone = [fact for fact in found.facts if fact.kind in ("own_gone", "stops")]
    assert "price added" in {found.window.text(fact.template) for fact in gone if fact.template is not None}


def test_a_step_that_fails_whenever_it_is_tried_says_so() -> None:
    healthy = {f"t{i:04}" for i in range(0, 150, 5)}
    kept = [row for row in Requests().make(random.Random(1)) if not (row.trace in healthy and row.service == "prices")]
    found = ask(sort([*kept, *(other(row, "no such guest") for row in kept if row.message == "tariff asked for")]))
    facts = [fact for one in found.conclusion.ranking for fact in one.facts if fact.kind == "steady_error"]
    assert [fact.figures["attempts"] for fact in facts] == [(120, 120)]
    assert '120 of 120 requests with "tariff asked for" fail' in facts[0].text
    assert found.conclusion.verdict == "inconclusive"


def test_requests_of_another_kind_that_share_the_step_are_not_counted() -> None:
    """A second kind of request asks for the tariff too, and is well: the first kind still fails each time."""
    first = Requests().make(random.Random(1))
    others = [replace(row, trace=f"x{row.trace}") for row in first]
    for row in others:
        if row.message == "request accepted":
            row.message, row.callsite = "report asked for", "gate.Report#9"
    wrong = [other(row, "no such guest") for row in first if row.message == "tariff asked for"]
    found = ask(sort([*first, *others, *wrong]))
    facts = [fact for one in found.conclusion.ranking for fact in one.facts if fact.kind == "steady_error"]
    assert [fact.figures["attempts"] for fact in facts] == [(150, 150)]
