"""Arguments of tool calls: read, repaired where that is certain, coerced by schema (llm-endpoints.md 9).

Open brackets and strings are never closed: a filter that is cut off and then "repaired"
is a wider filter, and a wrong conclusion in an incident.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn, cast

JsonObject = dict[str, object]

_NOTHING = frozenset({"", "null", "None", "undefined", "nil"})
_FENCE = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\r?\n?(.*?)\r?\n?[ \t]*```", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]|,(?=\s*[}\]])', re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\(.?)', re.DOTALL)
_CONTROL = re.compile(r"(?:\s|[;\]}]|<[|/][^<>\n]{1,60}>|<[|][^<>\n]{1,60}|\[/?[A-Z_]{2,20}\]|```)+")
_MAX_LITERAL = 20_000
_MAX_NESTING = 3
_AROUND = 60
_WORDS = {"true": True, "false": False, "null": None}


class ArgumentsError(ValueError):
    """Arguments that are no JSON object, with the place where reading failed.

    Attributes:
        position: offset in the text, in characters.
        excerpt: at most 120 characters around it.
    """

    def __init__(self, reason: str, text: str, position: int) -> None:
        self.position = position
        self.excerpt = text[max(0, position - _AROUND) : position + _AROUND]
        super().__init__(f"{reason} at character {position}, near: {self.excerpt}")


def parse_arguments(text: object) -> JsonObject:
    """The one object that `text` means; several different ones are an error.

    >>> parse_arguments('{"level": "error",}')
    {'level': 'error'}

    Raises:
        ArgumentsError: no object, or more than one.
    """
    objects = read_objects(text)
    if len(objects) > 1:
        raise ArgumentsError("More than one JSON object", str(text), 0)
    return objects[0]


def read_objects(value: object) -> list[JsonObject]:
    """All distinct objects in the arguments of one call, at least one.

    Raises:
        ArgumentsError: nothing that is certainly an object.
    """
    if isinstance(value, dict):
        return [cast("JsonObject", value)]
    if value is None:
        return [{}]
    if not isinstance(value, str):
        raise ArgumentsError("Arguments are no JSON object", str(value), 0)
    text = _plain(value)
    if text in _NOTHING:
        return [{}]
    for repair in _REPAIRS:
        found = repair(text)
        if found:
            return _distinct(found)
    raise _refusal(text)


def is_cut(text: str) -> bool:
    """Whether brackets or a string are still open at the end.

    >>> is_cut('{"query":{"bool":')
    True
    >>> is_cut('{"q": 1]')
    False
    """
    depth = 0
    for piece in _TOKEN.findall(text):
        if piece[0] == '"':
            if len(piece) == 1 or piece[-1] != '"' or _ends_escaped(piece):
                return True
        elif piece in "{[":
            depth += 1
        elif piece in "}]":
            depth -= 1
    return depth > 0


def to_text(arguments: Mapping[str, object]) -> str:
    """Arguments as compact JSON, as they are replayed."""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)


def _plain(text: str) -> str:
    text = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCE.fullmatch(text)
    return fenced[1].strip() if fenced else text


def _distinct(objects: list[JsonObject]) -> list[JsonObject]:
    seen: dict[str, JsonObject] = {}
    for each in objects:
        seen.setdefault(json.dumps(each, sort_keys=True), each)
    return list(seen.values())


def _refusal(text: str) -> ArgumentsError:
    try:
        value = _loads(text)
    except json.JSONDecodeError as error:
        return ArgumentsError(f"Arguments are no valid JSON ({error.msg})", text, error.pos)
    except (ValueError, RecursionError) as error:
        return ArgumentsError(f"Arguments are no valid JSON ({error})", text, 0)
    return ArgumentsError(f"Arguments must be a JSON object, not {type(value).__name__}", text, 0)


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is no JSON number"
    raise ValueError(msg)


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def _loads(text: str) -> object:
    return _DECODER.decode(text)


def _whole(text: str) -> list[JsonObject]:
    value: object = text
    for _ in range(_MAX_NESTING + 1):
        if not isinstance(value, str):
            break
        try:
            value = _loads(_plain(value))
        except (ValueError, RecursionError):
            return []
    return [cast("JsonObject", value)] if isinstance(value, dict) else []


def _several(text: str) -> list[JsonObject]:
    """Complete objects one after the other; behind the last one only control tokens or a few words."""
    found: list[JsonObject] = []
    at = 0
    while at < len(text) and text[at] == "{":
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        found.append(value)
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
    rest = _CONTROL.sub("", text[at:])
    return [] if "{" in rest or "[" in rest or '"' in rest else found


def _without_commas(text: str) -> str:
    return _TOKEN.sub(lambda token: "" if token[0] == "," else token[0], text)


def _with_escapes(text: str) -> str:
    return _TOKEN.sub(lambda token: _escaped(token[0]) if token[0][0] == '"' else token[0], text)


def _escaped(string: str) -> str:
    return _ESCAPE.sub(lambda match: match[0] if match[1] else f"\\\\{match[2]}", string)


def _ends_escaped(string: str) -> bool:
    body = string[1:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


def _literal(text: str) -> list[JsonObject]:
    """A Python dict display, with the JSON words for true, false and null."""
    if len(text) > _MAX_LITERAL or not text.startswith("{"):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            tree = ast.parse(text, mode="eval")
        value = ast.literal_eval(_WordsToConstants().visit(tree))
        value = _loads(json.dumps(value, allow_nan=False))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return []
    return [cast("JsonObject", value)] if isinstance(value, dict) else []


class _WordsToConstants(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_WORDS[node.id]) if node.id in _WORDS else node


_REPAIRS: tuple[Callable[[str], list[JsonObject]], ...] = (
    _whole,
    _several,
    lambda text: _whole(_without_commas(text)),
    lambda text: _whole(_with_escapes(_without_commas(text))),
    lambda text: _several(_with_escapes(_without_commas(text))),
    _literal,
)


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
        value = _loads(text.strip())
    except ValueError:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def _boolean(text: str) -> object:
    return {"true": True, "false": False}.get(text.strip().lower(), text)


def _container(text: str) -> object:
    try:
        value = _loads(_plain(text))
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
