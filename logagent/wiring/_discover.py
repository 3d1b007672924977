"""Links into Kibana: each row of evidence as Discover shows it, at a fixed time (ux.md 5.7).

The link names the Discover locator, which Kibana migrates between versions, and an ad-hoc data view, so that nothing is
saved there. The query is printed from the typed tree of the row, every value escaped; no text of a model is in it.
Format of the address: Kibana's share plugin, `url_service/locators/redirect/format_search_params.ts`.
"""

import json
from collections.abc import Iterator
from urllib.parse import quote

from logagent.diagnosis import Diagnosis, EvidenceOut, Link
from logagent.errors import UsageError
from logagent.expressions import expression
from logagent.fields import FieldChoice, FieldMap
from logagent.logs import Severity
from logagent.query import All, And, Exists, Level, Node, Not, Or, Phrase, Range, Term, Wildcard, parse
from logagent.settings import KibanaSettings
from logagent.stores._base import Description

LONGEST = 2_000
"""Characters of a link that browsers, chats and proxies pass on."""
_QUERY_LONGEST = 20_000
_SPECIAL = expression(r'([+\-=&|><!(){}\[\]^"~*?:\\/\s])')
_WORDS = frozenset({"text", "match_only_text"})
_VERSION = expression(r"\d+\.\d+\.\d+")
_COLUMNS = ("service", "severity", "message")
_NOTHING = "(NOT *:*)"


def with_links(diagnosis: Diagnosis, kibana: KibanaSettings, description: Description) -> Diagnosis:
    """The diagnosis with a link at each row of evidence, where Kibana is configured and reads the same cluster."""
    if not kibana.url or description.backend != "elasticsearch":
        return diagnosis
    rows = [
        row.model_copy(update={"links": [*row.links, *_links(row, kibana, description)]}) for row in diagnosis.evidence
    ]
    return diagnosis.model_copy(update={"evidence": rows})


def _links(row: EvidenceOut, kibana: KibanaSettings, description: Description) -> list[Link]:
    if not (row.query.from_ and row.query.to and row.query.indices):
        return []
    try:
        node = parse(row.query.text, max_length=_QUERY_LONGEST)
    except UsageError:  # a mask within it is no query any more
        return []
    href = next(
        (
            link
            for state in _states(row, node, description)
            if len(link := _address(state, kibana, description)) <= LONGEST
        ),
        "",
    )
    return [Link(rel="kibana_discover", href=href)] if href else []


def _states(row: EvidenceOut, node: Node, description: Description) -> Iterator[dict[str, object]]:
    """What Discover is to show, the fullest first; a filter is never shortened: it would show other lines."""
    fields = description.fields
    time = fields.first("timestamp")
    state: dict[str, object] = {
        "dataViewSpec": {"title": ",".join(row.query.indices), "timeFieldName": time.name if time else "@timestamp"},
        "timeRange": {"from": row.query.from_, "to": row.query.to},
        "query": {"language": "lucene", "query": lucene(node, fields)},
    }
    columns = [choice.name for role in _COLUMNS if (choice := fields.first(role)) is not None]
    version = fields.first("version")
    if version is not None and version.exact:
        yield {**state, "columns": columns, "breakdownField": version.exact}
    yield {**state, "columns": columns}
    yield state


def _address(state: dict[str, object], kibana: KibanaSettings, description: Description) -> str:
    space = f"/s/{quote(kibana.space, safe='')}" if kibana.space else ""
    version = _VERSION.search(description.product)
    parameters = quote(json.dumps(state, ensure_ascii=False, separators=(",", ":")), safe="")
    address = f"{kibana.url.rstrip('/')}{space}/app/r?l=DISCOVER_APP_LOCATOR"
    return f"{address}&v={version[0] if version else '8.0.0'}&p={parameters}"


# -- the query ---------------------------------------------------------------------------------------------------------


def lucene(node: Node, fields: FieldMap) -> str:
    r"""A query tree as Lucene text with the names of the source.

    >>> lucene(And((Term("host", "a b"), Not(Exists("trace")))), FieldMap())
    'host:"a b" AND (*:* AND NOT _exists_:trace)'
    """
    match node:
        case All():
            return "*"
        case And(nodes):
            return " AND ".join(_operand(part, fields) for part in nodes)
        case Or(nodes):
            return " OR ".join(_operand(part, fields) for part in nodes)
        case Not(inner):
            return f"(*:* AND NOT {_operand(inner, fields)})"
        case Level(severity, and_worse):
            return _level(severity, fields, and_worse=and_worse)
        case _:
            return _any([_leaf(node, choice) for choice in _choices(node.field, fields)])


def _operand(node: Node, fields: FieldMap) -> str:
    text = lucene(node, fields)
    return f"({text})" if isinstance(node, And | Or) else text


def _any(parts: list[str]) -> str:
    """At least one of the parts."""
    every = list(dict.fromkeys(parts))
    if not every:
        return _NOTHING
    return every[0] if len(every) == 1 else f"({' OR '.join(every)})"


def _choices(name: str, fields: FieldMap) -> list[FieldChoice]:
    """Fields that a role or a plain name means; for words of the message also the analysed text of the error."""
    role = fields.role_of(name) if name else "message"
    found = list(fields.roles.get(role, ())) if role else []
    if role == "message":
        found += [one for one in fields.roles.get("error_message", ()) if one.type in _WORDS and one not in found]
    return found or [FieldChoice(name or "message", fields.names.get(name, "keyword"))]


def _leaf(node: Term | Phrase | Wildcard | Range | Exists, choice: FieldChoice) -> str:
    name = _escaped(choice.name)
    match node:
        case Exists():
            return f"_exists_:{name}"
        case Wildcard(_, pattern):
            return f"{name}:{_escaped(pattern, but='*?')}"
        case Range(_, low, high, include_low, include_high):
            opens, closes = "[" if include_low else "{", "]" if include_high else "}"
            return f"{name}:{opens}{_bound(low)} TO {_bound(high)}{closes}"
        case _ if not node.field and choice.type not in _WORDS:  # words in a keyword
            return f"{name}:*{_escaped(node.value)}*"
        case _:
            return f"{name}:{_quoted(node.value)}"


def _level(severity: int, fields: FieldMap, *, and_worse: bool) -> str:
    wanted = [one for one in Severity if one == severity or (and_worse and one > severity)]
    values = [value for one in wanted for value in fields.levels.get(one, ())]
    names = [_escaped(choice.name) for choice in fields.roles.get("severity", ())]
    return _any([f"{name}:{_quoted(value)}" for name in names for value in values])


def _bound(value: str | None) -> str:
    return "*" if value is None else _quoted(value)


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(text: str, but: str = "") -> str:
    """A word in which nothing is an operator."""
    return _SPECIAL.sub(lambda match: match[1] if match[1] in but else f"\\{match[1]}", text)
