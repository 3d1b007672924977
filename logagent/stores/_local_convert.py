"""Text of any log format -> JSON lines for the loader. What is JSON lines already is left as it is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TextIO

import orjson

from logagent.expressions import expression
from logagent.formats import Event, Format, read_events, recognise
from logagent.formats.jsonlines import without_halves
from logagent.stores._local_load import LINE

_HEAD_LINES = 400
_HEAD_BYTES = 1 << 20
_NEARLY_ALL = 0.9
_WRAPPED = expression(r'"(?:hits|events|logs|logEvents|[rR]ecords|entries|items|data|results?)"\s*:\s*[\[{]')
_SHOWN = 20_000
"""Characters of a line that formats are recognised by."""
_BLOCK = 1 << 22
_MOST, _FEW = 0.99, 20
"""A file with more other lines than these (share of records, and number) is not read as JSON lines alone."""
_OTHERS = 100


@dataclass(slots=True)
class Converted:
    """What came of a file. `records` None: it is JSON lines, DuckDB reads it directly."""

    title: str
    path: Path
    records: int | None = None
    unparsed: int = 0
    notes: list[str] = field(default_factory=list)


def convert(source: Path, target: Path, now: datetime) -> Converted:
    """Recognise the format of a text and write its events as JSON lines, unless it is JSON lines already."""
    lines = _head(source)
    if _json_share(lines) >= _NEARLY_ALL and not _is_document(lines):
        others = _obstacles(source)
        if others is None:
            return Converted("JSON lines", source)
        lines += others
    found = recognise(lines, now)
    result = Converted(found.title, target, 0)
    with source.open(encoding="utf-8", errors="replace", newline="\n") as text, target.open("wb") as out:
        for event in _events(found, text, lines, now):
            result.records = (result.records or 0) + 1
            if event.fields is None:
                result.unparsed += 1
                continue
            fields = {LINE: event.line, **event.fields}
            out.write(orjson.dumps(fields, default=str, option=orjson.OPT_NON_STR_KEYS) + b"\n")
    result.records = (result.records or 0) - result.unparsed
    return result


def _events(found: Format, text: TextIO, lines: list[str], now: datetime) -> Iterator[Event]:
    if found.read_all is not None:
        return found.read_all(text.read())
    return read_events(found, _clean(text), lines, now)


def _clean(text: Iterable[str]) -> Iterator[str]:
    return (line.rstrip("\r\n") for line in text)


def _head(source: Path) -> list[str]:
    with source.open("rb") as file:
        head = file.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = head.split("\n")
    if len(lines) > 1:
        lines.pop()  # empty, or cut in the middle
    return [line.rstrip("\r")[:_SHOWN] for line in lines if line.strip()][:_HEAD_LINES]


def _json_share(lines: list[str]) -> float:
    objects = sum(line.lstrip()[:1] == "{" and (len(line) == _SHOWN or line.rstrip()[-1:] == "}") for line in lines)
    return objects / len(lines) if lines else 0.0


def _is_document(lines: list[str]) -> bool:
    """One line that holds many records, such as a search answer."""
    return len(lines) == 1 and _WRAPPED.search(lines[0], 0, _SHOWN) is not None


def _obstacles(source: Path) -> list[str] | None:
    """What keeps DuckDB from reading a file of JSON lines; None: nothing does. Else some of the lines of other kinds.

    It skips blank lines, so that the numbers of those after them would be wrong, and loses records with half of a
    surrogate pair and lines of any other format, which a file may hold far behind its start.
    """
    lines, records, stops, last = 0, 0, False, b"\n"
    with source.open("rb") as file:
        while block := file.read(_BLOCK):
            ends, starts = block.count(b"\n"), block.count(b"\n{")
            stops = stops or _has_halves(block) or (last == b"\n" and block[:1] in {b"\n", b"\r"})
            if ends - starts > block.endswith(b"\n"):  # a line starts with something else: with nothing, perhaps
                stops = stops or b"\n\n" in block or b"\n\r\n" in block
            lines += ends
            records += starts + (last == b"\n" and block[:1] == b"{")
            last = block[-1:]
    if lines - records > max(_FEW, lines * (1 - _MOST)):
        return _others(source)
    return [] if stops else None


def _has_halves(block: bytes) -> bool:
    """Whether half of a surrogate pair is written out."""
    if b"\\u" not in block or (b"\\ud" not in block and b"\\uD" not in block):
        return False
    text = block.decode("latin-1")
    return without_halves(text) != text


def _others(source: Path) -> list[str]:
    """The first lines that are no object; formats learn from them what else the file holds."""
    found: list[str] = []
    with source.open("rb") as file:
        for line in file:
            if line[:1] != b"{" and line.strip():
                found.append(line[:_SHOWN].decode("utf-8", "replace").rstrip("\r\n"))
                if len(found) == _OTHERS:
                    break
    return found
