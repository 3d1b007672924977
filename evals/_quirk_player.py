"""Plays one case of endpoint behaviour to the real client, and notes all that can be observed."""

import itertools
import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from logagent.analysis.redact import ModelText
from logagent.errors import LogAgentError
from logagent.llm import Attempt, ChatClient, Endpoint, Limits, Message, Reply, Role, Timing, ToolCall, ToolDeclaration
from logagent.llm._outgoing import json_text

Case = Mapping[str, Any]

BASE_URL = "https://llm.example.test/v1"
MODEL = "quirky-1"
QUICK = Limits(first_token=0.3, progress=0.15, after_finish=0.05, total=3.0, warm_up=30.0)
_HANG_S = 0.35
"""For a server that really stays silent: the only case in which time passes."""
_OK = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}
_MOST_DRIPS = 10_000


@dataclass(slots=True)
class Clock:
    """Time that passes only where the script says so."""

    now: float = 1_000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        """Seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds


@dataclass(slots=True)
class Seen:
    """What was observed while a case was played."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    reply: Reply | None = None
    error: LogAgentError | None = None
    next_request: dict[str, Any] | None = None
    """The request after the reply, with all calls answered."""
    slept: list[float] = field(default_factory=list)


def declarations(tools: Mapping[str, Mapping[str, str]]) -> list[ToolDeclaration]:
    """The tools that the cases assume, as they are declared."""
    return [
        ToolDeclaration(
            name, f"Tool {name}.", {"type": "object", "properties": {k: _type(v) for k, v in given.items()}}
        )
        for name, given in tools.items()
    ]


def _type(word: str) -> dict[str, object]:
    kind, _, items = word.partition(" of ")
    return {"type": kind, "items": {"type": items}} if items else {"type": kind}


def payload_bytes(payload: object) -> list[bytes | float]:
    """An `sse` payload as pieces: bytes to send, and seconds to wait."""
    pieces: list[bytes | float] = []
    items: list[Any] = payload if isinstance(payload, list) else [payload]
    for item in items:
        if isinstance(item, str):
            pieces.append(item.encode())
        elif "$sleep_s" in item:
            pieces.append(float(item["$sleep_s"]))
        elif "$content_bytes" in item:
            delta = {"choices": [{"index": 0, "delta": {"content": "x" * int(item["$content_bytes"])}}]}
            pieces.append(_event(delta))
        else:
            pieces.append(_event(item))
    return pieces


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


class _Stream(httpx.SyncByteStream):
    def __init__(self, pieces: Sequence[bytes | float], end: str, clock: Clock) -> None:
        self._pieces = pieces
        self._end = end
        self._clock = clock
        self._left = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        last = b""
        for piece in self._pieces:
            if isinstance(piece, float):
                self._clock.now += piece
            else:
                last = piece
                yield piece
        if self._end == "reset":
            raise httpx.ReadError("[Errno 104] Connection reset by peer")
        if self._end == "hang":
            self._left.wait(_HANG_S)
            raise httpx.ReadTimeout("timed out")
        for _ in range(_MOST_DRIPS if self._end == "drip" else 0):
            self._clock.now += 1.0
            yield last


Respond = Callable[[httpx.Request, Clock], httpx.Response]


def respond(kind: str, payload: Any, end: str = "close") -> Respond:
    """What the endpoint answers to one request."""

    def answer(_: httpx.Request, clock: Clock) -> httpx.Response:
        if kind == "sse":
            stream = _Stream(payload_bytes(payload), end, clock)
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)
        if kind == "error":
            body = payload.get("body", "")
            text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
            stream = _Stream([text.encode()], "close", clock)
            return httpx.Response(payload["status"], headers=payload.get("headers", {}), stream=stream)
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        return httpx.Response(200, stream=_Stream([text.encode()], "close", clock))

    return answer


def content_answer(text: str) -> dict[str, object]:
    """A whole answer with this text and no calls."""
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}


class Player(httpx.BaseTransport):
    """An endpoint that gives the prepared answers, then `ok` for ever."""

    def __init__(self, answers: Sequence[Respond], clock: Clock, seen: Seen) -> None:
        self._answers: Iterator[Respond] = itertools.chain(answers, itertools.repeat(respond("response", _OK)))
        self._clock = clock
        self._seen = seen

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One request: noted, and answered."""
        self._seen.requests.append(json.loads(request.read()))
        self._seen.headers.append({key.lower(): value for key, value in request.headers.items()})
        return next(self._answers)(request, self._clock)


@dataclass(slots=True)
class Talk:
    """A conversation with the client under test."""

    tools: Sequence[ToolDeclaration]
    answers: Sequence[Respond]
    quick: bool = False
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    seen: Seen = field(default_factory=Seen)
    client: ChatClient = field(init=False)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        settings = {"api_key": "sk-case", "limits": QUICK if self.quick else None, **self.endpoint}
        base_url = settings.pop("base_url", BASE_URL)
        timing = Timing(sleep=self.clock.sleep, random=lambda: 0.5)
        if not self.quick:
            timing = Timing(clock=self.clock, sleep=self.clock.sleep, wall=self.clock, random=lambda: 0.5)
        self.client = ChatClient(
            Endpoint(base_url, MODEL, **settings),
            on_attempt=self.seen.attempts.append,
            timing=timing,
            transport=Player(self.answers, self.clock, self.seen),
        )

    def ask(
        self,
        messages: Sequence[Message],
        *,
        force: str = "",
        tools: Sequence[ToolDeclaration] | None = None,
        seconds: float | None = None,
    ) -> Seen:
        """Ask once; then answer all calls, as a loop would, to see what goes back."""
        offered = self.tools if tools is None else tools
        deadline = None if seconds is None else self.clock.now + seconds
        try:
            self.seen.reply = self.client.complete(messages, offered, force=force, deadline=deadline)
        except LogAgentError as error:
            self.seen.error = error
        self.seen.slept = list(self.clock.slept)
        if self.seen.reply is not None:
            self._go_on(messages, self.seen.reply)
        self.client.close()
        return self.seen

    def _go_on(self, messages: Sequence[Message], reply: Reply) -> None:
        before = len(self.seen.requests)
        results = [Message("tool", ModelText("3 hits"), call_id=call.call_id) for call in reply.tool_calls]
        following = [*messages, reply.message, *results]
        if not results:
            following.append(Message("user", ModelText("Go on.")))
        try:
            self.client.complete(following, self.tools)
        except LogAgentError:
            return
        self.seen.next_request = self.seen.requests[before]
        del self.seen.requests[before:]


ORIGIN = (BASE_URL, MODEL)


def opening(estimated: int = 0, results: Sequence[str] = ()) -> list[Message]:
    """How a conversation begins, of a given size, with tool results that were read before."""
    filler = "log line " * math.ceil(3 * estimated / 9) if estimated else ""
    messages = [
        Message("system", ModelText("You look at logs.")),
        Message("user", ModelText(f"Why is checkout slow? {filler}".strip())),
    ]
    for number, text in enumerate(results):
        call = ToolCall(f"earlier{number:02d}", "search_logs", '{"q":"x"}')
        messages.append(Message("assistant", ModelText(""), (call,)))
        messages.append(Message("tool", ModelText(text), call_id=call.call_id))
    return messages


def rich_history(*, user_last: bool = True) -> list[Message]:
    """All that some endpoint refuses: reasoning, odd ids, foreign turns, a user after a tool, long results."""
    function = {"name": "search_logs", "arguments": '{"q":"5xx"}'}
    raw = {"id": "call_ab12", "type": "function", "function": function, "extra_content": {"google": {"a": "c2ln"}}}
    call = ToolCall("call_ab12", "search_logs", '{"q":"5xx"}', raw)
    said = {
        "role": "assistant",
        "content": "",
        "reasoning_content": "look at 5xx",
        "reasoning": "look at 5xx",
        "reasoning_details": [{"type": "reasoning.text", "text": "look at 5xx", "index": 0}],
        "thinking_blocks": [{"type": "thinking", "thinking": "look at 5xx", "signature": "c2ln"}],
        "provider_specific_fields": {"a": 1},
        "annotations": [],
        "phase": "commentary",
        "tool_calls": [raw],
    }
    messages = opening()
    foreign = ToolCall("toolu_01|abc", "search_logs", '{"q":"x"}')
    messages.append(Message("assistant", ModelText(""), (foreign,), origin=("https://other.example.test/v1", "other")))
    messages.append(Message("tool", ModelText("3 hits"), call_id="toolu_01|abc"))
    messages.append(Message("assistant", ModelText(""), (call,), raw=said, origin=ORIGIN))
    messages.append(Message("tool", ModelText("ERROR timeout\n" * 4_000), call_id="call_ab12"))
    if user_last:
        messages.append(Message("user", ModelText("Submit now.")))
    return messages


def as_messages(wire: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Messages of a `request` case as the client holds them."""
    messages: list[Message] = []
    for each in wire:
        role: Role = "system" if each.get("role") == "developer" else each.get("role", "user")
        content = each.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
        calls = tuple(
            ToolCall(str(call.get("id", "")), call["function"]["name"], _text(call["function"].get("arguments")), call)
            for call in each.get("tool_calls") or []
        )
        raw = dict(each) if role == "assistant" else None
        messages.append(
            Message(
                role, ModelText(content or ""), calls, str(each.get("tool_call_id", "")), raw, ORIGIN if raw else None
            )
        )
    return messages


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json_text(arguments)
