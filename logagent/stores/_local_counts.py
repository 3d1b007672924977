# ruff: noqa: S608 - names come from the loaded columns only, values are parameters
"""Figures over the table: measures, timelines, top values. One statement a call."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from logagent.logs import Bucket, TermCount, TimeWindow
from logagent.query import LogQuery
from logagent.stores._base import FieldCounts, Measure, Measured, MeasuredSet, Series, Timeline, TopValues
from logagent.stores._local_sql import Compiler, Condition, both

Run = Callable[[str, str, Sequence[object]], list[tuple[Any, ...]]]

MOST_MEASURES = 100
MOST_BUCKETS = 500
MOST_VALUES = 50
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def measure(run: Run, compiler: Compiler, measures: Sequence[Measure]) -> MeasuredSet:
    """All figures in one scan for each 100 measures."""
    if not measures:
        return MeasuredSet(())
    if len(measures) > MOST_MEASURES:
        first = measure(run, compiler, measures[:MOST_MEASURES])
        return MeasuredSet((*first.values, *measure(run, compiler, measures[MOST_MEASURES:]).values))
    nodes = list(dict.fromkeys(_rest(compiler, one.query) for one in measures))
    windows = [compiler.window(one.query.window) for one in measures]
    parts = [
        f"{_figure(compiler, one)} FILTER ({window.sql} AND n{nodes.index(_rest(compiler, one.query))})"
        for one, window in zip(measures, windows, strict=True)
    ]
    tests = ", ".join(f"{node.sql} AS n{index}" for index, node in enumerate(nodes))
    hull = _hull(compiler, [one.query for one in measures])
    values = [value for part in (*windows, *nodes, hull) for value in part.values]
    row = run("count", f"SELECT {', '.join(parts)} FROM (SELECT *, {tests} FROM logs WHERE {hull.sql})", values)[0]
    return MeasuredSet(tuple(Measured(_aware(value) if isinstance(value, datetime) else value) for value in row))


def over_time(run: Run, compiler: Compiler, queries: Sequence[LogQuery], interval: int) -> Timeline:
    """One series a query, all over the same buckets."""
    if not 1 <= len(queries) <= MOST_MEASURES:
        raise ValueError(f"1 to {MOST_MEASURES} queries are needed, not {len(queries)}")
    window = queries[0].window
    if any(query.window != window for query in queries):
        raise ValueError("all queries of a timeline need the same window")
    starts = _starts(window, interval)
    conditions = [compiler.query(query) for query in queries]
    counts = ", ".join(f"count(*) FILTER ({where.sql})" for where in conditions)
    hull = compiler.window(window)
    values = [value for where in conditions for value in where.values]
    rows = run(
        "timeline",
        f"SELECT {_bucket_sql(interval)}, {counts} FROM logs WHERE {hull.sql} GROUP BY 1",
        [*values, *hull.values],
    )
    found = {row[0]: row[1:] for row in rows}
    empty = (0,) * len(queries)
    series = tuple(
        Series(
            "",
            tuple(Bucket(_EPOCH + timedelta(seconds=at), found.get(at, empty)[index]) for at in starts),
        )
        for index in range(len(queries))
    )
    return Timeline(interval, series)


def split_over_time(run: Run, compiler: Compiler, queries: Sequence[LogQuery], split: tuple[int, str, int]) -> Timeline:
    """One series for each of the most frequent values; `split` is interval, role or field, number of values."""
    interval, name, size = split
    if len(queries) != 1:
        raise ValueError("a split takes one query")
    starts = _starts(queries[0].window, interval)
    where, value = compiler.query(queries[0]), value_sql(compiler, name)
    rows = run(
        "timeline",
        f"SELECT value, bucket, n FROM (SELECT {value} AS value, {_bucket_sql(interval)} AS bucket, count(*) AS n, "
        f"sum(count(*)) OVER (PARTITION BY {value}) AS total FROM logs WHERE {where.sql} GROUP BY 1, 2) "
        "WHERE value IS NOT NULL QUALIFY dense_rank() OVER (ORDER BY total DESC, value) <= ? "
        "ORDER BY total DESC, value",
        [*where.values, size],
    )
    found: dict[str, dict[int, int]] = {}
    for one, bucket, count in rows:
        found.setdefault(str(one), {})[bucket] = count
    return Timeline(
        interval,
        tuple(
            Series(one, tuple(Bucket(_EPOCH + timedelta(seconds=at), counts.get(at, 0)) for at in starts))
            for one, counts in found.items()
        ),
        over_time(run, compiler, queries, interval).series[0],
    )


def top_values(
    run: Run, compiler: Compiler, query: LogQuery, fields: Sequence[str], wanted: tuple[int, TimeWindow | None]
) -> TopValues:
    """Top values of each field, from one scan; `wanted` is how many, and the window to compare with."""
    size, baseline = wanted
    if not 1 <= size <= MOST_VALUES:
        raise ValueError(f"size must be 1 to {MOST_VALUES}, not {size}")
    rest = both(compiler.sources(query.indices), compiler.node(query.node))
    now = compiler.window(query.window)
    then = compiler.window(baseline) if baseline else Condition("false")
    if not fields:
        return TopValues(())
    picked = ", ".join(f"{value_sql(compiler, name)} AS v{place}" for place, name in enumerate(fields))
    grouped = " UNION ALL ".join(
        f"SELECT {place} AS place, CAST(v{place} AS VARCHAR) AS value, count(*) FILTER (now) AS n, "
        "count(*) FILTER (past) AS before FROM hits GROUP BY 2"
        for place in range(len(fields))
    )
    rows = run(
        f"top values of {', '.join(fields)}",
        f"WITH hits AS MATERIALIZED (SELECT {picked}, {now.sql} AS now, {then.sql} AS past FROM logs "
        f"WHERE ({now.sql} OR {then.sql}) AND {rest.sql}) "
        f"SELECT place, value, n, before FROM ({grouped}) ORDER BY place, n DESC, value",
        [*now.values, *then.values, *now.values, *then.values, *rest.values],
    )
    found: list[list[tuple[Any, ...]]] = [[] for _ in fields]
    for place, *row in rows:
        found[place].append(tuple(row))
    return TopValues(tuple(_field_counts(name, own, size) for name, own in zip(fields, found, strict=True)))


def value_sql(compiler: Compiler, name: str) -> str:
    """SQL of what a field is grouped by: its values as the source writes them."""
    return compiler.text(name) or "NULL"


def _field_counts(name: str, rows: Sequence[tuple[Any, ...]], size: int) -> FieldCounts:
    present = [row for row in rows if row[0] is not None and row[1]]
    return FieldCounts(
        name,
        tuple(TermCount(str(value), count, before) for value, count, before in present[:size]),
        other=sum(row[1] for row in present[size:]),
        missing=sum(row[1] for row in rows if row[0] is None),
    )


def _figure(compiler: Compiler, one: Measure) -> str:
    match one.op:
        case "count":
            return "count(*)"
        case "distinct":
            return f"count(DISTINCT {value_sql(compiler, one.field)})"
        case "first":
            return "min(ts)"
        case "last":
            return "max(ts)"


def _rest(compiler: Compiler, query: LogQuery) -> Condition:
    """A query without its window: alike for many measures, and then tested once."""
    return both(compiler.sources(query.indices), compiler.node(query.node))


def _hull(compiler: Compiler, queries: Sequence[LogQuery]) -> Condition:
    """From the first start to the last end."""
    start = min(query.window.start for query in queries)
    return compiler.window(TimeWindow(start, max(query.window.end for query in queries)))


def _bucket_sql(interval: int) -> str:
    return f"CAST(floor(epoch_us(ts) / {interval * 1_000_000}) * {interval} AS BIGINT)"


def _starts(window: TimeWindow, interval: int) -> range:
    if interval < 1:
        raise ValueError("the interval is at least 1 second")
    first = int(window.start.timestamp() // interval) * interval
    starts = range(first, max(first + 1, -int(-window.end.timestamp() // 1)), interval)
    if len(starts) > MOST_BUCKETS:
        raise ValueError(f"{len(starts)} buckets; a timeline has at most {MOST_BUCKETS}")
    return starts


def _aware(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC)
