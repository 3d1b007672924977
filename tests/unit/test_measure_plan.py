"""Measures of a cluster in one request: what is shared stands above, and each answer is found where it was asked."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.fields import FieldChoice, FieldMap
from logagent.logs import TimeWindow, instant
from logagent.query import All, And, Level, LogQuery, Node, Not, Or, Phrase, conjunction
from logagent.stores._base import Measure
from logagent.stores._es_fields import ClusterFields
from logagent.stores._es_measures import MeasurePlan, shared

FIELDS = ClusterFields(
    FieldMap({"timestamp": (FieldChoice("at", "date", "at"),), "service": (FieldChoice("who", "keyword", "who"),)})
)
NOON = instant(1_796_040_000)
BEFORE, NOW = TimeWindow(NOON - timedelta(hours=1), NOON), TimeWindow(NOON, NOON + timedelta(hours=1))
BOTH = TimeWindow(BEFORE.start, NOW.end)
NOISE = tuple(Not(And((Phrase("service", f"s{n}"), Phrase("", f"steady line {n}")))) for n in range(3))
FAILING = And((Or((Level(4, and_worse=True), Phrase("", "gave up"))), *NOISE))
DOCS = [
    {
        "at": NOON + timedelta(seconds=40 * n - 3_000),
        "who": f"s{n % 5}",
        "level": 4 if n % 3 == 0 else 2,
        "text": f"steady line {n % 7}" if n % 2 else "gave up",
    }
    for n in range(150)
]


def clause(node: Node, window: TimeWindow) -> dict[str, Any]:
    del window
    return {"node": node}


def plan(measures: list[Measure]) -> tuple[MeasurePlan, dict[str, Any]]:
    made = MeasurePlan(measures, clause, FIELDS)
    return made, made.body()


def matches(asked: Mapping[str, Any], doc: Mapping[str, Any]) -> bool:
    if "node" in asked:
        return holds(asked["node"], doc)
    if "range" in asked:
        bounds = asked["range"]["at"]
        written = doc["at"].isoformat(timespec="microseconds").replace("+00:00", "Z")
        return bool(bounds["gte"] <= written < bounds["lt"])
    return all(matches(part, doc) for part in asked["bool"].get("filter", ()))


def holds(node: Node, doc: Mapping[str, Any]) -> bool:
    match node:
        case All():
            return True
        case And(nodes):
            return all(holds(one, doc) for one in nodes)
        case Or(nodes):
            return any(holds(one, doc) for one in nodes)
        case Not(inner):
            return not holds(inner, doc)
        case Level(severity):
            return bool(doc["level"] >= severity)
        case Phrase(name, value):
            return bool(doc["who"] == value) if name else value in doc["text"]
    raise AssertionError(node)


def answered(aggs: Mapping[str, Any], docs: list[dict[str, Any]]) -> dict[str, Any]:
    """What a server would answer."""
    found: dict[str, Any] = {}
    for name, agg in aggs.items():
        below = agg.get("aggs") or {}
        if "filters" in agg:
            parts = {key: [d for d in docs if matches(one, d)] for key, one in agg["filters"]["filters"].items()}
            buckets = {key: {"doc_count": len(part), **answered(below, part)} for key, part in parts.items()}
            found[name] = {"buckets": buckets}
        elif "filter" in agg:
            part = [doc for doc in docs if matches(agg["filter"], doc)]
            found[name] = {"doc_count": len(part), **answered(below, part)}
        elif "cardinality" in agg:
            found[name] = {"value": len({doc["who"] for doc in docs})}
        else:
            times = [doc["at"].timestamp() * 1_000 for doc in docs]
            found[name] = {"value": (min if "min" in agg else max)(times) if times else None}
    return found


def plainly(measure: Measure) -> object:
    window = measure.query.window
    docs = [doc for doc in DOCS if window.start <= doc["at"] < window.end and holds(measure.query.node, doc)]
    if measure.op == "count":
        return len(docs)
    if measure.op == "distinct":
        return len({doc["who"] for doc in docs})
    return (min if measure.op == "first" else max)((doc["at"] for doc in docs), default=None)


NODES = [
    All(),
    FAILING,
    conjunction(FAILING, Phrase("service", "s1")),
    conjunction(FAILING, Phrase("service", "s2"), Phrase("", "gave up")),
    Phrase("service", "s3"),
    Phrase("", "steady line 4"),
    Or((Phrase("service", "s3"), Level(4))),
    Not(Phrase("", "gave up")),
]
FIGURES = [("count", ""), ("first", ""), ("last", ""), ("distinct", "service")]
MEASURES = st.builds(
    lambda node, window, figure: Measure(LogQuery(window, node), *figure),
    st.sampled_from(NODES),
    st.sampled_from([BEFORE, NOW, BOTH]),
    st.sampled_from(FIGURES),
)


@given(st.lists(MEASURES, min_size=1, max_size=30))
def test_every_measure_is_what_it_is_when_asked_alone(measures: list[Measure]) -> None:
    made, body = plan(measures)
    docs = [doc for doc in DOCS if matches(body["query"], doc)]
    values = made.read({"aggregations": answered(body["aggs"], docs)})
    assert [one.value for one in values] == [plainly(one) for one in measures]


def test_patterns_stand_in_one_aggregation_below_their_windows() -> None:
    nodes = [And((Phrase("service", f"s{n}"), Phrase("", f"line {n}"))) for n in range(25)]
    figures = [(BEFORE, "count"), (NOW, "count"), (NOW, "first"), (NOW, "last")]
    _, body = plan([Measure(LogQuery(window, node), op) for node in nodes for window, op in figures])
    (only,) = body["aggs"].values()
    assert len(only["filters"]["filters"]) == 2
    assert len(only["aggs"]["in"]["filters"]["filters"]) == 25


def test_a_failing_event_is_defined_once() -> None:
    nodes = [conjunction(FAILING, Phrase("service", f"s{n}")) for n in range(4)]
    _, body = plan([Measure(LogQuery(NOW, node), "first") for node in [*nodes, All(), FAILING]])
    assert body["aggs"]["shared"]["filter"] == {"node": FAILING}
    assert str(body).count("gave up") == 1


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [All(), Phrase("", "a")],
        [FAILING, Phrase("", "a")],
        [conjunction(Or((Level(4), Level(5))), Phrase("", word)) for word in ("a", "b")],
    ],
    ids=["nothing", "leaves", "one has it", "cheap"],
)
def test_what_is_cheap_or_no_other_has_stays_where_it_is(nodes: list[Node]) -> None:
    assert shared(nodes) == frozenset()


def test_an_answer_without_a_bucket_is_nothing() -> None:
    made, _ = plan(
        [Measure(LogQuery(NOW)), Measure(LogQuery(NOW), "first"), Measure(LogQuery(NOW), "distinct", "service")]
    )
    assert [one.value for one in made.read({})] == [0, None, 0]
