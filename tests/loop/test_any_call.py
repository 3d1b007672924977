"""Whatever a model sends: an answer comes back, and nothing outside the scope is asked."""

import json
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logagent.analysis.trim import tokens_in
from logagent.llm import ToolCall
from logagent.logs import LogRecord
from logagent.query import LogQuery
from logagent.tools import ToolRegistry
from tests.loop.scene import REACH, context, incident
from tests.loop.stores import ListStore

REGISTRY = ToolRegistry()
_WORDS = st.sampled_from(
    ["level:error", "service:order-api", "NOT charge", "", "*", "a:b:c", "((", '"', "now-5m", "2026-11-30T12:05:00Z", "1970", "now+9y",
     "app.log", "logs-*", "error_class", "message", "E1", "trace", "<email:k7q2:1>", "\x00", "\u202e", "host", "service"]
)  # fmt: skip
_SCALARS = st.one_of(_WORDS, st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12))
_VALUES = st.one_of(_SCALARS, st.lists(_SCALARS, max_size=3), st.dictionaries(_WORDS, _SCALARS, max_size=2))
_NAMES = sorted({name for schema in REGISTRY.schemas.values() for name in schema["properties"]})
_ARGUMENTS = st.one_of(
    st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=5).map(json.dumps),
    st.text(max_size=40),
)


@dataclass
class Watched(ListStore):
    """Remembers every query."""

    queries: list[LogQuery] = field(default_factory=list)

    def _matching(self, query: LogQuery) -> list[LogRecord]:
        self.queries.append(query)
        return super()._matching(query)


@given(st.sampled_from([*REGISTRY.tools, "grep", ""]), _ARGUMENTS)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_call_is_answered_and_stays_in_scope(tool: str, arguments: str) -> None:
    store = Watched(incident())
    made = context(store)
    result = REGISTRY.call(ToolCall("c1", tool, arguments), made)
    assert result.call_id == "c1"
    assert result.text
    assert tokens_in(result.text) <= 1_520
    assert "\x00" not in result.text
    assert "\u202e" not in result.text
    for query in store.queries:
        assert REACH.start <= query.window.start <= query.window.end <= REACH.end
        assert set(query.indices) <= {"app.log"}
    assert list(result.evidence) == list(made.ledger.rows)
