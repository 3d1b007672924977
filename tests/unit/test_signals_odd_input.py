"""Whatever the events hold, the survey answers."""

import random

import pytest

from logagent.analysis.facts import Event
from logagent.analysis.survey import survey
from tests.unit.scenarios import catalogue

WORDS = [
    "error", "could not", "connection refused to db-1", "took 5 s", "heap used 10 MB of 20 MB", "", "\n", "GET /a 500",
    "config reloaded: max 5", "Caused by: x", "deployment started v1.2.3", "ready", "9" * 30, "%", "restored", "svc-1",
    "no instances available for svc-2", "latency=1e5ms", "timeout", "OOMKilled", "x" * 5000, "queue depth 5/10",
]  # fmt: skip
NUMBERS = [0, -1, 1e308, -1e308, float("inf"), float("nan"), True, "text", 7, 0.5]
FIELDS = ["duration_ms", "heap", "queue.lag", "status", "error.message", "x"]


def odd_events(rng: random.Random) -> list[Event]:
    span = rng.choice([0, 1e-9, 1, 100, 1e5, 1e9])
    texts = [f"{rng.choice(WORDS)} {rng.choice(WORDS)}" for _ in range(rng.randint(1, 12))]
    number = rng.choice([1, 2, 3, 10, 60, 300])
    found = [
        Event(
            time=1e9 + rng.random() * span,
            service=rng.choice(["svc-1", "svc-2", "svc-3", ""]),
            level=rng.choice([None, 0, 1, 2, 3, 4, 5]),
            message=rng.choice(texts) + rng.choice(["", str(rng.randint(0, 99))]),
            trace=rng.choice([None, f"t{rng.randint(0, number // 5 + 1)}"]),
            callsite=rng.choice(["", "A#3", "b:4"]),
            extra={rng.choice(FIELDS): rng.choice(NUMBERS)},
            count=rng.choice([0, 1, 5]),
            event=rng.random() < 0.05,
            object=rng.choice(["", "Pod/a-1", "Node/n1"]),
            weight=rng.choice([0.0, 1.0, 1.0, 17.5, 1e6]),
        )
        for _ in range(number)
    ]
    return sorted(found, key=lambda event: event.time)


@pytest.mark.parametrize("seed", range(30))
def test_odd_events_are_read_without_an_error(seed: int) -> None:
    rng = random.Random(seed)
    events = odd_events(rng)
    begin, end = events[0].time, events[-1].time
    found = survey(
        events,
        catalogue(),
        trace_events=odd_events(rng) if rng.random() < 0.2 else None,
        alert=begin if rng.random() < 0.3 else None,
        use_traces=rng.random() < 0.7,
        window=((begin + end) / 2, end) if rng.random() < 0.3 else None,
        exact=rng.random() < 0.7,
    )
    conclusion = found.conclusion
    assert conclusion.verdict in ("cause", "inconclusive", "no_anomaly")
    assert conclusion.verdict != "cause" or conclusion.ranking[0].facts
    assert conclusion.onset is None or conclusion.onset[0] <= conclusion.onset[1]
