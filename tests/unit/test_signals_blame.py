"""Slow steps that one service does not explain, or not alone: shared causes, pairs, and rises of a part of the calls."""

import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from logagent.analysis.directions import WayFigure
from logagent.analysis.facts import Event, Fact
from logagent.analysis.survey import Survey, survey
from tests.unit.scenarios import INFO, catalogue, line, sort

SPAN = 1800.0
Delay = Callable[[str, str, random.Random], float]
"""Seconds more from the middle on: of a message from one service to another, or of work (the same twice)."""
DESK, BAR, ROOM, CELLAR = "desk", "bar", "room", "cellar"
PATH = (DESK, DESK, BAR, BAR, ROOM, ROOM, CELLAR, CELLAR, ROOM, ROOM, BAR, BAR, "spa", "spa", BAR, BAR, DESK, DESK)
"""A request: desk -> bar -> room -> cellar and back, bar -> spa and back, each hop between two lines of a service."""


def rooms(delay: Delay, seed: int = 1, number: int = 240) -> list[Event]:
    """Requests along PATH; the first time a service is reached it works, later it passes on at once."""
    rng, found = random.Random(seed), []
    for place in range(number):
        now = SPAN * place / number + rng.random()
        late = place >= number / 2
        worked: set[str] = set()
        found.append(line(now, PATH[0], INFO, f"{PATH[0]} at 0", trace=f"r{place:04}"))
        for step, (a, b) in enumerate(pairwise(PATH), 1):
            works = a == b and a not in worked
            if a == b:
                worked.add(a)
            more = delay(a, b, rng) if late and (works or a != b) else 0.0
            now += more + (max(0.001, rng.gauss(0.004, 0.003)) if works or a != b else 0.0)
            text = f"{b} at {chr(96 + step)} of {PATH[step - 1]}"
            found.append(line(now, b, INFO, text, trace=f"r{place:04}", logger=f"{b}.Main#{step}"))
    return sort(found)


def ask(delay: Delay, seed: int = 1) -> Survey:
    return survey(rooms(delay, seed), catalogue())


def lead(found: Survey) -> Fact:
    return found.conclusion.ranking[0].facts[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_hops_and_all_work_slow_is_a_shared_cause_of_nobody(seed: int) -> None:
    found = ask(lambda _a, _b, _rng: 0.5, seed)
    assert found.conclusion.verdict == "inconclusive"
    assert "slow everywhere: shared cause of bar, cellar, desk, room, spa" in lead(found).text
    assert found.conclusion.mechanism is None


def test_the_work_of_all_is_slow_and_no_hop() -> None:
    found = ask(lambda a, b, _: 0.5 if a == b else 0.0)
    assert found.conclusion.verdict == "inconclusive"
    assert "slow everywhere" in lead(found).text


def test_all_hops_are_slow_and_no_work() -> None:
    found = ask(lambda a, b, _: 0.5 if a != b else 0.0)
    assert found.conclusion.verdict == "inconclusive"
    assert "slow everywhere" in lead(found).text


@pytest.mark.parametrize(
    ("slow", "delay"),
    [
        (BAR, lambda a, b, _: 1.0 if a == BAR and a != b else 0.0),
        (BAR, lambda a, b, _: 1.0 if BAR in (a, b) and a != b else 0.0),
        (ROOM, lambda a, b, _: 1.0 if a == ROOM and a != b else 0.0),
        (ROOM, lambda a, b, _: 1.0 if a == b == ROOM else 0.0),
        (CELLAR, lambda a, b, _: 1.0 if a == b == CELLAR else 0.0),
    ],
    ids=["sends late", "both ways late", "callee sends late", "own work", "deepest own work"],
)
def test_one_slow_service_is_still_the_cause(slow: str, delay: Delay) -> None:
    found = ask(delay)
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.ranking[0].service == slow


def test_nothing_slow_is_no_anomaly() -> None:
    assert ask(lambda _a, _b, _rng: 0.0).conclusion.verdict == "no_anomaly"


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        (BAR, ROOM, 1.0),
        (BAR, ROOM, 0.65),
        (BAR, ROOM, 0.8),
        (BAR, "spa", 1.0),
        (DESK, BAR, 1.0),
        (ROOM, BAR, 1.0),
        (ROOM, CELLAR, 1.0),
    ],
)
def test_one_way_between_two_services_is_named_and_neither_of_them_claimed(a: str, b: str, share: float) -> None:
    found = ask(lambda x, y, rng: 1.0 if (x, y) == (a, b) and rng.random() < share else 0.0)
    assert found.conclusion.verdict == "inconclusive"
    assert {one.service for one in found.conclusion.ranking[:2]} == {a, b}
    assert f"{a} -> {b}: now " in lead(found).text
    assert lead(found).figures["pair"] is True


def test_the_callee_of_several_slow_callers_is_told_from_each_of_them() -> None:
    found = ask(lambda a, b, _: 1.0 if a != b == BAR else 0.0)
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.ranking[0].service == BAR
    assert "pair" not in lead(found).figures


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_a_part_of_the_calls_that_became_slow_is_a_signal_and_no_cause(share: float, seed: int) -> None:
    found = ask(lambda a, b, rng: float((a, b) == (BAR, ROOM) and rng.random() < share), seed)
    assert found.conclusion.verdict == "inconclusive"
    assert lead(found).kind.startswith("slow_")
    assert f"{BAR} -> {ROOM}: now " in lead(found).text
    assert found.conclusion.onset is not None


def test_work_that_is_slow_at_times_is_a_signal() -> None:
    found = ask(lambda a, b, rng: float(a == b == ROOM and rng.random() < 0.5))
    assert found.conclusion.verdict == "inconclusive"
    assert found.conclusion.ranking[0].service == ROOM


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0.005, 0.02])
def test_outliers_are_no_anomaly(share: float, seed: int) -> None:
    rng = random.Random(seed)
    events = rooms(lambda _a, _b, _rng: 0.0, seed)
    shift: dict[str, float] = {}
    for event in events:
        shift[event.trace or ""] = shift.get(event.trace or "", 0.0) + (1.5 * (rng.random() < share))
        event.time += shift[event.trace or ""]
    assert survey(sort(events), catalogue()).conclusion.verdict == "no_anomaly"


def test_the_time_of_the_slow_calls_is_told_where_most_are_fast() -> None:
    found = ask(lambda a, b, rng: float(a == BAR and b != BAR and rng.random() < 0.35))
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.ranking[0].service == BAR
    way = lead(found).figures["way"]
    assert isinstance(way, WayFigure)
    assert way.slow < way.calls / 2
    assert way.now == pytest.approx(1.0, abs=0.02)
    assert f"now {way.slow} of {way.calls} slow, p50 1.00 s | before 0 of " in lead(found).text
