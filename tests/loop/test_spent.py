"""Latency over time: durations of requests, gaps between the lines of one request."""

from tests.loop.scene import call, context, shown
from tests.loop.stores import ListStore, record


def slow_checks() -> ListStore:
    """Fraud checks take 100 ms, from 12:15 on 3 s; checkouts wait for them."""
    found = []
    for at in range(600, 1200, 20):
        took = 100.0 if at < 900 else 3000.0
        trace = f"trace-{at:09d}"
        found += [
            record(at, "checkout started", service="checkout", trace_id=trace),
            record(at + 0.01, "check started", service="fraud", trace_id=trace),
            record(at + 0.01 + took / 1000, "checked", service="fraud", trace_id=trace, duration_ms=took),
            record(at + 0.02 + took / 1000, "done", service="checkout", trace_id=trace, duration_ms=took + 20),
        ]
    return ListStore(found)


def test_durations_are_told_by_value_and_over_time() -> None:
    text = shown(
        call(context(slow_checks()), "get_timeline", measure="duration", split_by="service", interval_seconds=120).text
    )
    assert "duration in ms, p95 per 120 s, buckets from 12:10:00Z, by service" in text
    assert "E1 checkout: 30, p50 1,570 p95 3,020 max 3,020 ms | 120 120 3020 3020 3020" in text
    assert "E2 fraud: 30, p50 1,550 p95 3,000 max 3,000 ms | 100 100 3000 3000 3000" in text


def test_gaps_belong_to_the_pair_of_services_on_either_side() -> None:
    text = shown(call(context(slow_checks()), "get_timeline", measure="gap", split_by="service").text)
    rows = [line.split(",")[0] for line in text.split("\n") if line.startswith("E")]
    assert rows == ["E1 fraud: 30", "E2 checkout -> fraud: 30", "E3 fraud -> checkout: 30"]


def test_the_row_stands_for_its_slowest_line() -> None:
    made = context(slow_checks())
    call(made, "get_timeline", measure="gap", split_by="service")
    text = shown(call(made, "get_log_context", evidence_id="E1").text)
    assert '+3.000s fraud INFO 3,000 ms | "checked" <- this row' in text
    assert "checkout started" in text


def test_two_steps_can_be_picked_by_the_query() -> None:
    query = '"checkout started" OR "done"'
    text = shown(call(context(slow_checks()), "get_timeline", measure="gap", query=query).text)
    assert "E1 all: 30, p50 1,570 p95 3,020 max 3,020 ms" in text


def test_without_a_field_for_it_the_measure_is_refused() -> None:
    store = ListStore([record(700 + at, "tick") for at in range(5)])
    for measure, role in (("duration", "duration"), ("gap", "trace_id")):
        result = call(context(store), "get_timeline", measure=measure)
        assert result.is_error
        assert f"no field plays {role}" in result.text


def test_nothing_that_matches_is_said() -> None:
    result = call(context(slow_checks()), "get_timeline", measure="duration", query='"no such line"')
    assert "0 durations" in result.text
