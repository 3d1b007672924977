"""Text of logs and models inside Markdown or HTML: it must not format, link, ping or close what surrounds it."""

import html
import re

from logagent.analysis.sanitise import sanitise
from logagent.expressions import expression
from logagent.report._text import clean

_RUNS = expression(r"`+")
_FORMATTING = expression(r"([\\`*<>\[\]|~])")
_EMPHASIS = expression(r"(?<![\w])_|_(?![\w])")
_LEADING = expression(r"^(\s*)([#+\-=]|\d+[.)])(?=\s|$)")
_TARGET = expression(r"(\]\s{0,4}[(:]\s{0,4}<?)([hHfF])[tT][tT]?([pP][sS]?://)")
_REACTS = expression(
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


def outward(href: str, title: str) -> str:
    """A link that our configuration made; "" for an address that is not of the web.

    >>> outward("https://kibana.example/app/r?p=(a)", "Discover"), outward("javascript:alert(1)", "x")
    ('[Discover](<https://kibana.example/app/r?p=(a)>)', '')
    """
    address = clean(href)
    is_web = address.startswith(("https://", "http://")) and not set(address) & set("<> `")
    return f"[{prose(title)}](<{address}>)" if is_web else ""


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


def html_text(text: str) -> str:
    """Text as character data of HTML, between tags or within a quoted attribute: one safe line without markup."""
    return html.escape(sanitise(text), quote=True)


def html_json(document: str) -> str:
    r"""A JSON document inside a script element: nothing in it ends the element, begins a comment or cannot be seen.

    >>> html_json('{"a":"</script>"}')
    '{"a":"\\u003c/script\\u003e"}'
    """
    for char in set(document):
        if char in "<>&" or (not char.isascii() and sanitise(char) != char) or char == "\x7f":
            document = document.replace(char, "".join(f"\\u{unit:04x}" for unit in _utf16(char)))
    return document


def _utf16(char: str) -> tuple[int, ...]:
    data = char.encode("utf-16-be")
    return tuple(int.from_bytes(data[place : place + 2]) for place in range(0, len(data), 2))
