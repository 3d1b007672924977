"""Rows of single events: key fields, the message whole, identical neighbours folded."""

from collections.abc import Iterable, Iterator

from logagent.evidence import EvidenceQuery, Figure
from logagent.logs import LogRecord, TimeWindow
from logagent.query import LogQuery, to_text
from logagent.tools._asked import clock
from logagent.tools._base import Claim, Row

_ONCE = 1
_TRACE = 8


def rows(records: Iterable[LogRecord], query: LogQuery) -> tuple[Row, ...]:
    """One row for each run of alike neighbours, in the order given."""
    return tuple(_row(group, query) for group in _folded(records))


def _folded(records: Iterable[LogRecord]) -> Iterator[list[LogRecord]]:
    group: list[LogRecord] = []
    for record in records:
        if group and _alike(group[0]) != _alike(record):
            yield group
            group = []
        group.append(record)
    if group:
        yield group


def _alike(record: LogRecord) -> tuple[str, ...]:
    return record.service, record.level, record.error_type, record.message, record.error_message


def _row(group: list[LogRecord], query: LogQuery) -> Row:
    record, last = group[0], group[-1]
    after = f"x {len(group)}" if len(group) > _ONCE else ""
    if after and last.timestamp is not None:
        after += f" until {clock(last.timestamp, query.window)}"
    return Row(told(record, query.window), said(record), _claim(record, query), record.service, after)


def told(record: LogRecord, window: TimeWindow) -> str:
    """Time, place, level, error class, and what else marks the event."""
    parts = [
        clock(record.timestamp, window) if record.timestamp else f"line {record.id.id}",
        record.service,
        record.pod or record.host,
        record.level.upper() or (record.severity.word.upper() if record.severity is not None else ""),
        record.error_type,
        f"status {record.status}" if record.status is not None else "",
        f"{record.duration_ms:,.0f} ms" if record.duration_ms is not None else "",
        f"v{record.version}" if record.version else "",
        f"trace {_short(record.trace_id)}" if record.trace_id else "",
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
