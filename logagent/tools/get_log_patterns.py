"""All lines grouped into patterns, in the window and in the baseline."""

from logagent.query import LogQuery
from logagent.tools import _patterns as patterns
from logagent.tools._asked import Asked, ask, number, span
from logagent.tools._base import Answer, RangeArgs, Tool, ToolContext, most
from logagent.tools._nothing import explain


class PatternArgs(RangeArgs):
    """Arguments of get_log_patterns."""

    size: int = most(12, patterns.MOST)
    sort: patterns.Sort = "new"


def get_log_patterns(args: PatternArgs, context: ToolContext) -> Answer:
    """Patterns new, spiking or vanished first, or by how frequent they are."""
    return answer(ask(args, context), args.size, context, sort=args.sort)


def answer(asked: Asked, size: int, context: ToolContext, *, sort: patterns.Sort = "new") -> Answer:
    """Patterns of what was asked, against the run's baseline; also `get_error_stats` by message."""
    base = baseline(asked, context)
    mined = patterns.compare(context.store, asked.query, base)
    if not mined.patterns:
        return Answer(f"0 events: {asked.said(mined.completeness)}", tail=explain(asked, context))
    every = patterns.ordered(mined.patterns, sort)
    shown = patterns.count(context.store, every, size, asked.query, base)
    changes = [one.change for one in every]
    kinds = ", ".join(f"{kind} {changes.count(kind)}" for kind in ("new", "spiking", "vanished"))
    columns = f"{kinds}; now | base" if base is not None else "events"
    against = f"; baseline {span(base.window)}" if base is not None else "; no baseline"
    sampled = "" if mined.exact else "; patterns from a sample, figures counted in full"
    head = (
        f"{number(mined.total)} events, {len(shown)} of {len(every)} patterns shown, {sort} first ("
        f"{columns} | first..last | service level | text): {asked.said(mined.completeness)}{against}{sampled}"
    )
    words = f"more frequent words: {', '.join(mined.keywords)}" if mined.keywords and base is not None else ""
    more = patterns.left_out(every, shown, sort)
    return Answer(
        head,
        tuple(patterns.row(one, asked.query, base=base is not None) for one in shown),
        "; ".join(t for t in (more, words) if t),
    )


def baseline(asked: Asked, context: ToolContext) -> LogQuery | None:
    """The same question over the run's baseline; None where there is none, or where it is the window itself."""
    window = patterns.base_window(context)
    if window is None or window == asked.window:
        return None
    return LogQuery(window, asked.query.node, asked.query.indices)


TOOL = Tool(
    PatternArgs,
    get_log_patterns,
    "Groups all lines, not only errors, into patterns with counts in window and baseline: new, spiking, vanished. "
    "Use it when errors do not explain the symptom.",
    cost="medium",
)
