"""Arguments of tool calls: read, and repaired where that is certain (llm-endpoints.md 9).

Open brackets and strings are never closed: a filter that is cut off and then "repaired"
is a wider filter, and a wrong conclusion in an incident.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Mapping
from typing import NoReturn, cast

from logagent.expressions import expression

JsonObject = dict[str, object]

_NOTHING = frozenset({"", "null", "None", "undefined", "nil"})
_FENCE = expression(r"```[a-zA-Z0-9_-]*[ \t]*\r?\n?(.*?)\r?\n?[ \t]*```", re.DOTALL)
_TOKEN = expression(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]|,(?=\s*[}\]])', re.DOTALL)
_ESCAPE = expression(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\(.?)', re.DOTALL)
_CONTROL = expression(r"(?:\s|[;\]}]|<[|/][^<>\n]{1,60}>|<[|][^<>\n]{1,60}|\[/?[A-Z_]{2,20}\]|```)+")
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
    text = plain(value)
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


def plain(text: str) -> str:
    """A text without blanks, byte order mark and code fence around it."""
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
        value = loads(text)
    except json.JSONDecodeError as error:
        return ArgumentsError(f"Arguments are no valid JSON ({error.msg})", text, error.pos)
    except (ValueError, RecursionError) as error:
        return ArgumentsError(f"Arguments are no valid JSON ({error})", text, 0)
    return ArgumentsError(f"Arguments must be a JSON object, not {type(value).__name__}", text, 0)


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is no JSON number"
    raise ValueError(msg)


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def loads(text: str) -> object:
    """JSON with raw line breaks in strings, and without NaN.

    Raises:
        ValueError: it is none.
    """
    return _DECODER.decode(text)


def _whole(text: str) -> list[JsonObject]:
    value: object = text
    for _ in range(_MAX_NESTING + 1):
        if not isinstance(value, str):
            break
        try:
            value = loads(plain(value))
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
        value = loads(json.dumps(value, allow_nan=False))
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
