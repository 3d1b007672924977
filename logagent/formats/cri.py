"""Container runtime files (CRI): `2026-11-30T14:00:00.1Z stderr F message`; parts marked P are put together."""

import re
from typing import Any

from logagent.expressions import expression
from logagent.formats._base import HOLD, Format, Parse, Sample
from logagent.formats.jsonlines import inner
from logagent.formats.logfmt import pairs

_LINE = expression(
    r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) "
    r"(?P<stream>stdout|stderr) (?P<tag>[FP]) ?(?P<text>.*)$",
    re.DOTALL,
)


def _reader(sample: Sample) -> Parse:
    del sample
    held: dict[str, list[str]] = {}

    def parse(line: str) -> dict[str, Any] | None:
        found = _LINE.match(line)
        if found is None:
            return None
        stream = found["stream"]
        if found["tag"] == "P":
            held.setdefault(stream, []).append(found["text"])
            return HOLD
        text = "".join([*held.pop(stream, ()), found["text"]])
        if _continues(text):
            return None
        return {**carried(text), **_own(found)}

    return parse


def carried(text: str) -> dict[str, Any]:
    """Fields of the message inside; a JSON or logfmt message brings its own."""
    return pairs(text) or inner(text)


def _own(found: re.Match[str]) -> dict[str, Any]:
    return {"@timestamp": found["time"], "stream": found["stream"]}


def _continues(text: str) -> bool:
    return text[:1] in {" ", "\t"} or text.startswith("Caused by:")


FORMAT = Format("cri", "container log (CRI)", 15, _reader)
