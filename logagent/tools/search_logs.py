"""Single log lines, newest or oldest first."""

from collections.abc import Callable
from datetime import timedelta
from typing import Literal

from pydantic import Field

from logagent.logs import iso
from logagent.stores._base import SearchPage
from logagent.tools._asked import Asked, ask, number
from logagent.tools._base import Answer, RangeArgs, Tool, ToolContext, most
from logagent.tools._joined import joined_of
from logagent.tools._nothing import explain
from logagent.tools._rows import last_times, rows

MOST = 100
_TICK = timedelta(milliseconds=1)


class SearchLogsArgs(RangeArgs):
    """Arguments of search_logs."""

    order: Literal["newest", "oldest"] = Field("newest")
    size: int = most(10, MOST)


def search_logs(args: SearchLogsArgs, context: ToolContext) -> Answer:
    """Read single lines; each becomes a row of evidence that can be cited."""
    asked = ask(args, context)
    page = context.store.search(asked.query, limit=args.size, order=args.order)
    if not page.records:
        return Answer(f"0 matched: {asked.said(page.completeness)}", tail=explain(asked, context))
    total = f"{'' if page.total_is_exact else 'at least '}{number(page.total)} matched"
    joins = joined_of(page.records, context)
    trace = joins.one(page.records)
    found = rows(page.records, asked.query, trace)
    head = f"{total}, {len(page.records)} shown, {args.order} first"
    head += ", +s = since the line before" if trace else ""
    head += f": {'; '.join(part for part in (asked.said(page.completeness), joins.note) if part)}"
    rest = _rest(page, args, trace, asked, context)
    if not trace:
        return Answer(head, found, rest=rest)
    return Answer(head, found, rest=rest, ends=True, left_out=_middle(page))


def _middle(page: SearchPage) -> Callable[[int, int], str]:
    """Of one trace the first and the last lines tell most; the call that gets those between."""

    def left_out(start: int, end: int) -> str:
        if not 0 < start < end < len(page.records):
            return ""
        first, last = page.records[start].timestamp, page.records[end - 1].timestamp
        if first is None or last is None:
            return ""
        first, last = min(first, last), max(first, last)
        get = f"the same with start_time {iso(first)} end_time {iso(last + _TICK)} size {min(MOST, end - start + 1)}"
        return f"... {end - start} lines left out: {get}"

    return left_out


def _rest(
    page: SearchPage, args: SearchLogsArgs, trace: str, asked: Asked, context: ToolContext
) -> Callable[[int], str]:
    """The call that goes on behind the last row that fits: its millisecond once more, so that none is left out."""
    times = last_times(page.records, trace)

    def rest(shown: int) -> str:
        if shown >= len(times) and page.total <= len(page.records):
            return ""
        at = times[shown - 1]
        if at is None:
            return f"more: {_narrower(asked, context)}"
        go_on = f"end_time {iso(at + _TICK)}" if args.order == "newest" else f"start_time {iso(at)}"
        if trace and page.total <= MOST:
            return f"more: the same with size {page.total}, or {go_on}"
        return f"more: the same with {go_on}; or {_narrower(asked, context)}"

    return rest


def _narrower(asked: Asked, context: ToolContext) -> str:
    named = [
        role for role in ("service", "host", "level") if context.fields.knows(role) and f"{role}:" not in asked.text
    ]
    add = f"add {named[0]}:…, " if named else ""
    return f"{add}a shorter span, or get_timeline / get_error_stats for counts"


TOOL = Tool(
    SearchLogsArgs,
    search_logs,
    "Reads single log lines. Use it to read what a row means or to find an id. "
    "Not for counting: use get_error_stats or get_timeline.",
)
