"""Awkward situations on real servers: each was seen to mislead a log tool."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from logagent.errors import NoData, SourceError, StoreQueryError, StoreUnavailable, UsageError
from logagent.logs import Completeness, RecordId, Severity, TimeWindow
from logagent.query import All, Level, LogQuery, Node, Phrase, Term, parse
from logagent.stores._base import Measure
from logagent.stores.elasticsearch import ElasticsearchOptions, ElasticsearchStore
from tests.nodes.nodes import NotStarted, SearchNode
from tests.nodes.plugin import not_tested
from tests.nodes.pool import Server, server_names

pytestmark = pytest.mark.node

START = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
HOUR = TimeWindow(START, START + timedelta(hours=1))
KEYWORD = {"type": "keyword"}
TEXT = {"type": "text"}


@contextmanager
def opened(server: Server, *patterns: str, **more: Any) -> Iterator[ElasticsearchStore]:
    options = {"clock": lambda: START + timedelta(hours=1), "sleep": lambda _: None, **more}
    store = ElasticsearchStore(
        ElasticsearchOptions(url=server.url, indices=patterns, api_key=server.api_key, **options)
    )
    try:
        yield store
    finally:
        store.close()


def at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def line(
    seconds: float, message: str, level: str = "INFO", service: str = "checkout", **more: object
) -> dict[str, object]:
    return {"@timestamp": at(seconds), "message": message, "log.level": level, "service.name": service, **more}


def query(node: Node = All()) -> LogQuery:
    return LogQuery(HOUR, node)


def count(store: ElasticsearchStore, node: Node) -> object:
    return store.count([Measure(query(node))]).values[0].value


def test_a_pattern_that_matches_nothing_names_the_closest(node: Server) -> None:
    index = f"logs-{uuid.uuid4().hex[:8]}"
    node.load(index, [line(0, "hello")])
    wrong = f"logz-{index[5:]}-*"
    with opened(node, wrong) as store, pytest.raises(NoData) as raised:
        store.describe()
    node.delete(index)
    assert raised.value.code == "LA301"
    assert index in str(raised.value.values["closest"])


def test_a_missing_index_is_no_data(node: Server, prefix: str) -> None:
    with opened(node, f"{prefix}missing") as store, pytest.raises(NoData) as raised:
        store.describe()
    assert raised.value.code == "LA301"


def test_an_empty_index_has_no_events_and_no_ends(node: Server, prefix: str) -> None:
    node.create(f"{prefix}a", mappings={"properties": {"@timestamp": {"type": "date"}, "message": TEXT}})
    with opened(node, f"{prefix}*") as store:
        found = store.describe()
        assert (found.events, found.first, found.last) == (0, None, None)
        assert store.search(query(), limit=5).records == ()


def test_another_name_of_the_time_field_is_found(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [{"ts": at(1), "msg": "late", "lvl": "warn"}, {"ts": at(0), "msg": "early", "lvl": "info"}])
    with opened(node, f"{prefix}*") as store:
        assert store.describe().first == START
        assert [record.message for record in store.search(query(), limit=5, order="oldest").records] == [
            "early",
            "late",
        ]
        assert store.search(query(Level(Severity.WARN)), limit=5).total == 1


def test_without_a_date_the_candidates_are_named(node: Server, prefix: str) -> None:
    mappings = {"properties": {"log_time": KEYWORD, "message": TEXT}}
    node.create(f"{prefix}a", mappings=mappings)
    node.load(f"{prefix}a", [{"log_time": "2026-11-30 06:05:20", "message": "hello"}])
    with opened(node, f"{prefix}*") as store, pytest.raises(NoData) as raised:
        store.describe()
    assert raised.value.code == "LA302"
    assert "log_time" in str(raised.value.values["candidates"])


def test_a_level_that_is_only_text_is_counted_right(node: Server, prefix: str) -> None:
    node.create(f"{prefix}a", mappings={"properties": {"level": TEXT, "message": TEXT, "@timestamp": {"type": "date"}}})
    node.load(
        f"{prefix}a",
        [{"@timestamp": at(n), "level": "Error" if n < 10 else "Information", "message": f"m {n}"} for n in range(40)],
    )
    with opened(node, f"{prefix}*") as store:
        assert count(store, Level(Severity.ERROR)) == 10
        top = store.top_values(query(), ["level", "message"], size=2).fields
        assert [(value.value, value.count) for value in top[0].values] == [("Information", 30), ("Error", 10)]
        assert not top[0].approximate
        assert store.search(query(Level(Severity.ERROR)), limit=1).records[0].severity is Severity.ERROR
        lines = store.count_over_time([query()], interval_seconds=60, split="level")
        assert {series.name: sum(bucket.count for bucket in series.buckets) for series in lines.series} == {
            "Information": 30,
            "Error": 10,
        }


SERVICES = {"order-api": 30, "order-api-v2": 7, "api-order": 5, "order": 4, "TaxAPI": 3}


def mixed(node: Server, name: str, service: dict[str, object], services: dict[str, int], **more: object) -> None:
    """An index in which the service has this mapping; the first event of each service is an error."""
    properties = {"@timestamp": {"type": "date"}, "message": TEXT, "level": KEYWORD, "service": service, **more}
    node.create(name, mappings={"properties": properties})
    lines = [
        {"@timestamp": at(n / 2), "message": f"m {n}", "level": "INFO" if n else "ERROR", "service": value}
        for value, amount in services.items()
        for n in range(amount)
    ]
    node.load(name, lines)


BOTH = {**TEXT, "fields": {"keyword": {**KEYWORD, "ignore_above": 256}}}


def test_a_service_that_is_a_keyword_here_and_text_there_is_exact_in_both(node: Server, prefix: str) -> None:
    mixed(node, f"{prefix}b", KEYWORD, SERVICES)
    mixed(node, f"{prefix}a", BOTH, SERVICES)  # the first shard is one that cannot be aggregated
    twice = {name: 2 * amount for name, amount in SERVICES.items()}
    with opened(node, f"{prefix}*") as store:
        known = store.describe()
        assert [choice.name for choice in known.fields.roles["service"]] == ["service"]
        assert {name: count(store, Phrase("service", name)) for name in SERVICES} == twice
        assert count(store, Term("service", "order-ap")) == 0
        for pattern, found in (("order-*", 74), ("Tax*", 6), ("tax*", 0), ("*", 98)):
            assert count(store, parse(f"service:{pattern}", known.fields)) == found, pattern
        top = store.top_values(query(), ["service", "level"], size=3)
        assert top.completeness.complete
        assert {value.value: value.count for value in top.fields[0].values} == {
            "order-api": 60,
            "order-api-v2": 14,
            "api-order": 10,
        }
        assert (top.fields[0].other, top.fields[0].missing, top.fields[0].approximate) == (14, 0, False)
        split = store.count_over_time([query()], interval_seconds=60, split="service")
        assert {one.name: sum(bucket.count for bucket in one.buckets) for one in split.series} == twice
        assert split.whole is not None
        assert sum(bucket.count for bucket in split.whole.buckets) == sum(twice.values())
        different = store.count([Measure(query(), "distinct", "service")]).values[0]
        assert (different.value, different.approximate) == (5, False)
        errors = store.top_values(query(Level(Severity.ERROR)), ["service"], size=10).fields[0]
        assert {value.value: value.count for value in errors.values} == dict.fromkeys(SERVICES, 2)


def test_more_values_of_a_mixed_field_than_are_listed_are_counted_about(node: Server, prefix: str) -> None:
    for name, kind in (("a", BOTH), ("b", KEYWORD)):
        mixed(node, f"{prefix}{name}", KEYWORD, {"web": 1}, job=kind)
        node.load(f"{prefix}{name}", [{"@timestamp": at(n / 9), "job": f"{name}-{n}"} for n in range(3_100)])
    with opened(node, f"{prefix}*") as store:
        found = store.count([Measure(query(), "distinct", "job")]).values[0]
        assert found.approximate
        assert found.value == pytest.approx(6_200, rel=0.05)


def test_a_window_with_no_event_in_any_index_of_a_mixed_service_is_empty_and_complete(
    node: Server, prefix: str
) -> None:
    mixed(node, f"{prefix}a", BOTH, SERVICES)
    mixed(node, f"{prefix}b", KEYWORD, SERVICES)
    with opened(node, f"{prefix}*") as store:
        later = LogQuery(HOUR.shifted(timedelta(days=9)))
        top = store.top_values(later, ["service"], size=5)
        assert (top.fields[0].values, top.completeness.complete) == ((), True)


def test_a_failed_shard_of_an_index_that_was_asked_is_still_said(node: Server, prefix: str) -> None:
    mixed(node, f"{prefix}a", BOTH, SERVICES)
    mixed(node, f"{prefix}b", KEYWORD, SERVICES)
    stuck = {"number_of_shards": 2, "index.routing.allocation.total_shards_per_node": 1}
    node.create(f"{prefix}c", settings=stuck, mappings={"properties": {"service": KEYWORD}})
    with opened(node, f"{prefix}*") as store:
        assert not store.top_values(query(), ["service"], size=5).completeness.complete


def test_indices_with_text_alone_are_matched_by_words_and_their_values_called_approximate(
    node: Server, prefix: str
) -> None:
    mixed(node, f"{prefix}a", KEYWORD, SERVICES)
    mixed(node, f"{prefix}b", BOTH, SERVICES)
    mixed(node, f"{prefix}c", TEXT, {"order-api": 10, "order-api-v2": 1, "TaxAPI": 2})
    with opened(node, f"{prefix}*") as store:
        assert count(store, Phrase("service", "order-api")) == 70
        assert count(store, Phrase("service", "TaxAPI")) == 8
        assert count(store, Phrase("service", "order")) == 8  # longer values that documents show are left out
        assert count(store, Phrase("service", "api v2")) == 0
        top = store.top_values(query(), ["service"], size=2).fields[0]
        assert [(value.value, value.count) for value in top.values] == [("order-api", 70), ("order-api-v2", 15)]
        with pytest.raises(StoreQueryError):
            store.count([Measure(query(), "distinct", "service")])
        assert [note for note in store.describe().notes if f"No keyword in {prefix}c of service:" in note]


def test_values_of_a_text_beyond_one_page_are_counted_and_not_scaled(node: Server, prefix: str) -> None:
    mixed(node, f"{prefix}a", TEXT, {"order-api": 5_000, "order-api-v2": 3_000, "tax": 11})
    with opened(node, f"{prefix}*") as store:
        top = store.top_values(query(), ["service"], size=2, baseline=HOUR).fields[0]
        assert [(one.value, one.count, one.baseline) for one in top.values] == [
            ("order-api", 5_000, 5_000),
            ("order-api-v2", 3_000, 3_000),
        ]
        assert top.approximate
        assert any("No keyword in any index of service:" in note for note in store.describe().notes)


def test_a_keyword_sub_field_that_only_some_indices_have_hides_no_event(node: Server, prefix: str) -> None:
    mixed(node, f"{prefix}a", TEXT, {"order-api": 10})
    mixed(node, f"{prefix}b", BOTH, {"order-api": 20, "order-api-v2": 3})
    node.load(f"{prefix}c", [line(1, "another schema")])  # has no such field at all
    with opened(node, f"{prefix}*") as store:
        assert count(store, Phrase("service", "order-api")) == 30
        top = store.top_values(query(), ["service"], size=5).fields[0]
        assert {value.value: value.count for value in top.values}["order-api"] == 30


def test_a_level_that_is_a_keyword_here_and_text_there_keeps_its_rare_errors(node: Server, prefix: str) -> None:
    times = {"@timestamp": {"type": "date"}, "message": TEXT}
    for name, level in (("a", BOTH), ("b", KEYWORD)):
        node.create(f"{prefix}{name}", mappings={"properties": {**times, "level": level}})
        lines = [{"@timestamp": at(n), "message": f"m {n}", "level": "Information"} for n in range(10, 200)]
        rare = [{"@timestamp": at(9), "message": "broken", "level": "Severe"}]
        node.load(f"{prefix}{name}", lines[:9] + rare + lines[9:])
    with opened(node, f"{prefix}*") as store:
        assert count(store, Level(Severity.ERROR)) == 2
        assert {one.severity for one in store.search(query(Level(Severity.ERROR)), limit=5).records} == {Severity.ERROR}


def test_a_message_that_is_a_keyword_here_and_text_there_is_searched_in_both(node: Server, prefix: str) -> None:
    for name, message in (("a", KEYWORD), ("b", TEXT)):
        properties = {"@timestamp": {"type": "date"}, "level": KEYWORD, "message": message}
        node.create(f"{prefix}{name}", mappings={"properties": properties})
        node.load(f"{prefix}{name}", [{"@timestamp": at(1), "message": "Connection reset by peer", "level": "INFO"}])
    with opened(node, f"{prefix}*") as store:
        assert count(store, Term("", "reset")) == 2
        assert count(store, Term("", "pear")) == 0


def test_trace_ids_are_followed_from_a_keyword_into_a_text(node: Server, prefix: str) -> None:
    for name, trace in (("a", BOTH), ("b", KEYWORD)):
        properties = {"@timestamp": {"type": "date"}, "message": TEXT, "level": KEYWORD, "trace_id": trace}
        node.create(f"{prefix}{name}", mappings={"properties": properties})
        lines = [
            {"@timestamp": at(n), "message": f"{name} {n}", "level": "INFO", "trace_id": f"Trace-{n}"} for n in range(9)
        ]
        node.load(f"{prefix}{name}", lines)
    with opened(node, f"{prefix}*") as store:
        page = store.traces(query(), slices=1, ids=20)
        assert page.completeness.complete
        assert len({record.message for record in page.records}) == 18


def test_a_mixed_service_is_exact_behind_an_alias_and_keeps_the_filter_of_the_alias(node: Server, prefix: str) -> None:
    mixed(node, f"{prefix}b", KEYWORD, SERVICES)
    mixed(node, f"{prefix}a", BOTH, SERVICES)
    alias = f"{prefix}alias"
    only = {"range": {"@timestamp": {"gte": at(0.5)}}}
    actions = [{"add": {"index": f"{prefix}{name}", "alias": alias, "filter": only}} for name in "ab"]
    node.request("POST", "/_aliases", {"actions": actions})
    with opened(node, alias) as store:
        top = store.top_values(query(), ["service"], size=9).fields[0]
        assert {value.value: value.count for value in top.values} == {
            name: 2 * (amount - 1) for name, amount in SERVICES.items()
        }
        assert count(store, Phrase("service", "order-api")) == 58


def test_a_mixed_service_is_exact_in_the_backing_indices_of_a_data_stream(node: Server, prefix: str) -> None:
    stream = f"{prefix}app"
    for service in (KEYWORD, BOTH):
        template = {
            "index_patterns": [f"{stream}*"],
            "data_stream": {},
            "priority": 901,
            "template": {
                "settings": {"number_of_replicas": 0},
                "mappings": {"properties": {"service": service, "level": KEYWORD}},
            },
        }
        node.request("PUT", f"/_index_template/{prefix}t", template)
        if service is BOTH:
            node.request("POST", f"/{stream}/_rollover")
        lines = [
            {"@timestamp": at(n), "message": f"m {n}", "level": "INFO", "service": value}
            for value, amount in SERVICES.items()
            for n in range(amount)
        ]
        node.load(stream, lines)
    with opened(node, f"{prefix}*") as store:
        top = store.top_values(query(), ["service"], size=9)
        assert top.completeness.complete
        assert {value.value: value.count for value in top.fields[0].values} == {
            name: 2 * amount for name, amount in SERVICES.items()
        }
        assert count(store, Phrase("service", "order-api")) == 60


def test_a_huge_message_does_not_hide_the_small_one(node: Server, prefix: str) -> None:
    huge = "x" * 1_000_000
    node.load(f"{prefix}a", [line(1, "disk full on /var", "ERROR"), line(2, f"dump {huge}", "ERROR")])
    with opened(node, f"{prefix}*") as store:
        page = store.search(query(), limit=10)
        assert [len(record.message) > 999_999 for record in page.records] == [True, False]
        assert page.records[1].message == "disk full on /var"


def test_a_page_over_the_cap_becomes_several(node: Server, prefix: str) -> None:
    huge = "y" * 3_000_000
    for number in range(12):
        node.load(f"{prefix}a", [line(number, f"{number} {huge}")])
    with opened(node, f"{prefix}*") as store:
        seen, cursor = [], None
        while True:
            page = store.scan(query(), limit=100, cursor=cursor)
            seen += [record.message.split()[0] for record in page.records]
            cursor = page.cursor
            if cursor is None:
                break
    assert seen == [str(number) for number in range(12)]


def test_more_than_ten_thousand_matches_are_counted_exactly(node: Server, prefix: str) -> None:
    node.create(f"{prefix}a", settings={"number_of_shards": 2})
    node.load(f"{prefix}a", [line(n // 10, f"request {n}") for n in range(12_000)])
    with opened(node, f"{prefix}*") as store:
        page = store.search(query(), limit=10)
        assert (page.total, page.total_is_exact) == (12_000, True)
        rough = store.search(query(), limit=10, exact_total=False)
        assert rough.total == 12_000 if rough.total_is_exact else rough.total == 10_000
        ids, cursor = [], None
        while True:
            part = store.scan(query(), limit=5_000, cursor=cursor)
            ids += [record.id for record in part.records]
            cursor = part.cursor
            if cursor is None:
                break
        assert len(ids) == len(set(ids)) == 12_000
        sample = store.sample(query(), limit=500)
        assert (sample.total, sample.exact, len(sample.rows)) == (12_000, False, 500)
        assert sum(row.weight for row in sample.rows) == pytest.approx(12_000)


def test_equal_times_on_several_shards_are_all_read(node: Server, prefix: str) -> None:
    node.create(f"{prefix}a", settings={"number_of_shards": 3})
    node.load(f"{prefix}a", [line(5, f"same moment {n}") for n in range(60)])
    with opened(node, f"{prefix}*") as store:
        seen, cursor = [], None
        while True:
            page = store.scan(query(), limit=7, cursor=cursor)
            seen += [record.message for record in page.records]
            cursor = page.cursor
            if cursor is None:
                break
    assert sorted(seen) == sorted(f"same moment {n}" for n in range(60))


def test_a_window_in_the_future_is_empty_and_the_newest_event_is_known(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [line(3, "the last one")])
    with opened(node, f"{prefix}*") as store:
        ahead = LogQuery(HOUR.shifted(timedelta(days=30)))
        assert store.search(ahead, limit=5).total == 0
        assert store.describe().last == START + timedelta(seconds=3)


def test_events_ahead_of_the_clock_are_counted(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [line(0, "now"), line(86_400 * 40, "far ahead"), {"message": "no time"}])
    with opened(node, f"{prefix}*") as store:
        found = store.describe()
        assert (found.events, found.future, found.untimed) == (3, 1, 1)
        assert found.last == START


def test_an_unassigned_shard_makes_an_answer_incomplete(node: Server, prefix: str) -> None:
    node.load(f"{prefix}good", [line(1, "seen")])
    stuck = {"number_of_shards": 2, "index.routing.allocation.total_shards_per_node": 1}
    node.create(f"{prefix}half", settings=stuck)
    with opened(node, f"{prefix}*") as store:
        page = store.search(query(), limit=5)
        assert page.total == 1
        assert not page.completeness.complete
        assert page.completeness.failed_share >= 1 / 3
        assert not store.describe().completeness.complete


def test_no_assigned_shard_at_all_is_no_answer(node: Server, prefix: str) -> None:
    node.create(f"{prefix}a", settings={"index.routing.allocation.require._name": "nobody"})
    with opened(node, f"{prefix}*") as store, pytest.raises(SourceError) as raised:
        store.describe()
    assert isinstance(raised.value, StoreUnavailable)


def test_a_breaker_is_said_and_not_taken_for_an_empty_answer(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [line(n, f"m {n}", trace=f"t{n}") for n in range(2_000)])
    with opened(node, f"{prefix}*") as store:
        store.describe()
        limit = "indices.breaker.request.limit"
        node.request("PUT", "/_cluster/settings", {"transient": {limit: "1kb"}})
        try:
            answer: StoreUnavailable | Completeness = store.top_values(query(), ["trace"], size=50).completeness
        except StoreUnavailable as error:
            answer = error
        finally:
            node.request("PUT", "/_cluster/settings", {"transient": {limit: None}})
    assert answer.code == "LA404" if isinstance(answer, StoreUnavailable) else not answer.complete


def test_indices_of_different_schemas_are_read_as_one(node: Server, prefix: str) -> None:
    node.load(f"{prefix}ecs", [line(1, "ecs line", "error", "shop", **{"error.type": "java.io.IOException"})])
    node.load(
        f"{prefix}logback",
        [
            {
                "@timestamp": at(2),
                "message": "logback line",
                "level": "ERROR",
                "level_value": 40_000,
                "app": "mail",
                "logger_name": "a.B",
            }
        ],
    )
    node.load(
        f"{prefix}otel",
        [
            {
                "@timestamp": at(3),
                "body": {"text": "otel line"},
                "severity_text": "Warning",
                "severity_number": 13,
                "resource": {"attributes": {"service.name": "cart"}},
                "trace_id": "5b8aa5a2d2c872e8321cf37308d69df2",
            }
        ],
    )
    with opened(node, f"{prefix}*") as store:
        records = store.search(query(), limit=5, order="oldest").records
        assert [(one.message, one.service, one.severity) for one in records] == [
            ("ecs line", "shop", Severity.ERROR),
            ("logback line", "mail", Severity.ERROR),
            ("otel line", "cart", Severity.WARN),
        ]
        assert count(store, Level(Severity.ERROR)) == 2
        assert count(store, Level(Severity.WARN, and_worse=True)) == 3
        assert count(store, Term("service", "mail")) == 1
        assert count(store, Term("", "otel")) == 1
        services = store.top_values(query(), ["service"], size=5).fields[0]
        assert {value.value: value.count for value in services.values} == {"shop": 1, "mail": 1, "cart": 1}
        assert (services.other, services.missing) == (0, 0)


def test_a_field_that_is_keyword_here_and_number_there_does_not_fail(node: Server, prefix: str) -> None:
    node.create(f"{prefix}a", mappings={"properties": {"code": KEYWORD}})
    node.create(f"{prefix}b", mappings={"properties": {"code": {"type": "integer"}}})
    node.load(f"{prefix}a", [line(1, "a", code="E17")])
    node.load(f"{prefix}b", [line(2, "b", code=17)])
    with opened(node, f"{prefix}*") as store:
        top = store.top_values(query(), ["code"], size=5)
        assert {value.value: value.count for value in top.fields[0].values} == {"E17": 1, "17": 1}
        assert not top.fields[0].approximate
        assert [count(store, Phrase("code", value)) for value in ("17", "E17", "E1")] == [1, 1, 0]
        assert top.completeness.complete
        assert store.search(query(), limit=5).completeness.complete


def test_a_field_below_a_nested_parent_is_found(node: Server, prefix: str) -> None:
    node.create(f"{prefix}a", mappings={"properties": {"ev": {"type": "nested", "properties": {"kind": KEYWORD}}}})
    node.load(f"{prefix}a", [line(1, "with", ev=[{"kind": "reboot"}, {"kind": "login"}]), line(2, "without")])
    with opened(node, f"{prefix}*") as store:
        assert count(store, parse("ev.kind:reboot", store.describe().fields)) == 1
        assert count(store, parse("_exists_:ev.kind", store.describe().fields)) == 1
        top = store.top_values(query(), ["ev.kind"], size=5).fields[0]
        assert {value.value: value.count for value in top.values} == {"reboot": 1, "login": 1}
        split = store.count_over_time([query()], interval_seconds=60, split="ev.kind")
        assert {one.name: sum(bucket.count for bucket in one.buckets) for one in split.series} == {
            "reboot": 1,
            "login": 1,
        }
        assert store.count([Measure(query(), "distinct", "ev.kind")]).values[0].value == 2


def test_a_message_that_is_only_a_keyword_is_searched_by_its_parts(node: Server, prefix: str) -> None:
    properties = {"@timestamp": {"type": "date"}, "message": KEYWORD, "level": KEYWORD}
    node.create(f"{prefix}a", mappings={"properties": properties})
    node.load(f"{prefix}a", [{"@timestamp": at(1), "message": "Connection RESET by peer*", "level": "ERROR"}])
    with opened(node, f"{prefix}*") as store:
        assert count(store, Term("", "reset")) == 1
        assert count(store, Term("", "peer*")) == 1
        assert count(store, Term("", "pear")) == 0


def test_epoch_seconds_are_read_as_times(node: Server, prefix: str) -> None:
    mapping = {"type": "date", "format": "epoch_second"}
    node.create(f"{prefix}a", mappings={"properties": {"@timestamp": mapping}})
    node.load(f"{prefix}a", [{"@timestamp": int(START.timestamp()) + 9, "message": "nine"}])
    with opened(node, f"{prefix}*") as store:
        assert store.describe().first == START + timedelta(seconds=9)
        assert [one.timestamp for one in store.search(query(), limit=2).records] == [START + timedelta(seconds=9)]


def test_nanoseconds_beside_milliseconds_are_sorted_together(node: Server, prefix: str) -> None:
    for name, kind in (("a", "date"), ("b", "date_nanos")):
        node.create(f"{prefix}{name}", mappings={"properties": {"@timestamp": {"type": kind}}})
        node.load(f"{prefix}{name}", [line(n + (0.5 if name == "b" else 0), f"{name}{n}") for n in range(3)])
    with opened(node, f"{prefix}*") as store:
        pages = [store.scan(query(), limit=4)]
        pages.append(store.scan(query(), limit=4, cursor=pages[0].cursor))
        names = [record.message for page in pages for record in page.records]
        assert names == ["a0", "b0", "a1", "b1", "a2", "b2"]
        assert store.count([Measure(query(), "last")]).values[0].value == START + timedelta(seconds=2.5)


def test_values_too_long_for_the_index_are_not_called_missing(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [line(1, "short"), line(2, "w " * 400)])
    with opened(node, f"{prefix}*") as store:
        top = store.top_values(query(), ["message"], size=5).fields[0]
        assert [(value.value, value.count) for value in top.values] == [("short", 1)]
        assert (top.other, top.missing, top.approximate) == (1, 0, True)


def test_a_source_without_levels_has_errors_by_a_rule_that_is_said(node: Server, prefix: str) -> None:
    documents = [{"@timestamp": at(1), "message": "GET /cart ok"}, {"@timestamp": at(2), "message": "payment FAILED"}]
    node.load(f"{prefix}a", documents)
    with opened(node, f"{prefix}*") as store:
        assert count(store, Level(Severity.ERROR)) == 1
        assert [one.severity for one in store.search(query(), limit=2).records] == [Severity.ERROR, None]
        assert any("No level field" in note for note in store.describe().notes)


@pytest.mark.parametrize("kinds", [(KEYWORD,), (KEYWORD, BOTH)], ids=["alike", "mixed"])
@pytest.mark.parametrize("spread", [1.0, 0.002], ids=["even", "in bursts"])
def test_ids_of_traces_are_found_without_reading_all_lines(
    node: Server, prefix: str, spread: float, kinds: tuple[dict[str, object], ...]
) -> None:
    """A piece of each slice is read; where the lines of a slice come in a burst beside it, more is."""
    slices, lines = 4, 1_200
    length = HOUR.seconds / slices
    times = [length * n + length * spread * m / lines for n in range(slices) for m in range(lines)]
    for index, kind in enumerate(kinds):
        node.create(f"{prefix}{index}", mappings={"properties": {"@timestamp": {"type": "date"}, "trace.id": kind}})
        here = [(n, time) for n, time in enumerate(times) if n // 3 % len(kinds) == index]
        node.load(f"{prefix}{index}", [line(time, f"m {n}", **{"trace.id": f"t{n // 3:05}"}) for n, time in here])
    with opened(node, f"{prefix}*") as store:
        store.describe()
        before = store.usage.requests
        records = store.traces(query(), slices=slices, ids=12).records
        assert store.usage.requests - before <= 2 + 2 * len(kinds)
    found = {record.trace_id for record in records}
    assert 6 <= len(found) <= 12
    assert len(records) == 3 * len(found)
    assert {int(name[1:]) % len(kinds) for name in found} == set(range(len(kinds)))
    if spread == 1.0:
        assert (
            len({int((record.timestamp - START).total_seconds() // length) for record in records if record.timestamp})
            == slices
        )


def test_describing_takes_few_requests_and_the_second_time_none(node: Server, prefix: str) -> None:
    for day in range(5):
        node.load(f"{prefix}2026.11.{26 + day}", [line(day, f"day {day}")])
    with opened(node, f"{prefix}*") as store:
        found = store.describe()
        assert store.usage.requests <= 7
        before = store.usage.requests
        assert store.describe() is found
        assert store.usage.requests == before
        assert [(one.name, one.events, one.note) for one in found.sources] == [(f"{prefix}*", 5, "5 indices")]


def test_a_data_stream_is_one_source(node: Server, prefix: str) -> None:
    template = {
        "index_patterns": [f"{prefix}*"],
        "data_stream": {},
        "priority": 900,
        "template": {"settings": {"number_of_replicas": 0}},
    }
    node.request("PUT", f"/_index_template/{prefix}t", template)
    node.load(f"{prefix}app", [line(1, "first"), line(2, "second")])
    with opened(node, f"{prefix}*") as store:
        found = store.describe()
        assert [(one.name, one.events) for one in found.sources] == [(f"{prefix}app", 2)]
        records = store.search(query(), limit=2).records
        assert set(store.fetch([record.id for record in records])) == {record.id for record in records}


def test_records_are_read_again_by_id_and_strange_ids_are_left_out(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [line(1, "in a")], ids=["same"])
    node.load(f"{prefix}b", [line(2, "in b")], ids=["same"])
    with opened(node, f"{prefix}*") as store:
        wanted = [RecordId(f"{prefix}a", "same"), RecordId(f"{prefix}b", "same"), RecordId(f"{prefix}a", "other")]
        found = store.fetch(wanted)
        assert [found[one].message for one in wanted[:2]] == ["in a", "in b"]
        assert len(found) == 2
        middle = store.around(wanted[1], query(), limit=3)
        assert [one.message for one in middle.records] == ["in a", "in b"]


def test_an_index_outside_the_scope_is_refused_without_asking(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [line(1, "mine")])
    with opened(node, f"{prefix}a") as store:
        store.describe()
        before = store.usage.requests
        with pytest.raises(StoreQueryError):
            store.search(LogQuery(HOUR, All(), (f"{prefix}b",)), limit=1)
        assert store.usage.requests == before


def test_a_field_chosen_by_the_user_wins_and_a_wrong_one_is_named(node: Server, prefix: str) -> None:
    node.load(f"{prefix}a", [line(1, "hello", team="blue")])
    with opened(node, f"{prefix}*", field_overrides={"service": "team"}) as store:
        assert store.search(query(), limit=1).records[0].service == "blue"
    with opened(node, f"{prefix}*", field_overrides={"service": "teem"}) as store, pytest.raises(UsageError) as raised:
        store.describe()
    assert "team" in raised.value.hint


def test_a_node_that_dies_in_the_middle_is_first_incomplete_then_unavailable() -> None:
    if "os2" not in server_names():
        pytest.skip("the nodes of this session cannot be stopped one by one")
    try:
        node = SearchNode("os2", nodes=2)
        with node:
            server = Server("os2", node.url)
            server.create("logs-a", settings={"number_of_shards": 4})
            server.load("logs-a", [line(n, f"m {n}") for n in range(400)])
            with opened(server, "logs-*") as store:
                first = store.scan(query(), limit=100)
                assert first.completeness.complete
                node.command("stop 2", "STOPPED")
                part = store.search(query(), limit=10)
                assert not part.completeness.complete
                assert part.total < 400
                node.process.terminate()
                node.process.wait(20)
                with pytest.raises(StoreUnavailable) as raised:
                    store.scan(query(), limit=100, cursor=first.cursor)
                assert raised.value.code == "LA101"
    except NotStarted as error:
        not_tested("os2", error)


def test_words_of_the_text_of_an_error_are_found_with_those_of_the_message(node: Server, prefix: str) -> None:
    typed = {"@timestamp": {"type": "date"}, "message": TEXT, "error": {"properties": {"message": TEXT}}}
    node.create(f"{prefix}a", mappings={"properties": typed})
    failed = [line(n, "fetch failed", "ERROR", error={"message": "getaddrinfo EAI_AGAIN auth"}) for n in range(4)]
    node.load(f"{prefix}a", failed + [line(10 + n, "fetch done") for n in range(6)])
    with opened(node, f"{prefix}*") as store:
        fields = store.describe().fields
        for text, number in (("getaddrinfo", 4), ("eai_*", 4), ('"failed getaddrinfo"', 0), ("NOT getaddrinfo", 6)):
            assert count(store, parse(text, fields)) == number, text
