# ruff: noqa: S608 - names come from the loaded columns only, values are parameters
"""Records that stand for all: grouped samples, and the complete lines of sampled traces."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any

from logagent.logs import WeightedRecord
from logagent.query import LogQuery
from logagent.stores._base import Sample
from logagent.stores._local_rows import Rows
from logagent.stores._local_sql import TRUE, Compiler, Condition, both, literal, naive

Run = Callable[[str, str, Sequence[object]], list[tuple[Any, ...]]]
Session = Callable[[], AbstractContextManager[Run]]
"""Statements that share one cursor, and so its temporary tables."""

MASK = (
    r"(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})"
    r"|(?:\b[a-z][a-z0-9+]{1,9}://[^\s,;'\"\])>]+)"
    r"|(?:\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
    r"|(?:\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)"
    r"|(?:/?(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?)"
    r"|(?:\b0[xX][0-9a-fA-F]+\b)"
    r"|(?:\bblk_-?\d+)"
    r"|(?:(?:/[\w.@%+=~-]+){2,}/?)"
    r"|(?:\b[0-9a-f]*[0-9][0-9a-f]{7,}\b)"
    r"|(?:[-+]?\d+(?:[.,]\d+)*(?:ms|us|ns|s|m|h|d|[KMGT]i?B?|B|%)?)"
)
"""What varies from line to line, for RE2: ids, addresses, times, paths, numbers with their unit."""
STATUS = (
    r"(?:HTTP/\d(?:\.\d)?\"?\s+|\bstatus(?:[ _]?code)?[\"\s:=]+|\b(?:GET|POST|PUT|DELETE|PATCH|HEAD)\s+\S+\s+)"
    r"([1-5])\d\d\b"
)
"""The class of an HTTP status that the text states: the miner keeps it apart as well."""
_MASKED_CHARACTERS = 500
_TRACE_ROWS = 10
"""Rows looked at for each line of a trace that is wanted."""


def sample(session: Session, compiler: Compiler, rows: Rows, query: LogQuery, size: tuple[int, int]) -> Sample:
    """Group all matches by (service, severity, status class, mask, bucket); `size` is the limit and the buckets.

    Where that makes too many groups, buckets are merged first (weights stay exact), then masks by their first words,
    and at last only the most frequent and the rarest groups are kept.
    """
    limit, buckets = size
    with session() as run:
        _group(run, compiler, query, buckets)
        total = int(run("sample: total", "SELECT coalesce(sum(n), 0) FROM grouped", ())[0][0])
        mask, exact = _coarsened(run, limit)
        width = _widened(run, mask, limit, buckets)
        chosen = run("sample: groups", _choice_sql(mask, width, limit), ())
        by_rowid = {group[0]: group[1:] for group in chosen}
        ids = ", ".join(map(str, by_rowid)) or "NULL"
        fetched = run(
            "sample: records", f"SELECT {rows.select} FROM logs WHERE rowid IN ({ids}) ORDER BY ts, rowid", ()
        )
    weighted = []
    for row in fetched:
        count, first, last = by_rowid[row[0]]
        weighted.append(WeightedRecord(rows.record(row), float(count), _aware(first), _aware(last)))
    return Sample(tuple(weighted), total, exact and sum(group[1] for group in chosen) == total)


def traced(run: Run, compiler: Compiler, query: LogQuery, size: tuple[int, int, int]) -> Condition | None:
    """Matches that belong to the sampled trace ids; `size` is slices, ids and lines. None: there are no trace ids.

    Ids are taken in turn from each slice (that of their first line), as long as all their lines fit.
    """
    _, _, lines = size
    trace = compiler.text("trace_id")
    if trace is None:
        return None
    where = compiler.query(query)
    found = _trace_ids(run, trace, both(where, _some(compiler, trace, lines)), query, size)
    found = found or _trace_ids(run, trace, where, query, size)
    if not found:
        return None
    marks = ", ".join("?" for _ in found)
    return both(where, Condition(f"coalesce({trace} IN ({marks}), false)", tuple(found)))


def _some(compiler: Compiler, trace: str, lines: int) -> Condition:
    """A share of the ids, the same ones always: grouping all ids of a large table would take longer than all else."""
    rows = max((end for _, end in compiler.ranges.values()), default=0)
    share = rows // (_TRACE_ROWS * lines)
    return Condition(f"hash({trace}) % {share} = 0") if share > 1 else TRUE


def _trace_ids(run: Run, trace: str, where: Condition, query: LogQuery, size: tuple[int, int, int]) -> list[object]:
    slices, ids, lines = size
    span = max(1, round(query.window.seconds * 1_000_000 / slices))
    start = naive(query.window.start)
    found = run(
        "trace ids",
        "SELECT trace FROM (SELECT trace, turn, slice, sum(n) OVER (ORDER BY turn, slice) AS lines FROM ("
        "SELECT trace, slice, n, row_number() OVER (PARTITION BY slice ORDER BY hash(trace), trace) AS turn FROM ("
        f"SELECT {trace} AS trace, min((epoch_us(ts) - epoch_us(CAST(? AS TIMESTAMP))) // {span}) AS slice, "
        f"count(*) AS n FROM logs WHERE {where.sql} AND {trace} IS NOT NULL GROUP BY 1))) "
        "WHERE lines <= ? ORDER BY turn, slice LIMIT ?",
        [start, *where.values, lines, ids],
    )
    return [row[0] for row in found]


def _group(run: Run, compiler: Compiler, query: LogQuery, buckets: int) -> None:
    """Make the table of the finest groups."""
    where = compiler.query(query)
    service = compiler.text("service") or "NULL"
    message = compiler.text("message") or compiler.text("error_message") or "NULL"
    width = max(1, round(query.window.seconds * 1_000_000 / buckets))
    run(
        "sample: group",
        "CREATE OR REPLACE TEMP TABLE grouped AS "
        f"SELECT {service} AS service, sev, coalesce(status // 100, 0) || ' ' || coalesce(regexp_extract("
        f"left({message}, {_MASKED_CHARACTERS}), {literal(STATUS)}, 1, 'i'), '') AS class, "
        f"regexp_replace(left({message}, {_MASKED_CHARACTERS}), {literal(MASK)}, '<*>', 'g') AS mask, "
        f"(epoch_us(ts) - epoch_us(CAST(? AS TIMESTAMP))) // {width} AS bucket, "
        "count(*) AS n, min(ts) AS first, max(ts) AS last, arg_min(rowid, ts) AS id "
        f"FROM logs WHERE {where.sql} GROUP BY 1, 2, 3, 4, 5",
        [naive(query.window.start), *where.values],
    )


def _coarsened(run: Run, limit: int) -> tuple[str, bool]:
    """SQL of the mask to group by, and whether it is the full mask."""
    for words in (0, 8, 4):
        mask = f"array_to_string(string_split(mask, ' ')[:{words}], ' ')" if words else "mask"
        if _groups(run, f"service, sev, class, {mask}") <= limit:
            return mask, not words
    return "mask", False


def _widened(run: Run, mask: str, limit: int, buckets: int) -> int:
    """How many buckets to take as one."""
    for width in (1, 2, 3, 4, 6, 10, 15, 20, 30):
        if width < buckets and _groups(run, f"service, sev, class, {mask}, bucket // {width}") <= limit:
            return width
    return buckets


def _groups(run: Run, key: str) -> int:
    return int(run("sample: size", f"SELECT count(*) FROM (SELECT DISTINCT {key} FROM grouped)", ())[0][0])


def _choice_sql(mask: str, width: int, limit: int) -> str:
    """One row a group: row id, count, first, last. Too many groups: half the most frequent, half the rarest."""
    return (
        "SELECT id, n, first, last FROM (SELECT *, count(*) OVER () AS groups, "
        "row_number() OVER (ORDER BY n DESC, id) AS common, "
        "row_number() OVER (ORDER BY n, sev DESC NULLS LAST, id) AS rare FROM ("
        "SELECT any_value(sev) AS sev, sum(n)::BIGINT AS n, min(first) AS first, max(last) AS last, "
        f"arg_min(id, first) AS id FROM grouped GROUP BY service, grouped.sev, class, {mask}, bucket // {width})) "
        f"WHERE groups <= {limit} OR common <= {limit - limit // 2} OR rare <= {limit // 2}"
    )


def _aware(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC)
