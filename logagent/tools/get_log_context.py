"""The lines around one row of evidence, or that line alone and in full."""

from collections.abc import Callable
from datetime import timedelta
from typing import Literal

from pydantic import Field

from logagent.errors import ToolError
from logagent.evidence import Evidence
from logagent.logs import LogRecord, TimeWindow, iso
from logagent.query import All, LogQuery, Node, Phrase, parse, to_text
from logagent.stores._base import Measure, SearchPage
from logagent.tools._asked import complete
from logagent.tools._base import Answer, ReadArgs, Tool, ToolContext, most
from logagent.tools._joined import Joined, joined
from logagent.tools._rows import alone, steps

_ROLES = {"trace": "trace_id", "host": "host", "pod": "pod", "service": "service"}
_QUERY_LENGTH = 8_000
MOST = 100
_TICK = timedelta(milliseconds=1)


class ContextArgs(ReadArgs):
    """Arguments of get_log_context."""

    evidence_id: str = Field(description="E.g. E7.")
    same: Literal["trace", "host", "pod", "service", "all"] | None = Field(
        None, description="Default: trace if the line has one, else pod, host or service."
    )
    size: int = most(20, MOST, "1: that line, whole")


def get_log_context(args: ContextArgs, context: ToolContext) -> Answer:
    """What came before and after a line, in order, from the same trace, pod, host or service."""
    row = context.ledger.get(args.evidence_id.strip().strip("[]"))
    if row is None:
        last = list(context.ledger.rows)[-1] if context.ledger.rows else "none yet"
        raise ToolError(f"{args.evidence_id[:20]} was not issued in this run; ids go up to {last}")
    record = _record(row, context)
    joins = joined(context) if record.trace_id and args.same in {None, "trace"} else Joined()
    same, node = _same(args.same, record, joins)
    query = context.scope.query(node, context.scope.reach)
    if args.size == 1:
        return Answer(f"the line of {row.id}", (alone(record, query),))
    page = context.store.around(record.id, query, limit=args.size)
    around, focus = steps(page.records, query, at=record.id, trace=record.trace_id if same.startswith("trace ") else "")
    head = f"{len(page.records)} lines around {row.id}, same {same}, oldest first, +s = since the line before"
    partly = "; ".join(part for part in (complete(page.completeness), joins.note) if part)
    left_out = _left_out(page, query, (same, node), args.size, context)
    return Answer(f"{head}; {partly}" if partly else head, around, focus=focus, left_out=left_out)


def _left_out(
    page: SearchPage, query: LogQuery, same: tuple[str, Node], size: int, context: ToolContext
) -> Callable[[int, int], str]:
    """At both ends of the lines: whether what they have in common goes on there, and the call that reads it."""
    records, (name, node) = page.records, same
    before = _before(page, query, size, context)
    behind = max(0, page.total - len(records) - before)
    what = name.split(" ")[0]
    where = "" if isinstance(node, All) else f" query {to_text(node)}"
    reach, window = context.scope.reach, context.scope.window
    first = f"start_time {iso(reach.start)} " if reach.start < window.start else ""
    last = f" end_time {iso(reach.end)}" if reach.end > window.end else ""

    def left_out(start: int, end: int) -> str:
        if start == 0 and (end < len(records) or not records):
            number, told = before + end, f"{what} begins here: nothing earlier"
            at = records[end].timestamp if records else None
            call = f" {first}end_time {iso(at + _TICK)}" if at else ""
        else:
            number, told = behind + end - start, f"{what} ends here: nothing later"
            at = records[start - 1].timestamp
            call = f" order oldest start_time {iso(at)}{last}" if at else ""
        side = "before" if start == 0 else "follow"
        return f"{number:,} lines {side}: search_logs{where}{call}" if number else told

    return left_out


def _before(page: SearchPage, query: LogQuery, size: int, context: ToolContext) -> int:
    """How many matches lie before the first line of a page."""
    first = page.records[0].timestamp if page.records else None
    if first is None or page.total <= len(page.records) or len(page.records) < size // 2:
        return 0
    end = min(first + _TICK, query.window.end)
    earlier = LogQuery(TimeWindow(query.window.start, end), query.node, query.indices)
    found = context.store.count([Measure(earlier)]).values[0].value
    shown = sum(record.timestamp is not None and record.timestamp < end for record in page.records)
    return max(0, found - shown) if isinstance(found, int) else 0


def _record(row: Evidence, context: ToolContext) -> LogRecord:
    """The row's own line, else the first line its query matches."""
    if row.samples:
        return row.samples[0]
    query = LogQuery(row.query.window, parse(row.query.text, max_length=_QUERY_LENGTH), row.query.indices)
    found = context.store.search(query, limit=1, order="oldest").records
    if not found:
        raise ToolError(f"{row.id} has no line to look around: its query matches none now")
    return found[0]


def _same(wanted: str | None, record: LogRecord, joins: Joined) -> tuple[str, Node]:
    """The filter for one trace, pod, host or service."""
    if wanted == "all":
        return "scope", All()
    values = {name: str(getattr(record, role)) for name, role in _ROLES.items()}
    order = [wanted] if wanted else ["trace", "pod", "host", "service"]
    for name in order:
        if values[name]:
            node = joins.of(record) if name == "trace" else Phrase(_ROLES[name], values[name])
            return f"{name} {values[name]}", node
    if wanted:
        there = [name for name, value in values.items() if value]
        raise ToolError(f"this line has no {wanted}; same: {', '.join([*there, 'all'])}")
    return "scope", All()


TOOL = Tool(
    ContextArgs,
    get_log_context,
    "The lines around one evidence row, in order, with gaps. Use it to see what led to a line, or which step was slow.",
)
