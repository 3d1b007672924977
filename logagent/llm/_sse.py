"""Server-sent events from bytes, by the rules of llm-endpoints.md 4.

Lines end at CR, LF or CRLF and nowhere else: log text inside JSON strings holds U+2028, VT
and the like, where `str.splitlines` and httpx's `iter_lines` would cut.
"""

import codecs
from typing import NamedTuple

from logagent.errors import ModelProtocolError
from logagent.expressions import expression

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""Chosen, not inherited: whole diffs and base64 blobs in one event exist, unbounded ones must not."""

_LINE_END = expression(r"\r\n|\r|\n")


class Event(NamedTuple):
    """One event: its name (mostly empty) and its data lines."""

    name: str
    lines: tuple[str, ...]

    @property
    def data(self) -> str:
        """The data as the standard joins it."""
        return "\n".join(self.lines)


class EventDecoder:
    """Takes bytes in any cut, gives events.

    Lenient where servers are careless: a byte order mark, `data:` without a blank, a bare
    JSON line without `data:`, and a last event without its blank line.
    """

    def __init__(self, limit: int = MAX_EVENT_BYTES) -> None:
        self._limit = limit
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._line: list[str] = []
        self._data: list[str] = []
        self._name = ""
        self._size = 0
        self._partial = 0
        self._at_start = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Events that are complete after these bytes.

        Raises:
            ModelProtocolError: an event grew beyond the limit.
        """
        return self._take(self._utf8.decode(chunk))

    def end(self) -> list[Event]:
        """What is left when the connection ends: the last line may lack its end, the last event its blank line."""
        events = self._take(self._utf8.decode(b"", final=True))
        for line in ("".join(self._line), ""):
            events += self._on_line(line)
        self._line.clear()
        return events

    def _take(self, text: str) -> list[Event]:
        if not text:
            return []
        if self._at_start:
            text = text.removeprefix("\ufeff")
            self._at_start = False
        if self._after_cr and text.startswith("\n"):
            text = text[1:]
        self._after_cr = text.endswith("\r") if text else False
        *whole, rest = _LINE_END.split(text)
        events: list[Event] = []
        for line in whole:
            self._line.append(line)
            events += self._on_line("".join(self._line))
            self._line.clear()
        if rest:
            self._line.append(rest)
            self._partial += len(rest)
            self._check_size()
        return events

    def _on_line(self, line: str) -> list[Event]:
        self._partial = 0
        if not line:
            return self._dispatch()
        if line.startswith("{"):
            return [*self._dispatch(), Event("", (line,))]
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
            self._size += len(value)
            self._check_size()
        elif field == "event":
            self._name = value
        return []

    def _dispatch(self) -> list[Event]:
        name, lines = self._name, tuple(self._data)
        self._name = ""
        self._data.clear()
        self._size = 0
        return [Event(name, lines)] if lines else []

    def _check_size(self) -> None:
        if self._size + self._partial > self._limit:
            raise ModelProtocolError(f"The model endpoint sent one event of more than {self._limit // 2**20} MiB.")
