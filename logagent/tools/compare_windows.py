"""Two windows, or two kinds of traffic, side by side: what is over-represented in the first."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import Field

from logagent.errors import ToolError
from logagent.evidence import Claim, Figure
from logagent.logs import TimeWindow
from logagent.query import And, Exists, Level, LogQuery, Node, Not, Or, Phrase, Range, Term, Wildcard, conjunction
from logagent.stores._base import FieldCounts, Measure
from logagent.tools import _patterns as patterns
from logagent.tools._asked import Asked, ask, cited, indices, instant, number, parse, span
from logagent.tools._base import Answer, RangeArgs, Row, Tool, ToolContext
from logagent.tools._spent import moved

_ROLES = (
    "service", "severity", "error_type", "host", "pod", "namespace", "container", "environment", "version", "status",
    "logger", "url",
)  # fmt: skip
_DIMENSION = ("zone", "region", "node", "cluster", "tenant", "flag", "shard", "datacenter", "build", "method", "code")
_PARTS = {"pod", "container", "logger"}
"""What belongs to one service: a filter by service says all about these."""
_MORE = 6
_VALUES = 12
_ROWS, _TIMES, _MORE_IN_A, _LESS_IN_A = 10, 4, 6, 4
_LEAST_GAP = 0.02
_ONLY = {"new": "only in A", "vanished": "only in B"}


class CompareArgs(RangeArgs):
    """Arguments of compare_windows."""

    base_start: str | None = Field(None, description="Default: the run's baseline.")
    base_end: str | None = None
    base_query: str | None = Field(None, description="Default: query. Given alone, the same window is used.")


@dataclass(frozen=True, slots=True)
class _Difference:
    field: str
    value: str
    now: int
    base: int
    share: float
    base_share: float

    @property
    def gap(self) -> float:
        return self.share - self.base_share

    @property
    def weight(self) -> float:
        """Share gained, in information: large and lopsided first."""
        floor = 0.0005
        return abs(self.gap) * abs(math.log((self.share + floor) / (self.base_share + floor)))


def compare_windows(args: CompareArgs, context: ToolContext) -> Answer:
    """Values, times of services, and patterns that the first has more of, or less."""
    asked = ask(args, context)
    base = _base(args, asked, context)
    found = context.store.count([Measure(asked.query), Measure(base)])
    now, before = (one.value if isinstance(one.value, int) else 0 for one in found.values)
    head = (
        f"A {number(now)} events ({asked.said(found.completeness)}) against B {number(before)} "
        f"({_base_text(args, asked)}, {span(base.window)}); field=value: share of A, share of B (count A | count B)"
    )
    if not now and not before:
        return Answer(f"both empty: {head}")
    values = _folded(_values(asked, base, (now, before), context), asked, base, context)
    mined = patterns.compare(context.store, asked.query, base)
    times, note = moved(asked, base, _TIMES, context)
    rows = [_row(one, asked) for one in values[:_ROWS]] + times + _patterns_of(mined.patterns, asked, base, context)
    words = f"words more frequent in A: {', '.join(mined.keywords)}" if mined.keywords else ""
    same = "" if rows else "no difference in values, times or patterns"
    return Answer(f"{head}; {note}" if note else head, tuple(rows), same or words)


def _patterns_of(mined: list[patterns.Found], asked: Asked, base: LogQuery, context: ToolContext) -> list[Row]:
    """Patterns that A has more of, then those that it has less of, or none: what stopped tells as much."""
    ups = [one for one in mined if one.change in {"new", "spiking", "rising"}][:_MORE_IN_A]
    downs = [one for one in mined if one.change in {"vanished", "falling"}][:_LESS_IN_A]
    rest = [one for one in mined if one not in ups and one not in downs]
    shown = patterns.count(context.store, [*ups, *downs, *rest], len(ups) + len(downs), asked.query, base)
    unlike = asked.query.node != base.node  # what another filter holds is not new and has not vanished
    return [
        patterns.row(one, asked.query, told=_ONLY.get(one.change, "") if unlike else "")
        for one in shown
        if one.change != "steady"
    ]


def _base(args: CompareArgs, asked: Asked, context: ToolContext) -> LogQuery:
    node = asked.node if args.base_query is None else parse(args.base_query, context.fields)
    window = _base_window(args, asked, context)
    return context.scope.query(node, window, indices(args.index_pattern, context))


def _base_window(args: CompareArgs, asked: Asked, context: ToolContext) -> TimeWindow:
    if args.base_start is None and args.base_end is None:
        if args.base_query is not None:
            return asked.window
        window = patterns.base_window(context)
        if window is None:
            raise ToolError("this run has no baseline: give base_start and base_end, or base_query")
        return window
    reach = context.scope.reach
    start = instant(args.base_start, context) if args.base_start else reach.start
    end = instant(args.base_end, context) if args.base_end else asked.window.start
    if not start < end:
        raise ToolError("base_start must lie before base_end")
    return TimeWindow(_into(start, reach), _into(end, reach))


def _into(at: datetime, reach: TimeWindow) -> datetime:
    return min(max(at, reach.start), reach.end)


def _base_text(args: CompareArgs, asked: Asked) -> str:
    return asked.text if args.base_query is None else args.base_query


def _values(asked: Asked, base: LogQuery, totals: tuple[int, int], context: ToolContext) -> list[_Difference]:
    """Differences of all dimensions, most telling first: two requests."""
    fields = context.fields
    unlike = asked.query.node != base.node  # what only one filter names is no finding
    told = {fields.role_of(name) or name for node in (asked.query.node, base.node) for name in _named(node)}
    told = (told | (_PARTS if "service" in told else set())) if unlike else set()
    names = [role for role in _ROLES if fields.roles.get(role) and role not in told]
    taken = {choice.name for choices in fields.roles.values() for choice in choices}
    plain = [
        name
        for name, kind in fields.names.items()
        if name not in taken | told
        and kind in {"keyword", "boolean", "text"}
        and any(word in name.lower() for word in _DIMENSION)
    ]
    names += plain[:_MORE]
    if not names:
        return []
    first = context.store.top_values(asked.query, names, size=_VALUES).fields
    second = context.store.top_values(base, names, size=_VALUES).fields
    found = [difference for a, b in zip(first, second, strict=True) for difference in _differences(a, b, totals)]
    return sorted((one for one in found if abs(one.gap) >= _LEAST_GAP), key=lambda one: -one.weight)


def _named(node: Node) -> Iterator[str]:
    """The fields that a filter names."""
    match node:
        case And(nodes) | Or(nodes):
            for part in nodes:
                yield from _named(part)
        case Not(inner):
            yield from _named(inner)
        case Level():
            yield "severity"
        case Term(field) | Phrase(field) | Wildcard(field) | Range(field) | Exists(field):
            yield field
        case _:
            return


def _differences(first: FieldCounts, second: FieldCounts, totals: tuple[int, int]) -> list[_Difference]:
    now = {term.value: term.count for term in first.values}
    base = {term.value: term.count for term in second.values}
    return [
        _Difference(
            first.field,
            value,
            now.get(value, 0),
            base.get(value, 0),
            now.get(value, 0) / max(totals[0], 1),
            base.get(value, 0) / max(totals[1], 1),
        )
        for value in {**now, **base}
        if not (value not in now and first.other) and not (value not in base and second.other)
    ]


def _folded(
    found: list[_Difference], asked: Asked, base: LogQuery, context: ToolContext
) -> list[tuple[_Difference, ...]]:
    """Differences of the same lines as one, e.g. a service, its only pod and its host: one request, if any."""
    groups: dict[tuple[int, int], list[_Difference]] = {}
    for one in found[: 2 * _ROWS]:
        groups.setdefault((one.now, one.base), []).append(one)
    pairs = [(group[0], other) for group in groups.values() for other in group[1:] if other.field != group[0].field]
    measures = [
        Measure(replace(query, node=conjunction(query.node, *(Phrase(each.field, each.value) for each in pair))))
        for pair in pairs
        for query in (asked.query, base)
    ]
    values = [one.value for one in context.store.count(measures).values] if measures else []
    same = {
        other: first
        for place, (first, other) in enumerate(pairs)
        if values[2 * place : 2 * place + 2] == [first.now, first.base]
    }
    return [(one, *(other for other, first in same.items() if first == one)) for one in found if one not in same]


def _row(alike: tuple[_Difference, ...], asked: Asked) -> Row:
    one = alike[0]
    query = replace(asked.query, node=conjunction(asked.query.node, Phrase(one.field, one.value)))
    claim = Claim(
        "distribution",
        f"{one.field}={one.value}: {one.share:.0%} of A, {one.base_share:.0%} of B",
        cited(query, Figure("count")),
        value=one.now,
        unit="events",
        baseline_value=one.base,
        service=one.value if one.field == "service" else "",
    )
    name = ", ".join(f"{each.field}={each.value}" for each in alike)
    text = f"{name}: {one.share:.0%}, {one.base_share:.0%} ({number(one.now)} | {number(one.base)})"
    return Row(text, claim=claim)


TOOL = Tool(
    CompareArgs,
    compare_windows,
    "Compares two windows or two filters: values, patterns, latency. "
    "Use it to set failing against healthy traffic, after against before.",
    cost="high",
)
