"""What a model or a person asks for: index names, queries, sizes, windows; nothing is wider than the scope."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logagent.errors import LogAgentError, StoreQueryError, UsageError
from logagent.llm import ToolCall
from logagent.query import And, LogQuery, Phrase, Scope, parse
from logagent.settings import load
from logagent.stores._es_index import check_narrower, check_pattern
from logagent.stores._transport import _target
from logagent.tools import ToolRegistry
from tests.loop.scene import REACH, call, context, incident
from tests.loop.stores import ListStore, matches

BAD_NAMES = (
    "", "_all", "*", "*:*", "-x", ".security*", "<x-{now/d}>", "a,b", "a::failures", "../x", "x%2f", "LOGS", "l" * 300,
    "logs\x00", "lоgs-*", "logs-*-x", "+logs", "logs *", "logs/_search", "eu:logs-*",
)  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_s020_such_an_index_name_is_refused_in_settings_and_from_a_model(name: str) -> None:
    with pytest.raises(UsageError):
        check_pattern(name)
    if name:
        with pytest.raises(StoreQueryError):
            check_narrower([name], ["logs-*"])
        made = context(ListStore(incident()))
        refused = call(made, "search_logs", index_pattern=name)
        assert refused.is_error
        assert made.store.asked == []  # type: ignore[attr-defined]


_TENANT = Phrase("service", "order-api")
_USERS = st.recursive(
    st.sampled_from(
        ["service:payment-api", "level:error", "charge", '"x) OR (y"', "NOT service:order-api", "status:503"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" OR ", " AND ", " "]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"NOT ({text})"),
    ),
    max_leaves=6,
)
_FOREIGN = [one for one in incident() if one.service != "order-api"]


@given(_USERS)
@settings(max_examples=150, deadline=None)
def test_s021_a_tenant_filter_is_widened_by_no_query_of_the_language(text: str) -> None:
    query = Scope(REACH, REACH, REACH.end, base=_TENANT).query(parse(text))
    assert isinstance(query.node, And)
    assert _TENANT in query.node.nodes
    assert not any(matches(query.node, one) for one in _FOREIGN)


def test_s070_an_or_of_the_user_finds_no_line_of_another_tenant() -> None:
    store = ListStore(incident())
    scope = Scope(REACH, REACH, REACH.end, base=_TENANT)
    page = store.search(scope.query(parse("service:payment-api OR level:error OR *")), limit=1000)
    assert page.records
    assert {one.service for one in page.records} == {"order-api"}


def test_s022_an_extra_argument_is_refused_and_nothing_is_asked() -> None:
    made = context(ListStore(incident()))
    result = call(made, "search_logs", query="level:error", tenant="b", url="http://x/")
    assert result.is_error
    assert made.store.asked == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["grep", "search_logs.exe", "__import__", "delete_index", "SEARCH_LOGS", ""])
def test_s023_an_unknown_tool_is_refused(name: str) -> None:
    made = context(ListStore(incident()))
    assert ToolRegistry().call(ToolCall("c1", name, "{}"), made).is_error
    assert made.store.asked == []  # type: ignore[attr-defined]


def test_s024_a_pattern_outside_the_scope_is_refused_and_a_narrower_one_is_taken() -> None:
    assert check_narrower(["logs-pay-2026"], ["logs-*"]) == ("logs-pay-2026",)
    for name in ("metrics-a", "logs", "lоgs-pay", "logs-pay,metrics", "logs-*,.kibana"):
        with pytest.raises(StoreQueryError):
            check_narrower([name], ["logs-*"])


@pytest.mark.parametrize("query", ["/(a+)+$/", "*ing", "user.\\*:x", "foo~2", "field:/x/"])
def test_s025_expressions_fuzzy_words_and_patterns_of_fields_are_refused(query: str) -> None:
    made = context(ListStore(incident()))
    result = call(made, "search_logs", query=query)
    assert result.is_error or "no events" in str(result.text) or "0 of" in str(result.text)
    assert "regexp" not in json.dumps(result.text)


@pytest.mark.parametrize("size", [1e9, -1, True, float("nan"), "many"])
def test_s026_a_size_without_sense_is_refused(size: object) -> None:
    made = context(ListStore(incident()))
    result = call(made, "search_logs", size=size)
    assert result.is_error or "at most 100" in str(result.text) or "100" in str(result.text)
    assert not call(made, "search_logs", size="10").is_error


def test_s027_a_window_wider_than_the_scope_is_clipped_and_said() -> None:
    made = context(ListStore(incident()))
    result = call(made, "search_logs", start_time="now-365d")
    assert "clipped" in str(result.text)


_VALUES = st.one_of(
    st.text(max_size=20), st.integers(), st.none(), st.booleans(), st.lists(st.text(max_size=5), max_size=3)
)


@given(st.sampled_from([*ToolRegistry().tools, "x"]), st.dictionaries(st.sampled_from(["query", "index_pattern", "start_time", "size", "why", "x"]), _VALUES, max_size=4))  # fmt: skip
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_s021_any_call_stays_in_window_and_sources(tool: str, arguments: dict[str, object]) -> None:
    seen: list[LogQuery] = []

    class Noting(ListStore):
        def _matching(self, query: LogQuery) -> list[object]:  # type: ignore[override]
            seen.append(query)
            return super()._matching(query)  # type: ignore[return-value]

    made = context(Noting(incident()))
    ToolRegistry().call(ToolCall("c", tool, json.dumps(arguments)), made)
    for query in seen:
        assert REACH.start <= query.window.start <= query.window.end <= REACH.end
        assert set(query.indices) <= {"app.log"}


@pytest.mark.parametrize(
    "body",
    [
        {"aggs": {"a": {"terms": {"script": "1"}}}},
        {"query": {"query_string": {"query": "*"}}},
        {"aggs": {"a": {"filter": {"regexp": {"a": "b"}}}}},
        {"aggs": {"a": {"terms": {"field": "x"}, "aggs": {"b": {"scripted_metric": {}}}}}},
    ],
)
def test_s068_what_the_compiler_never_makes_is_refused_below_it(body: dict[str, object]) -> None:
    with pytest.raises(StoreQueryError):
        _target("POST", "/logs-a/_search", None, body)


def test_s108_a_time_inside_a_message_moves_no_window(tmp_path: Path) -> None:
    from logagent.settings import RunOptions  # noqa: PLC0415
    from logagent.wiring import open_session  # noqa: PLC0415

    lines = [
        {
            "@timestamp": f"2026-11-28T09:{m:02d}:00Z",
            "level": "info",
            "service": "a",
            "message": f"at 1999-01-01T00:00:00Z {m}",
        }
        for m in range(30)
    ]
    file = tmp_path / "a.ndjson"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with open_session(
        load({}, {"HOME": str(tmp_path)}, folder=tmp_path),
        RunOptions(files=(str(file),), use_model=False, save=False),
        print,
    ) as session:
        assert session.plan.scope.window.start.year == 2026
        assert session.plan.scope.reach.start.year == 2026


@pytest.mark.parametrize("text", ["AND", "((", '"', "level:>="])
def test_s025_what_is_no_query_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(LogAgentError) as raised:
        parse(text)
    assert raised.value.message
