"""The embedded store and a cluster give the same answers to the same questions about the same logs."""

import gzip
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from logagent.logs import TimeWindow
from logagent.query import LogQuery, parse
from logagent.stores import local
from logagent.stores._base import LogStore, Measure
from logagent.stores.elasticsearch import ElasticsearchOptions, ElasticsearchStore
from tests.nodes.pool import Server

pytestmark = pytest.mark.node

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOUR = TimeWindow(NOON, NOON + timedelta(hours=1))
MESSAGES = (
    "GET /api/v1/orders 200 12ms",
    "Connection refused: payment.api:8443 (Connection_refused)",
    "user=ada@example.com logged in from 10.0.0.1",
    "支付失败 订单 8812",
    "java.lang.OutOfMemoryError: Java heap space",
    "Retry 1,234 of 5.5k; it's late",
    "foo-bar foo_bar FOO",
    "",
)
LEVELS = ("INFO", "Error", "warning", "notice", "CRITICAL", "debug", None)
QUERIES = (
    "",
    "orders",
    "ORDERS",
    "payment.api",
    "payment",
    '"connection refused"',
    "connection_refused",
    "支付",
    '"支付失败"',
    "foo-bar",
    "foo",
    '"1,234"',
    "outof*",
    "java.lang*",
    "it's",
    "10.0.0.1",
    "level:error",
    "level:ERROR",
    "level>=error",
    "level:info",
    "level:debug",
    "NOT level>=warn",
    "service:cart",
    "service:Cart",
    "service:c*",
    "service:(cart OR mail)",
    "http.response.status_code:500",
    "http.response.status_code:[500 TO 599]",
    "http.response.status_code>=500",
    "http.response.status_code:5*",
    "status:5??",
    "NOT http.response.status_code:500",
    "_exists_:trace.id",
    "NOT _exists_:trace.id",
    "_exists_:error.type",
    "error.type:java.io.IOException",
    "error.type:java.io.*",
    "labels.team:blue",
    "labels.team:red",
    "ok:true",
    "tags:slow",
    "duration>=100",
    "level>=error AND service:cart OR orders",
)


def documents() -> Iterator[dict[str, object]]:
    """400 documents with every form of value, some fields in some of them only."""
    for number in range(400):
        document: dict[str, object] = {
            "@timestamp": (NOON + timedelta(seconds=number * 7, milliseconds=number % 10)).isoformat(),
            "message": f"{MESSAGES[number % len(MESSAGES)]} #{number}",
            "service.name": ("cart", "mail", "Cart")[number % 3],
            "ok": number % 2 == 0,
            "labels": {"team": "blue" if number % 4 else "green"},
        }
        level = LEVELS[number % len(LEVELS)]
        if level:
            document["log.level"] = level
        if number % 3:
            document["http"] = {"response": {"status_code": (200, 404, 500, 503)[number % 4]}}
        if number % 5:
            document["trace.id"] = f"{number // 6:032x}"
        if number % 11 == 0:
            document["error.type"] = "java.io.IOException"
        if number % 6 == 0:
            document["event.duration"] = number * 1_000_000
        if number % 13 == 0:
            document["tags"] = ["slow", "eu"]
        yield document


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogStore]:
    path = tmp_path_factory.mktemp("logs") / "logs.ndjson.gz"
    _write(path)
    store = local.BACKEND.open(local.LocalOptions(paths=(str(path),), clock=lambda: NOON + timedelta(hours=1)))
    yield store
    store.close()


def _write(path: Path) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(document) + "\n" for document in documents())


@pytest.fixture(scope="module")
def cluster(node: Server) -> Iterator[LogStore]:
    index = f"t{uuid.uuid4().hex[:10]}-same"
    node.create(
        index,
        mappings={
            "properties": {
                "event": {"properties": {"duration": {"type": "long"}}},
                "error": {"properties": {"type": {"type": "keyword"}}},
            }
        },
        settings={"number_of_shards": 2},
    )
    node.load(index, documents())
    options = ElasticsearchOptions(
        url=node.url, indices=[index], api_key=node.api_key, clock=lambda: NOON + timedelta(hours=1)
    )
    store = ElasticsearchStore(options)
    yield store
    store.close()
    node.delete(index)


def ask(store: LogStore, text: str) -> LogQuery:
    return LogQuery(HOUR, parse(text, store.describe().fields))


@pytest.mark.parametrize("text", QUERIES)
def test_a_query_means_the_same(embedded: LogStore, cluster: LogStore, text: str) -> None:
    pages = [store.search(ask(store, text), limit=1_000, order="oldest") for store in (embedded, cluster)]
    found = [[record.message for record in page.records] for page in pages]
    assert found[0] == found[1]
    assert pages[0].total == pages[1].total == len(found[0])
    for store in (embedded, cluster):
        assert store.count([Measure(ask(store, text))]).values[0].value == len(found[0])


def test_records_are_the_same(embedded: LogStore, cluster: LogStore) -> None:
    pages = [store.search(ask(store, ""), limit=1_000, order="oldest").records for store in (embedded, cluster)]
    for one, other in zip(*pages, strict=True):
        for name in (
            "timestamp",
            "message",
            "service",
            "severity",
            "level",
            "error_type",
            "trace_id",
            "status",
            "duration_ms",
        ):
            assert getattr(one, name) == getattr(other, name), (name, one, other)


def test_descriptions_agree(embedded: LogStore, cluster: LogStore) -> None:
    one, other = embedded.describe(), cluster.describe()
    assert (one.events, one.first, one.last) == (other.events, other.first, other.last)
    for role in ("timestamp", "severity", "service", "message", "status", "trace_id", "error_type"):
        choices = [store.fields.first(role) for store in (one, other)]
        assert choices[0], role
        assert choices[1], role
        assert choices[0].name == choices[1].name
        assert choices[0].coverage == pytest.approx(choices[1].coverage)
    assert {severity: set(values) for severity, values in one.fields.levels.items()} == {
        severity: set(values) for severity, values in other.fields.levels.items()
    }


def test_figures_agree(embedded: LogStore, cluster: LogStore) -> None:
    def figures(store: LogStore) -> list[object]:
        errors = ask(store, "level>=error")
        measures = [Measure(errors, "first"), Measure(errors, "last"), Measure(errors, "distinct", "service")]
        return [one.value for one in store.count(measures).values]

    assert figures(embedded) == figures(cluster)


@pytest.mark.parametrize("split", ["", "service", "level", "status"])
def test_timelines_agree(embedded: LogStore, cluster: LogStore, split: str) -> None:
    def line(store: LogStore) -> dict[str, list[tuple[datetime, int]]]:
        timeline = store.count_over_time([ask(store, "")], interval_seconds=300, split=split)
        names = [series.name for series in timeline.series] if split else ["all"]
        return {
            name: [(bucket.at, bucket.count) for bucket in series.buckets]
            for name, series in zip(names, timeline.series, strict=True)
        }

    assert line(embedded) == line(cluster)


@pytest.mark.parametrize("field", ["service", "level", "status", "error_type", "labels.team", "trace_id", "ok"])
def test_top_values_agree(embedded: LogStore, cluster: LogStore, field: str) -> None:
    later = TimeWindow(NOON, NOON + timedelta(minutes=20))

    def top(store: LogStore) -> tuple[list[tuple[int, int]], int, int]:
        counts = store.top_values(ask(store, ""), [field], size=3, baseline=later).fields[0]
        shown = sorted((value.count, value.baseline) for value in counts.values)
        return shown if field != "trace_id" else [], counts.other, counts.missing

    assert top(embedded) == top(cluster)
