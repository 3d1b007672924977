"""Rows of the table -> LogRecords, cheaply: what nobody asks for is not built."""

from bisect import bisect_right
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from logagent.logs import LogRecord, RecordId, Severity
from logagent.stores._local_load import Table
from logagent.stores._local_sql import NUMBERS

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
_ROLES = 6 + len(_TEXTS)
"""Columns of a row before the remaining fields."""


class LazyFields(Mapping[str, str | float | bool]):
    """Remaining fields of a record: the values as read until somebody looks."""

    __slots__ = ("_known", "_rest", "_values_read")

    def __init__(self, rest: "Rest", values: tuple[str | None, ...]) -> None:
        self._rest = rest
        self._values_read = values
        self._known: dict[str, str | float | bool] | None = None

    def _values(self) -> dict[str, str | float | bool]:
        if self._known is None:
            self._known = self._rest.named(self._values_read)
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


@dataclass(frozen=True, slots=True)
class Rest:
    """Names of the fields that play no role, and the kind of those that are no text."""

    names: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, names: Sequence[str], types: Mapping[str, str]) -> "Rest":
        """These fields, of which `types` tells the kind."""
        kinds = tuple((name, kind) for name in names if (kind := types.get(name, "")) in {*NUMBERS, "boolean"})
        return cls(tuple(names), kinds)

    def named(self, values: Sequence[str | None]) -> dict[str, str | float | bool]:
        """Values by name, typed, without those that are missing."""
        found: dict[str, str | float | bool] = {
            name: value for name, value in zip(self.names, values, strict=True) if value is not None
        }
        for name, kind in self.kinds:
            if name in found:
                found[name] = _typed(str(found[name]), kind)
        return found


def _typed(value: str, kind: str) -> str | float | bool:
    if kind in NUMBERS:
        try:
            return float(value)
        except ValueError:
            return value
    return value == "true" if value in {"true", "false"} else value


@dataclass(frozen=True, slots=True)
class Rows:
    """What to select for a LogRecord, and how to make one of it."""

    select: str
    """SELECT list: rowid, line, ts, sev, status, duration, the text roles, the rest."""
    rest: Rest
    starts: tuple[int, ...]
    """First row id of each source."""
    names: tuple[str, ...]

    @classmethod
    def over(cls, table: Table) -> "Rows":
        """Rows of a table."""
        fields, columns = table.fields, table.columns
        used: set[str] = set()
        parts = ["rowid", "line", "ts", "sev", "status", "duration"]
        for role in _TEXTS:
            chosen = [choice.name for choice in fields.roles.get(role, ()) if choice.name in columns]
            used.update(chosen)
            texts = [table.texts[role]] if role in table.texts else [columns[name] for name in chosen]
            if role == "message":
                errors = fields.roles.get("error_message", ())
                texts += [columns[choice.name] for choice in errors if choice.name in columns]
            parts.append(f"coalesce({', '.join([*texts, repr('')])})" if texts else "''")
        for role in ("timestamp", "status"):
            several = len(table.ranges) > 1
            used.update(choice.name for choice in fields.roles.get(role, ())[: None if several else 1])
        rest = [name for name in columns if name not in used]
        parts += [columns[name] for name in rest]
        starts = tuple(first for first, _ in table.ranges.values())
        return cls(", ".join(parts), Rest.of(rest, fields.names), starts, tuple(table.ranges))

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
        ) = row[6:_ROLES]
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
            LazyFields(self.rest, row[_ROLES:]),
        )


def _aware(at: datetime | None) -> datetime | None:
    return None if at is None else at.replace(tzinfo=UTC)
