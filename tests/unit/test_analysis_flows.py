"""Lines that always come together are one row; a place of a pattern that holds a few names shows them."""

import random
from collections.abc import Iterable

from logagent.analysis.digest_rows import PatternRow, pattern_rows
from logagent.analysis.facts import Event, Fact
from logagent.analysis.flows import Flow, fold
from logagent.analysis.slots import slot_values
from logagent.analysis.window import Window
from tests.unit.scenarios import catalogue

STEPS = ("refund asked for", "booking looked up", "price worked out", "money sent back", "refund stored")
TARGETS = {"tariffs": 9, "rooms": 3, "guests": 1}


def line(time: float, message: str, service: str = "desk", level: int = 2, trace: str | None = None) -> Event:
    return Event(time, service, level, message, trace=trace)


def refunds(runs: Iterable[int], steps: tuple[str, ...] = STEPS, *, traced: bool = True) -> list[Event]:
    return [
        line(40 * run + place / 10, text, "purse" if "money" in text else "desk", trace=f"r{run}" if traced else None)
        for run in runs
        for place, text in enumerate(steps)
    ]


def folded(events: list[Event], facts: tuple[Fact, ...] = ()) -> list[tuple[PatternRow, Flow | None]]:
    window = Window(sorted(events, key=lambda event: event.time), catalogue())
    return fold(window, pattern_rows(window, facts, 300.0))


def flows(found: list[tuple[PatternRow, Flow | None]]) -> list[tuple[str, Flow]]:
    return [(row.sample.message, flow) for row, flow in found if flow is not None]


def test_the_steps_of_one_action_are_one_row_with_both_ends():
    ((first, flow),) = flows(folded(refunds(range(12))))
    assert first == STEPS[0]
    assert (flow.kinds, flow.runs, flow.last.message) == (len(STEPS), 12, STEPS[-1])
    assert flow.services == ("desk", "purse")


def test_a_branch_that_only_some_runs_take_keeps_its_row():
    rare = [line(40 * run + 0.35, "voucher torn up", trace=f"r{run}") for run in (3, 7)]
    found = folded([*refunds(range(12)), *rare])
    assert [flow.kinds for _, flow in flows(found)] == [len(STEPS)]
    assert "voucher torn up" in [row.text for row, flow in found if flow is None]


def test_errors_warnings_mechanisms_and_what_facts_are_about_stay_apart():
    loud = [line(40 * run + 0.5, "refund refused by bank", "purse", 4, f"r{run}") for run in range(12)]
    slow = [line(40 * run + 0.6, "bank answered after 9 s", "purse", 2, f"r{run}") for run in range(12)]
    events = sorted([*refunds(range(12)), *loud, *slow], key=lambda event: event.time)
    window = Window(events, catalogue())
    cited = next(t for t in window.by_template if window.text(t) == STEPS[2])
    found = fold(window, pattern_rows(window, (Fact("own_gone", "desk", 1e-6, "", figures={"b": cited}),), 300.0))
    alone = {row.sample.message for row, flow in found if flow is None}
    assert {"refund refused by bank", "bank answered after 9 s", STEPS[2]} <= alone
    assert [flow.kinds for _, flow in flows(found)] == [len(STEPS) - 1]


def test_without_traces_lines_as_many_and_as_near_are_one_row():
    ((_, flow),) = flows(folded(refunds(range(6), tuple(s for s in STEPS if "money" not in s), traced=False)))
    assert (flow.kinds, flow.runs) == (4, 6)
    rng = random.Random(1)
    scattered = [line(rng.uniform(0, 600), text) for text in STEPS for _ in range(6)]
    assert flows(folded(scattered)) == []


def test_the_names_that_a_place_holds_are_counted():
    calls = [name for name, number in TARGETS.items() for _ in range(number)]
    events = [line(n, f"no instances available for {name}, giving up", level=4) for n, name in enumerate(calls)]
    assert slot_values(events) == "tariffs x9, rooms x3, guests x1"
    window = Window(events, catalogue())
    assert [row.note for row in pattern_rows(window, (), 5.0) if row.note] == ["tariffs x9, rooms x3, guests x1"]


def test_ids_numbers_and_names_that_never_come_again_are_no_values():
    assert slot_values([line(n, f"order {n} lost") for n in range(9)]) == ""
    assert slot_values([line(n, f"order of {'abcdefghi'[n] * 4} lost") for n in range(9)]) == ""
    assert slot_values([line(n, "order lost") for n in range(9)]) == ""
    assert slot_values([]) == ""
