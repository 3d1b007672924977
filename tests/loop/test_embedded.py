"""The loop over the real embedded store and the bundled incident."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources

import pytest

from logagent.agent import Agent, AgentLimits, StopReason
from logagent.analysis.mechanisms import Catalogue
from logagent.analysis.redact import Redactor
from logagent.evidence import Ledger
from logagent.llm import ChatClient, Endpoint
from logagent.logs import TimeWindow
from logagent.query import LogQuery, Scope, parse
from logagent.stores import local
from logagent.stores._base import LogStore, Measure
from logagent.testing import ScriptedModel, calls, several, submit
from logagent.tools import ToolContext, ToolRegistry
from tests.loop.scene import call

ONSET = datetime(2026, 11, 24, 6, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def store() -> Iterator[LogStore]:
    path = resources.files("logagent.demo") / "order-outage" / "logs.ndjson.gz"
    opened = local.BACKEND.open(local.LocalOptions((str(path),)))
    yield opened
    opened.close()


@pytest.fixture
def made(store: LogStore) -> ToolContext:
    described = store.describe()
    assert described.first is not None
    assert described.last is not None
    base, window = TimeWindow(described.first, ONSET), TimeWindow(ONSET, described.last)
    scope = Scope(window, TimeWindow(described.first, described.last), described.last, baselines=(base,))
    index = (resources.files("logagent.analysis") / "mechanisms.json").read_text("utf-8")
    catalogue = Catalogue.from_index(json.loads(index))
    return ToolContext(store, described.fields, scope, Ledger(), Redactor("k7q2"), catalogue, "k7q2")


def test_a_model_finds_the_pool_and_its_diagnosis_is_accepted(made: ToolContext) -> None:
    found = {
        "headline": "Orders fail at checkout",
        "what_is_happening": "Orders fail since payment-api has no connection left [E1].",
        "probable_cause": "The connection pool of payment-api is exhausted [E1].",
        "hypotheses": [
            {
                "statement": "The pool of the new version is too small.",
                "mechanism": "pool.exhausted",
                "entity": {"service": "payment-api"},
                "supporting": ["E1"],
            }
        ],
    }
    first = several(
        calls("get_error_stats", group_by="message"), calls("get_timeline", query="level:error", split_by="service")
    )
    with ScriptedModel([first, submit(found)]) as model:
        client = ChatClient(Endpoint(model.url, "scripted"))
        outcome = Agent(client, ToolRegistry(), made, AgentLimits()).investigate("Why do orders fail?", "no digest")
        client.close()
    assert outcome.stop is StopReason.SUBMITTED
    assert outcome.submission is not None
    assert outcome.submission.hypotheses[0].mechanism == "pool.exhausted"
    row = made.ledger.get("E1")
    assert row is not None
    assert "HikariPool" in row.statement


def test_every_counted_row_is_what_the_store_counts_for_its_query(made: ToolContext) -> None:
    for tool, arguments in (
        ("get_error_stats", {}),
        ("get_error_stats", {"group_by": "message"}),
        ("get_error_stats", {"group_by": "error_class", "query": "service:order-api"}),
        ("get_log_patterns", {"size": 25}),
        ("get_timeline", {"split_by": "service"}),
        ("compare_windows", {}),
        ("compare_windows", {"query": "level:error", "base_query": "NOT level:error"}),
    ):
        assert not call(made, tool, **arguments).is_error
    rows = [row for row in made.ledger if row.query.figure.op == "count"]
    measures = [
        Measure(LogQuery(row.query.window, parse(row.query.text, max_length=8_000), row.query.indices)) for row in rows
    ]
    assert len(rows) > 40
    for start in range(0, len(rows), 100):
        answer = made.store.count(measures[start : start + 100])
        for row, counted in zip(rows[start : start + 100], answer.values, strict=True):
            assert counted.value == row.value, (row.id, row.query.text)


def test_the_lines_of_one_trace_come_in_order(made: ToolContext) -> None:
    call(made, "search_logs", query="service:payment-api level:error", size=1)
    text = call(made, "get_log_context", evidence_id="E1").text
    times = [line.split()[1] for line in text.split("\n") if line.startswith("E")]
    assert "same trace" in text
    assert len(times) >= 3
    assert times == sorted(times)
