r"""Views of a text for matching: as it stands, and one level decoded, with the way back to the raw positions.

Decoded are JSON escapes, percent escapes, full-width ASCII; zero-width characters are left out (security.md 7).
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from logagent.expressions import expression

_ENCODED = expression(
    r"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[\"'\\/bfnrt]|&(?:quot|apos|amp|lt|gt|#[0-9]{2,3}|#x[0-9A-Fa-f]{2});"
    "|[\u00ad\u200b-\u200f\u2060-\u2064\u202a-\u202e\ufeff]|[\uff01-\uff5e]"
)
_JSON = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ENTITIES = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}
_FULL_WIDTH = 0xFEE0
_ASCII = 0x80


class Hit(NamedTuple):
    """A secret found: half-open span and kind (`password`, `token`, `email` ...)."""

    start: int
    end: int
    kind: str


@dataclass(slots=True)
class View:
    """A text to match on. `lower` serves the cheap test whether a rule can match at all."""

    text: str
    lower: str
    _at: list[int] = field(default_factory=list)
    """Start of each piece in the view."""
    _raw: list[int] = field(default_factory=list)
    """Start of each piece in the raw text."""
    _step: list[bool] = field(default_factory=list)
    """Whether the piece is one decoded character (True) or copied text."""

    def raw_span(self, hit: Hit) -> Hit:
        """The hit in positions of the raw text."""
        if not self._at:
            return hit
        return Hit(self._position(hit.start), self._position(hit.end, end=True), hit.kind)

    def _position(self, at: int, *, end: bool = False) -> int:
        piece = bisect_right(self._at, at - 1 if end else at) - 1
        if piece < 0:
            return 0
        if self._step[piece]:
            return self._raw[piece + 1] if end else self._raw[piece]
        return self._raw[piece] + at - self._at[piece]


def views(text: str) -> Iterator[View]:
    """The raw view, then the decoded one where it differs."""
    yield View(text, text.lower())
    if not is_plain(text):
        decoded = _decoded(text)
        if decoded is not None:
            yield decoded


def is_plain(text: str) -> bool:
    """Whether there is nothing to decode for certain."""
    return text.isascii() and "%" not in text and "\\" not in text and not ("&" in text and ";" in text)


def _decoded(text: str) -> View | None:
    parts: list[str] = []
    view = View("", "")
    length = last = 0
    for match in _ENCODED.finditer(text):
        char = _decode(match[0])
        if char is None:
            continue
        if match.start() > last:
            _piece(view, length, last, step=False)
            parts.append(text[last : match.start()])
            length += match.start() - last
        if char:
            _piece(view, length, match.start(), step=True)
            parts.append(char)
            length += 1
        last = match.end()
    if not last:
        return None
    _piece(view, length, last, step=False)
    parts.append(text[last:])
    view.text = "".join(parts)
    view.lower = view.text.lower()
    return view


def _piece(view: View, at: int, raw: int, *, step: bool) -> None:
    view._at.append(at)  # noqa: SLF001 - this module builds views
    view._raw.append(raw)  # noqa: SLF001
    view._step.append(step)  # noqa: SLF001


def _decode(escape: str) -> str | None:
    """The character meant; "" for a zero-width one; None where nothing is decoded."""
    if escape[0] == "%" or escape[:2] == "\\u":
        code = int(escape.lstrip("%\\u"), base=16)
        return chr(code) if code < _ASCII else None
    if escape[0] == "&":
        return _ENTITIES.get(escape[1:-1]) or _by_number(escape[2:-1])
    if escape[0] == "\\":
        return _JSON.get(escape[1], escape[1])
    if len(escape) == 1 and "\uff01" <= escape <= "\uff5e":
        return chr(ord(escape) - _FULL_WIDTH)
    return ""


def _by_number(code: str) -> str | None:
    number = int(code[1:], base=16) if code[0] == "x" else int(code)
    return chr(number) if number < _ASCII else None
