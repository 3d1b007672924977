"""Tool schemas on the wire: the subset that every endpoint takes (llm-endpoints.md 12).

A constraint is never trusted: arguments are checked in code. So what a vendor may stumble
over is left out here, and said in the description where it can be.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from logagent.llm._wire import ToolDeclaration

MAX_TOOLS: Final = 128
MAX_DESCRIPTION: Final = 1_000
_MAX_DEPTH: Final = 12
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})

Schema = Mapping[str, object]


def wire_tools(tools: Sequence[ToolDeclaration]) -> list[dict[str, object]]:
    """Declarations as `tools` of a request; the same tools give the same bytes, for prompt caches."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description[:MAX_DESCRIPTION],
                "parameters": wire_schema(tool.parameters),
            },
        }
        for tool in tools[:MAX_TOOLS]
    ]


def wire_schema(schema: Schema) -> dict[str, object]:
    """A schema with an object at its root, reduced to the common subset.

    >>> wire_schema({"properties": {"q": {"type": ["string", "null"], "pattern": "a"}}})
    {'type': 'object', 'properties': {'q': {'type': 'string'}}}
    """
    root = _reduce({**schema, "type": "object"}, _definitions(schema), 0)
    root.setdefault("properties", {})
    return root


def _definitions(schema: Schema) -> Schema:
    found: dict[str, object] = {}
    for key in ("definitions", "$defs"):
        found.update(_mapping(schema.get(key)))
    return found


def _reduce(schema: Schema, definitions: Schema, depth: int) -> dict[str, object]:
    schema = _resolved(schema, definitions, depth)
    kind = _single_type(schema)
    reduced: dict[str, object] = {"type": kind}
    description = _described(schema)
    if description:
        reduced["description"] = description
    if kind == "object":
        reduced.update(_object_parts(schema, definitions, depth))
    elif kind == "array":
        items = _mapping(schema.get("items"))
        reduced["items"] = _reduce(items, definitions, depth + 1) if depth < _MAX_DEPTH else {"type": "string"}
    elif kind == "string":
        words = _enum(schema)
        if words:
            reduced["enum"] = words
    return reduced


def _object_parts(schema: Schema, definitions: Schema, depth: int) -> dict[str, object]:
    if depth >= _MAX_DEPTH:
        return {"properties": {}}
    properties = {
        name: _reduce(_mapping(each), definitions, depth + 1)
        for name, each in _mapping(schema.get("properties")).items()
    }
    parts: dict[str, object] = {"properties": properties}
    required = schema.get("required")
    names = [name for name in required if name in properties] if isinstance(required, list | tuple) else []
    if names:
        parts["required"] = names
    return parts


def _resolved(schema: Schema, definitions: Schema, depth: int) -> Schema:
    """Follow references, and take the first alternative that is not null."""
    for _ in range(_MAX_DEPTH - min(depth, _MAX_DEPTH)):
        reference = schema.get("$ref")
        choices = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if schema.get(key)), None)
        if isinstance(reference, str):
            inner = _mapping(definitions.get(reference.rpartition("/")[2]))
        elif isinstance(choices, Sequence) and not isinstance(choices, str):
            inner = next((_mapping(each) for each in choices if _mapping(each).get("type") != "null"), {})
        else:
            break
        own = {key: value for key, value in schema.items() if key not in {"$ref", "anyOf", "oneOf", "allOf"}}
        schema = {**inner, **own} if "type" not in inner else {**own, **inner, **_only(own, "description")}
    return schema


def _only(schema: Schema, key: str) -> Schema:
    return {key: schema[key]} if key in schema else {}


def _single_type(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list | tuple):
        kind = next((each for each in kind if each != "null"), "string")
    if isinstance(kind, str) and (kind in _SCALARS or kind in {"object", "array"}):
        return kind
    if schema.get("properties"):
        return "object"
    return "array" if schema.get("items") else "string"


def _enum(schema: Schema) -> list[str]:
    values = schema.get("enum")
    if values is None and "const" in schema:
        values = [schema["const"]]
    if isinstance(values, list | tuple) and values and all(isinstance(each, str) for each in values):
        return list(cast("Sequence[str]", values))
    return []


def _described(schema: Schema) -> str:
    """The description, with bounds that the reduced schema no longer says."""
    text = str(schema.get("description") or "")[:MAX_DESCRIPTION]
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None and not (str(low) in text and str(high) in text):
        text = f"{text} {low} to {high}.".strip()
    return text


def _mapping(value: object) -> Schema:
    return value if isinstance(value, Mapping) else {}
