"""A delay on the way out of one of two services that only talk to each other is told from one of the other."""

import random
from collections.abc import Callable

import pytest

from logagent.analysis.facts import Event, Fact
from logagent.analysis.survey import Survey, survey
from tests.unit.scenarios import INFO, Requests, catalogue, line, sort, times

SPAN = 600.0
Delays = Callable[[int], tuple[float, float]]
"""Seconds of delay on the way to `login` and on the way back, of the n-th call since the onset."""


def talks(rng: random.Random, delays: Delays, inside: float = 0.0) -> list[Event]:
    """Other traffic, and calls from `codes` to `login` and back; from 45 % of the span on they are delayed."""
    found = Requests().make(rng)
    number = 0
    for place, at in enumerate(times(rng, 0, SPAN, 30)):
        there, back, work = 0.0, 0.0, 0.15
        if at >= 0.45 * SPAN:
            there, back = delays(number)
            number += 1
            work += inside
        now = at
        for service, text, wait in (
            ("codes", "code asked for", 0.0),
            ("codes", "code ready", 0.001),
            ("login", "login of a guest", 0.003 + there),
            ("login", "password fits", work),
            ("codes", "code used up", 0.004 + back),
        ):
            now += wait
            found.append(line(now, service, INFO, text, trace=f"c{place:03}", logger=f"{service}.Main#{len(text)}"))
    return sort(found)


def ask(delays: Delays, seed: int = 1, inside: float = 0.0) -> Survey:
    return survey(talks(random.Random(seed), delays, inside), catalogue())


def lead(found: Survey) -> Fact:
    return found.conclusion.ranking[0].facts[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("slow", ["codes", "login"])
def test_who_sends_late_every_time_and_gets_late_at_times_is_the_slow_one(slow: str, seed: int) -> None:
    def delays(number: int) -> tuple[float, float]:
        at_times = 1.0 if number % 2 else 0.0
        return (1.0, at_times) if slow == "codes" else (at_times, 1.0)

    found = ask(delays, seed)
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.ranking[0].service == slow
    fact = lead(found)
    other = "login" if slow == "codes" else "codes"
    assert fact.kind == "slow"
    assert f"{slow} -> {other}: now " in fact.text
    assert " | before 0 of " in fact.text
    assert "back: now " in fact.text
    assert "own steps unchanged" in fact.text
    assert fact.figures["seen"]
    assert found.conclusion.onset is not None
    assert found.conclusion.mechanism == "network.latency"


def test_both_ways_late_every_time_tells_nobody_from_the_other() -> None:
    found = ask(lambda _: (1.0, 1.0))
    assert found.conclusion.verdict == "inconclusive"
    assert "not to be told from" in lead(found).text
    assert found.conclusion.mechanism is None


def test_one_way_late_alone_ranks_the_sender_and_claims_nothing() -> None:
    found = ask(lambda _: (1.0, 0.0))
    assert found.conclusion.verdict == "inconclusive"
    assert found.conclusion.ranking[0].service == "codes"
    assert "or what login does before its next line" in lead(found).text


def test_work_that_takes_longer_is_no_delay_of_the_path() -> None:
    found = ask(lambda number: (1.0, float(number % 2)), inside=0.8)
    assert "the way out of" not in lead(found).text


def test_who_is_slow_in_calls_with_the_lead_only_says_just_that() -> None:
    found = ask(lambda number: (1.0, float(number % 2)))
    login = next(one for one in found.conclusion.ranking if one.service == "login")
    assert "login is slow in its calls with codes only" in login.facts[0].text


def test_calls_as_fast_as_ever_are_nothing() -> None:
    assert ask(lambda _: (0.0, 0.0)).conclusion.verdict == "no_anomaly"
