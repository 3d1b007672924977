"""Single log lines, newest or oldest first."""

from typing import Literal

from pydantic import Field

from logagent.tools._asked import Asked, ask, number
from logagent.tools._base import Answer, RangeArgs, Tool, ToolContext
from logagent.tools._nothing import explain
from logagent.tools._rows import rows

MOST = 100


class SearchLogsArgs(RangeArgs):
    """Arguments of search_logs."""

    order: Literal["newest", "oldest"] = Field("newest")
    size: int = Field(10, ge=1, le=MOST)


def search_logs(args: SearchLogsArgs, context: ToolContext) -> Answer:
    """Read single lines; each becomes a row of evidence that can be cited."""
    asked = ask(args, context)
    page = context.store.search(asked.query, limit=args.size, order=args.order)
    if not page.records:
        return Answer(f"0 matched: {asked.said(page.completeness)}", tail=explain(asked, context))
    total = f"{'' if page.total_is_exact else 'at least '}{number(page.total)} matched"
    head = f"{total}, {len(page.records)} shown, {args.order} first: {asked.said(page.completeness)}"
    tail = _narrower(asked, context) if page.total > len(page.records) else ""
    return Answer(head, rows(page.records, asked.query), tail)


def _narrower(asked: Asked, context: ToolContext) -> str:
    named = [
        role for role in ("service", "host", "level") if context.fields.knows(role) and f"{role}:" not in asked.text
    ]
    add = f"add {named[0]}:…, " if named else ""
    return f"more: {add}a shorter span, or get_timeline / get_error_stats for counts"


TOOL = Tool(
    SearchLogsArgs,
    search_logs,
    "Reads single log lines. Use it to read what a row means or to find an id. "
    "Not for counting: use get_error_stats or get_timeline.",
)
