"""An answer from its bytes: a stream, a whole JSON body, or a page that is neither (llm-endpoints.md 4).

What it is, is decided by the first bytes and not by the content type, which proxies get wrong.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from logagent.errors import ModelProtocolError
from logagent.expressions import expression
from logagent.llm._arguments import is_cut
from logagent.llm._deltas import MessageMerger, Slot
from logagent.llm._sse import MAX_EVENT_BYTES, Event, EventDecoder

Form = Literal["", "sse", "json", "text"]

_SSE_START = expression(rb"(data|event|id|retry)?:")
_PROBE = 8
_MAX_JUNK = 3
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Answer:
    """What one request brought, before anybody judges it."""

    message: dict[str, object]
    """The assistant message as it came or was merged, without its calls."""
    slots: list[Slot]
    finish: str = ""
    """Finish reason; empty where none came."""
    usage: Mapping[str, object] = field(default_factory=dict)
    error: object = None
    """The error body that came instead, as it stands in the answer."""
    junk: str = ""
    """Text that is no answer at all, e.g. a page."""
    streamed: bool = False
    done: bool = False
    """Whether the end was marked by [DONE] or by being a whole body."""
    any_delta: bool = False
    """Whether a choice brought anything."""


class AnswerReader:
    """Takes the bytes of a 200 answer in any cut.

    Attributes:
        progress: number of pieces with content, reasoning or bytes of a call so far.
        finish: finish reason so far.
        done: whether nothing more is to come.
    """

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self.progress = 0
        self.finish = ""
        self.done = False
        self._limit = limit
        self._form: Form = ""
        self._head = b""
        self._body: list[bytes] = []
        self._size = 0
        self._events = EventDecoder(limit)
        self._merger = MessageMerger()
        self._usage: Mapping[str, object] = {}
        self._error: object = None
        self._junk: list[str] = []
        self._any_delta = False

    def feed(self, chunk: bytes) -> None:
        """Read more bytes.

        Raises:
            ModelProtocolError: too large, or a stream of things that are no JSON.
        """
        if not self._form:
            chunk = self._recognise(chunk)
        if self._form == "sse":
            self._on_events(self._events.feed(chunk))
        elif self._form:
            self._keep(chunk)

    def end(self) -> Answer:
        """The connection ended, or we stopped reading: what do we have."""
        if not self._form:
            self._form = "json"
            self._keep(self._head)
        if self._form == "sse":
            self._on_events([event for event in self._events.end() if not _is_half(event.data)])
        else:
            self._read_body(b"".join(self._body).decode("utf-8", "replace"))
        return Answer(
            message=self._merger.message(),
            slots=self._merger.calls.slots,
            finish=self.finish,
            usage=self._usage,
            error=self._error,
            junk="\n".join(self._junk),
            streamed=self._form == "sse",
            done=self.done,
            any_delta=self._any_delta,
        )

    def _recognise(self, chunk: bytes) -> bytes:
        """Decide by the first bytes that are no blanks; gives what is to be read now."""
        self._head += chunk
        seen = self._head.removeprefix(_BOM).lstrip()
        if not seen or (len(seen) < _PROBE and b":" not in seen and seen[:1] not in b"{[<"):
            return b""
        if _SSE_START.match(seen):
            self._form = "sse"
        elif seen[:1] in b"{[":
            self._form = "json"
        else:
            self._form = "text"
        head, self._head = self._head, b""
        return head

    def _keep(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > self._limit:
            raise ModelProtocolError(f"The model endpoint sent a body of more than {self._limit // 2**20} MiB.")
        self._body.append(chunk)
        self.progress += 1

    def _read_body(self, text: str) -> None:
        self.done = True
        try:
            value = json.loads(text.strip().removeprefix("\ufeff"), strict=False)
        except (ValueError, RecursionError):
            if not _is_half(text):
                self._junk.append(text.strip())
            return
        if isinstance(value, list) and any(isinstance(each, dict) and "choices" in each for each in value):
            for each in value:  # a stream that was collected into a list
                self._on_object(each)
        elif isinstance(value, dict) and isinstance(value.get("choices"), list):
            self._on_object(value, whole=True)
        else:
            self._error = value

    def _on_events(self, events: list[Event]) -> None:
        for event in events:
            if not self._on_data(event, event.data):
                # Events without the blank line between them arrive as one with several lines.
                readable = [self._on_data(event, line) for line in event.lines] if len(event.lines) > 1 else []
                if not any(readable):
                    self._on_junk(event.data)

    def _on_data(self, event: Event, data: str) -> bool:
        data = data.strip()
        if data == "[DONE]":
            self.done = True
            return True
        if not data:
            return True
        try:
            value = json.loads(data, strict=False)
        except (ValueError, RecursionError):
            return False
        if event.name == "error":
            self._error = self._error or value
        else:
            self._on_object(value)
        return True

    def _on_junk(self, data: str) -> None:
        self._junk.append(data)
        if self._any_delta and len(self._junk) >= _MAX_JUNK:
            raise ModelProtocolError(f"The model endpoint sends lines that are no JSON: {data[:200]}")

    def _on_object(self, value: object, *, whole: bool = False) -> None:
        if not isinstance(value, dict):
            return
        if _is_error(value):
            self._error = self._error or value
        self._take_usage(value.get("usage"))
        choices = value.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index", 0) in {0, None}:
                self._on_choice(choice, whole=whole)

    def _on_choice(self, choice: dict[str, object], *, whole: bool) -> None:
        if choice.get("error"):
            self._error = self._error or {"error": choice["error"]}
        self._take_usage(choice.get("usage"))
        delta = choice.get("message") if whole or choice.get("delta") is None else choice.get("delta")
        if not isinstance(delta, dict):
            delta = {"content": choice.get("text")}
        if self._merger.feed(cast("dict[str, object]", delta), whole=whole or delta is choice.get("message")):
            self.progress += 1
            self._any_delta = True
        finish = choice.get("finish_reason") or choice.get("stop_reason")
        if isinstance(finish, str):
            self.finish = finish
            self._any_delta = True

    def _take_usage(self, usage: object) -> None:
        if isinstance(usage, dict) and any(isinstance(each, int) for each in usage.values()):
            self._usage = usage


def _is_half(text: str) -> bool:
    """Whether a connection that broke left the beginning of a JSON object."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") and is_cut(text)


def _is_error(value: Mapping[str, object]) -> bool:
    return bool(value.get("error")) or value.get("object") == "error" or value.get("type") == "error"
