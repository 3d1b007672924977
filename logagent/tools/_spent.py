"""Where time is spent: durations of requests, or the gaps between lines of one request, as quantiles over time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from logagent.analysis.statistics import quantile
from logagent.errors import ToolError
from logagent.evidence import Claim, EvidenceQuery, Figure
from logagent.fields import FieldMap
from logagent.logs import Completeness, LogRecord, instant
from logagent.query import Exists, LogQuery, Phrase, conjunction, to_text
from logagent.stores._base import PAGE_LIMIT, LogStore
from logagent.tools._asked import Asked, clock, number
from logagent.tools._base import Answer, Row, ToolContext
from logagent.tools._nothing import explain

Spent = Literal["duration", "gap"]
MOST_READ = 4 * PAGE_LIMIT
"""Most lines that are read for one answer."""
_NEEDS: dict[Spent, str] = {"duration": "duration", "gap": "trace_id"}
_NONE = "all"


@dataclass(slots=True)
class _Group:
    """The times of one value, in milliseconds, by bucket; and its slowest line."""

    name: str
    value: str
    times: list[float] = field(default_factory=list)
    buckets: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    most: float = -1.0
    slowest: LogRecord | None = None

    def add(self, ms: float, bucket: int, record: LogRecord) -> None:
        """Take in one time."""
        if ms > self.most:
            self.most, self.slowest = ms, record
        self.times.append(ms)
        self.buckets[bucket].append(ms)


@dataclass(frozen=True, slots=True)
class _Time:
    """One time: whose it is, under which name it is told, how long, and the line that ends it."""

    value: str
    name: str
    ms: float
    record: LogRecord


def spent(kind: Spent, split: str, size: int, asked: Asked, context: ToolContext, *, step: int) -> Answer:
    """One row a value of `split`: how many, p50, p95, most, and p95 per bucket; most time spent first.

    Raises:
        ToolError: no field holds what is asked for.
    """
    role = _NEEDS[kind]
    if not context.fields.roles.get(role):
        raise ToolError(f"no field plays {role} here: measure {kind} cannot be told; leave measure out for counts")
    query = LogQuery(asked.window, conjunction(asked.query.node, Exists(role)), asked.query.indices)
    records, whole, completeness = _read(context.store, query)
    times = _durations(records, split, context.fields) if kind == "duration" else _gaps(records, split, context.fields)
    groups: dict[str, _Group] = {}
    for one in times:
        group = groups.setdefault(one.name, _Group(one.name, one.value))
        at = one.record.timestamp
        group.add(one.ms, int(at.timestamp() // step) if at else 0, one.record)
    if not groups:
        return Answer(f"0 {kind}s: {asked.said(completeness)}", tail=explain(asked, context))
    first = int(asked.window.start.timestamp() // step)
    last = max(first, int((asked.window.end.timestamp() - 1e-6) // step))
    what = "duration" if kind == "duration" else "time since the line before of the same trace, among matching lines"
    head = f"{what} in ms, p95 per {step} s, buckets from {clock(instant(first * step), asked.window)}"
    head += f", by {split}" if split else ""
    head += "" if whole else f"; ONLY THE FIRST {MOST_READ:,} LINES were read: narrow the window or the query"
    ordered = sorted(groups.values(), key=lambda group: -sum(group.times))
    rows = tuple(
        _row(group, query, split if kind == "duration" else "", range(first, last + 1)) for group in ordered[:size]
    )
    more = f"{len(ordered) - size} more with less time in all" if len(ordered) > size else ""
    return Answer(f"{head}: {asked.said(completeness)}", rows, more)


def _read(store: LogStore, query: LogQuery) -> tuple[list[LogRecord], bool, Completeness]:
    """Matching lines, oldest first, whether these are all, and how complete the answers were."""
    page = store.scan(query)
    records = list(page.records)
    while page.cursor is not None and len(records) < MOST_READ:
        page = store.scan(query, cursor=page.cursor)
        records += page.records
    return records, page.cursor is None, page.completeness


def _durations(records: Iterable[LogRecord], split: str, fields: FieldMap) -> Iterator[_Time]:
    for record in records:
        if record.duration_ms is not None:
            value = _value(record, split, fields)
            yield _Time(value, value, record.duration_ms, record)


def _gaps(records: Iterable[LogRecord], split: str, fields: FieldMap) -> Iterator[_Time]:
    """Between two neighbours of one trace; told as `a -> b` where their values differ."""
    before: dict[str, LogRecord] = {}
    for record in records:
        if not record.trace_id or record.timestamp is None:
            continue
        old = before.get(record.trace_id)
        before[record.trace_id] = record
        if old is None or old.timestamp is None:
            continue
        value, come = _value(record, split, fields), _value(old, split, fields)
        ms = (record.timestamp - old.timestamp).total_seconds() * 1000
        yield _Time(value, value if come == value else f"{come} -> {value}", ms, record)


def _value(record: LogRecord, split: str, fields: FieldMap) -> str:
    """The value of a role or field in a record, `-` where it has none."""
    if not split:
        return _NONE
    told = getattr(record, split, None)
    if told is None:
        names = [choice.name for choice in fields.roles.get(split, ())]
        told = next((record.fields[name] for name in (*names, split) if name in record.fields), None)
    return str(told) if told not in {None, ""} else "-"


def _row(group: _Group, query: LogQuery, split: str, buckets: range) -> Row:
    times = group.times
    figures = f"p50 {number(quantile(times, 0.5))} p95 {number(quantile(times, 0.95))} max {number(group.most)} ms"
    shape = " ".join(
        f"{quantile(group.buckets[place], 0.95):.0f}" if group.buckets.get(place) else "-" for place in buckets
    )
    return Row(f"{group.name}: {number(len(times))}, {figures} | {shape}", claim=_claim(group, query, split, figures))


def _claim(group: _Group, query: LogQuery, split: str, figures: str) -> Claim:
    """The slowest line stands for the row: get_log_context shows where its time went."""
    slowest = group.slowest
    node = conjunction(query.node, Phrase(split, group.value)) if split and group.value != "-" else query.node
    return Claim(
        "sample",
        f"{group.name}: {figures}",
        EvidenceQuery(to_text(node), query.window, Figure("documents"), query.indices),
        samples=(slowest,) if slowest is not None else (),
        service=slowest.service if slowest is not None else "",
        onset=slowest.timestamp if slowest is not None else None,
        sample_only=True,
    )
