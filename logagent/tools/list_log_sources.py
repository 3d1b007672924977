"""What there is to read: sources, fields by role, first and last event."""

from logagent.fields import ECS
from logagent.logs import iso
from logagent.stores._base import Description, FieldCounts
from logagent.tools._asked import number, span
from logagent.tools._base import Answer, ReadArgs, Row, Tool, ToolContext

_SOURCES = 20
_EXAMPLES = 6
_EXAMPLE_ROLES = ("service", "severity", "host", "error_type", "version", "namespace", "status")
_PLAIN_NAMES = 30


class SourcesArgs(ReadArgs):
    """Arguments of list_log_sources."""


def list_log_sources(_args: SourcesArgs, context: ToolContext) -> Answer:
    """Sources with counts, then roles with their field, coverage and frequent values."""
    described = context.store.describe()
    head = (
        f"{len(described.sources)} sources, {number(described.events)} events; window {span(context.scope.window)}; "
        f"may read {span(context.scope.reach)}"
    )
    rows = [*_sources(described), *_roles(described, context)]
    return Answer(head, tuple(rows), _others(described))


def _sources(described: Description) -> list[Row]:
    rows = []
    for source in described.sources[:_SOURCES]:
        first, last = (iso(at) if at else "?" for at in (source.first, source.last))
        note = f" | {source.note}" if source.note else ""
        rows.append(Row(f"source {source.name} | {number(source.events)} events | {first} to {last}{note}"))
    if len(described.sources) > _SOURCES:
        rows.append(Row(f"and {len(described.sources) - _SOURCES} more sources"))
    return rows


def _roles(described: Description, context: ToolContext) -> list[Row]:
    roles = [role for role in ECS if described.fields.roles.get(role)]
    asked = [role for role in _EXAMPLE_ROLES if role in roles]
    top = context.store.top_values(context.scope.query(), asked, size=_EXAMPLES).fields if asked else ()
    examples = dict(zip(asked, top, strict=True))
    rows = []
    for role in roles:
        names = ", ".join(choice.name for choice in described.fields.roles[role][:3])
        coverage = f"{described.fields.coverage(role):.0%}"
        rows.append(Row(f"{role} = {names} ({coverage}){_values(examples.get(role))}"))
    return rows


def _values(found: FieldCounts | None) -> str:
    if found is None or not found.values:
        return ""
    values = ", ".join(f"{term.value} {number(term.count)}" for term in found.values)
    return f": {values}{', …' if found.other else ''}"


def _others(described: Description) -> str:
    taken = {choice.name for choices in described.fields.roles.values() for choice in choices}
    names = [name for name in described.fields.names if name not in taken]
    more = f" and {len(names) - _PLAIN_NAMES} more" if len(names) > _PLAIN_NAMES else ""
    return f"other fields: {', '.join(names[:_PLAIN_NAMES])}{more}" if names else ""


TOOL = Tool(
    SourcesArgs,
    list_log_sources,
    "Lists the sources, fields with role, coverage and values. Use it when a name or field is unclear.",
)
