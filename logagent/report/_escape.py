"""Text of logs and models inside Markdown: it must not format, link, ping or close what surrounds it."""

import re

from logagent.report._text import clean

_RUNS = re.compile(r"`+")
_FORMATTING = re.compile(r"([\\`*<>\[\]|~])")
_EMPHASIS = re.compile(r"(?<![\w])_|_(?![\w])")
_LEADING = re.compile(r"^(\s*)([#+\-=]|\d+[.)])(?=\s|$)")
_TARGET = re.compile(r"(\]\s{0,4}[(:]\s{0,4}<?)([hHfF])[tT][tT]?([pP][sS]?://)")
_REACTS = re.compile(
    r"[\w.\-]+/[\w.\-]+#\d+"  # owner/repo#1
    r"|(?<![\w&])[#!@]\w[\w\-/.]*"  # #123, !45, @name, @org/team
    r"|\bGH-\d+\b"
    r"|\b(?:[a-z][a-z0-9+.\-]{1,20}://|www\.|mailto:)[^\s<>\"'`|]+"  # bare addresses
    r"|[\w.+\-]+@[\w\-]+\.[\w.\-]+",
    re.IGNORECASE,
)


def prose(text: str | None) -> str:
    """Words as plain words: nothing in them formats, links or notifies anybody. What could is set as code."""
    source, out, last = clean(text), [], 0
    for match in _REACTS.finditer(source):
        out += [_plain(source[last : match.start()]), code(match[0])]
        last = match.end()
    out.append(_plain(source[last:]))
    return _LEADING.sub(r"\1\\\2", "".join(out))


def _plain(text: str) -> str:
    return _EMPHASIS.sub(r"\\_", _FORMATTING.sub(r"\\\1", text))


def code(text: str | None) -> str:
    """Log text as inline code, fenced by more backticks than it holds."""
    inner = dead(clean(text))
    if not inner:
        return ""
    ticks = "`" * (max((len(run) for run in _RUNS.findall(inner)), default=0) + 1)
    blank = " " if inner.startswith("`") or inner.endswith("`") else ""
    return f"{ticks}{blank}{inner}{blank}{ticks}"


def dead(text: str) -> str:
    """Text in which no target of a link or an image can be followed, also where a reader does not know code.

    >>> dead("![x](https://a.example/i.png)")
    '![x](hxxps://a.example/i.png)'
    """
    return _TARGET.sub(r"\1\2xx\3", text)


def cell(text: str) -> str:
    """Markdown for a cell of a table: a bar would end the cell, also within code."""
    return re.sub(r"(?<!\\)\|", r"\\|", text) or " "


def fence(lines: list[str], language: str = "") -> list[str]:
    """Lines as a block, fenced by more backticks than any of them holds; each is one safe line."""
    inner = [dead(clean_line(line)) for line in lines]
    longest = max((len(run) for line in inner for run in _RUNS.findall(line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return [f"{ticks}{language}", *inner, ticks]


def clean_line(text: str) -> str:
    """One safe line; blanks at its begin stay."""
    body = text.lstrip(" ")
    return " " * (len(text) - len(body)) + clean(body)
