"""What a model server may do wrong, drawn by chance from a seed: one `Play` for each request."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Ending = Literal["close", "cut", "silence"]
Body = Mapping[str, object]
_SSE = {"content-type": "text/event-stream"}
_QUERIES = ("level:error", "level>=warn", "timeout", "((", "service:pay", "")
_TOOLS = ("search_logs", "get_error_stats", "get_timeline", "get_log_patterns", "list_log_sources", "no_such_tool")
_SUBMISSION = {
    "headline": "Charges fail",
    "what_is_happening": "Charges are refused [E1].",
    "hypotheses": [
        {"statement": "The database refuses connections.", "mechanism": "other", "supporting": ["E1"]},
    ],
}


@dataclass(slots=True)
class Play:
    """One answer: `pieces` of its body, endless ones among them, and how it ends."""

    kind: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: dict(_SSE))
    pieces: Iterator[bytes] = field(default_factory=lambda: iter(()))
    ending: Ending = "close"
    mute: bool = False
    """Silence before the first byte."""


def play(rng: random.Random) -> Play:
    """The next answer."""
    return rng.choices([kind for kind, _ in _KINDS], [weight for _, weight in _KINDS])[0](rng)


def _good(rng: random.Random) -> Play:
    return Play("good", pieces=_split(_answer(rng), rng))


def _cut(rng: random.Random) -> Play:
    whole = _answer(rng)
    part = whole[: rng.randrange(len(whole))]
    return Play("cut", pieces=_split(part, rng), ending=rng.choice(("close", "cut", "silence")))


def _mutated(rng: random.Random) -> Play:
    """Some bytes are others: JSON that is none, UTF-8 that is none."""
    whole = bytearray(_answer(rng))
    for _ in range(rng.randint(1, 12)):
        whole[rng.randrange(len(whole))] = rng.randrange(256)
    return Play("mutated", pieces=_split(bytes(whole), rng))


def _status(rng: random.Random) -> Play:
    status = rng.choice((429, 429, 500, 529, 503, 502, 404, 400, 401, 408, 413, 422))
    wait = rng.choice(({}, {}, {"retry-after": "1"}, {"retry-after": "99999"}, {"retry-after": "soon"}))
    body = rng.choice(
        (
            b"",
            b"<html><title>502 Bad Gateway</title>" + b"<p>" * 500,
            b'{"error": {"message": "overloaded", "type": "overloaded_error"}}',
            b'[{"error": {"code": 400, "message": "input token count 1 exceeds the maximum number of tokens"}}]',
            b'{"error": "maximum context length is 4096 tokens"}',
            b'{"detail": [{"msg": "tools are not supported"}]}',
            b'{"error": null}',
            bytes(rng.randrange(256) for _ in range(80)),
        )
    )
    return Play("status", status, {"content-type": "application/json", **wait}, _split(body, rng))


def _html(rng: random.Random) -> Play:
    body = b"<!doctype html><html><title>Log in</title><body>" + b"please log in " * 50
    return Play("html", 200, {"content-type": "text/html"}, _split(body, rng), ending=rng.choice(("close", "silence")))


def _empty(rng: random.Random) -> Play:
    body = rng.choice((b"", b"data: [DONE]\n\n", b"\n\n\n", b"data: {}\n\n", b"data:\n\n", b"null", b"[]", b"{}"))
    return Play("empty", pieces=_split(body, rng))


def _silence(rng: random.Random) -> Play:
    return Play(
        "silence", pieces=_split(_answer(rng)[: rng.randrange(60)], rng), ending="silence", mute=rng.random() < 0.5
    )


def _endless(rng: random.Random) -> Play:
    """Keep-alives, words, thoughts or arguments without an end."""
    piece = rng.choice(
        (
            b": keep-alive\n\n",
            _event({"delta": {}}),
            _event({"delta": {"content": "and so on "}}),
            _event({"delta": {"reasoning_content": "hmm "}}),
            _event({"delta": {"tool_calls": [{"index": 0, "function": {"name": "search_logs", "arguments": "[1,"}}]}}),
            b"data: ",
            b"x" * 64,
        )
    )

    def forever() -> Iterator[bytes]:
        while True:
            yield piece

    return Play("endless", pieces=forever())


def _wrong_ids(rng: random.Random) -> Play:
    ids: list[object] = [None, "", "same", "same", 7, "x" * 900, "functions.a:0", "\u202e\x00"]
    calls = [
        {
            "index": rng.choice((0, 0, 1, 5, -1, None, "0")),
            "id": rng.choice(ids),
            "type": rng.choice(("function", None, "tool")),
            "function": {
                "name": rng.choice((*_TOOLS, None, "")),
                "arguments": rng.choice(("{}", "", None, "null", {})),
            },
        }
        for _ in range(rng.randint(1, 5))
    ]
    body = _event({"delta": {"role": "assistant", "tool_calls": calls}}) + _event(
        {"delta": {}, "finish_reason": "tool_calls"}
    )
    return Play("wrong ids", pieces=_split(body + b"data: [DONE]\n\n", rng))


def _odd_shapes(rng: random.Random) -> Play:
    """JSON of another shape than a completion has."""
    made: object = rng.choice(
        (
            {"choices": None}, {"choices": [None]}, {"choices": [{"delta": None, "finish_reason": 7}]},
            {"choices": "no"},
            {"choices": [{"delta": {"content": {"text": 1}, "tool_calls": "none"}}]}, {"error": {"code": 500}},
            {"choices": [{"message": {"content": ["a", None], "tool_calls": [{}]}}]}, {"usage": {"prompt_tokens": -1}},
            {"choices": [], "usage": {"prompt_tokens": "many", "completion_tokens": 1e400}}, [], 1, "text", True,
        )
    )  # fmt: skip
    whole = json.dumps(made).encode()
    return Play("odd shape", pieces=_split(whole if rng.random() < 0.3 else b"data: " + whole + b"\n\n", rng))


_KINDS: list[tuple[Callable[[random.Random], Play], int]] = [
    (_good, 14), (_cut, 3), (_mutated, 3), (_status, 3), (_html, 1), (_empty, 2), (_silence, 2), (_endless, 2),
    (_wrong_ids, 3), (_odd_shapes, 2),
]  # fmt: skip


def _answer(rng: random.Random) -> bytes:
    """A whole answer: calls, a submission good or bad, words, markup that leaked."""
    kind = rng.randrange(10)
    if kind < 5:
        calls = [_call(rng) for _ in range(rng.randint(1, 3))]
    elif kind < 7:
        bad = rng.random() < 0.4
        calls = [("submit_diagnosis", {**_SUBMISSION, "headline": "7 charges fail"} if bad else _SUBMISSION)]
    else:
        words = ("I think it is DNS.", '<tool_call>{"name": "search_logs"', '```json\n{"tool": 1}\n```', "。" * 40)
        return _event({"delta": {"content": rng.choice(words)}}) + _end("stop")
    made = b""
    for place, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        made += _event({"delta": {"tool_calls": [{"index": place, "id": f"call_{place}", "function": function}]}})
    return made + _end("tool_calls")


def _call(rng: random.Random) -> tuple[str, object]:
    arguments: object = rng.choice(
        (
            {"query": rng.choice(_QUERIES), "why": "看一看"}, {}, {"size": "10"}, {"size": 10**9}, {"nonsense": [1]},
            {"group_by": "service"}, {"start_time": "yesterday?"}, [1], "text", {"evidence_id": "E999"},
        )
    )  # fmt: skip
    return rng.choice(_TOOLS), arguments


def _event(choice: Mapping[str, object]) -> bytes:
    body = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


def _end(reason: str) -> bytes:
    usage = json.dumps({"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 30}}).encode()
    return _event({"delta": {}, "finish_reason": reason}) + b"data: " + usage + b"\n\ndata: [DONE]\n\n"


def _split(body: bytes, rng: random.Random) -> Iterator[bytes]:
    """The body in pieces that end anywhere, inside of characters too."""
    at = 0
    while at < len(body):
        size = rng.choice((1, 2, 7, 64, 512, len(body)))
        yield body[at : at + size]
        at += size
