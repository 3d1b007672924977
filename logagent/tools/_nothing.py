"""A result without rows explains itself: what was searched, what is near, what to try."""

from datetime import datetime
from difflib import get_close_matches

from logagent.logs import TimeWindow, iso
from logagent.query import And, Node, Not, Or, Phrase, Term, Wildcard
from logagent.stores._base import Measure
from logagent.tools._asked import Asked, span
from logagent.tools._base import ToolContext

_NAMES = 20
_NEAR = 4
_FIELDS_WITH_NAMES = ("service", "host", "pod", "error_type", "namespace")


def explain(asked: Asked, context: ToolContext) -> str:
    """Nearest event before and after, whether the window has events at all, and near spellings of the names used."""
    nearest = _nearest(asked, context)
    parts = [nearest] if nearest else []
    names = _near_names(asked, context)
    parts += names
    if not names and not nearest:
        parts.append("drop one term at a time, or look at get_log_patterns for the wording")
    return "; ".join(parts)


def _nearest(asked: Asked, context: ToolContext) -> str:
    reach, window = context.scope.reach, asked.window
    before = context.scope.query(asked.node, TimeWindow(reach.start, window.start), asked.query.indices)
    after = context.scope.query(asked.node, TimeWindow(window.end, reach.end), asked.query.indices)
    all_events = context.scope.query(window=window, indices=asked.query.indices)
    found = context.store.count([Measure(before, "last"), Measure(after, "first"), Measure(all_events)])
    last, first, total = (measured.value for measured in found.values)
    parts = []
    if isinstance(last, datetime):
        parts.append(f"nearest match before: {iso(last)}")
    if isinstance(first, datetime):
        parts.append(f"nearest match after: {iso(first)}")
    if not parts:
        parts.append(f"no match in the whole reach {span(reach)} either")
    if total == 0:
        parts.append("the window holds no event at all" + _extent(context))
    else:
        parts.append(f"the window holds {total:,} other events" if isinstance(total, int) else "")
    return "; ".join(part for part in parts if part)


def _extent(context: ToolContext) -> str:
    described = context.store.describe()
    if described.first is None or described.last is None:
        return ""
    return f" (the sources hold {iso(described.first)} to {iso(described.last)})"


def _near_names(asked: Asked, context: ToolContext) -> list[str]:
    """For each named service, host and so on: is there such a value, and which are near?"""
    parts = []
    named = [(role, value) for role, value in _leaves(asked.node, context) if role in _FIELDS_WITH_NAMES]
    for role, value in named[:3]:
        top = context.store.top_values(context.scope.query(indices=asked.query.indices), [role], size=_NAMES).fields
        values = [term.value for term in top[0].values] if top else []
        if value in values:
            continue
        near = get_close_matches(value, values, _NEAR, 0.4) or values[:_NEAR]
        if near:
            parts.append(f"no {role} {value!r} in the run's window; there are: {', '.join(near)}")
    return parts


def _leaves(node: Node, context: ToolContext) -> list[tuple[str, str]]:
    match node:
        case And(nodes) | Or(nodes):
            return [leaf for part in nodes for leaf in _leaves(part, context)]
        case Not(_):
            return []
        case Term(field, value) | Phrase(field, value) | Wildcard(field, value):
            return [(context.fields.role_of(field), value)]
        case _:
            return []
