"""logfmt: `time=2026-11-30T14:00:00Z level=info msg="started" port=8080`."""

from typing import Any

from logagent.expressions import expression
from logagent.formats._base import Format, Parse, Sample

_PAIR = expression(r'(?<![^\s])([A-Za-z_@][\w.@/-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?=\s|$)')
_FEWEST = 3
_RENAMED = {"t": "time", "lvl": "level"}


def pairs(line: str) -> dict[str, Any] | None:
    """The fields of a line that consists of at least three pairs and little else; None for other text."""
    found = list(_PAIR.finditer(line))
    if len(found) < _FEWEST or sum(match.end() - match.start() for match in found) * 10 < len(line) * 8:
        return None
    fields: dict[str, Any] = {}
    for match in found:
        value = match[2]
        if value.startswith('"'):
            value = value[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
        fields[_RENAMED.get(match[1], match[1])] = value
    return fields


def _reader(sample: Sample) -> Parse:
    del sample
    return pairs


FORMAT = Format("logfmt", "logfmt", 20, _reader)
