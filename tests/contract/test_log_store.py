"""What a backend must do."""

import random
from datetime import timedelta

import pytest

from logagent.logs import RecordId, Severity, TimeWindow
from logagent.query import Exists, Level, LogQuery, Node, Term, parse, to_text
from logagent.stores._base import LogStore, Measure
from tests.contract.conftest import Opened
from tests.contract.docs import START, WINDOW, matches, random_node, value

ALL = LogQuery(WINDOW)


def expected(opened: Opened, node: Node) -> int:
    return sum(matches(node, doc) for doc in opened.docs)


def test_all_backends_find_what_the_language_says(opened: Opened) -> None:
    dice = random.Random(5)
    nodes = [random_node(dice) for _ in range(300)]
    wrong = []
    for start in range(0, len(nodes), 100):
        part = nodes[start : start + 100]
        answer = opened.store.count([Measure(LogQuery(WINDOW, node)) for node in part])
        for node, measured in zip(part, answer.values, strict=True):
            if measured.value != expected(opened, node):
                wrong.append((to_text(node), measured.value, expected(opened, node)))
    assert wrong == []


def test_queries_read_from_text_mean_the_same(opened: Opened) -> None:
    fields = opened.store.describe().fields
    dice = random.Random(6)
    nodes = [random_node(dice) for _ in range(60)]
    texts = [to_text(node) for node in nodes]
    nodes = [node for node, text in zip(nodes, texts, strict=True) if len(text) <= 500]
    answer = opened.store.count([Measure(LogQuery(WINDOW, parse(to_text(node), fields))) for node in nodes])
    assert [one.value for one in answer.values] == [expected(opened, node) for node in nodes]


def test_the_description_counts_events_and_names_their_ends(opened: Opened) -> None:
    found = opened.store.describe()
    assert found.events == len(opened.docs)
    assert (found.first, found.last) == (opened.docs[0].at, opened.docs[-1].at)
    assert sum(source.events for source in found.sources) == found.events
    assert (found.unparsed, found.untimed, found.completeness.complete) == (0, 0, True)


def test_roles_are_found_in_all_four_schemas(opened: Opened) -> None:
    fields = opened.store.describe().fields
    for role in ("severity", "service", "message"):
        assert fields.coverage(role) == pytest.approx(1.0, abs=0.01), role
    assert fields.coverage("trace_id") == pytest.approx(0.8, abs=0.05)


def test_a_search_answers_newest_first_and_counts_all(opened: Opened) -> None:
    page = opened.store.search(LogQuery(WINDOW, Level(Severity.ERROR)), limit=7)
    right = [doc for doc in opened.docs if doc.level == "ERROR"]
    assert page.total == len(right)
    assert [record.timestamp for record in page.records] == [doc.at for doc in reversed(right)][:7]


def test_a_record_carries_its_roles_whatever_the_schema(opened: Opened) -> None:
    page = opened.store.search(ALL, limit=400, order="oldest")
    for record, doc in zip(page.records, opened.docs, strict=False):
        assert (record.timestamp, record.service, record.message) == (doc.at, doc.service, doc.message)
        assert (record.severity, record.error_type, record.trace_id) == (doc.severity, doc.error_type, doc.trace)
        assert record.status == doc.status
        assert record.fields.get("region", "") == doc.region


def test_a_scan_reads_every_record_once_in_order(store: LogStore, opened: Opened) -> None:
    seen, cursor = [], None
    while True:
        page = store.scan(ALL, limit=128, cursor=cursor)
        seen += [record.timestamp for record in page.records]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [doc.at for doc in opened.docs]


def test_around_gives_the_neighbours_of_a_record(store: LogStore, opened: Opened) -> None:
    middle = store.search(ALL, limit=300, order="oldest").records[-1]
    page = store.around(middle.id, ALL, limit=11)
    at = next(index for index, doc in enumerate(opened.docs) if doc.at == middle.timestamp)
    assert [record.timestamp for record in page.records] == [doc.at for doc in opened.docs[at - 5 : at + 6]]


def test_records_can_be_fetched_by_id_and_missing_ones_are_left_out(store: LogStore) -> None:
    records = store.search(ALL, limit=20).records
    wanted = [record.id for record in records]
    found = store.fetch([*wanted, RecordId(wanted[0].source, "999999")])
    assert {key: record.message for key, record in found.items()} == {record.id: record.message for record in records}


def test_windows_are_half_open(store: LogStore, opened: Opened) -> None:
    window = TimeWindow(opened.docs[10].at, opened.docs[20].at)
    assert store.search(LogQuery(window), limit=50).total == 10


def test_a_sample_stands_for_all_matches(store: LogStore, opened: Opened) -> None:
    sample = store.sample(ALL)
    assert sample.total == len(opened.docs)
    assert sum(row.weight for row in sample.rows) == pytest.approx(len(opened.docs))


def test_traces_come_whole_and_in_order(store: LogStore, opened: Opened) -> None:
    records = store.traces(ALL, slices=4, ids=12).records
    chosen = {record.trace_id for record in records}
    assert 1 <= len(chosen) <= 12
    assert [record.timestamp for record in records] == [doc.at for doc in opened.docs if doc.trace in chosen]


def test_a_timeline_has_a_bucket_for_each_interval(store: LogStore, opened: Opened) -> None:
    errors = LogQuery(WINDOW, Level(Severity.WARN, and_worse=True))
    timeline = store.count_over_time([ALL, errors], interval_seconds=300)
    assert [len(series.buckets) for series in timeline.series] == [12, 12]
    for series, node in zip(timeline.series, (ALL.node, errors.node), strict=True):
        for bucket in series.buckets:
            end = bucket.at + timedelta(seconds=300)
            assert bucket.count == sum(bucket.at <= doc.at < end and matches(node, doc) for doc in opened.docs)


def test_a_timeline_can_be_split_by_a_role(store: LogStore, opened: Opened) -> None:
    timeline = store.count_over_time([ALL], interval_seconds=600, split="service", size=4)
    totals = {series.name: sum(bucket.count for bucket in series.buckets) for series in timeline.series}
    counts = {name: sum(doc.service == name for doc in opened.docs) for name in {doc.service for doc in opened.docs}}
    assert totals == dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


@pytest.mark.parametrize("field", ["service", "error_type", "region"])
def test_a_split_timeline_has_the_series_of_all_matches_too(store: LogStore, opened: Opened, field: str) -> None:
    timeline = store.count_over_time([ALL], interval_seconds=600, split=field, size=2)
    (plain,) = store.count_over_time([ALL], interval_seconds=600).series
    assert timeline.whole is not None
    assert timeline.whole.buckets == plain.buckets
    assert len(timeline.series) == 2
    for series in timeline.series:
        times = [doc.at for doc in opened.docs if value(doc, field) == series.name]
        assert [bucket.count for bucket in series.buckets] == [
            sum(bucket.at <= at < bucket.at + timedelta(seconds=600) for at in times) for bucket in series.buckets
        ]


@pytest.mark.parametrize("field", ["service", "error_type", "status", "region"])
def test_top_values_are_counted_in_both_windows(store: LogStore, opened: Opened, field: str) -> None:
    before = TimeWindow(START, START + timedelta(minutes=20))
    now = TimeWindow(before.end, WINDOW.end)
    (found,) = store.top_values(LogQuery(now), [field], size=10, baseline=before).fields
    late = [value(doc, field) for doc in opened.docs if now.contains(doc.at)]
    early = [value(doc, field) for doc in opened.docs if before.contains(doc.at)]
    assert {one.value: (one.count, one.baseline) for one in found.values} == {
        name: (late.count(name), early.count(name)) for name in set(late) - {""}
    }
    assert found.missing == late.count("")


def test_measures_give_firsts_lasts_and_distinct_values(store: LogStore, opened: Opened) -> None:
    fatal = LogQuery(WINDOW, Level(Severity.FATAL))
    first, last, services, none = store.count(
        [
            Measure(fatal, "first"),
            Measure(fatal, "last"),
            Measure(ALL, "distinct", "service"),
            Measure(LogQuery(WINDOW, Term("service", "nobody")), "first"),
        ]
    ).values
    times = [doc.at for doc in opened.docs if doc.level == "FATAL"]
    assert (first.value, last.value) == (times[0], times[-1])
    assert services.value == 4 or (services.approximate and services.value)  # a cluster adds up the fields of a role
    assert none.value is None


def test_many_counts_come_in_one_answer(store: LogStore) -> None:
    """A store splits what does not fit into one request."""
    values = store.count([Measure(ALL)] * 250).values
    assert len(values) == 250
    assert len({one.value for one in values}) == 1


def test_limits_are_value_errors(store: LogStore) -> None:
    with pytest.raises(ValueError, match="1001"):
        store.search(ALL, limit=1_001)
    with pytest.raises(ValueError, match="500"):
        store.count_over_time([ALL], interval_seconds=1)


def test_requests_are_counted(store: LogStore) -> None:
    before = store.usage.requests
    store.search(LogQuery(WINDOW, Exists("trace_id")), limit=1)
    assert store.usage.requests > before
