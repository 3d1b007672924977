"""The window: severity, blame, traces, weights."""

import json
from importlib import resources

import pytest

from logagent.analysis.facts import Event
from logagent.analysis.mechanisms import Catalogue
from logagent.analysis.window import BUCKETS, Window


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.from_index(
        json.loads(resources.files("logagent.analysis").joinpath("mechanisms.json").read_bytes())
    )


def line(time: float, service: str, message: str, level: int | None = 2, **more: object) -> Event:
    return Event(time, service, level, message, **more)  # type: ignore[arg-type]


def request(number: int, *steps: tuple[str, str]) -> list[Event]:
    return [
        line(number * 10 + place, service, message, trace=f"t{number}")
        for place, (service, message) in enumerate(steps)
    ]


@pytest.mark.parametrize(
    ("message", "level", "more", "severity"),
    [
        ("dial tcp 10.0.0.1:80: connect: connection refused", 4, {}, 3),
        ("cart could not be saved", 4, {}, 2),
        ("cache miss", 3, {}, 1),
        ("connection refused", 3, {}, 2),
        ("GET /cart 502", 2, {}, 2),
        ("all good", 2, {}, 0),
        ("upload failed: no such bucket", None, {}, 2),
        ("connection refused, retried successfully", 4, {}, 1),
        ("[FIRING] HighErrorRate connection refused", 4, {}, 0),
        ("OOMKilled", 3, {"event": True}, 3),
    ],
)
def test_severity_reads_level_words_and_mechanisms(catalogue, message, level, more, severity):
    window = Window([line(0, "cart", message, level, **more)], catalogue)
    assert window.severity[window.events[0].template] == severity


def test_an_excuse_takes_the_mechanism_away(catalogue):
    window = Window([line(0, "cart", "connection refused during rollout", 4)], catalogue)
    template = window.events[0].template
    assert template in window.excused
    assert window.hits[template] is None


def test_errors_blame_the_services_they_name(catalogue):
    events = [
        line(0, "payment-api", "up"),
        line(1, "web", "call to payment-api failed with status 503", 4),
        line(2, "web", "cart of payment was lost", 4),
    ]
    window = Window(events, catalogue)
    assert window.blames(events[1]) == (frozenset({"payment-api"}), True)
    assert window.blames(events[2]) == (frozenset(), False)


def test_events_blame_nobody_and_their_objects_log_nothing(catalogue):
    events = [line(0, "node-1", "NodeNotReady", 3, event=True), line(1, "web", "node-1 unavailable", 4)]
    window = Window(events, catalogue)
    assert window.loggers == ["web"]
    assert window.blames(events[0]) == (frozenset(), False)
    assert window.blames(events[1])[0] == frozenset()


def test_pairs_know_calls_and_returns(catalogue):
    steps = (("web", "in"), ("web", "call"), ("db", "query"), ("db", "rows"), ("web", "out"))
    window = Window([event for n in range(5) for event in request(n, *steps)], catalogue)
    kinds = {(window.text(a), window.text(b)): pair.kind() for (a, b), pair in window.pairs.items()}
    assert kinds == {
        ("in", "call"): "same",
        ("call", "query"): "call",
        ("query", "rows"): "same",
        ("rows", "out"): "return",
    }
    assert window.call_edges() == {("web", "db"): 5}
    assert window.text(window.entry("t0")) == "in"
    assert window.first_places[window.trace_docs[0].template] == [(f"t{n}", 0) for n in range(5)]


def test_traces_that_cover_little_are_not_used(catalogue):
    events = request(0, ("web", "in"), ("web", "out")) + [line(n, "web", "tick") for n in range(100, 120)]
    assert Window(events, catalogue).traces == {}


def test_groups_of_records_are_no_traces_but_a_sample_of_traces_is(catalogue):
    grouped = [line(0, "web", "in", trace="t0", weight=400), line(60, "web", "out", trace="t0", weight=400)]
    assert Window(grouped, catalogue).traces == {}
    sample = request(0, ("web", "in"), ("db", "rows"), ("web", "out"))
    window = Window(grouped, catalogue, trace_events=sample)
    assert list(window.traces) == ["t0"]
    assert [window.trace_docs[i].message for i in window.traces["t0"]] == ["in", "rows", "out"]
    assert window.severity.keys() >= {event.template for event in sample}
    assert grouped[0].template == sample[0].template


def test_counts_are_sums_of_weight(catalogue):
    events = [line(0, "web", "tick 1", weight=10), line(9, "web", "tick 2", weight=32.5)]
    window = Window(events, catalogue)
    assert window.weight_of == {events[0].template: 42.5}
    assert window.total == 42.5


def test_buckets_hold_every_time(catalogue):
    window = Window([line(0, "web", "a"), line(600, "web", "b")], catalogue)
    assert [window.bucket(t) for t in (-5, 0, 300, 600, 900)] == [0, 0, BUCKETS // 2, BUCKETS - 1, BUCKETS - 1]


def test_a_window_of_one_moment_works(catalogue):
    window = Window([line(5, "web", "a")], catalogue)
    assert window.length > 0
    assert window.bucket(5) == 0
