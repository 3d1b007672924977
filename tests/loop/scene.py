"""One small incident for the tests of this folder: a pool runs dry in payment-api, order-api answers 503."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from difflib import get_close_matches

from logagent.agent import Agent, AgentLimits, Outcome
from logagent.analysis.redact import Redactor
from logagent.events import RunEvent
from logagent.evidence import Ledger
from logagent.llm import ChatClient, Endpoint, ToolCall
from logagent.logs import LogRecord, TimeWindow
from logagent.query import Scope
from logagent.testing import ScriptedModel
from logagent.tools import ToolContext, ToolRegistry, ToolResult
from tests.loop.stores import NOON, ListStore, record

NONCE = "k7q2"
POOL = "HikariPool-1 - Connection is not available, request timed out after 30012ms"
BASE = TimeWindow(NOON, NOON + timedelta(minutes=10))
WINDOW = TimeWindow(BASE.end, BASE.end + timedelta(minutes=10))
REACH = TimeWindow(BASE.start, WINDOW.end)
SCOPE = Scope(WINDOW, REACH, WINDOW.end, baselines=(BASE,))
GOOD = {
    "headline": "Orders fail at checkout",
    "what_is_happening": "Orders are refused [E1].",
    "hypotheses": [{"statement": "The pool ran dry.", "mechanism": "pool.exhausted", "supporting": ["E1"]}],
}


class Mechanisms:
    """A catalogue of two, and one to infer."""

    ids: Sequence[str] = ("pool.exhausted", "upstream.5xx", "network.latency")
    inferred: Mapping[str, object] = {"network.latency": 1}

    def near(self, name: str) -> list[str]:
        return get_close_matches(name, self.ids, 3, 0.5)

    def mechanism(self, text: str, service: str = "") -> str:  # noqa: ARG002
        return "pool.exhausted" if "Connection is not available" in text else ""


def incident() -> list[LogRecord]:
    """Twenty minutes: steady traffic, from 12:12 on the pool is dry."""
    found = [
        record(at, f"order {at} placed", host=f"node-{at % 2}", trace_id=f"trace-{at:09d}") for at in range(0, 1200, 10)
    ]
    found += [record(at + 0.2, "charge settled", service="payment-api") for at in range(0, 720, 10)]
    for at in range(720, 1200, 20):
        found.append(record(at + 0.3, POOL, service="payment-api", level="error", error_type="SQLTransientException"))
        found.append(record(at + 0.5, "POST /orders 503", level="error", status=503, trace_id=f"trace-{at:09d}"))
    return sorted(found, key=lambda one: one.timestamp or NOON)


def context(store: ListStore | None = None, **changes: object) -> ToolContext:
    """A run over the incident, or over another store."""
    store = store or ListStore(incident())
    made = ToolContext(store, store.describe().fields, SCOPE, Ledger(), Redactor(NONCE), Mechanisms(), NONCE)
    return replace(made, **changes)  # type: ignore[arg-type]


def call(made: ToolContext, tool: str, **arguments: object) -> ToolResult:
    """One call through the registry's door."""
    return ToolRegistry().call(ToolCall("c1", tool, json.dumps(arguments)), made)


def investigate(
    model: ScriptedModel,
    made: ToolContext | None = None,
    limits: AgentLimits | None = None,
    events: list[RunEvent] | None = None,
    window: int | None = None,
) -> Outcome:
    """A whole run: real client, real HTTP, tools over the list store."""
    seen = events if events is not None else []
    client = ChatClient(Endpoint(model.url, "scripted", context_window=window))
    try:
        agent = Agent(client, ToolRegistry(), made or context(), limits or AgentLimits(), on_event=seen.append)
        return agent.investigate("Why do orders fail?", "E0 digest row, order-api, payment-api")
    finally:
        client.close()


def texts(model: ScriptedModel, role: str, request: int = -1) -> Sequence[str]:
    """Contents of the messages of a role in one request."""
    messages = model.requests[request]["messages"]
    assert isinstance(messages, list)
    return [str(message["content"]) for message in messages if message["role"] == role]


def shown(text: str) -> str:
    """A result without its frame."""
    first, *lines, last = text.split("\n")
    assert (first, last) == (f"<<{NONCE}|", f"|{NONCE}>>")
    return "\n".join(lines)
