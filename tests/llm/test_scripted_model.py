"""The test double itself: it answers as a real endpoint does, and does not forgive."""

import re
from pathlib import Path

import pytest

import logagent.testing
from logagent.analysis.redact import ModelText
from logagent.errors import ModelError, ModelRejected, ModelUnavailable
from logagent.llm import ChatClient, Endpoint, Limits, Message, Timing, ToolDeclaration
from logagent.testing import Answer, Call, ScriptedModel, calls, hangs, http, raw, says, several, submit

ASK = [Message("system", ModelText("You look at logs.")), Message("user", ModelText("Why?"))]
SEARCH = ToolDeclaration("search_logs", "Find records.", {"properties": {"query": {"type": "string"}}})
SUBMIT = ToolDeclaration("submit_diagnosis", "Submit.", {"properties": {"headline": {"type": "string"}}})


def client(model: ScriptedModel, **settings: object) -> ChatClient:
    return ChatClient(
        Endpoint(model.url, "scripted", **settings),  # type: ignore[arg-type]
        timing=Timing(sleep=lambda _: None, random=lambda: 0.0),
    )


def test_a_script_of_calls_words_and_a_submission_is_followed_in_order() -> None:
    script = [
        several(calls("search_logs", query="a"), calls("search_logs", query="b"), text="Looking."),
        says("Nothing yet."),
        submit(headline="Pool exhausted"),
    ]
    with ScriptedModel(script) as model:
        chat = client(model)
        first = chat.complete(ASK, [SEARCH, SUBMIT])
        results = [Message("tool", ModelText("0 hits"), call_id=call.call_id) for call in first.tool_calls]
        second = chat.complete([*ASK, first.message, *results], [SEARCH, SUBMIT])
        third = chat.complete([*ASK, first.message, *results, second.message], [SEARCH, SUBMIT])
        chat.close()

    assert [call.arguments for call in first.tool_calls] == ['{"query":"a"}', '{"query":"b"}']
    assert first.text == "Looking."
    assert second.text == "Nothing yet."
    assert third.tool_calls[0].name == "submit_diagnosis"
    assert [message["role"] for message in model.requests[1]["messages"]] == [  # type: ignore[attr-defined]
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]


def test_a_request_that_no_step_expects_is_refused_and_reported_on_exit() -> None:
    model = ScriptedModel([])
    model.__enter__()
    chat = client(model)
    with pytest.raises(ModelRejected):
        chat.complete(ASK, [])
    chat.close()
    with pytest.raises(AssertionError, match="was not expected"):
        model.__exit__(None, None, None)


def test_steps_that_nobody_asked_for_are_reported_on_exit() -> None:
    with pytest.raises(AssertionError, match="1 steps of the script were not used"), ScriptedModel([says("hi")]):
        pass


def test_an_exception_inside_the_block_is_not_hidden_by_leftovers() -> None:
    with pytest.raises(KeyError), ScriptedModel([says("hi")]):
        raise KeyError


def test_faults_come_before_the_answer_and_are_retried() -> None:
    with ScriptedModel([http(429, {"retry-after": "1"}), raw(b"data: {", end="cut"), says("ok")]) as model:
        chat = client(model)
        assert chat.complete(ASK, []).text == "ok"
        chat.close()
    assert len(model.requests) == 3


def test_a_silent_endpoint_is_left_at_the_limit() -> None:
    with ScriptedModel([hangs()] * 3) as model:
        chat = client(model, limits=Limits(first_token=0.05))
        with pytest.raises(ModelUnavailable, match="first_token"):
            chat.complete(ASK, [])
        chat.close()


def test_tools_explained_in_words_are_called_in_words() -> None:
    with ScriptedModel([calls("search_logs", query="x"), says("done")]) as model:
        chat = client(model, tools="text")
        reply = chat.complete(ASK, [SEARCH])
        result = Message("tool", ModelText("3 hits"), call_id=reply.tool_calls[0].call_id)
        assert chat.complete([*ASK, reply.message, result], [SEARCH]).text == "done"
        chat.close()
    assert reply.tool_calls[0].arguments == '{"query":"x"}'
    assert "tools" not in model.requests[0]
    messages = model.requests[1]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]  # type: ignore[attr-defined]
    assert messages[-1]["content"] == "Result of search_logs:\n```\n3 hits\n```"  # type: ignore[index]


def test_a_step_may_look_at_the_request_it_answers() -> None:
    with ScriptedModel([lambda body: says(str(body["model"]))]) as model:
        chat = client(model)
        assert chat.complete(ASK, []).text == "scripted"
        chat.close()


def test_broken_arguments_are_sent_as_they_are() -> None:
    with ScriptedModel([Answer(calls=(Call("search_logs", '{"query": tru'),), finish="tool_calls")] * 2) as model:
        chat = client(model)
        reply = chat.complete(ASK, [SEARCH])
        chat.close()
    assert reply.finish_reason == "length"
    assert reply.tool_calls == ()


def test_the_window_of_the_model_list_is_found() -> None:
    with ScriptedModel([], window=8_192) as model:
        chat = client(model)
        assert chat.detect_window() == 8_192
        assert chat.window == 8_192
        chat.close()


def test_a_dead_endpoint_is_a_model_error_with_its_code() -> None:
    with ScriptedModel([]) as model:
        url = model.url
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    chat = ChatClient(Endpoint(url, "m"), timing=Timing(clock=lambda: now[0], sleep=sleep, random=lambda: 0.0))
    with pytest.raises(ModelError) as caught:
        chat.complete(ASK, [])
    chat.close()
    assert caught.value.code == "LA506"
    assert caught.value.values["reason"] == "connection refused"
    assert 1.0 <= now[0] <= 2.5


def test_an_endpoint_that_answered_before_is_waited_for_while_it_starts_again() -> None:
    with ScriptedModel([says("ready")]) as model:
        now, tries = [0.0], list[float]()

        def sleep(seconds: float) -> None:
            now[0] += seconds
            tries.append(seconds)

        chat = ChatClient(Endpoint(model.url, "m"), timing=Timing(clock=lambda: now[0], sleep=sleep))
        chat.complete(ASK, [])
    with pytest.raises(ModelError):
        chat.complete(ASK, [], deadline=now[0] + 30)
    chat.close()
    assert sum(tries) > 20


def test_the_example_of_the_documentation_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(example, "docs/testing.md", "exec"), {})  # noqa: S102 - our own document


def test_the_documentation_names_every_step() -> None:
    text = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    steps = [name for name in logagent.testing.__all__ if name[0].islower()]
    assert [name for name in steps if f"`{name}(" not in text] == []
