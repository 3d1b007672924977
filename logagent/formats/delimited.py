"""Tables as text: CSV with a header row, separated by comma, semicolon, tab or bar; each row is a record."""

import csv
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from logagent.expressions import expression
from logagent.formats import _stamps
from logagent.formats._base import HOLD, Format, Parse, Sample

_DELIMITERS = ",;\t|"
_NAME = expression(r"[A-Za-z_@][\w @.:/()#\[\]-]{0,60}")
_TIME_LIKE = expression(r"time|date|stamp|when|created|\bts\b|^_time$|^@t$", re.IGNORECASE)
_NUMBER = expression(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{0,8}[1-9])?")
_MOST_LINES = 1_000
"""Of one record whose quoted value holds line ends; after them the quote is taken for a stray one."""


def _reader(sample: Sample) -> Parse:
    head = sample.lines[0].removeprefix("\ufeff") if sample.lines else ""
    header, delimiter = max(((_header(head, one), one) for one in _DELIMITERS), key=lambda found: len(found[0]))
    time = _time_column(header, _rows(sample.lines[1:], delimiter, len(header)), sample) if header else None
    return _Rows(head, header, delimiter, time) if time is not None else lambda _: None


class _Rows:
    """Parses the rows of one file; holds the lines of a record until its last quote is closed."""

    def __init__(self, head: str, header: list[str], delimiter: str, time: "_Time") -> None:
        self._head, self._header, self._delimiter, self._time = head, header, delimiter, time
        self._held: list[str] = []

    def __call__(self, line: str) -> dict[str, Any] | None:
        if not self._held and (line.removeprefix("\ufeff") == self._head or not line.strip()):
            return HOLD  # also where several files were put together
        row = self._row([*self._held, line])
        if row is None and self._held and self._is_record(line):
            stray, self._held = "\n".join(self._held), []
            return {**(self._fields(self._row([line])) or {}), "log.stray": stray}
        if row is None and len(self._held) < _MOST_LINES:
            self._held.append(line)
            return HOLD
        text, self._held = "\n".join([*self._held, line]), []
        return self._fields(row) or {"message": text}

    def _row(self, lines: list[str]) -> list[str] | None:
        """The cells of one record; None while a quote is open."""
        try:
            return next(csv.reader([f"{line}\n" for line in lines], delimiter=self._delimiter, strict=True))
        except csv.Error as error:
            return None if "unexpected end" in str(error) else []

    def _is_record(self, line: str) -> bool:
        fields = self._fields(self._row([line]))
        return fields is not None and fields.get("@timestamp") is not None

    def _fields(self, row: list[str] | None) -> dict[str, Any] | None:
        if row is None or len(row) != len(self._header):
            return None
        fields = {name: _value(cell) for name, cell in zip(self._header, row, strict=True) if cell.strip()}
        at = self._time.convert(str(fields.get(self._time.column, "")))
        if at is not None:
            del fields[self._time.column]
            fields["@timestamp"] = at
        return fields


@dataclass(frozen=True, slots=True)
class _Time:
    """Which column is the time, and how its stamps are read."""

    column: str
    convert: Callable[[str], str | None]


def _header(line: str, delimiter: str) -> list[str]:
    """The names of the columns, or nothing where the line is no header."""
    names = [cell.strip() for row in _rows([line], delimiter) for cell in row]
    distinct = len({name.lower() for name in names}) == len(names)
    return names if len(names) > 1 and distinct and all(map(_NAME.fullmatch, names)) else []


def _rows(lines: Sequence[str], delimiter: str, cells: int = 0) -> list[list[str]]:
    """The rows with so many cells (0: any number), up to one that is none."""
    found: list[list[str]] = []
    with suppress(csv.Error):  # a cell of over 128 KB
        found.extend(row for row in csv.reader(lines, delimiter=delimiter) if not cells or len(row) == cells)
    return found


def _time_column(header: Sequence[str], rows: Sequence[Sequence[str]], sample: Sample) -> _Time | None:
    """The first column that is called like a time and holds times."""
    for place, name in enumerate(header):
        values = [row[place].strip() for row in rows if row[place].strip()]
        if not _TIME_LIKE.search(name) or not values:
            continue
        for kind, pattern in _stamps.KINDS.items():
            if sum(re.fullmatch(pattern, value) is not None for value in values) * 2 > len(values):
                return _Time(name, _whole(pattern, _stamps.converter(kind, sample.now)))
    return None


def _whole(pattern: str, convert: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """The converter for cells that are a stamp and nothing else."""
    compiled = re.compile(pattern)
    return lambda text: convert(text.strip()) if compiled.fullmatch(text.strip()) else None


def _value(cell: str) -> str | int | float:
    """A number where it is written as one would write it back; codes such as 007 stay text."""
    if _NUMBER.fullmatch(cell):
        return float(cell) if "." in cell else int(cell)
    return cell


FORMAT = Format("delimited", "CSV", 12, _reader, joins=False)
