"""What is sent, whatever the conversation looks like."""

import contextlib
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from evals._quirk_player import Talk
from evals._quirk_wire import violations
from logagent.analysis.redact import ModelText
from logagent.errors import ModelError
from logagent.llm import Message, ToolCall, ToolDeclaration
from logagent.llm._capabilities import Capabilities
from logagent.llm._outgoing import wire_messages
from logagent.llm._schema import wire_schema

HERE = ("https://llm.example.test/v1", "quirky-1")
ELSEWHERE = ("https://other.example.test/v1", "other")

IDS = st.sampled_from(["", "a", "b", "call_1", "functions.f:0", "toolu|" + "x" * 60, "ABCdef123"])
ARGUMENTS = st.sampled_from(["{}", '{"q":"x"}', '{"q": tru', "", "[]", '{"n": NaN}', "{'q': 1}"])
TEXTS = st.text(max_size=10) | st.sampled_from(["", "<tool_call>", "```", "\ud83d", "\x00\x1b[31m"])


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    call_id, name, arguments = draw(IDS), draw(st.sampled_from(["f", "g"])), draw(ARGUMENTS)
    raw = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, "x": None}
    return ToolCall(call_id, name, arguments, raw if draw(st.booleans()) else {})


@st.composite
def messages(draw: st.DrawFn) -> Message:
    role = draw(st.sampled_from(["system", "user", "assistant", "tool"]))
    text = ModelText(draw(TEXTS))
    if role != "assistant":
        return Message(role, text, call_id=draw(IDS))  # type: ignore[arg-type]
    origin = draw(st.sampled_from([HERE, ELSEWHERE, None]))
    raw = {"role": "assistant", "content": draw(TEXTS | st.none()), "reasoning_content": "r"}
    return Message("assistant", text, tuple(draw(st.lists(calls(), max_size=3))), raw=raw, origin=origin)


@settings(max_examples=60, deadline=None)
@given(st.lists(messages(), max_size=8), st.sampled_from(["native", "text"]))
def test_no_conversation_makes_a_request_that_endpoints_refuse(history: list[Message], mode: str) -> None:
    tools = [ToolDeclaration("f", "Does f.", {}), ToolDeclaration("g", "Does g.", {})]
    talk = Talk(tools, [], endpoint={"tools": mode})
    with contextlib.suppress(ModelError):
        talk.client.complete([Message("user", ModelText("Why?")), *history], tools)
    talk.client.close()
    assert talk.seen.requests
    assert [problem for body in talk.seen.requests for problem in violations(body)] == []


def test_a_turn_goes_back_verbatim_to_where_it_came_from_and_bare_to_others() -> None:
    raw_call = {
        "id": "functions.f:0",
        "type": "function",
        "function": {"name": "f", "arguments": '{"q": "x"}'},
        "extra_content": {"google": {"thought_signature": "c2ln"}},
    }
    said = {"role": "assistant", "content": [{"type": "text", "text": "hm"}], "reasoning_content": "r", "phase": "x"}
    call = ToolCall("functions.f:0", "f", '{"q":"x"}', raw_call)
    turn = Message("assistant", ModelText("hm"), (call,), raw=said, origin=HERE)
    result = Message("tool", ModelText("3"), call_id="functions.f:0")

    home = wire_messages([turn, result], HERE, Capabilities())
    assert home[0] == {**said, "tool_calls": [raw_call]}
    assert home[1]["tool_call_id"] == "functions.f:0"

    abroad = wire_messages([turn, result], ELSEWHERE, Capabilities())
    function = {"name": "f", "arguments": '{"q":"x"}'}
    assert abroad[0] == {
        "role": "assistant",
        "content": "hm",
        "tool_calls": [{"id": "functions_f_0", "type": "function", "function": function}],
    }
    assert abroad[1]["tool_call_id"] == "functions_f_0"


def test_the_same_conversation_gives_the_same_bytes() -> None:
    history = [Message("user", ModelText("x")), Message("assistant", ModelText(""), (ToolCall("", "f", "{}"),))]
    one, two = (json.dumps(wire_messages(history, HERE, Capabilities())) for _ in range(2))
    assert one == two


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "next": {"$ref": "#/$defs/Node"},
                    "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            }
        },
        "properties": {"node": {"$ref": "#/$defs/Node"}},
    }
    assert "$ref" not in json.dumps(wire_schema(schema))


def test_bounds_that_the_wire_cannot_say_stand_in_the_description() -> None:
    schema = {"properties": {"size": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Records."}}}
    assert wire_schema(schema)["properties"] == {"size": {"type": "integer", "description": "Records. 1 to 100."}}
