import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import logagent.tools
from logagent.agent import Agent, StopReason
from logagent.llm import ChatClient, Endpoint, ToolCall
from logagent.testing import ScriptedModel, calls, several, submit
from logagent.tools import Tool, ToolRegistry
from logagent.tools._base import Answer, ToolArgs, ToolContext
from logagent.tools._registry import found_in
from tests.loop.scene import GOOD, call, context, texts

ALLOWED = {"type", "description", "properties", "required", "items", "enum"}
ONE_FILE = '''
"""A team's own tool."""
from pydantic import Field
from logagent.tools._base import Answer, Tool, ToolArgs

class Args(ToolArgs):
    """Arguments."""
    team: str = Field(description="Name of a team.")

def who_is_on_call(args, context):
    """Look the name up."""
    return Answer(f"{args.team}: Kim")

TOOL = Tool(Args, who_is_on_call, "Says who is on call.")
'''


def nodes(schema: object) -> list[dict[str, object]]:
    """All schema nodes, property names left out."""
    if not isinstance(schema, dict):
        return []
    found = [schema]
    for part in schema.get("properties", {}).values():
        found += nodes(part)
    return found + nodes(schema.get("items"))


def test_the_eight_tools_are_found_and_always_declared_in_the_same_order() -> None:
    names = [declared.name for declared in ToolRegistry().declarations]
    assert names == [
        "compare_windows", "get_error_stats", "get_log_context", "get_log_patterns", "get_timeline", "list_log_sources",
        "search_logs", "submit_diagnosis",
    ]  # fmt: skip
    assert ToolRegistry().declarations == ToolRegistry().declarations


def test_every_size_states_the_most_it_may_be() -> None:
    sizes = {
        declared.name: (declared.parameters["properties"]["size"], ToolRegistry().tools[declared.name])
        for declared in ToolRegistry().declarations
        if "size" in declared.parameters["properties"]
    }
    assert len(sizes) >= 5
    for name, (schema, tool) in sizes.items():
        limit = next(one.le for one in tool.args.model_fields["size"].metadata if hasattr(one, "le"))
        assert str(limit) in schema["description"].replace(";", " ").split(), name


def test_declarations_cost_at_most_1400_tokens() -> None:
    costs = ToolRegistry().tokens()
    assert sum(costs.values()) <= 1_400
    assert costs["submit_diagnosis"] <= 590


@pytest.mark.parametrize("declared", ToolRegistry().declarations, ids=lambda declared: declared.name)
def test_a_declaration_uses_only_what_every_endpoint_understands(declared: object) -> None:
    parameters = declared.parameters  # type: ignore[attr-defined]
    assert parameters["type"] == "object"
    assert "properties" in parameters
    for node in nodes(parameters):
        assert set(node) <= ALLOWED
        assert isinstance(node["type"], str)
        assert node["type"] != "array" or "items" in node
        assert all(isinstance(value, str) for value in node.get("enum", []))  # type: ignore[attr-defined]
    assert len(declared.description) < 1_000  # type: ignore[attr-defined]


def test_one_file_is_one_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "team_tools"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_machinery.py").write_text("raise RuntimeError")
    (package / "who_is_on_call.py").write_text(ONE_FILE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import team_tools  # type: ignore[import-not-found] # noqa: PLC0415

    try:
        registry = ToolRegistry(found_in(team_tools))
        result = registry.call(ToolCall("c1", "who_is_on_call", '{"team": "payments"}'), context())
    finally:
        for name in [name for name in sys.modules if name.startswith("team_tools")]:
            del sys.modules[name]
    assert "payments: Kim" in result.text


class _PageArgs(ToolArgs):
    who: str


def _page(args: _PageArgs, _context: ToolContext) -> Answer:
    return Answer(f"paged {args.who}")


PAGE = Tool(_PageArgs, _page, "Pages a person.", permission="restricted", parallel=False)


def test_a_restricted_tool_needs_a_human_yes_for_exactly_these_arguments() -> None:
    refused = ToolRegistry({"page": PAGE}).call(ToolCall("c1", "page", '{"who": "Kim"}'), context())
    assert refused.is_error
    assert "permission denied" in refused.text
    asked: list[tuple[str, str]] = []

    def yes(name: str, arguments: str) -> bool:
        asked.append((name, arguments))
        return "Kim" in arguments

    registry = ToolRegistry({"page": PAGE}, yes)
    assert "paged Kim" in registry.call(ToolCall("c1", "page", '{"who": "Kim"}'), context()).text
    assert registry.call(ToolCall("c2", "page", '{"who": "Lee"}'), context()).is_error
    assert asked == [("page", '{"who": "Kim"}'), ("page", '{"who": "Lee"}')]


def test_a_person_is_asked_once_for_a_call_that_is_repeated() -> None:
    asked: list[str] = []

    def yes(_name: str, arguments: str) -> bool:
        asked.append(arguments)
        return True

    registry = ToolRegistry({**found_in(logagent.tools), "page": PAGE}, yes)
    twice = several(calls("page", who="Kim"), calls("page", who="Kim"), calls("search_logs"))
    with ScriptedModel([twice, calls("page", who="Kim"), submit(GOOD)]) as model:
        client = ChatClient(Endpoint(model.url, "scripted"))
        Agent(client, registry, context()).investigate("Why?", "E0 row")
        client.close()
    assert asked == ['{"who": "Kim"}']
    assert "paged Kim" in texts(model, "tool", 1)[0]
    made = context()
    job = registry.prepare(ToolCall("c9", "page", '{"who": "Lee"}'), made)
    assert "permission denied" in str(registry.run(job, made)), "a job that nobody permitted does not run"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{broken", "no JSON object"),
        ("[1, 2]", "must be one JSON object"),
        ('{"size": 1, "size": 2}', "a key stands twice"),
        ('{"size": NaN}', "NaN is no number"),
        ('{"query": ["a"]}', "query:"),
        ('{"order": "sideways"}', "newest"),
        ("{" * 3_000, "no JSON object"),
    ],
)
def test_arguments_that_cannot_be_read_come_back_with_those_that_can(arguments: str, said: str) -> None:
    result = ToolRegistry().call(ToolCall("c1", "search_logs", arguments), context())
    assert result.is_error
    assert said in result.text
    assert "arguments: why, query" in result.text


@pytest.mark.parametrize("arguments", ["", "null", "{}", '{"query": null, "size": null}'])
def test_absent_arguments_are_defaults(arguments: str) -> None:
    assert not ToolRegistry().call(ToolCall("c1", "search_logs", arguments), context()).is_error


def test_the_key_of_a_call_ignores_what_changes_nothing() -> None:
    made, registry = context(), ToolRegistry()

    def key(**arguments: object) -> str:
        return registry.prepare(ToolCall("c", "search_logs", json.dumps(arguments)), made).key

    assert key(query="level:error", size=10) == key(query=" level:error ", why="again")
    assert key(query="level:error and order") == key(query="level:error AND order")
    assert key(start_time="now-5m") == key(start_time="2026-11-30T12:15:00Z")
    assert key(query="level:error") != key(query="level:warn")


def test_an_error_of_the_store_is_masked_and_short() -> None:
    from logagent.errors import StoreQueryError  # noqa: PLC0415
    from tests.loop.stores import ListStore  # noqa: PLC0415

    store = ListStore([])
    store.fail = StoreQueryError("no: password=Tr0ub4dor-3 \x1b[2J " + "x" * 5_000)
    result = call(context(store), "search_logs")
    assert result.is_error
    assert "Tr0ub4dor" not in result.text
    assert "\x1b" not in result.text
    assert len(result.text) < 1_000


def _team(names: Sequence[str], *, group: str = "team", description: str = "Says who is on call.") -> dict[str, Tool]:
    return {name: Tool(_PageArgs, _page, description, group=group) for name in names}


def test_a_tool_that_fits_is_declared_behind_the_eight() -> None:
    registry = ToolRegistry({**found_in(logagent.tools), **_team(["an_early_name"])})
    names = [declared.name for declared in registry.declarations]
    assert names == [*sorted(set(names) - {"an_early_name"}), "an_early_name"]
    assert not registry.groups.hidden


def test_tools_beyond_the_budget_are_declared_once_the_model_asks_for_their_group() -> None:
    many = _team(["page_a", "page_b"], group="pages", description="Pages a person. " * 60)
    registry = ToolRegistry({**found_in(logagent.tools), **many, **_team(["who"], group="directory")}, budget=300)
    before = registry.declarations
    names = [declared.name for declared in before]
    assert names[:8] == [declared.name for declared in ToolRegistry().declarations]
    assert names[8:] == ["who", "open_tools"]
    assert "pages: page_a, page_b" in before[-1].description

    made = context()
    early = registry.call(ToolCall("c1", "page_a", '{"who": "Kim"}'), made)
    assert early.is_error
    assert "call open_tools with group 'pages' first" in early.text
    assert "groups: pages" in registry.call(ToolCall("c2", "open_tools", '{"group": "chat"}'), made).text
    assert not registry.call(ToolCall("c3", "open_tools", '{"group": "pages"}'), made).is_error
    assert registry.declarations[: len(before)] == before
    assert [declared.name for declared in registry.declarations[len(before) :]] == ["page_a", "page_b"]
    assert "paged Kim" in registry.call(ToolCall("c4", "page_a", '{"who": "Kim"}'), made).text


def test_a_group_is_declared_at_the_next_request_and_stays() -> None:
    many = _team(["page_a"], group="pages", description="Pages a person. " * 60)
    registry = ToolRegistry({**found_in(logagent.tools), **many}, budget=100)
    opens = several(calls("open_tools", group="pages"), calls("page_a", who="Kim"), calls("search_logs"))
    with ScriptedModel([opens, calls("page_a", who="Lee"), submit(GOOD)]) as model:
        client = ChatClient(Endpoint(model.url, "scripted"))
        outcome = Agent(client, registry, context()).investigate("Why?", "E0 row")
        client.close()
    sizes = [len(body["tools"]) for body in model.requests]  # type: ignore[arg-type]
    assert sizes == [9, 10, 10]
    assert "not declared yet" in texts(model, "tool", 1)[1]
    assert "paged Lee" in texts(model, "tool")[-1]
    assert outcome.submission is not None


def _breaks(args: _PageArgs, _context: ToolContext) -> Answer:
    known: dict[str, str] = {}
    return Answer(known[args.who])


def test_a_bug_in_a_teams_tool_is_a_result_and_not_the_end_of_the_run() -> None:
    registry = ToolRegistry({**found_in(logagent.tools), "page": Tool(_PageArgs, _breaks, "Pages.")})
    with ScriptedModel([several(calls("page", who="Kim"), calls("search_logs")), submit(GOOD)]) as model:
        client = ChatClient(Endpoint(model.url, "scripted"))
        outcome = Agent(client, registry, context()).investigate("Why?", "E0 row")
        client.close()
    assert "the tool failed (KeyError" in texts(model, "tool", 1)[0]
    assert outcome.stop is StopReason.SUBMITTED
