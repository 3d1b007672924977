"""Latency over time: durations of requests, gaps between the lines of one request."""

import re

import pytest

from logagent.logs import iso
from logagent.query import Scope
from logagent.stores._base import ScanPage
from tests.loop.scene import REACH, WINDOW, call, context, shown
from tests.loop.stores import NOON, ListStore, record


def slow_checks() -> ListStore:
    """Fraud checks take 100 ms, from 12:15 on 3 s; checkouts wait for them. Before 12:10 there are few."""
    found = []
    for at in (*range(500, 600, 20), *range(600, 1200, 20)):
        took = 100.0 if at < 900 else 3000.0
        trace = f"trace-{at:09d}"
        found += [
            record(at, "checkout started", service="checkout", trace_id=trace),
            record(at + 0.01, "check started", service="fraud", trace_id=trace),
            record(at + 0.01 + took / 1000, "checked", service="fraud", trace_id=trace, duration_ms=took),
            record(at + 0.02 + took / 1000, "done", service="checkout", trace_id=trace, duration_ms=took + 20),
        ]
    return ListStore(found)


def test_durations_are_told_now_and_before_and_over_time() -> None:
    text = shown(
        call(context(slow_checks()), "get_timeline", measure="duration", split_by="service", interval_seconds=120).text
    )
    assert "duration in ms, by service, most changed first, against base 2026-11-30T12:00:00Z to 12:10:00Z" in text
    assert "p95 per 120 s from 12:10:00Z, (n) where few" in text
    assert (
        "E2 checkout: 30, min 120 p50 1,570 p95 3,020 max 3,020, 15 slow | base 5, min 120 p50 120 p95 120 "
        "max 120, 0 slow (slow > 600 ms) | 120 120 3020x3"
    ) in text
    assert "E1 fraud: 30, min 100 p50 1,550 p95 3,000 max 3,000, 15 slow | base 5" in text


def test_gaps_belong_to_the_pair_of_services_on_either_side_most_changed_first() -> None:
    text = shown(call(context(slow_checks()), "get_timeline", measure="gap", split_by="service").text)
    rows = [line.split(",")[0] for line in text.split("\n") if line.startswith("E")]
    assert rows == ["E1 fraud: 30", "E2 checkout -> fraud: 30", "E3 fraud -> checkout: 30"]
    assert shown(call(context(slow_checks()), "get_timeline", measure="gap").text) == text, "services are the default"


def test_a_pair_that_is_always_slow_stands_behind_one_that_became_slow() -> None:
    found = []
    for at in range(600, 1200, 10):
        trace, late = f"trace-{at:09d}", 0.4 if at >= 900 else 0.001
        found += [
            record(at, "a", service="a", trace_id=trace),
            record(at + 5, "b", service="b", trace_id=trace),
            record(at + 5 + late, "c", service="c", trace_id=trace),
        ]
    scope = Scope(WINDOW, REACH, WINDOW.end)
    text = shown(call(context(ListStore(found), scope=scope), "get_timeline", measure="gap").text)
    assert "no baseline: late half against early half" in text
    first, second = (line for line in text.split("\n") if line.startswith("E"))
    assert "b -> c: 30, min 400 p50 400 p95 400 max 400, 30 slow | early 30, min 1 p50 1 p95 1 max 1, 0 slow" in first
    assert "a -> b: 30, min 5,000 p50 5,000" in second


def test_a_filter_picks_rows_and_leaves_the_gaps_as_they_are() -> None:
    made = context(slow_checks())
    text = shown(call(made, "get_timeline", measure="gap", query='"checked"').text)
    rows = [line.split(" p95")[0] for line in text.split("\n") if line.startswith("E")]
    assert rows == ["E1 fraud: 30, min 100 p50 1,550", "E2 fraud -> checkout: 30, min 10 p50 10"]
    assert "0 gaps" in call(made, "get_timeline", measure="gap", query="nothing").text


def test_a_bucket_with_few_samples_tells_their_number() -> None:
    text = shown(call(context(slow_checks()), "get_timeline", measure="gap", interval_seconds=60).text)
    assert "| 100(3)x5 @12:15:00 3000(3)x5" in text


def test_the_time_of_each_bucket_of_a_sparse_series_can_be_read() -> None:
    found = [record(at, "tick") for at in (700, 700, 760, 1100)] + [record(1190, "tock")]
    text = shown(call(context(ListStore(found)), "get_timeline", interval_seconds=10).text)
    assert "| 0x10 @12:11:40 2 0x5 @12:12:40 1 0x33 @12:18:20 1 0x8 @12:19:50 1" in text


def test_what_is_left_out_is_said_with_the_way_to_it() -> None:
    found = [
        record(600 + at * 5 + half, "x", service=f"s-{at + half}", trace_id=f"t-{at}")
        for at in range(20)
        for half in (0, 1)
    ]
    text = shown(call(context(ListStore(found)), "get_timeline", measure="gap", size=5).text)
    assert "more: 15 changed less; size up to 20, or query service:… for one, NOT service:(…) for others" in text
    text = shown(call(context(ListStore(found)), "get_timeline", split_by="service", size=5).text)
    assert "the 5 most frequent values; more: size up to 20, or query NOT service:(…)" in text


def test_where_traces_are_too_many_a_sample_of_whole_ones_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    store = slow_checks()
    monkeypatch.setattr("logagent.tools._spent.MOST_READ", 40)
    pages = iter([ScanPage(tuple(store.records[:40]), object()), ScanPage((), None)])  # type: ignore[arg-type]
    monkeypatch.setattr(store, "scan", lambda *_args, **_more: next(pages))
    monkeypatch.setattr(store, "traces", lambda *_args, **_more: ScanPage(tuple(store.records[:20]), None))
    text = shown(call(context(store), "get_timeline", measure="gap").text)
    assert "of 5 traces, a sample over the whole time: a shorter window has all" in text
    assert "fraud: 5," in text


def test_the_row_stands_for_its_slowest_line() -> None:
    made = context(slow_checks())
    call(made, "get_timeline", measure="gap", split_by="service")
    text = shown(call(made, "get_log_context", evidence_id="E1").text)
    assert '+3.000s fraud INFO 3,000 ms | "checked" <- this row' in text
    assert "checkout started" in text


def test_without_a_field_for_it_the_measure_is_refused() -> None:
    store = ListStore([record(700 + at, "tick") for at in range(5)])
    for measure, role in (("duration", "duration"), ("gap", "trace_id")):
        result = call(context(store), "get_timeline", measure=measure)
        assert result.is_error
        assert f"no field plays {role}" in result.text


def test_nothing_that_matches_is_said() -> None:
    result = call(context(slow_checks()), "get_timeline", measure="duration", query='"no such line"')
    assert "0 durations" in result.text


def counting() -> ListStore:
    """Two pods of a service and a third process that each count their requests from 1 on, of two lines 100 ms apart."""
    found = []
    for start, service, pod in ((0, "seat", "seat-1"), (130, "seat", "seat-2"), (610, "mail", "mail-1")):
        for n in range(1, 41):
            at, more = start + n * 13.0, {"service": service, "pod": pod, "trace_id": f"req-{n}"}
            found += [record(at, f"begun {n}", **more), record(at + 0.1, f"done {n}", **more)]
    return ListStore(sorted(found, key=lambda one: one.timestamp or NOON))


def test_ids_that_each_process_counts_join_no_two_of_them() -> None:
    made = context(counting())
    answer = shown(call(made, "get_timeline", measure="gap", start_time=iso(REACH.start), end_time=iso(REACH.end)).text)
    assert "each process counts its own trace ids here" in answer.split("\n")[0]
    assert "->" not in answer
    assert "seat: 80, min 100 p50 100 p95 100 max 100" in answer
    found = shown(call(made, "search_logs", query="trace_id:req-7", start_time=iso(REACH.start)).text)
    assert "each process counts" in found.split("\n")[0]
    assert "+s" not in found
    row = next(line.split()[0] for line in found.split("\n") if "seat-2" in line)
    around = shown(call(made, "get_log_context", evidence_id=row).text)
    assert around.count("\nE") == 2
    assert "begins here" in around
    assert "ends here" in around


def test_ids_that_services_share_join_them_without_a_word() -> None:
    made = context(slow_checks())
    for tool, arguments in (
        ("get_timeline", {"measure": "gap"}),
        ("search_logs", {"query": "trace_id:trace-000000900"}),
        ("get_log_context", {"evidence_id": "E1"}),
    ):
        assert "each process counts" not in call(made, tool, **arguments).text


def rows_of(text: str) -> list[str]:
    return [row for row in text.split("\n") if row.startswith("E")]


def test_gaps_by_message_are_told_by_patterns_and_not_by_texts() -> None:
    found = []
    for at in range(0, 1200, 20):
        more = {"trace_id": f"trace-{at:09d}"}
        late = 0.1 if at < 900 else 2.0
        found += [
            record(at, f"seat {at}A asked for", service="seat", **more),
            record(at + late, f"seat {at}A is held", service="store", **more),
        ]
    text = shown(call(context(ListStore(found)), "get_timeline", measure="gap", split_by="message").text)
    (row,) = rows_of(text)
    assert row.startswith("E1 30, min 100 p50 1,050 p95 2,000 max 2,000, 15 slow | base 30, min 100")
    assert '| "seat: seat <*> asked for -> store: seat <*> is held" |' in row.replace("<num>A", "<*>")


def test_a_pair_that_only_one_half_has_stands_before_one_of_few_samples() -> None:
    found = []
    for at in range(900, 1200, 10):
        for name, every, late in (("came", 1, 0.4), ("tiny", 10, 5.0), ("fast", 1, 0.001)):
            if at // 10 % every == 0:
                trace = {"trace_id": f"{name}-{at:09d}", "service": name}
                found += [record(at, "a", **trace), record(at + late, "b", **trace)]
    made = context(ListStore(sorted(found, key=lambda one: one.timestamp or NOON)))
    text = shown(call(made, "get_timeline", measure="gap").text)
    assert [row.split(":")[0] for row in rows_of(text)][-1] == "E3 tiny"


def test_a_pair_with_few_samples_stands_behind_those_with_many() -> None:
    found = []
    for at in range(0, 1200, 10):
        for name, count, late in (("many", 1, 0.3 if at >= 600 else 0.1), ("few", 8, 5.0 if at >= 600 else 0.001)):
            if at // 10 % (2 * count) == 0:
                trace = {"trace_id": f"{name}-{at:09d}", "service": name}
                found += [record(at, "a", **trace), record(at + late, "b", **trace)]
    text = shown(call(context(ListStore(sorted(found, key=lambda one: one.timestamp or NOON))), "get_timeline",
                      measure="gap").text)  # fmt: skip
    assert [row.split(":")[0] for row in rows_of(text)] == ["E1 many", "E2 few"]


def test_without_a_baseline_what_is_always_slow_comes_first_and_reads_so() -> None:
    found = []
    for at in range(600, 1200, 10):
        trace = f"trace-{at:09d}"
        parts = (("a", 0.0), ("b", 0.01), ("c", 0.02), ("d", 0.03), ("e", 3.0), ("f", 3.01))
        found += [record(at + late, name, service=name, trace_id=trace) for name, late in parts]
    made = context(ListStore(found), scope=Scope(WINDOW, REACH, WINDOW.end))
    text = shown(call(made, "get_timeline", measure="gap").text)
    assert "then most slow" in text.split("\n")[0]
    assert rows_of(text)[0].startswith("E1 d -> e: 30, min 2,970 p50 2,970 p95 2,970 max 2,970, 30 slow")


@pytest.mark.parametrize("base", [True, False])
def test_what_is_slow_is_told_by_all_lines_and_not_by_those_that_were_asked_for(base: bool) -> None:
    found = [
        record(at, "served", service="seat", duration_ms=3700.0 if at % 40 == 0 else 40.0)
        for at in range(0 if base else 600, 1200, 10)
    ]
    scope = {} if base else {"scope": Scope(WINDOW, REACH, WINDOW.end)}
    text = shown(
        call(context(ListStore(found), **scope), "get_timeline", measure="duration", query="duration_ms:[3000 TO 9000]",
             split_by="service").text
    )  # fmt: skip
    count = 15 if base else 7
    assert re.match(rf"E1 seat: {count}, min 3,700 .* {count} slow \| ", rows_of(text)[0])
    assert "(slow > 200 ms)" in text


def test_a_field_that_the_lines_of_the_measure_do_not_have_is_named() -> None:
    store = slow_checks()
    store.records += [record(1190 + at, "zone is full", error_type="ZoneError") for at in range(3)]
    text = shown(call(context(store), "get_timeline", measure="duration", split_by="error_type").text)
    assert "- = no error_type: so 60 of 60 lines that hold duration; error_type stands on other lines" in text
    assert "- = no" not in shown(call(context(store), "get_timeline", measure="duration", split_by="service").text)
