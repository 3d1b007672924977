"""Mechanism lines as facts, and the rows of the digest."""

from collections.abc import Callable

import pytest

from logagent.analysis import figures
from logagent.analysis.digest_rows import BY_PRIORITY, pattern_rows
from logagent.analysis.facts import Event, Fact
from logagent.analysis.mechanism_lines import mechanism_lines
from logagent.analysis.study import Question, Study
from logagent.analysis.window import Window
from tests.unit.scenarios import catalogue

REFUSED = "dial tcp ledger-db:5432: connect: connection refused"


def line(time: float, service: str, message: str, level: int | None = 2, **more: object) -> Event:
    return Event(time, service, level, message, **more)  # type: ignore[arg-type]


def traffic(until: int = 600, weight: float = 1.0) -> list[Event]:
    return [line(t, "cart", f"cart {t} saved", weight=weight) for t in range(0, until, 3)]


def study(*parts: list[Event]) -> Study:
    events = sorted((event for part in parts for event in part), key=lambda event: event.time)
    return Study(Window(events, catalogue()), Question())


def facts(*parts: list[Event], episodes: tuple[Fact, ...] = ()) -> list[Fact]:
    return mechanism_lines(study(*parts), episodes)


def only(found: list[Fact]) -> Fact:
    assert len(found) == 1, [fact.text for fact in found]
    return found[0]


def errors(times: range, message: str = REFUSED, level: int = 4, service: str = "cart", **more: object) -> list[Event]:
    return [line(t, service, message, level, **more) for t in times]


def test_new_lines_of_a_mechanism_are_claimed_and_name_the_dependency():
    fact = only(facts(traffic(), errors(range(400, 600, 10))))
    assert (fact.kind, fact.service, fact.figures["novelty"]) == ("mechanism", "cart", "new")
    assert fact.figures["entity"] == "ledger-db"
    assert fact.onset is not None
    assert fact.onset[1] == 400
    assert fact.p < 1e-6
    assert figures.lines(fact) == [REFUSED, REFUSED]


def test_weights_count_as_lines():
    fact = only(facts(traffic(weight=100), errors(range(400, 401), weight=900)))
    assert fact.figures["novelty"] == "new"
    assert fact.figures["count"] == 900


def test_estimated_weights_are_no_proof():
    events = [*traffic(weight=100), *errors(range(400, 401), weight=900)]
    events.sort(key=lambda event: event.time)
    estimated = Study(Window(events, catalogue()), Question(exact=False))
    assert only(mechanism_lines(estimated, [])).p > 0.1


def test_background_noise_is_not_claimed():
    fact = only(facts(traffic(), errors(range(0, 600, 100))))
    assert (fact.kind, fact.figures["novelty"]) == ("mechanism_weak", "steady")


def test_a_single_line_is_rare():
    fact = only(facts(traffic(), errors(range(400, 401))))
    assert (fact.kind, fact.figures["novelty"]) == ("mechanism_weak", "rare")


def test_a_single_line_counts_when_the_service_falls_silent_after_it():
    other = [line(t, "web", f"page {t} served") for t in range(0, 600, 3)]
    fact = only(facts(traffic(300), other, errors(range(298, 299), "java.lang.OutOfMemoryError: Java heap space", 5)))
    assert (fact.kind, fact.figures["novelty"]) == ("mechanism", "order")


def test_a_dependency_that_logs_here_gets_the_blame_itself():
    ledger = [line(t, "ledger-db", f"checkpoint {t}") for t in range(0, 600, 60)]
    assert facts(traffic(), ledger, errors(range(400, 600, 10))) == []


def test_relays_are_no_mechanism_of_their_own():
    assert facts(traffic(), errors(range(400, 600, 10), "upstream rates returned 503 Service Unavailable")) == []


def test_what_fills_the_window_from_its_start_is_present():
    fact = only(facts(traffic(), errors(range(0, 600, 10))))
    assert (fact.kind, fact.figures["novelty"], fact.weight) == ("mechanism", "present", 0.7)


def test_a_probe_of_a_pod_that_is_being_stopped_is_no_fault():
    pod = {"event": True, "object": "Pod/cart-1"}
    stop = [line(398, "cart", "Killing: Stopping container cart", 2, **pod)]
    probes = errors(range(400, 440, 5), "Unhealthy: Readiness probe failed: connection refused", 3, **pod)
    assert facts(traffic(), stop, probes) == []
    assert facts(traffic(), probes) != []


def test_a_node_in_trouble_owns_the_evictions_after_it():
    node = [line(400, "n1", "NodeNotReady: Node n1 status is now: NodeNotReady", 3, event=True, object="Node/n1")]
    gone = errors(
        range(410, 430, 5), "Evicted: The node was low on resource: memory", 3, event=True, object="Pod/cart-1"
    )
    found = {fact.service: fact for fact in facts(traffic(), node, gone)}
    assert found["cart"].blames == {"n1"}
    assert found["n1"].kind == "mechanism"


# ---------------------------------------------------------------- rows


def rows_of(events: list[Event], found: tuple[Fact, ...] = (), split: float = 300.0, **more: object):
    window = Window(sorted(events, key=lambda e: e.time), catalogue(), **more)  # type: ignore[arg-type]
    return pattern_rows(window, found, split), window


@pytest.mark.parametrize(
    ("made", "change"),
    [
        (lambda: errors(range(400, 600, 20)), "new"),
        (lambda: errors(range(0, 290, 20)), "gone"),
        (lambda: [*errors(range(0, 300, 100)), *errors(range(300, 600, 10))], "up"),
        (lambda: [*errors(range(0, 300, 10)), *errors(range(300, 600, 60))], "down"),
        (lambda: errors(range(0, 600, 10)), "steady"),
    ],
)
def test_rows_say_how_a_pattern_changed(made: Callable[[], list[Event]], change):
    rows, _ = rows_of([*traffic(), *made()])
    row = next(row for row in rows if row.severity == 3)
    assert row.change == change
    assert row.count == row.before + row.after
    assert row.mechanism == "net.refused"


def test_errors_and_cited_patterns_come_first():
    events = [*traffic(), *errors(range(400, 600, 20), "cart could not be saved")]
    rows, window = rows_of(events)
    assert [row.severity for row in rows] == [2, 0]
    cited = Fact("own_gone", "cart", 1e-9, "stopped", template=window.events[0].template)
    again = pattern_rows(window, (cited,), 300.0)
    assert (again[0].cited, again[0].change) == ("own_gone", "stopped")


def test_one_text_of_several_services_is_one_row_with_counts():
    events = [line(t, s, "queue was drained", weight=2) for t in range(0, 600, 100) for s in ("a", "b", "b")]
    rows, _ = rows_of(events)
    assert len(rows) == 1
    assert dict(rows[0].services) == {"b": 24, "a": 12}


def test_the_sample_is_the_slowest_record():
    events = [line(t, "cart", f"query took {t} ms") for t in (5, 900, 40)]
    rows, _ = rows_of(events)
    assert rows[0].sample.message == "query took 900 ms"
    assert rows[0].text == "query took <num> ms"


def test_notes_hold_what_only_fields_say():
    events = [
        line(
            t,
            "cart",
            "request",
            extra={"error.type": "Timeout", "duration_ms": float(t), "http.response.status_code": 200 + t % 2},
        )
        for t in range(1, 101)
    ]
    rows, _ = rows_of(events)
    assert rows[0].note == (
        "error.type=Timeout; duration_ms p50=50.5 p95=95.05 max=100; http.response.status_code: 201 x50, 200 x50"
    )


def test_notes_of_groups_are_marked_as_about():
    events = [line(t, "cart", "request", weight=9, extra={"duration_ms": 7.0}) for t in range(5)]
    rows, _ = rows_of(events)
    assert rows[0].note == "duration_ms p50=~7 p95=~7 max=~7"


def test_a_cited_pattern_of_the_sampled_traces_has_a_row_too():
    grouped = traffic(weight=50)
    sample = [line(t, "web", "page rendered", trace=f"t{t // 2}") for t in range(20)]
    _, window = rows_of(grouped, trace_events=sample)
    fact = Fact("own_gone", "web", 1e-9, "stopped", template=sample[0].template)
    assert pattern_rows(window, (fact,), 300.0)[0].services == {"web": 20}


def test_a_talkative_service_does_not_crowd_out_the_others():
    loud = [line(i, "loud", f"{'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10]} step", 3) for i in range(90)]
    calm = [line(i, "calm", f"{'uvwxyz'[i]} done") for i in range(6)]
    rows, _ = rows_of([*loud, *calm])
    tail = [next(iter(row.services)) for row in rows[BY_PRIORITY : BY_PRIORITY + 12]]
    assert tail.count("calm") == 6
