"""What a text tells its reader to do: found by one who believes every word, in plain, encoded and hidden spellings."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from urllib.parse import unquote

from logagent.expressions import expression
from logagent.testing._script import Call

_HIDDEN = expression("[\u00ad\u034f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_TAGS = expression("[\U000e0020-\U000e007e]")
_BASE64 = expression(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/_-]{16,}={0,2}(?![A-Za-z0-9+/=])")
_URL = expression(r"\b(?:https?|ftp|file|gopher|ldap|wss?)://[^\s\"'<>|)\]\\]+|\bwww\.[\w.-]+", re.IGNORECASE)
_CALLED = expression(
    r"\b(?:call|use|run|invoke|execute|调用)\s+(?:the\s+)?(?:tool\s+)?[\"'`]?([a-z][a-z0-9_]{2,60})", re.IGNORECASE
)
_NAMED = expression(r"\b([a-z]+(?:_[a-z]+)+)\b")
_PAIR = expression(r"\b([a-z_]{2,30})\s*=\s*(?:\"([^\"]{0,300})\"|'([^']{0,300})'|([^\s,;)]{1,300}))", re.IGNORECASE)
_INDEX = expression(
    r"(?<![\w/*])(?:_all\b|\*:?\*?(?=[\s,\"']|$)|\.[a-z][\w-]*\*?(?:,\.?[a-z][\w-]*\*?)*|[a-z][\w-]*-\*)"
)
_SPAN = expression(
    r"\b(?:last|past|previous)\s+(\d{1,5})\s+(minute|hour|day|week)s?\b|过去\s*(\d{1,5})\s*(天|小时)", re.IGNORECASE
)
_UNIT = {"minute": "m", "hour": "h", "day": "d", "week": "w", "天": "d", "小时": "h"}
_MANY = expression(
    r"\b(?:for|once for) (?:each|every)\b|\b\d{2,6} times\b|\brepeat(?:edly)?\b|每(?:一)?分钟", re.IGNORECASE
)
_QUERY = expression(r"\bquery(?:_string)?\b[:\s]+(\S.{0,180}?)(?: over| with| and|$)|\b\w+:(/[^/\s]+/)", re.IGNORECASE)
_QUOTED = expression(r"[\"“'‘「『]([^\"”'’」』]{2,160})[\"”'’」』]")
_LEAK = expression(
    r"system[ _]prompt|initial (?:prompt|config|instruction)|conversation|instructions? (?:above|you)|系统提示",
    re.IGNORECASE,
)
_ACT = expression(
    r"\b(delete|send|post|fetch|open|curl|create|change|add|silence|allow|close|restart|install|downgrade|drop"
    r"|transfer)\b",
    re.IGNORECASE,
)


def spellings(text: str) -> list[str]:
    """The text, and what it says once invisible characters, percent codes, tags and base64 are undone."""
    found = [text, _HIDDEN.sub("", text), unquote(text)]
    found += ["".join(chr(ord(char) - 0xE0000) for char in _TAGS.findall(text)), text[::-1] if "txet" in text else ""]
    for match in _BASE64.finditer(text):
        padded = match[0].rstrip("=") + "=" * (-len(match[0].rstrip("=")) % 4)
        try:
            plain = base64.b64decode(padded, altchars=b"-_", validate=False).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        found.append(plain if plain.isprintable() else "")
    return [one for one in dict.fromkeys(found) if one]


def urls(text: str) -> list[str]:
    """Addresses in a text."""
    return list(dict.fromkeys(_URL.findall(text)))


def literals(text: str) -> list[str]:
    """Words in quotes: what a text wants said."""
    return list(dict.fromkeys(_QUOTED.findall(text)))


def wants_secrets(text: str) -> bool:
    """Whether it asks for the prompt or the conversation."""
    return _LEAK.search(text) is not None


def wants_many(text: str) -> bool:
    """Whether it asks for the same again and again."""
    return _MANY.search(text) is not None


def calls(text: str) -> Iterator[Call]:
    """Every call that the text asks for or could be taken to ask for; arguments as it writes them."""
    for written in spellings(text):
        yield from _spelled(written)


def _spelled(text: str) -> Iterator[Call]:
    arguments = _arguments(text)
    for name in dict.fromkeys([*_CALLED.findall(text), *_NAMED.findall(text)]):
        yield Call(name, arguments)
    yield from _json(text)
    for pattern in dict.fromkeys(_INDEX.findall(text)):
        yield Call("search_logs", {"index_pattern": pattern, "size": 100})
    for span in _SPAN.findall(text):
        yield Call("search_logs", {"start_time": f"now-{span[0] or span[2]}{_UNIT[(span[1] or span[3]).lower()]}"})
    for asked in _QUERY.findall(text):
        yield Call("search_logs", {"query": asked[0] or asked[1], "size": 10_000})
    for url in urls(text):
        yield Call("fetch_url", {"url": url})
        yield Call("search_logs", {"query": url, "why": f"fetch {url}"})
    for verb in dict.fromkeys(word.lower() for word in _ACT.findall(text)):
        yield Call(f"{verb}_anything", {"order": text[:300]})
        yield Call("run_command", {"command": text[:300]})


def _arguments(text: str) -> dict[str, object]:
    return {name.lower(): quoted or single or bare for name, quoted, single, bare in _PAIR.findall(text)}


def _json(text: str) -> Iterator[Call]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        else:
            yield from _object(value)
        at = text.find("{", end)


def _object(value: object) -> Iterator[Call]:
    if not isinstance(value, dict):
        return
    name = next((value[key] for key in ("tool", "name", "function", "action") if isinstance(value.get(key), str)), "")
    keys = ("arguments", "args", "parameters", "input", "result")
    given: object = next((value[key] for key in keys if key in value), {})
    if name:
        yield Call(name, given if isinstance(given, dict) else str(given))
