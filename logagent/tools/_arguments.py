"""Arguments of a call: the schema a model is shown, and what it sends back, coerced where nothing is lost."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from logagent.analysis.sanitise import sanitise
from logagent.analysis.trim import cut
from logagent.errors import ToolError

_DEEPEST = 6
_SHOWN = 120
M = TypeVar("M", bound=BaseModel)


def wire_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model in the subset that every endpoint takes (llm-endpoints.md 12).

    Only `type`, `description`, `required`, `properties`, `items` and `enum` of strings; optional = not required.

    Raises:
        ValueError: a field that the subset cannot say (a real union, a nesting deeper than 6).
    """
    schema = model.model_json_schema()
    return _flat(schema, schema.get("$defs", {}), 0)


def _flat(node: Mapping[str, Any], defs: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        raise ValueError("schema nested too deeply")
    described = node.get("description")
    node = _resolved(node, defs)
    flat: dict[str, Any] = {"type": node.get("type", "string")}
    if depth and described:
        flat["description"] = described
    if "enum" in node or "const" in node:
        flat["enum"] = [str(value) for value in node.get("enum", [node.get("const")])]
    if flat["type"] == "object":
        if node.get("required"):
            flat["required"] = list(node["required"])
        flat["properties"] = {name: _flat(part, defs, depth + 1) for name, part in node.get("properties", {}).items()}
    elif flat["type"] == "array":
        flat["items"] = _flat(node.get("items", {}), defs, depth + 1)
    return flat


def _resolved(node: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references and `X or null` to the X."""
    while True:
        if "$ref" in node:
            node = defs[node["$ref"].rsplit("/", 1)[-1]]
        elif "anyOf" in node:
            options = [option for option in node["anyOf"] if option.get("type") != "null"]
            if len(options) != 1:
                raise ValueError("a union has no place in a tool schema")
            node = options[0]
        else:
            return node


def read(text: str, model: type[M], schema: Mapping[str, Any]) -> tuple[M, tuple[str, ...]]:
    """Arguments as the model wrote them, as the tool's own type; and what was made smaller to fit.

    A number above the most that an argument takes becomes that most: who asks for too much is given what there is.

    Raises:
        ToolError: no JSON object, a key twice, an unknown or missing argument, a value of a wrong type.
    """
    given = _parsed(text, schema)
    values = {
        name: _coerced(value, schema["properties"].get(name)) for name, value in given.items() if value is not None
    }
    notes = []
    for name, most in _mosts(model):
        value = values.get(name)
        if isinstance(value, int | float) and value > most:
            values[name] = most
            notes.append(f"{name} is at most {most}: {most} taken for {value}")
    try:
        return model.model_validate(values), tuple(notes)
    except ValidationError as error:
        raise ToolError(_explained(error, schema)) from error


def _mosts(model: type[BaseModel]) -> list[tuple[str, int]]:
    """Arguments with a greatest value."""
    limits = [(name, getattr(one, "le", None)) for name, field in model.model_fields.items() for one in field.metadata]
    return [(name, most) for name, most in limits if isinstance(most, int)]


def _parsed(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if text.strip() in {"", "null"}:
        return {}
    try:
        given = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        at = getattr(error, "pos", 0)
        near = cut(sanitise(text[max(0, at - 60) : at + 60]), _SHOWN)
        raise ToolError(
            f"arguments are no JSON object ({error}); near: {near}; {outline(schema)}. Send the call again."
        ) from error
    if not isinstance(given, dict):
        raise ToolError(f"arguments must be one JSON object; {outline(schema)}. Send the call again.")
    return given


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is no number"
    raise ValueError(msg)


def _coerced(value: object, schema: Mapping[str, Any] | None) -> object:
    """The same value in the type the schema names, where nothing is lost; else the value as it is."""
    if schema is None:
        return value
    kind = schema["type"]
    if kind in {"integer", "number"}:
        return _number(value, kind)
    if kind == "boolean" and isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind in {"array", "object"}:
        return _composed(value, schema)
    return value


def _number(value: object, kind: str) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"  # no number: pydantic would take it as 1
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    if isinstance(value, str):
        stripped = value.strip()
        if stripped.lstrip("+-").isascii() and stripped.lstrip("+-").isdigit():
            return int(stripped)
    return value


def _composed(value: object, schema: Mapping[str, Any]) -> object:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return [value] if schema["type"] == "array" and value and schema["items"]["type"] == "string" else value
    if schema["type"] == "array" and isinstance(value, list):
        return [_coerced(item, schema["items"]) for item in value if item is not None]
    if schema["type"] == "object" and isinstance(value, dict):
        properties = schema["properties"]
        return {name: _coerced(item, properties.get(name)) for name, item in value.items() if item is not None}
    return value


def _explained(error: ValidationError, schema: Mapping[str, Any]) -> str:
    faults = []
    for fault in error.errors(include_url=False, include_context=False)[:4]:
        path = ".".join(str(step) for step in fault["loc"])
        if fault["type"] == "extra_forbidden":
            faults.append(f"no argument {sanitise(path)!r}")
        elif fault["type"] == "missing":
            faults.append(f"{sanitise(path)} is missing")
        else:
            given = cut(sanitise(json.dumps(fault.get("input"), ensure_ascii=False, default=str)), 60)
            message = fault["msg"].removeprefix("Value error, ")
            faults.append(f"{sanitise(path)}: {message} (given {given})")
    return f"{'; '.join(faults)}; {outline(schema)}"


def outline(schema: Mapping[str, Any]) -> str:
    """The arguments of a tool in one line: `arguments: query, size (integer), id (string, required)`."""
    needed = schema.get("required", ())
    parts = []
    for name, part in schema["properties"].items():
        notes = ["|".join(part["enum"])] if "enum" in part else [part["type"]] if part["type"] != "string" else []
        notes += ["required"] if name in needed else []
        parts.append(f"{name} ({', '.join(notes)})" if notes else name)
    return "arguments: " + ", ".join(parts)
