"""Rows of single events: key fields, the message whole, identical neighbours folded; or each step with its gap."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby

from logagent.evidence import Claim, EvidenceQuery, Figure
from logagent.logs import LogRecord, RecordId, TimeWindow
from logagent.query import LogQuery, to_text
from logagent.tools._asked import clock
from logagent.tools._base import Row

_ONCE = 1
_MANY = 6
"""Alike lines from which a run is told as one row, of however many requests."""
_TWICE = 2.0
_TRACES = 3
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_TRACE = 8
_STEP_LIMIT = 160
"""Most characters of a line that only surrounds another."""
_NOTICED = 0.001
WHOLE = 4_000
"""Most characters of a line that is read alone."""
_HERE = "<- this row"


def rows(records: Sequence[LogRecord], query: LogQuery, trace: str) -> tuple[Row, ...]:
    """One row for each run of alike neighbours, in the order given; of a `trace` each line, with the time before it."""
    places: dict[str, str] = {}
    if trace:
        return _stepped(records, query, trace)
    return tuple(_row(group, query, _place(group[0], places)) for group in _folded(records))


def last_times(records: Sequence[LogRecord], trace: str) -> list[datetime | None]:
    """When the last line of each of these rows was written."""
    groups = [[record] for record in records] if trace else _folded(records)
    return [group[-1].timestamp for group in groups]


def steps(records: Sequence[LogRecord], query: LogQuery, *, at: RecordId, trace: str) -> tuple[tuple[Row, ...], int]:
    """One row for each line with the time since the line before it, and the place of `at` among them.

    `trace` is that of all lines, said once by the caller, or "".
    """
    focus = next((place for place, record in enumerate(records) if record.id == at), 0)
    found = [
        replace(row, after=_HERE if record.id == at else "", limit=0 if record.id == at else _STEP_LIMIT)
        for row, record in zip(_stepped(records, query, trace), records, strict=True)
    ]
    return tuple(found), focus


def _stepped(records: Sequence[LogRecord], query: LogQuery, trace: str) -> tuple[Row, ...]:
    """Each line with the time since the one before it in time, whatever the order of the rows."""
    places: dict[str, str] = {}
    falling = len(records) > 1 and (records[0].timestamp or _LONG_AGO) > (records[-1].timestamp or _LONG_AGO)
    before: Sequence[LogRecord | None] = [*records[1:], None] if falling else [None, *records[:-1]]
    found = []
    for record, earlier in zip(records, before, strict=True):
        row = _row([record], query, _place(record, places), trace=trace)
        clocked, _, rest = row.text.partition(" ")
        gap = _gap(earlier.timestamp if earlier else None, record.timestamp)
        found.append(replace(row, text=f"{clocked} {gap}{rest}"))
    return tuple(found)


def _gap(before: datetime | None, at: datetime | None) -> str:
    """`+5.157s ` where the line came noticeably later than the one before."""
    seconds = (at - before).total_seconds() if before and at else 0.0
    return f"+{seconds:.3f}s " if seconds >= _NOTICED else ""


def _place(record: LogRecord, places: dict[str, str]) -> str:
    """Pod or host of a line; "" where it is the same as in the row of that service before."""
    place = record.pod or record.host
    if places.get(record.service) == place:
        return ""
    places[record.service] = place
    return place


def _folded(records: Iterable[LogRecord]) -> Iterator[list[LogRecord]]:
    """Runs of lines that say the same; few of them only where they are of one request and took as long."""
    for _, alike in groupby(records, _alike):
        group = list(alike)
        if len(group) >= _MANY:
            yield group
            continue
        part = group[:1]
        for record in group[1:]:
            if record.trace_id != part[0].trace_id or not _as_long(record, part):
                yield part
                part = []
            part.append(record)
        yield part


def _as_long(record: LogRecord, group: Iterable[LogRecord]) -> bool:
    """Whether no two of these durations differ by more than twice."""
    times = [one.duration_ms for one in (*group, record) if one.duration_ms is not None]
    return not times or max(times) <= _TWICE * min(times)


def _alike(record: LogRecord) -> tuple[object, ...]:
    place = record.pod or record.host
    return (
        record.service, place, record.level, record.error_type, record.status, record.message, record.error_message
    )  # fmt: skip


def _row(group: list[LogRecord], query: LogQuery, place: str, *, trace: str = "") -> Row:
    record, last = group[0], group[-1]
    after = f"x {len(group)}" if len(group) > _ONCE else ""
    if after and last.timestamp is not None:
        after += f" until {clock(last.timestamp, query.window)}"
    traces = list(dict.fromkeys(one.trace_id for one in group if one.trace_id))
    if len(traces) > 1:
        after += f", {len(traces)} traces: {', '.join(map(_short, traces[:_TRACES]))}"
    one = len(traces) == 1 and record.trace_id != trace
    text = told(record, query.window, place, took=_took(group), trace=one)
    return Row(text, said(record), _claim(record, query), record.service, after)


def _took(group: list[LogRecord]) -> str:
    """`30 ms`, or the range of a run: `4..6,885 ms`."""
    times = [record.duration_ms for record in group if record.duration_ms is not None]
    if not times:
        return ""
    low, high = f"{min(times):,.0f}", f"{max(times):,.0f}"
    return f"{high} ms" if low == high else f"{low}..{high} ms"


def told(record: LogRecord, window: TimeWindow, place: str, *, took: str, trace: bool) -> str:
    """Time, place, level, error class, and what else marks the event."""
    parts = [
        clock(record.timestamp, window) if record.timestamp else f"line {record.id.id}",
        record.service,
        place,
        record.level.upper() or (record.severity.word.upper() if record.severity is not None else ""),
        record.error_type,
        f"status {record.status}" if record.status is not None else "",
        took,
        f"v{record.version}" if record.version else "",
        f"trace {_short(record.trace_id)}" if trace and record.trace_id else "",
    ]
    return " ".join(part for part in parts if part)


def _short(trace: str) -> str:
    """A trace id that a query still finds: its first 8 characters and a star."""
    return trace if len(trace) <= _TRACE + 1 else f"{trace[:_TRACE]}*"


def said(record: LogRecord) -> str:
    """The message, then what the error fields and the innermost cause of the stack add."""
    parts = [record.message]
    if record.error_message and record.error_message not in record.message:
        parts.append(record.error_message)
    if record.stack:
        parts += [cause for cause in _causes(record.stack) if not _told_already(cause, parts, record.error_type)]
    return " | ".join(part for part in parts if part)


def whole(record: LogRecord) -> str:
    """All that a line says: its message, what the error fields add, and the whole stack."""
    parts = [record.message]
    for more in (record.error_message, record.stack):
        parts += [more] if more and more not in record.message else []
    return " | ".join(part for part in parts if part)


def alone(record: LogRecord, query: LogQuery) -> Row:
    """One line with nothing around it, in full up to `WHOLE` characters."""
    row = _row([record], query, _place(record, {}))
    return replace(row, quote=whole(record), limit=WHOLE, whole=True)


def _told_already(cause: str, parts: list[str], error_type: str) -> bool:
    """Whether a line of the stack adds nothing: it is part of the message, or only the class and the message again."""
    rest = cause.removeprefix(error_type).lstrip(": ") if error_type else cause
    return any(rest in part or cause in part for part in parts)


def _causes(stack: str) -> list[str]:
    """First line of a stack and its innermost `Caused by`."""
    lines = stack.strip().split("\n")
    caused = [line.strip() for line in lines if line.lstrip().startswith("Caused by")]
    return [lines[0].strip(), *caused[-1:]]


def _claim(record: LogRecord, query: LogQuery) -> Claim:
    name = record.service or record.host or record.id.source
    return Claim(
        "sample",
        f"{name}: {record.message}",
        EvidenceQuery(to_text(query.node), query.window, Figure("documents"), query.indices),
        samples=(record,),
        service=record.service,
        onset=record.timestamp,
        sample_only=True,
    )
