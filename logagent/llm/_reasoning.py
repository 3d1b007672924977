"""Telling what a model says from what it thinks (llm-endpoints.md 6)."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from logagent.expressions import expression

FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
"""Where endpoints put reasoning; the one an endpoint used is the one it wants back."""

_OPEN = r"<(?:think|thinking|thought|reasoning|seed:think)>|\[THINK\]|◁think▷"
_CLOSE = r"</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|◁/think▷"
_TAG = expression(f"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
_CODE = expression(
    r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE
)


class Spoken(NamedTuple):
    """A message, parted."""

    text: str
    reasoning: str


def spoken(message: Mapping[str, object]) -> Spoken:
    """Text and reasoning of an assistant message in any of the known forms."""
    text, thoughts = _content(message.get("content"))
    inner = split_tags(text)
    pieces = [_field(message), *thoughts, inner.reasoning]
    return Spoken(inner.text, "\n".join(piece for piece in pieces if piece).strip())


def field_used(message: Mapping[str, object]) -> str:
    """Name of the reasoning field in the message, or empty."""
    return next((name for name in FIELDS if message.get(name)), "")


def split_tags(text: str) -> Spoken:
    r"""Take reasoning tags out of a text; tags inside code are left alone.

    A closed pair is stripped. All before a lone closing tag is reasoning: the opening one
    stood in the prompt. All behind an unclosed opening tag is reasoning too.

    >>> split_tags("checking shards\n</think>\n\nThe api service fails.")
    Spoken(text='The api service fails.', reasoning='checking shards')
    """
    tags = _tags_outside_code(text)
    if not tags:
        return Spoken(text, "")
    said: list[str] = []
    thought: list[str] = []
    at, depth = 0, 0
    for tag in tags:
        piece = text[at : tag.start()]
        inside = depth or (tag is tags[0] and tag.lastgroup == "close")
        (thought if inside else said).append(piece)
        depth = 1 if tag.lastgroup == "open" else 0
        at = tag.end()
    (thought if depth else said).append(text[at:])
    return Spoken("".join(said).strip(), "\n".join(part.strip() for part in thought if part.strip()))


def _tags_outside_code(text: str) -> list[re.Match[str]]:
    tags = list(_TAG.finditer(text))
    if not tags or ("`" not in text and "~~~" not in text):
        return tags
    code = [match.span() for match in _CODE.finditer(text)]
    return [tag for tag in tags if not any(start <= tag.start() < end for start, end in code)]


def _content(content: object) -> tuple[str, list[str]]:
    if isinstance(content, str):
        return content, []
    said: list[str] = []
    thought: list[str] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, Mapping):
            kind = str(part.get("type", "text"))
            if kind in {"text", "output_text"}:
                said.append(_flat(part.get("text")))
            elif kind in {"thinking", "reasoning", "thought"}:
                thought.append(_flat(part))
    return "".join(said), thought


def _field(message: Mapping[str, object]) -> str:
    for name in FIELDS:
        text = _flat(message.get(name))
        if text:
            return text
    return ""


def _flat(value: object) -> str:
    """All text in a value: a string, a part, or a list of parts. Encrypted data is no text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return next((_flat(value[key]) for key in ("text", "thinking", "summary", "content") if value.get(key)), "")
    if isinstance(value, list):
        return "".join(_flat(each) for each in value)
    return ""
