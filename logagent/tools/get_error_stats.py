"""Failing events by one dimension, in the window and in the baseline."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from logagent.analysis.pattern_query import failing_node
from logagent.errors import ToolError
from logagent.evidence import Claim, Figure
from logagent.fields import FieldMap
from logagent.logs import Severity, TermCount, TimeWindow
from logagent.query import Node, Phrase, conjunction
from logagent.stores._base import FieldCounts, Measure
from logagent.tools import get_log_patterns
from logagent.tools._asked import Asked, ask, cited, number, span
from logagent.tools._base import Answer, RangeArgs, Row, Tool, ToolContext, most
from logagent.tools._nothing import explain

_ROLES = {"error_class": "error_type", "service": "service", "host": "host"}


class ErrorStatsArgs(RangeArgs):
    """Arguments of get_error_stats."""

    group_by: Literal["error_class", "message", "service", "host"] = Field("service")
    size: int = most(10, 25)


def get_error_stats(args: ErrorStatsArgs, context: ToolContext) -> Answer:
    """Failing events in all and by value, most frequent first, then what failed before and no longer does."""
    every = ask(args, context)
    asked = _failing(every, context.fields)
    if args.group_by == "message":
        return get_log_patterns.answer(asked, args.size, context)
    role = _ROLES[args.group_by]
    if not context.fields.roles.get(role):
        known = [name for name, role in _ROLES.items() if context.fields.roles.get(role)]
        raise ToolError(f"no field plays {args.group_by} here; group_by: {', '.join([*known, 'message'])}")
    base = get_log_patterns.baseline(asked, context)
    window = base.window if base is not None else None
    total, before, whole = _totals((every, asked), window, context)
    if not total and not before:
        return _none_fail(args, role, (every, asked), whole, context)
    top = context.store.top_values(asked.query, [role], size=args.size, baseline=window)
    counts = top.fields[0]
    gone = _gone(args.size, role, asked, window, context) if window else []
    values = [*counts.values, *(term for term in gone if term.value not in {one.value for one in counts.values})]
    against = f"; base = {span(window)}" if window else "; no baseline"
    head = (
        f"{number(total)} failing of {number(whole)} events{f', base {number(before)}' if window else ''}; "
        f"by {args.group_by} ({'now | base' if window else 'events'}): {asked.said(top.completeness)}{against}"
    )
    compared = window is not None
    rows = [_total_row(asked, total, before if compared else None)]
    rows += [_row(term, role, args.group_by, asked, compared=compared) for term in values]
    return Answer(head, tuple(rows), _rest(counts, args.group_by))


def _none_fail(
    args: ErrorStatsArgs, role: str, questions: tuple[Asked, Asked], whole: int, context: ToolContext
) -> Answer:
    """Nothing fails: how all that was asked for spreads, so that what is missing or too much shows."""
    every, failing = questions
    window = base.window if (base := get_log_patterns.baseline(every, context)) is not None else None
    counts = context.store.top_values(every.query, [role], size=args.size, baseline=window).fields[0]
    head = f"0 failing of {number(whole)} events: {failing.said()}"
    if not counts.values:
        return Answer(head, tail=explain(failing, context))
    against = f" (now | base {span(window)})" if window else ""
    told = f"all events by {args.group_by}{against}, {every.text}"
    rows = [
        _row(term, role, args.group_by, every, compared=window is not None, what="events") for term in counts.values
    ]
    more = f"over time: get_timeline split_by {args.group_by}; against other lines: compare_windows"
    return Answer(f"{head}; {told}", tuple(rows), more)


def _failing(asked: Asked, fields: FieldMap) -> Asked:
    """The question narrowed to failing events; where nothing tells them apart it says so and counts all."""
    severity = any(fields.levels.get(level) for level in (Severity.ERROR, Severity.FATAL))
    severity = severity or (bool(fields.roles.get("severity")) and not fields.levels)
    node = failing_node(severity=severity, status=bool(fields.roles.get("status")))
    if node is None:
        return replace(asked, notes=(*asked.notes, "no level and no status here: all events are counted"))
    narrowed = conjunction(asked.query.node, node)
    return replace(asked, query=replace(asked.query, node=narrowed), node=conjunction(asked.node, node))


def _totals(questions: tuple[Asked, Asked], base: TimeWindow | None, context: ToolContext) -> tuple[int, int, int]:
    """Failing now, failing in the baseline, all that was asked for now: one request."""
    every, failing = questions
    old = replace(failing.query, window=base or failing.window)
    found = context.store.count([Measure(failing.query), Measure(old), Measure(every.query)]).values
    now, before, whole = (one.value if isinstance(one.value, int) else 0 for one in found)
    return now, before if base else 0, whole


def _gone(size: int, role: str, asked: Asked, base: TimeWindow, context: ToolContext) -> list[TermCount]:
    """Values frequent in the baseline, counted in the window: what failed before and stopped."""
    old = replace(asked.query, window=base)
    found = context.store.top_values(old, [role], size=size, baseline=asked.window).fields[0]
    return [TermCount(term.value, term.baseline, term.count) for term in found.values]


def _row(term: TermCount, role: str, group: str, asked: Asked, *, compared: bool, what: str = "failing events") -> Row:
    node: Node = conjunction(asked.query.node, Phrase(role, term.value))
    claim = Claim(
        "count",
        f"{what}, {group} {term.value}",
        cited(replace(asked.query, node=node), Figure("count")),
        value=term.count,
        unit="events",
        baseline_value=term.baseline if compared else None,
        service=term.value if role == "service" else "",
    )
    return Row(_figures(term.count, term.baseline if compared else None) + f" | {term.value}", claim=claim)


def _figures(now: int, before: int | None) -> str:
    return number(now) if before is None else f"{number(now)} | {number(before)}"


def _total_row(asked: Asked, total: int, before: int | None) -> Row:
    claim = Claim(
        "count", f"failing events ({asked.text})", cited(asked.query), value=total, unit="events", baseline_value=before
    )
    return Row(f"{_figures(total, before)} | all failing", claim=claim)


def _rest(counts: FieldCounts, group: str) -> str:
    about = "about " if counts.approximate else ""
    parts = [f"{about}{number(counts.other)} more in other values"] if counts.other else []
    parts += [f"{about}{number(counts.missing)} have no {group}"] if counts.missing else []
    parts += ["values may be missing from this list"] if counts.approximate else []
    return "; ".join([*parts, "more: add service:… or group_by message"] if parts else [])


TOOL = Tool(
    ErrorStatsArgs,
    get_error_stats,
    "Counts failing events in window and baseline by error_class, message pattern, service or host. "
    "Use it to see what grew.",
    cost="medium",
)
