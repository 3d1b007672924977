"""The lines around one row of evidence."""

from typing import Literal

from pydantic import Field

from logagent.errors import ToolError
from logagent.evidence import Evidence
from logagent.logs import LogRecord
from logagent.query import All, LogQuery, Node, Phrase, parse
from logagent.tools._asked import complete
from logagent.tools._base import Answer, ReadArgs, Tool, ToolContext
from logagent.tools._rows import steps

_ROLES = {"trace": "trace_id", "host": "host", "pod": "pod", "service": "service"}
_QUERY_LENGTH = 8_000


class ContextArgs(ReadArgs):
    """Arguments of get_log_context."""

    evidence_id: str = Field(description="E.g. E7.")
    same: Literal["trace", "host", "pod", "service", "all"] | None = Field(
        None, description="Default: trace if the line has one, else pod, host or service."
    )
    size: int = Field(20, ge=2, le=100)


def get_log_context(args: ContextArgs, context: ToolContext) -> Answer:
    """What came before and after a line, in order, from the same trace, pod, host or service."""
    row = context.ledger.get(args.evidence_id.strip().strip("[]"))
    if row is None:
        last = list(context.ledger.rows)[-1] if context.ledger.rows else "none yet"
        raise ToolError(f"{args.evidence_id[:20]} was not issued in this run; ids go up to {last}")
    record = _record(row, context)
    same, node = _same(args.same, record)
    query = context.scope.query(node, context.scope.reach)
    page = context.store.around(record.id, query, limit=args.size)
    around, focus = steps(page.records, query, at=record.id, trace=record.trace_id if same.startswith("trace ") else "")
    head = f"{len(page.records)} lines around {row.id}, same {same}, oldest first, +s = since the line before"
    partly = complete(page.completeness)
    return Answer(f"{head}; {partly}" if partly else head, around, focus=focus)


def _record(row: Evidence, context: ToolContext) -> LogRecord:
    """The row's own line, else the first line its query matches."""
    if row.samples:
        return row.samples[0]
    query = LogQuery(row.query.window, parse(row.query.text, max_length=_QUERY_LENGTH), row.query.indices)
    found = context.store.search(query, limit=1, order="oldest").records
    if not found:
        raise ToolError(f"{row.id} has no line to look around: its query matches none now")
    return found[0]


def _same(wanted: str | None, record: LogRecord) -> tuple[str, Node]:
    """The filter for one trace, pod, host or service."""
    if wanted == "all":
        return "scope", All()
    values = {name: str(getattr(record, role)) for name, role in _ROLES.items()}
    order = [wanted] if wanted else ["trace", "pod", "host", "service"]
    for name in order:
        if values[name]:
            return f"{name} {values[name]}", Phrase(_ROLES[name], values[name])
    if wanted:
        there = [name for name, value in values.items() if value]
        raise ToolError(f"this line has no {wanted}; same: {', '.join([*there, 'all'])}")
    return "scope", All()


TOOL = Tool(
    ContextArgs,
    get_log_context,
    "The lines around one evidence row, in order, with gaps. Use it to see what led to a line, or which step was slow.",
)
