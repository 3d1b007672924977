"""The steps of a script."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Body = dict[str, object]


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
    prompt_tokens: int | None = None
    """What the endpoint counts the prompt as; None: four characters a token."""


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
