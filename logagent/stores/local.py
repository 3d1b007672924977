# ruff: noqa: S608 - names come from the loaded columns only, values are parameters
"""The embedded store: files and standard input, loaded into an in-memory DuckDB, all records, nothing sampled."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from logagent.errors import StoreQueryError
from logagent.logs import LogRecord, RecordId, TimeWindow
from logagent.query import LogQuery
from logagent.stores import _local_counts, _local_describe, _local_groups
from logagent.stores._base import (
    PAGE_LIMIT,
    SEARCH_LIMIT,
    Backend,
    Description,
    Measure,
    MeasuredSet,
    Sample,
    ScanPage,
    SearchPage,
    StoreUsage,
    Timeline,
    TopValues,
)
from logagent.stores._local_interrupt import interruptibly
from logagent.stores._local_load import Loader, Table
from logagent.stores._local_rows import Rows
from logagent.stores._local_sources import Opened, open_sources
from logagent.stores._local_sql import Compiler, Condition, both

if TYPE_CHECKING:
    from logagent.stores._duckdb import DuckDBPyConnection

_FETCH_LIMIT = 1_000


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """What to open.

    Attributes:
        paths: files, or `-` for standard input.
        stdin: where `-` reads from.
        field_overrides: role -> field name.
        timestamp_shift: is added to every stamp (`--time-shift`).
        zone: time zone of stamps that have none.
        clock: the present, for stamps without a year and for events in the future.
        verbose: keep one line a request in `usage.log`.
    """

    paths: tuple[str, ...]
    stdin: BinaryIO | None = None
    field_overrides: Mapping[str, str] = field(default_factory=dict)
    timestamp_shift: timedelta = timedelta()
    zone: str = "UTC"
    clock: Callable[[], datetime] = _now
    verbose: bool = False


class LocalStore:
    """A LogStore over one loaded table. Each call uses a cursor of its own, so threads do not meet."""

    def __init__(self, connection: "DuckDBPyConnection", table: Table, opened: Opened, options: LocalOptions) -> None:
        self.usage = StoreUsage()
        self._connection = connection
        self._table = table
        self._opened = opened
        self._options = options
        self._compiler = Compiler(table.fields, table.columns, table.arrays, table.ranges, table.texts)
        self._rows = Rows.over(table)
        self._lock = threading.Lock()
        self._description: Description | None = None

    def describe(self) -> Description:
        """See LogStore."""
        if self._description is None:
            self._description = _local_describe.describe(
                self.run, self._table, self._opened, self._options.clock().astimezone(UTC)
            )
        return self._description

    def search(
        self,
        query: LogQuery,
        *,
        limit: int,
        order: Literal["newest", "oldest"] = "newest",
        exact_total: bool = True,
    ) -> SearchPage:
        """See LogStore."""
        del exact_total  # counting costs nothing here
        _within(limit, SEARCH_LIMIT)
        where = self._compiler.query(query)
        direction = "DESC" if order == "newest" else "ASC"
        records = self._select(where, f"ORDER BY ts {direction}, rowid {direction} LIMIT {limit}")
        total = len(records) if len(records) < limit else self._total(where)
        return SearchPage(records, total)

    def scan(self, query: LogQuery, *, limit: int = PAGE_LIMIT, cursor: object | None = None) -> ScanPage:
        """See LogStore. A cursor is the time and row id of the last record."""
        _within(limit, PAGE_LIMIT)
        where = self._compiler.query(query)
        if cursor is not None:
            where = both(_after(cursor), where)
        rows = self._fetch(where, f"ORDER BY ts, rowid LIMIT {limit}")
        last = (rows[-1][2], rows[-1][0]) if len(rows) == limit else None
        return ScanPage(self._rows.records(rows), last)

    def around(self, record: RecordId, query: LogQuery, *, limit: int) -> SearchPage:
        """See LogStore."""
        _within(limit, SEARCH_LIMIT)
        found = self._fetch(self._identified([record]), "")
        where = self._compiler.query(query)
        if not found:
            return SearchPage((), 0)
        at = (found[0][2], found[0][0])
        before = limit // 2
        earlier = self._fetch(both(_before(at), where), f"ORDER BY ts DESC, rowid DESC LIMIT {before}")
        later = self._fetch(both(_after(at), where), f"ORDER BY ts, rowid LIMIT {limit - 1 - before}")
        rows = [*reversed(earlier), found[0], *later]
        return SearchPage(self._rows.records(rows), self._total(where))

    def sample(self, query: LogQuery, *, limit: int = PAGE_LIMIT, buckets: int = 60, seed: int = 0) -> Sample:
        """See LogStore."""
        del seed  # all matches are grouped
        _within(limit, PAGE_LIMIT)
        return _local_groups.sample(self.session, self._compiler, self._rows, query, (limit, buckets))

    def traces(self, query: LogQuery, *, slices: int = 12, ids: int = 300, limit: int = 4 * PAGE_LIMIT) -> ScanPage:
        """See LogStore."""
        _within(limit, 4 * PAGE_LIMIT)
        where = _local_groups.traced(self.run, self._compiler, query, (slices, ids, limit))
        if where is None:
            return ScanPage((), None)
        rows = self._fetch(where, f"ORDER BY ts, rowid LIMIT {limit}")
        return ScanPage(self._rows.records(rows), (rows[-1][2], rows[-1][0]) if len(rows) == limit else None)

    def count_over_time(
        self, queries: Sequence[LogQuery], *, interval_seconds: int, split: str = "", size: int = 20
    ) -> Timeline:
        """See LogStore."""
        if split:
            return _local_counts.split_over_time(self.run, self._compiler, queries, (interval_seconds, split, size))
        return _local_counts.over_time(self.run, self._compiler, queries, interval_seconds)

    def top_values(
        self, query: LogQuery, fields: Sequence[str], *, size: int = 10, baseline: TimeWindow | None = None
    ) -> TopValues:
        """See LogStore."""
        return _local_counts.top_values(self.run, self._compiler, query, fields, (size, baseline))

    def count(self, measures: Sequence[Measure]) -> MeasuredSet:
        """See LogStore."""
        return _local_counts.measure(self.run, self._compiler, measures)

    def fetch(self, ids: Iterable[RecordId]) -> dict[RecordId, LogRecord]:
        """See LogStore."""
        wanted = list(dict.fromkeys(ids))
        if len(wanted) > _FETCH_LIMIT:
            raise ValueError(f"at most {_FETCH_LIMIT} records can be fetched at once")
        found = self._select(self._identified(wanted), "") if wanted else ()
        asked = set(wanted)
        return {record.id: record for record in found if record.id in asked}

    def close(self) -> None:
        """See LogStore."""
        self._connection.close()

    def run(self, what: str, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """One statement on a cursor of its own, counted in `usage`.

        Raises:
            StoreQueryError: DuckDB refused it.
        """
        with self.session() as run:
            return run(what, sql, values)

    @contextmanager
    def session(self) -> Iterator[Callable[[str, str, Sequence[object]], list[tuple[Any, ...]]]]:
        """Statements on one cursor, counted in `usage`.

        Raises:
            StoreQueryError: DuckDB refused one.
        """
        from logagent.stores import _duckdb as duckdb  # noqa: PLC0415 - 0.05 s that other stores need not pay

        with self._connection.cursor() as cursor:

            def run(what: str, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
                started = time.perf_counter()
                try:
                    return interruptibly(cursor, lambda: cursor.execute(sql, list(values)).fetchall())
                except duckdb.Error as error:
                    raise StoreQueryError(f"the embedded store refused the query: {error}") from error
                finally:
                    self._note(what, started)

            yield run

    def _note(self, what: str, started: float) -> None:
        took = round((time.perf_counter() - started) * 1_000)
        with self._lock:
            self.usage.requests += 1
            self.usage.took_ms += took
            if self._options.verbose:
                self.usage.log.append(f"{what}: {took} ms")

    def _fetch(self, where: Condition, tail: str) -> list[tuple[Any, ...]]:
        """Rows that match; with an order, row ids are sorted first and wide rows only at last."""
        sql = where.sql
        order = tail.partition(" LIMIT ")[0]
        if order:
            sql = f"rowid IN (SELECT rowid FROM logs WHERE {where.sql} {tail})"
        return self.run("records", f"SELECT {self._rows.select} FROM logs WHERE {sql} {order}", where.values)

    def _select(self, where: Condition, tail: str) -> tuple[LogRecord, ...]:
        return self._rows.records(self._fetch(where, tail))

    def _total(self, where: Condition) -> int:
        rows = self.run("total", f"SELECT count(*) FROM logs WHERE {where.sql}", where.values)
        return int(rows[0][0])

    def _identified(self, ids: Sequence[RecordId]) -> Condition:
        """Records by source and line number."""
        rowids: list[int] = []
        lines: list[Condition] = []
        for wanted in ids:
            span = self._table.ranges.get(wanted.source)
            if span is None or not wanted.id.isdecimal():
                continue
            if wanted.source in self._opened.parsed:
                lines.append(Condition("(line = ? AND rowid >= ? AND rowid < ?)", (int(wanted.id), *span)))
            elif span[0] <= (rowid := span[0] + int(wanted.id) - 1) < span[1]:
                rowids.append(rowid)
        parts = [part.sql for part in lines]
        if rowids:
            parts.append(f"rowid IN ({', '.join(map(str, rowids))})")
        sql = " OR ".join(parts) or "false"
        return Condition(f"({sql})", tuple(value for part in lines for value in part.values))


def open_local(options: LocalOptions) -> LocalStore:
    """Read the files into memory.

    Raises:
        StoreUnavailable: LA307, a file cannot be read.
        NoData: the files hold no record.
    """
    from logagent.stores import _duckdb as duckdb  # noqa: PLC0415 - 0.05 s that other stores need not pay

    with open_sources(options.paths, options.stdin, options.clock()) as opened:
        connection = duckdb.connect(":memory:")
        try:
            loader = Loader(connection, options.field_overrides, options.zone, options.timestamp_shift)
            table = interruptibly(connection, lambda: loader.load(opened.files, opened.folder))
            for setting in ("enable_external_access=false", "lock_configuration=true"):
                connection.execute(f"SET {setting}")
        except BaseException:
            with suppress(duckdb.Error):
                connection.close()
            raise
    return LocalStore(connection, table, opened, options)


def _after(cursor: object) -> Condition:
    if not isinstance(cursor, tuple):
        raise ValueError("the cursor is not one of scan")  # noqa: TRY004 - a wrong value of an opaque type
    at, rowid = cursor
    return Condition("(ts > ? OR (ts = ? AND rowid > ?))", (at, at, rowid))


def _before(at: tuple[datetime, int]) -> Condition:
    return Condition("(ts < ? OR (ts = ? AND rowid < ?))", (at[0], at[0], at[1]))


def _within(limit: int, most: int) -> None:
    if not 1 <= limit <= most:
        raise ValueError(f"limit must be 1 to {most}, not {limit}")


BACKEND = Backend(schemes=("file",), open=open_local)
