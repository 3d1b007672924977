"""Change one setting in the text of a TOML file; comments, order and all other lines stay as they are.

Python reads TOML and writes none. A change is found by trying: each way to write it is parsed, and the first that gives
exactly the old settings with this one changed is taken. So no way of writing TOML can be damaged; one that is not
understood is refused.
"""

import copy
import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from logagent.expressions import expression

_BARE = expression(r"[A-Za-z0-9_-]+")
_KEY = expression(r"\s*([^=#\n]+?)\s*=")


def assign(text: str, name: Sequence[str], value: object) -> str:
    """The text with the setting at `name` (section, ..., key) set to `value`.

    Args:
        text: a TOML document.
        name: one or more keys, outermost first; sections that do not exist are made.
        value: text, number, boolean, or a list or mapping of these.

    Raises:
        ValueError: the file writes this setting in a way that only a person can change, or is no TOML.
    """
    wanted = _with(tomllib.loads(text), name, value)
    lines = text.splitlines()
    for changed in _ways(lines, tuple(name), written(value)):
        whole = "\n".join(changed).strip("\n") + "\n"
        if _parsed(whole) == wanted:
            return whole
    raise ValueError("it is written in a form that only you can change")


def line_of(text: str, name: Sequence[str]) -> int:
    """Number of the line, from 1 on, that sets `name` or opens its section; 0 where none is found."""
    lines, wanted = text.splitlines(), tuple(name)
    for size in range(len(wanted) - 1, -1, -1):
        for start, end in _sections(lines, wanted[:size]):
            for at in range(start, end):
                if _path(lines[at], _KEY) == wanted[size:]:
                    return at + 1
    return next((start for start, _ in _sections(lines, wanted) if start), 0)


def written(value: object) -> str:
    """A value as TOML.

    >>> written(["a", 3, True])
    '["a", 3, true]'
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(name))} = {written(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def header(name: Sequence[str]) -> str:
    """`[profiles.prod.es]`, with quotation marks where a name needs them."""
    return f"[{'.'.join(map(_key, name))}]"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else written(name)


def _with(table: dict[str, Any], name: Sequence[str], value: object) -> dict[str, Any]:
    whole = inner = copy.deepcopy(table)
    for section in name[:-1]:
        inner = inner.setdefault(section, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{section} is no table")  # noqa: TRY004 - the caller tells people, not programmers
    inner[name[-1]] = list(value) if isinstance(value, tuple) else value
    return whole


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _ways(lines: list[str], name: tuple[str, ...], value: str) -> Iterator[list[str]]:
    """Ways to write the change: in place of the old value, at the end of its section, in a new section."""
    for size in range(len(name) - 1, -1, -1):
        section, key = name[:size], name[size:]
        for start, end in _sections(lines, section):
            for at in range(start, end):
                if _path(lines[at], _KEY) == key:
                    yield from _replaced(lines, at, end, value)
    key_line = f"{_key(name[-1])} = {value}"
    for start, end in reversed(list(_sections(lines, name[:-1]))):
        last = next((at for at in range(end - 1, start - 1, -1) if lines[at].strip()), start - 1)
        yield [*lines[: last + 1], key_line, *lines[last + 1 :]]
    yield [*lines, "", header(name[:-1]), key_line] if len(name) > 1 else [key_line, *lines]


def _replaced(lines: list[str], at: int, end: int, value: str) -> Iterator[list[str]]:
    """The value that begins in line `at`, over one line or more, replaced; a comment behind it stays."""
    head = lines[at][: lines[at].index("=") + 1]
    for last in range(at, end):
        places = [place for place, char in enumerate(lines[last]) if char == "#"] if last == at else []
        comment = next((lines[at][place:] for place in places if _parsed(lines[at][:place]) is not None), "")
        yield [*lines[:at], f"{head} {value}{'  ' if comment else ''}{comment}", *lines[last + 1 :]]


def _sections(lines: list[str], name: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where the lines of a section are: first one and end; the empty name is what stands above all headers."""
    heads = [(at, _path(line.strip(), None)) for at, line in enumerate(lines) if line.lstrip().startswith("[")]
    bounds = [(-1, ()), *((at, path) for at, path in heads if path), (len(lines), ())]
    for (at, path), (end, _) in itertools.pairwise(bounds):
        if path == name:
            yield at + 1, end


def _path(line: str, key: Any) -> tuple[str, ...]:
    """The names in a header, or in the key of a line; empty for anything else."""
    found = key.match(line) if key else None
    if key and not found:
        return ()
    inner: Any = _parsed(f"{found[1]} = 0" if found else line)
    path: list[str] = []
    while isinstance(inner, dict) and len(inner) == 1:
        (name, inner), *_ = inner.items()
        path.append(name)
    return tuple(path) if inner in ({}, 0) else ()
