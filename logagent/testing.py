"""A model that follows a script, over real HTTP on loopback: for our tests and for those of others.

    with ScriptedModel([calls("search_logs", query="level:error"), submit(headline="...")]) as model:
        client = ChatClient(Endpoint(model.url, "scripted"))

It refuses what the script does not expect, and complains on exit about what was not asked for.
Nothing looks at the requests while the script runs; assert on `model.requests` afterwards.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

Body = dict[str, object]

_PIECE: Final = 24
"""Characters of text or arguments in one event of the stream."""
_CHARS_A_TOKEN: Final = 4
_POLL_S: Final = 0.01


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an answer; `arguments` as text are sent as they are, broken JSON included."""

    name: str
    arguments: Mapping[str, object] | str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the model."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = ""
    """Finish reason; empty: the usual one."""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """An HTTP answer that is no completion."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    """JSON, or text as it is."""


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes of a 200 answer, then the end: `close`, `cut` (no clean end), or `hang` (silence until the client goes)."""

    payload: bytes
    end: str = "close"
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)


Item = Answer | Fault | Raw | Mapping[str, object]
Step = Item | Callable[[Body], Item]


def calls(name: str, /, **arguments: object) -> Answer:
    """The model calls one tool."""
    return Answer(calls=(Call(name, arguments),))


def several(*answers: Answer, text: str = "") -> Answer:
    """The model calls several tools in one turn: `several(calls("a"), calls("b"))`."""
    return Answer(text, tuple(call for answer in answers for call in answer.calls))


def says(text: str, *, finish: str = "", reasoning: str = "") -> Answer:
    """The model answers in words."""
    return Answer(text, finish=finish, reasoning=reasoning)


def submit(submission: Mapping[str, object] | None = None, /, **arguments: object) -> Answer:
    """The model submits its diagnosis."""
    return calls("submit_diagnosis", **{**(submission or {}), **arguments})


def http(status: int, headers: Mapping[str, str] | None = None, body: object = None) -> Fault:
    """The endpoint answers with a status, e.g. `http(429, {"retry-after": "1"})`."""
    return Fault(status, headers or {}, {"error": {"message": f"status {status}"}} if body is None else body)


def raw(payload: bytes | str, *, end: str = "close", content_type: str = "text/event-stream") -> Raw:
    """The endpoint sends these bytes."""
    return Raw(payload.encode() if isinstance(payload, str) else payload, end, content_type)


def hangs() -> Raw:
    """The endpoint accepts the request and stays silent."""
    return Raw(b"", end="hang")


class ScriptedModel:
    """An OpenAI-compatible endpoint that answers by a script, once each step.

    A step is an answer, a fault, raw bytes, a mapping `{"content": ..., "tool_calls": [{"name", "arguments"}]}`,
    or a function from the request body to one of these. Tools that a request explains in words are
    called in words too.

    Attributes:
        requests: bodies of all completion requests, in order.
        headers: their headers, names in lower case.
    """

    def __init__(self, script: Sequence[Step], *, model: str = "scripted", window: int | None = None) -> None:
        """Prepare a script.

        Args:
            script: what is answered, in order.
            model: name that the list of models gives.
            window: context size that it gives; None: none.
        """
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self._script = list(script)
        self._model = model
        self._window = window
        self._surprises: list[str] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Base URL, up to and including `/v1`.

        Raises:
            RuntimeError: outside the `with` block.
        """
        if self._server is None:
            msg = "a ScriptedModel answers inside its `with` block only"
            raise RuntimeError(msg)
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def unused(self) -> int:
        """Steps that were not asked for yet."""
        return len(self._script)

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_S,), name="scripted-model", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
        if error is None:
            self._complain()

    def _complain(self) -> None:
        """Raise for requests that were not expected, and for steps that nobody asked for.

        Raises:
            AssertionError: either of them.
        """
        problems = list(self._surprises)
        if self._script:
            problems.append(f"{len(self._script)} steps of the script were not used; the next: {self._script[0]!r}")
        if problems:
            raise AssertionError("; ".join(problems))

    def take(self, body: Body, headers: Mapping[str, str]) -> Item:
        """Record a completion request and give its answer."""
        with self._lock:
            self.requests.append(body)
            self.headers.append({key.lower(): value for key, value in headers.items()})
            if not self._script:
                self._surprises.append(f"request {len(self.requests)} was not expected: {_last_text(body)!r}")
                return Fault(400, body={"error": {"message": "the script is over", "code": "script_over"}})
            step = self._script.pop(0)
        try:
            return step(body) if callable(step) else step
        except (KeyError, IndexError, ValueError, TypeError, AssertionError) as error:
            self._surprises.append(f"a step failed: {error!r}")
            return Fault(400, body={"error": {"message": "a step of the script failed", "code": "script_failed"}})

    def surprise(self, what: str) -> None:
        """Note a request of a kind that no script expects."""
        self._surprises.append(what)

    def models(self) -> Body:
        """The list of models."""
        entry: Body = {"id": self._model, "object": "model"}
        if self._window is not None:
            entry["max_model_len"] = self._window
        return {"object": "list", "data": [entry]}

    def wait_for_end(self) -> None:
        """Block until the `with` block is left."""
        self._over.wait()


def completion(answer: Answer, body: Body, number: int) -> Iterator[Body]:
    """The events of one answer, the usage last."""
    base: Body = {"id": f"chatcmpl-{number:04d}", "object": "chat.completion.chunk", "model": body.get("model")}

    def chunk(delta: Body, finish: str | None = None) -> Body:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(answer.reasoning):
        yield chunk({"reasoning_content": piece})
    in_words = bool(answer.calls) and not body.get("tools")
    for piece in _pieces(_in_words(answer) if in_words else answer.text):
        yield chunk({"content": piece})
    for index, call in enumerate(() if in_words else answer.calls):
        call_id = call.id or f"call_{number:04d}_{index}"
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield chunk({"tool_calls": [head]})
        for piece in _pieces(_json(call.arguments)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, answer.finish or ("tool_calls" if answer.calls and not in_words else "stop"))
    yield {**base, "choices": [], "usage": _usage(answer, body)}


def _in_words(answer: Answer) -> str:
    blocks = [
        f"```logagent-call\n{json.dumps({'tool': call.name, 'args': call.arguments}, ensure_ascii=False)}\n```"
        for call in answer.calls
    ]
    return "\n\n".join(part for part in (answer.text, *blocks) if part)


def _usage(answer: Answer, body: Body) -> Body:
    prompt = len(json.dumps(body, ensure_ascii=False)) // _CHARS_A_TOKEN
    written = len(answer.text + answer.reasoning + "".join(_json(call.arguments) for call in answer.calls))
    output = 1 + written // _CHARS_A_TOKEN
    return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))


def _json(arguments: Mapping[str, object] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _answer(item: Mapping[str, object]) -> Answer:
    """An answer written as a mapping."""
    listed = item.get("tool_calls")
    made = [
        Call(str(call["name"]), call.get("arguments", {}), str(call.get("id", "")))
        for call in (listed if isinstance(listed, list) else [])
    ]
    return Answer(str(item.get("content") or ""), tuple(made), str(item.get("finish_reason") or ""))


def _last_text(body: Body) -> str:
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    return str(last.get("content"))[:200] if isinstance(last, dict) else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    allow_reuse_address = True

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is part of many scripts."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name http.server calls
        """Say nothing."""

    def do_GET(self) -> None:
        """The list of models; everything else is not there."""
        if self.path.split("?")[0].endswith("/models"):
            self._send(200, json.dumps(self.server.model.models()).encode(), {"content-type": "application/json"})
        else:
            self._send(404, b"{}", {"content-type": "application/json"})

    def do_POST(self) -> None:
        """One completion request."""
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        if not self.path.split("?")[0].endswith("/v1/chat/completions"):
            self.server.model.surprise(f"a request to {self.path} was not expected")
            self._send(404, b'{"error": {"message": "no such path"}}', {"content-type": "application/json"})
            return
        item = self.server.model.take(body, dict(self.headers.items()))
        with suppress(ConnectionError):
            self._reply(item, body)

    def _reply(self, item: Item, body: Body) -> None:
        if isinstance(item, Fault):
            payload = item.body if isinstance(item.body, str) else json.dumps(item.body)
            self._send(item.status, payload.encode(), item.headers)
        elif isinstance(item, Raw):
            self._send_raw(item)
        else:
            answer = item if isinstance(item, Answer) else _answer(item)
            events = list(completion(answer, body, len(self.server.model.requests)))
            lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
            self._send_raw(Raw("".join([*lines, "data: [DONE]\n\n"]).encode()))

    def _send_raw(self, item: Raw) -> None:
        self.close_connection = True
        self.send_response(200)
        headers = {"content-type": item.content_type, "connection": "close", **item.headers}
        if item.end == "cut":
            headers["transfer-encoding"] = "chunked"
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(item.payload), item.payload) if item.end == "cut" else item.payload)
        self.wfile.flush()
        if item.end == "hang":
            self.server.model.wait_for_end()

    def _send(self, status: int, payload: bytes, headers: Mapping[str, str]) -> None:
        self.close_connection = True
        self.send_response(status)
        for key, value in {"connection": "close", "content-length": str(len(payload)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(payload)


__all__ = [
    "Answer",
    "Call",
    "Fault",
    "Raw",
    "ScriptedModel",
    "calls",
    "hangs",
    "http",
    "raw",
    "says",
    "several",
    "submit",
]
