"""Arguments against the schema of their tool: lossless coercion, and what does not fit (llm-endpoints.md 9)."""

import json
from collections.abc import Callable, Iterator, Mapping

from logagent.llm._arguments import JsonObject, loads, plain


def coerce(arguments: Mapping[str, object], schema: Mapping[str, object]) -> JsonObject:
    """Arguments with values changed to the types of the schema, where nothing is lost; null counts as absent.

    >>> coerce({"size": "5", "fields": '["a"]', "q": None}, {"properties": {
    ...     "size": {"type": "integer"}, "fields": {"type": "array"}, "q": {"type": "string"}}})
    {'size': 5, 'fields': ['a']}
    """
    known = _mapping(schema.get("properties"))
    return {key: _fit(value, _mapping(known.get(key))) for key, value in arguments.items() if value is not None}


def misfits(arguments: Mapping[str, object], schema: Mapping[str, object]) -> Iterator[str]:
    """Paths of `arguments` that break the schema: unknown, missing, or of a wrong type."""
    known = _mapping(schema.get("properties"))
    for key, value in arguments.items():
        if key not in known:
            yield f"{key}: unknown"
        elif not _has_type(value, _mapping(known[key])):
            yield f"{key}: not of type {_mapping(known[key]).get('type')}"
    required = schema.get("required")
    for key in required if isinstance(required, list | tuple) else ():
        if key not in arguments:
            yield f"{key}: missing"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _fit(value: object, schema: Mapping[str, object]) -> object:
    kind = schema.get("type")
    if isinstance(value, str) and kind in _FROM_TEXT:
        value = _FROM_TEXT[str(kind)](value)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "string" and isinstance(value, int | float):
        return json.dumps(value)
    if kind == "array":
        return _fit_items(value, _mapping(schema.get("items")))
    if kind == "object" and isinstance(value, dict) and schema.get("properties"):
        return coerce(value, schema)
    return value


def _fit_items(value: object, items: Mapping[str, object]) -> object:
    if isinstance(value, list):
        return [_fit(each, items) for each in value if each is not None]
    if isinstance(value, dict) or not items:
        return value
    fitted = _fit(value, items)
    return [fitted] if _has_type(fitted, items) else value


def _number(text: str) -> object:
    try:
        value = loads(text.strip())
    except ValueError:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def _boolean(text: str) -> object:
    return {"true": True, "false": False}.get(text.strip().lower(), text)


def _container(text: str) -> object:
    try:
        value = loads(plain(text))
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list | dict) else text


_FROM_TEXT: dict[str, Callable[[str], object]] = {
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "array": _container,
    "object": _container,
}

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _has_type(value: object, schema: Mapping[str, object]) -> bool:
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        return True
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, _TYPES[kind])
