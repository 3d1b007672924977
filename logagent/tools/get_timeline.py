"""Counts over time, in all or for each value of a field."""

from typing import Literal

from pydantic import Field

from logagent.errors import ToolError
from logagent.evidence import Claim, Figure
from logagent.logs import TimeWindow
from logagent.query import Phrase, conjunction
from logagent.stores._base import Series
from logagent.tools._asked import Asked, ask, cited, clock, number
from logagent.tools._base import Answer, RangeArgs, Row, Tool, ToolContext, most
from logagent.tools._nothing import explain
from logagent.tools._shape import shape
from logagent.tools._spent import MOST_ROWS, spent

_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800)
_BUCKETS, _SPLIT_BUCKETS, _MOST_BUCKETS = 60, 30, 120


class TimelineArgs(RangeArgs):
    """Arguments of get_timeline."""

    split_by: str | None = Field(None, description="A role or field: one series a value.")
    interval_seconds: int | None = Field(None, ge=1)
    size: int = most(8, MOST_ROWS)
    measure: Literal["count", "duration", "gap"] = Field(
        "count", description="duration, gap: ms now and before; gap: between lines of a trace, by pair."
    )


def get_timeline(args: TimelineArgs, context: ToolContext) -> Answer:
    """One row a series: total, first and last bucket with events, peak, and the counts."""
    asked = ask(args, context)
    if args.split_by and not context.fields.knows(args.split_by):
        known = [role for role in context.fields.roles if role not in {"timestamp", "message"}]
        raise ToolError(
            f"unknown field {args.split_by!r}; split_by: {', '.join(known)}, or a field of list_log_sources"
        )
    step, note = _step(asked.window, args)
    if args.measure != "count":
        return spent(args.measure, args.split_by or "", args.size, asked, context, step=step)
    found = context.store.count_over_time(
        [asked.query], interval_seconds=step, split=args.split_by or "", size=args.size
    )
    series = [one for one in found.series if any(bucket.count for bucket in one.buckets)]
    if not series:
        return Answer(f"0 events: {asked.said(found.completeness)}", tail=explain(asked, context))
    head = f"events per {step} s{note}, buckets from {clock(found.series[0].buckets[0].at, asked.window)}"
    head += f", by {args.split_by}" if args.split_by else ""
    rows = tuple(_row(one, args.split_by or "", asked) for one in series)
    return Answer(f"{head}: {asked.said(found.completeness)}", rows, _more(args, len(series)))


def _more(args: TimelineArgs, rows: int) -> str:
    if not args.split_by or rows < args.size:
        return ""
    wider = f"size up to {MOST_ROWS}, or " if args.size < MOST_ROWS else ""
    return f"the {args.size} most frequent values; more: {wider}query NOT {args.split_by}:(…)"


def _step(window: TimeWindow, args: TimelineArgs) -> tuple[int, str]:
    most = _SPLIT_BUCKETS if args.split_by or args.measure != "count" else _BUCKETS
    if args.interval_seconds is not None:
        if window.seconds / args.interval_seconds <= _MOST_BUCKETS:
            return args.interval_seconds, ""
        most = _MOST_BUCKETS
    step = next((step for step in _STEPS if window.seconds / step <= most), _STEPS[-1])
    return step, f" (widened from {args.interval_seconds} s)" if args.interval_seconds else ""


def _row(series: Series, split: str, asked: Asked) -> Row:
    total = sum(bucket.count for bucket in series.buckets)
    busy = [bucket for bucket in series.buckets if bucket.count]
    peak = max(busy, key=lambda bucket: bucket.count)
    name = series.name if split else "all"
    node = conjunction(asked.query.node, Phrase(split, series.name)) if split else asked.query.node
    ends = (
        f"first {clock(busy[0].at, asked.window)}, last {clock(busy[-1].at, asked.window)}, "
        f"peak {number(peak.count)} at {clock(peak.at, asked.window)}"
    )
    query = type(asked.query)(asked.query.window, node, asked.query.indices)
    claim = Claim(
        "count",
        f"{name}: events over time ({asked.text}), {ends}",
        cited(query, Figure("count")),
        value=total,
        unit="events",
        service=series.name if split == "service" else "",
        onset=busy[0].at,
    )
    counts = shape(
        [str(bucket.count) for bucket in series.buckets],
        lambda place: clock(series.buckets[place].at, asked.window).removesuffix("Z"),
    )
    return Row(f"{name}: {number(total)}, {ends}", claim=claim, after=f"| {counts}")


TOOL = Tool(
    TimelineArgs,
    get_timeline,
    "Counts or latency per time bucket, optionally split by a field. Use it for order and duration: what began first, "
    "did it stop, who is slow since when.",
)
