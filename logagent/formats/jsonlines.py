"""JSON lines among other text: container output, prefixed lines, banners between records."""

from typing import Any

import orjson

from logagent.expressions import expression
from logagent.formats import generic
from logagent.formats._base import Format, Parse, Sample

_MOST_TEXT = 0.8
_SURROGATES = expression(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""An escaped backslash or a whole pair, which stay, or half a pair."""


def json_object(text: str) -> dict[str, Any] | None:
    """The object that the text is, or None."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return None
    found = loaded(stripped)
    return found if isinstance(found, dict) and found else None


def loaded(text: str) -> object:
    """The JSON value that the text is, or None; half a surrogate pair, which no parser takes, becomes U+FFFD."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        mended = without_halves(text)
    if mended is text:
        return None
    try:
        return orjson.loads(mended)
    except orjson.JSONDecodeError:
        return None


def without_halves(text: str) -> str:
    """The text itself where no escape is half of a surrogate pair."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _SURROGATES.sub(lambda found: found[0] if found[1] else "\\ufffd", text)


def _reader(sample: Sample) -> Parse:
    others = [line for line in sample.lines if json_object(line) is None]
    if len(others) > len(sample.lines) * _MOST_TEXT:
        return lambda _: None
    text = generic.FORMAT.reader(Sample(others, sample.now))

    def parse(line: str) -> dict[str, Any] | None:
        return json_object(line) or text(line)

    return parse


def inner(text: str) -> dict[str, Any]:
    """Fields of a message that another format carries: JSON, else level, logger and text."""
    return json_object(text) or generic.after_time("", text)


FORMAT = Format("jsonlines", "JSON lines", 10, _reader)
