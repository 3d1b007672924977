"""JSON lines among other text: container output, prefixed lines, banners between records."""

from typing import Any

import orjson

from logagent.formats import generic
from logagent.formats._base import Format, Parse, Sample

_MOST_TEXT = 0.8


def json_object(text: str) -> dict[str, Any] | None:
    """The object that the text is, or None."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return None
    try:
        found = orjson.loads(stripped)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) and found else None


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
