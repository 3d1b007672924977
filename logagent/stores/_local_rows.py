"""Rows of the table -> LogRecords, cheaply: what nobody asks for is not built."""

from bisect import bisect_right
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from logagent.fields import FieldMap
from logagent.logs import LogRecord, RecordId, Severity
from logagent.stores._local_sql import NUMBERS, quoted

_TEXTS = (
    "message",
    "service",
    "severity",
    "error_type",
    "error_message",
    "stack",
    "host",
    "pod",
    "namespace",
    "version",
    "trace_id",
    "span_id",
    "logger",
)
_SEVERITIES = tuple(Severity)


class LazyFields(Mapping[str, str | float | bool]):
    """Remaining fields of a record: JSON text until somebody looks."""

    __slots__ = ("_known", "_text", "_types")

    def __init__(self, text: str, types: Mapping[str, str]) -> None:
        self._text = text
        self._types = types
        self._known: dict[str, str | float | bool] | None = None

    def _values(self) -> dict[str, str | float | bool]:
        if self._known is None:
            values: dict[str, str | None] = orjson.loads(self._text)
            self._known = {
                name: _typed(value, self._types.get(name, "")) for name, value in values.items() if value is not None
            }
        return self._known

    def __getitem__(self, name: str) -> str | float | bool:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def items(self) -> ItemsView[str, str | float | bool]:
        """As of a dictionary, which is read much faster than a Mapping."""
        return self._values().items()

    def __repr__(self) -> str:
        return repr(self._values())


def _typed(value: str, kind: str) -> str | float | bool:
    if kind in NUMBERS:
        try:
            return float(value)
        except ValueError:
            return value
    if kind == "boolean" and value in {"true", "false"}:
        return value == "true"
    return value


@dataclass(frozen=True, slots=True)
class Rows:
    """What to select for a LogRecord, and how to make one of it."""

    select: str
    """SELECT list: rowid, line, ts, sev, status, duration, the text roles, the rest as JSON."""
    types: Mapping[str, str]
    starts: tuple[int, ...]
    """First row id of each source."""
    names: tuple[str, ...]

    @classmethod
    def over(cls, fields: FieldMap, columns: Mapping[str, str], ranges: Mapping[str, tuple[int, int]]) -> "Rows":
        """Rows of a table with these columns and sources."""
        used: set[str] = set()
        parts = ["rowid", "line", "ts", "sev", "status", "duration"]
        for role in _TEXTS:
            chosen = [choice.name for choice in fields.roles.get(role, ()) if choice.name in columns]
            used.update(chosen)
            if role == "message":
                chosen += [choice.name for choice in fields.roles.get("error_message", ()) if choice.name in columns]
            texts = [columns[name] for name in chosen]
            parts.append(f"coalesce({', '.join([*texts, repr('')])})" if texts else "''")
        for role in ("timestamp", "status"):
            used.update(choice.name for choice in fields.roles.get(role, ())[:1])
        rest = [name for name in columns if name not in used]
        packed = ", ".join(f"{quoted(name)} := {columns[name]}" for name in rest)
        parts.append(f"to_json(struct_pack({packed}))::VARCHAR" if rest else "'{}'")
        starts = tuple(first for first, _ in ranges.values())
        return cls(", ".join(parts), fields.names, starts, tuple(ranges))

    def records(self, rows: Sequence[tuple[Any, ...]]) -> tuple[LogRecord, ...]:
        """LogRecords of fetched rows, in order."""
        return tuple(map(self.record, rows))

    def record(self, row: tuple[Any, ...]) -> LogRecord:
        """One LogRecord; the columns are those of `select`."""
        rowid, line, ts, sev, status, duration = row[:6]
        (
            message,
            service,
            level,
            error_type,
            error_message,
            stack,
            host,
            pod,
            namespace,
            version,
            trace,
            span,
            logger,
        ) = row[6:19]
        source = bisect_right(self.starts, rowid) - 1
        return LogRecord(
            RecordId(self.names[source], str(line or rowid - self.starts[source] + 1)),
            _aware(ts),
            message,
            service,
            None if sev is None else _SEVERITIES[sev],
            level,
            error_type,
            error_message,
            stack,
            host,
            pod,
            namespace,
            version,
            trace,
            span,
            logger,
            status,
            duration,
            LazyFields(row[19], self.types),
        )


def _aware(at: datetime | None) -> datetime | None:
    return None if at is None else at.replace(tzinfo=UTC)
