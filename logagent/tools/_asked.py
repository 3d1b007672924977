"""What a call asks for, inside the scope of the run: it can narrow, never widen."""

from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from logagent import query as language
from logagent import times
from logagent.errors import ToolError, UsageError
from logagent.evidence import EvidenceQuery, Figure
from logagent.expressions import expression
from logagent.fields import FieldMap
from logagent.logs import Completeness, TimeWindow, iso
from logagent.query import All, LogQuery, Node
from logagent.tools._base import RangeArgs, ToolContext

QUERY_LENGTH = 600
"""Most characters of a query that a model writes: a dozen services by name fit."""
_PATTERN = expression(r"[a-z0-9][a-z0-9._*-]{0,199}\Z")
_NAMED = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as understood: the query inside the scope, and what to say about it."""

    query: LogQuery
    node: Node
    """The call's own filter, without the scope's."""
    notes: tuple[str, ...] = ()

    @property
    def window(self) -> TimeWindow:
        """The span asked for, clipped."""
        return self.query.window

    @property
    def text(self) -> str:
        """The filter as parsed, or `all events`."""
        return "all events" if isinstance(self.node, All) else language.to_text(self.node)

    def said(self, completeness: Completeness | None = None) -> str:
        """Window, filter, completeness and notes, for the first line of a result."""
        parts = [f"{self.text}, {span(self.window)}"]
        parts += [] if completeness is None else [complete(completeness)]
        return "; ".join(part for part in (*parts, *self.notes) if part)


def ask(args: RangeArgs, context: ToolContext) -> Asked:
    """Read the common arguments.

    Raises:
        ToolError: a query, time or source that cannot be used; names what can.
    """
    node = parse(args.query, context.fields)
    window, notes = _window(args.start_time, args.end_time, context)
    query = context.scope.query(node, window, indices(args.index_pattern, context))
    return Asked(query, node, notes)


def parse(text: str | None, fields: FieldMap) -> Node:
    """A model's query as a tree.

    Raises:
        ToolError: what is wrong, where, and what is allowed.
    """
    try:
        return language.parse(text or "", fields, max_length=QUERY_LENGTH)
    except UsageError as error:
        hint = f"; {error.hint}" if error.hint else ""
        raise ToolError(f"{error.message}{hint}") from error


def instant(text: str, context: ToolContext) -> datetime:
    """A time as the model wrote it.

    Raises:
        ToolError: it is none.
    """
    try:
        return times.parse_time(text, context.scope.now, zone(context))
    except UsageError as error:
        raise ToolError(
            f"{error.message}; write 2026-11-30T14:05:00Z or now-30m (now is {iso(context.scope.now)})"
        ) from error


def zone(context: ToolContext) -> ZoneInfo:
    """The zone in which bare clock times are read; UTC where it is unknown."""
    try:
        return ZoneInfo(context.scope.zone)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _window(start: str | None, end: str | None, context: ToolContext) -> tuple[TimeWindow, tuple[str, ...]]:
    scope = context.scope
    if start is None and end is None:
        return scope.window, ()
    first = instant(start, context) if start else None
    last = instant(end, context) if end else None
    if first is None:
        first = scope.window.start if last is None or last > scope.window.start else scope.reach.start
    if last is None:
        last = scope.window.end if first < scope.window.end else max(scope.reach.end, first)
    if first > last:
        raise ToolError(f"start_time {iso(first)} is later than end_time {iso(last)}")
    return _clipped(first, last, scope.reach)


def _clipped(first: datetime, last: datetime, reach: TimeWindow) -> tuple[TimeWindow, tuple[str, ...]]:
    if last <= reach.start or first >= reach.end:
        raise ToolError(
            f"{iso(first)} to {iso(last)} lies outside what this run may read: {iso(reach.start)} to {iso(reach.end)}"
        )
    window = TimeWindow(max(first, reach.start), min(last, reach.end))
    clipped = (first, last) != (window.start, window.end)
    return window, (f"clipped to this run's reach {span(reach)}",) if clipped else ()


def indices(pattern: str | None, context: ToolContext) -> tuple[str, ...]:
    """The sources a pattern means; () is the whole scope.

    Raises:
        ToolError: an empty, malformed or foreign pattern; names the sources.
    """
    if pattern is None:
        return ()
    known = [source.name for source in context.store.describe().sources]
    allowed = context.scope.indices
    if pattern in known or pattern in allowed:
        return (pattern,)
    if _PATTERN.match(pattern):
        found = tuple(name for name in known if fnmatchcase(name, pattern))
        if found and len(found) == len(known):
            return ()
        if found:
            return found
        if any(fnmatchcase(pattern, wide) for wide in allowed):
            return (pattern,)
    names = get_close_matches(pattern, known, _NAMED, 0.3) or known
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    raise ToolError(
        f"source {pattern[:60]!r} is not in the scope of this run; sources: {', '.join(names[:_NAMED])}{more}."
        " Leave index_pattern out for all."
    )


def cited(query: LogQuery, figure: Figure | None = None) -> EvidenceQuery:
    """The query of an evidence row: the whole tree with the scope's own filter."""
    return EvidenceQuery(language.to_text(query.node), query.window, figure or Figure("count"), query.indices)


def span(window: TimeWindow) -> str:
    """`2026-11-30T14:00:00Z to 14:30:00Z`; both dates where they differ."""
    start, end = iso(window.start), iso(window.end)
    return f"{start} to {end[11:] if start[:10] == end[:10] else end}"


def clock(at: datetime, window: TimeWindow) -> str:
    """A time inside a window: without the date where all of the window is one day."""
    shown = iso(at)
    return shown[11:] if window.start.date() == window.end.date() else shown[5:]


def complete(completeness: Completeness) -> str:
    """`48/48 shards`, nothing where there is one source only, or loudly what is missing."""
    if completeness.complete:
        total = completeness.shards_total
        return f"{total}/{total} shards" if total > 1 else ""
    parts = [f"PARTIAL: {completeness.shards_successful}/{completeness.shards_total} shards answered"]
    parts += ["timed out"] if completeness.timed_out else []
    parts += [f"clusters skipped: {', '.join(completeness.clusters_skipped)}"] if completeness.clusters_skipped else []
    parts += list(completeness.reasons[:1])
    return ", ".join(parts)


def number(value: float) -> str:
    """`1,204,331`; whole."""
    return f"{round(value):,}"
