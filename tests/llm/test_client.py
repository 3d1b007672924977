"""The client against real sockets, and what it keeps from one reply to the next."""

import json
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evals._quirk_player import Talk, opening, respond
from logagent.analysis.redact import ModelText
from logagent.errors import ModelProtocolError, ModelRejected, ModelUnavailable, UsageError
from logagent.llm import Attempt, ChatClient, Endpoint, Limits, Message, Timing, ToolDeclaration
from logagent.llm._endpoint import normal_base
from logagent.llm._window import find_window
from logagent.testing import ScriptedModel, calls, hangs, http, raw, says

ASK = [Message("system", ModelText("You look at logs.")), Message("user", ModelText("Why?"))]
SEARCH = ToolDeclaration("search_logs", "Find records.", {"properties": {"query": {"type": "string"}}})
SUBMIT = ToolDeclaration("submit_diagnosis", "Submit.", {"properties": {"headline": {"type": "string"}}})
NO_WAIT = Timing(sleep=lambda _: None, random=lambda: 0.0)
OK_EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


@contextmanager
def client(url: str, **settings: Any) -> Iterator[ChatClient]:
    kept = {key: settings.pop(key) for key in ("memory", "compact", "on_attempt", "timing") if key in settings}
    chat = ChatClient(Endpoint(url, settings.pop("model", "scripted"), **settings), **{"timing": NO_WAIT, **kept})
    try:
        yield chat
    finally:
        chat.close()


@contextmanager
def server(behaviours: Sequence[Callable[[socket.socket], None]]) -> Iterator[str]:
    """A socket that reads one request a connection, then does as it is told."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener:  # a request that nobody expects is refused, not left waiting
            for behave in behaviours:
                connection, _ = listener.accept()
                with connection, connection.makefile("rb") as request:
                    length = next(
                        int(line.split(b":")[1]) for line in request if line.lower().startswith(b"content-length")
                    )
                    while request.readline() not in {b"\r\n", b""}:
                        pass
                    request.read(length)
                    behave(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        thread.join(timeout=5)
        assert not thread.is_alive()


def answers(connection: socket.socket) -> None:
    connection.sendall(HEAD + OK_EVENT)


def resets(connection: socket.socket) -> None:
    connection.sendall(HEAD + OK_EVENT[:40])
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drips(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    try:
        while True:
            connection.sendall(b": keep-alive\n\n")
            threading.Event().wait(0.01)
    except OSError:
        return


def drips_one_byte(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    for at in range(len(OK_EVENT)):
        connection.sendall(OK_EVENT[at : at + 1])


# -- the wire ------------------------------------------------------------------------------------------------------


def test_a_connection_that_is_reset_in_the_middle_is_asked_again() -> None:
    with server([resets, answers]) as url, client(url) as chat:
        assert chat.complete(ASK, []).text == "ok"


def test_keep_alives_do_not_keep_a_request_alive() -> None:
    limits = Limits(first_token=0.1)
    late = pytest.raises(ModelUnavailable, match="limit first_token")
    with server([drips] * 3) as url, client(url, limits=limits) as chat, late:
        chat.complete(ASK, [])


def test_one_byte_at_a_time_is_read() -> None:
    with server([drips_one_byte]) as url, client(url) as chat:
        assert chat.complete(ASK, []).text == "ok"


def test_the_deadline_of_the_run_ends_a_request_at_once_and_without_another_try() -> None:
    began = time.monotonic()
    late = pytest.raises(ModelUnavailable, match="deadline")
    with ScriptedModel([hangs()]) as model, client(model.url) as chat, late:
        chat.complete(ASK, [], deadline=began + 0.2)
    assert time.monotonic() - began < 1.5
    assert len(model.requests) == 1


def test_a_deadline_that_has_passed_sends_nothing() -> None:
    with ScriptedModel([]) as model, client(model.url) as chat, pytest.raises(ModelUnavailable, match="deadline"):
        chat.complete(ASK, [], deadline=time.monotonic() - 1)
    assert model.requests == []


def test_no_thread_is_left_behind() -> None:
    before = threading.active_count()
    script = [hangs(), raw(b"data: {", end="cut"), says("ok")]
    with ScriptedModel(script) as model, client(model.url, limits=Limits(first_token=0.05)) as chat:
        assert chat.complete(ASK, []).text == "ok"
    assert threading.active_count() == before


def test_a_redirect_is_reported_and_the_key_goes_nowhere_else() -> None:
    with ScriptedModel([]) as elsewhere:
        redirect = http(307, {"location": f"{elsewhere.url}/chat/completions?x=1"}, "")
        refused = pytest.raises(ModelRejected)
        with ScriptedModel([redirect]) as model, client(model.url, api_key="sk-secret") as chat, refused as caught:
            chat.complete(ASK, [])
    assert elsewhere.url in caught.value.message
    assert elsewhere.requests == []


def test_a_proxy_of_the_environment_is_not_used_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with ScriptedModel([says("ok")]) as model, client(model.url) as chat:
        assert chat.complete(ASK, []).text == "ok"


def test_the_key_goes_in_its_header_and_shows_nowhere() -> None:
    echo = http(
        401, body={"error": {"message": "Incorrect API key provided: sk-secret-123", "code": "invalid_api_key"}}
    )
    seen: list[Attempt] = []
    with ScriptedModel([echo]) as model, client(model.url, api_key="sk-secret-123\n", on_attempt=seen.append) as chat:
        with pytest.raises(ModelRejected) as caught:
            chat.complete(ASK, [])
        shown = repr(
            (seen, caught.value.message, caught.value.values, Endpoint(model.url, "m", api_key="sk-secret-123"))
        )
    assert model.headers[0]["authorization"] == "Bearer sk-secret-123"
    assert "sk-secret" not in shown
    assert caught.value.code == "LA502"
    assert caught.value.values["what"] == "key"


def test_a_page_instead_of_an_answer_is_reported_by_status_and_title() -> None:
    page = http(404, body="<html><head><title>404 Not Found</title></head><body>long</body></html>")
    with ScriptedModel([page]) as model, client(model.url) as chat, pytest.raises(ModelProtocolError) as caught:
        chat.complete(ASK, [])
    assert caught.value.message == f"{model.url}/chat/completions answered 404 with a page: 404 Not Found"
    assert "/v1" in caught.value.hint


def test_429_for_ever_takes_three_tries_and_says_so_in_its_code() -> None:
    refused = pytest.raises(ModelUnavailable)
    with ScriptedModel([http(429)] * 3) as model, client(model.url) as chat, refused as caught:
        chat.complete(ASK, [])
    assert caught.value.code == "LA503"
    assert len(model.requests) == 3


def test_a_wait_beyond_the_deadline_is_not_waited_for() -> None:
    refused = pytest.raises(ModelUnavailable)
    with ScriptedModel([http(429, {"retry-after": "41"})]) as model, client(model.url) as chat, refused as caught:
        chat.complete(ASK, [], deadline=time.monotonic() + 22)
    assert caught.value.values["seconds"] == 41
    assert caught.value.values["left"] == 22


@pytest.mark.parametrize("url", ["ftp://x/v1", "http://", "https://host:port/v1", "", "https:///v1"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        normal_base(url)


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/v1", "https://api.openai.com/v1"),
        ("http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1"),
        ("https://open.bigmodel.cn/api/paas/v4", "https://open.bigmodel.cn/api/paas/v4"),
        (
            "https://x.openai.azure.com/openai/deployments/d?api-version=1",
            "https://x.openai.azure.com/openai/deployments/d?api-version=1",
        ),
        ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("api.example.com/v1", "https://api.example.com/v1"),
    ],
)
def test_a_base_url_is_brought_into_one_form(given: str, normal: str) -> None:
    assert normal_base(given) == normal


def test_a_key_does_not_travel_over_plain_http_to_another_host() -> None:
    with pytest.raises(UsageError) as caught:
        Endpoint("http://llm.example.com/v1", "m", api_key="k")
    assert caught.value.code == "LA107"
    assert Endpoint("http://llm.example.com/v1", "m", api_key="k", allow_http=True).api_key == "k"
    assert Endpoint("http://127.0.0.1:1/v1", "m", api_key="k").api_key == "k"


# -- what is learned -----------------------------------------------------------------------------------------------


def test_what_a_refusal_teaches_is_kept_on_disk_for_the_next_client(tmp_path: Path) -> None:
    refusal = http(400, body={"error": {"message": "Unknown parameter: stream_options", "param": "stream_options"}})
    with ScriptedModel([refusal, says("a"), says("b")]) as model:
        for expected in ("a", "b"):
            with client(model.url, memory=tmp_path / "endpoints") as chat:
                assert chat.complete(ASK, []).text == expected
    assert ["stream_options" in body for body in model.requests] == [True, False, False]
    (file,) = (tmp_path / "endpoints").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["dropped"] == ["stream_options"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"token_ratio": "much"}', '{"cap_field": "n"}'])
def test_a_record_that_cannot_be_read_is_learned_again(tmp_path: Path, content: str) -> None:
    with ScriptedModel([says("ok"), says("ok")]) as model:
        with client(model.url, memory=tmp_path, extra_body={"x": 1}) as chat:
            chat.complete(opening(600), [])
        (file,) = tmp_path.iterdir()
        file.write_text(content)
        with client(model.url, memory=tmp_path) as chat:
            assert chat.complete(ASK, []).text == "ok"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    refusal = http(400, body={"error": {"message": "Unknown parameter: stream_options", "param": "stream_options"}})
    with ScriptedModel([refusal, says("ok")]) as model, client(model.url, memory=blocked / "endpoints") as chat:
        assert chat.complete(ASK, []).text == "ok"


def test_the_window_of_an_overflow_text_is_learned_and_the_owner_compacts() -> None:
    refusal = {
        "status": 400,
        "body": {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. Your messages resulted in 9050 tokens."
            }
        },
    }
    asked: list[int] = []

    def compact(messages: Sequence[Message], target: int) -> Sequence[Message]:
        asked.append(target)
        return messages[:2]

    talk = Talk([], [respond("error", refusal)])
    talk.client._state.compact = compact
    seen = talk.ask(opening(results=["x" * 30_000]))
    assert asked == [4_915]
    assert talk.client.window == 8_192
    assert [len(body["messages"]) for body in seen.requests] == [4, 2]


def test_the_estimate_follows_what_the_endpoint_counts() -> None:
    messages = opening(3_000)
    usage = {"prompt_tokens": 6_000, "completion_tokens": 10}
    answer = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}], "usage": usage}
    talk = Talk([], [respond("response", answer)])
    before = talk.client.estimate(messages, [])
    reply = talk.client.complete(messages, [])
    assert talk.client.estimate([*messages, reply.message], []) == 6_010
    assert talk.client.estimate(opening(3_000)[:1], []) >= 10
    assert before < talk.client.estimate([Message("user", messages[1].text)], [])
    talk.client.close()


# -- tools ---------------------------------------------------------------------------------------------------------


def test_a_demanded_tool_that_is_ignored_is_asked_for_in_words_after_the_nudge() -> None:
    script = [says("I think it is the pool."), says("Really the pool."), calls("submit_diagnosis", headline="Pool")]
    with ScriptedModel(script) as model, client(model.url) as chat:
        first = chat.complete(ASK, [SEARCH, SUBMIT], force="submit_diagnosis")
        nudged = [*ASK, first.message, Message("user", ModelText("Submit now."))]
        second = chat.complete(nudged, [SEARCH, SUBMIT])
    assert second.tool_calls[0].name == "submit_diagnosis"
    assert ["tools" in body for body in model.requests] == [True, True, False]


def test_a_refused_tool_choice_is_dropped_and_said_in_words_instead() -> None:
    refusal = {"status": 400, "body": {"error": {"message": "tool_choice is not supported in thinking mode"}}}
    talk = Talk([SUBMIT], [respond("error", refusal)], endpoint={"base_url": "https://api.openai.com/v1"})
    seen = talk.ask(ASK, force="submit_diagnosis")
    assert seen.requests[0]["tool_choice"]["function"]["name"] == "submit_diagnosis"
    assert "tool_choice" not in seen.requests[1]
    assert "Call submit_diagnosis now" in seen.requests[1]["messages"][-1]["content"]


def test_two_turns_of_unreadable_calls_switch_to_the_text_protocol() -> None:
    leak = says("<|tool_call>call:search_logs{query:x}<tool_call|>")
    with ScriptedModel([leak, leak, leak, leak, calls("search_logs", query="x")]) as model, client(model.url) as chat:
        chat.complete(ASK, [SEARCH])
        second = chat.complete(ASK, [SEARCH])
        third = chat.complete(ASK, [SEARCH])
    assert any("asked for as text" in notice for notice in second.notices)
    assert third.tool_calls[0].arguments == '{"query":"x"}'
    assert "tools" not in model.requests[-1]


def test_an_endpoint_without_tools_is_asked_in_words_and_the_reader_is_told_why() -> None:
    refusal = http(400, body={"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools"}})
    with ScriptedModel([refusal, calls("search_logs", query="x")]) as model, client(model.url) as chat:
        reply = chat.complete(ASK, [SEARCH])
    assert reply.tool_calls[0].name == "search_logs"
    assert "does not support tools" in reply.notices[0]


def test_a_cut_call_is_not_run_and_its_id_is_answered_in_the_next_request() -> None:
    cut = raw(
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"search_logs",'
        b'"arguments":"{\\"query\\":"}}]},"finish_reason":"length"}]}\n\ndata: [DONE]\n\n'
    )
    with ScriptedModel([cut, cut, says("ok")]) as model, client(model.url, max_output_tokens=1_000) as chat:
        reply = chat.complete(ASK, [SEARCH])
        chat.complete([*ASK, reply.message, Message("user", ModelText("Shorter."))], [SEARCH])
    assert reply.tool_calls == ()
    assert reply.finish_reason == "length"
    assert [body["max_tokens"] for body in model.requests[:2]] == [1_000, 2_000]
    messages: Any = model.requests[2]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "user"]
    assert "not run" in messages[3]["content"]


# -- windows -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pages", "window"),
    [
        ({"/v1/models": {"data": [{"id": "quirky-1", "max_model_len": 16_384}]}}, 16_384),
        (
            {
                "/v1/models": {
                    "data": [{"id": "other", "max_model_len": 1}, {"id": "quirky-1", "context_length": 65_536}]
                }
            },
            65_536,
        ),
        (
            {
                "/v1/models": {"data": [{"id": "any.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]},
                "/props": {"default_generation_settings": {"n_ctx": 8_192}},
            },
            8_192,
        ),
        (
            {
                "/v1/models": {"data": [{"id": "quirky-1", "owned_by": "library"}]},
                "/api/ps": {"models": [{"name": "quirky-1", "context_length": 4_096}]},
            },
            4_096,
        ),
        ({"/v1/models": {"data": [{"id": "a"}, {"id": "b"}]}}, None),
        ({"/v1/models": ["odd"]}, None),
        ({}, None),
    ],
)
def test_the_window_is_found_where_servers_tell_it(pages: dict[str, object], window: int | None) -> None:
    def get(url: str) -> object:
        return pages.get(url.removeprefix("https://llm.example.test"))

    assert find_window(Endpoint("https://llm.example.test/v1", "quirky-1"), get) == window
