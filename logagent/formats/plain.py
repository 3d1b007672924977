"""Text without any time: every line is an event, indented lines belong to the one before."""

from typing import Any

from logagent.formats._base import Format, Parse, Sample
from logagent.formats.generic import after_time


def _reader(sample: Sample) -> Parse:
    del sample

    def parse(line: str) -> dict[str, Any] | None:
        if not line.strip() or line[0] in " \t" or line.startswith(("Caused by:", "Traceback (")):
            return None
        fields = after_time("", line)
        return {"message": line, **({"log.level": fields["log.level"]} if "log.level" in fields else {})}

    return parse


FORMAT = Format("plain", "text without times", 100, _reader, trust=0.03)
