"""klog and glog: `E1130 14:00:00.123456   12345 file.go:123] message`."""

import re
from typing import Any

from logagent.expressions import expression
from logagent.formats._base import Format, Parse, Sample
from logagent.formats._stamps import MONTHS, converter

_LINE = expression(
    r"^(?P<level>[IWEFD])(?P<year>\d{4}(?=\d{4} ))?(?P<month>\d\d)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d\.\d+)"
    r"\s+(?P<pid>\d+) "
    r"(?P<logger>[^\]\s]+:\d+)\] (?P<message>.*)$",
    re.DOTALL,
)
_LEVELS = {"I": "info", "W": "warn", "E": "error", "F": "fatal", "D": "debug"}
_NAMES = {number: name for name, number in MONTHS.items()}


def _reader(sample: Sample) -> Parse:
    convert = converter("ctime", sample.now)

    def parse(line: str) -> dict[str, Any] | None:
        found = _LINE.match(line)
        if found is None or int(found["month"]) not in _NAMES:
            return None
        year = f" {found['year']}" if found["year"] else ""
        return {
            "@timestamp": convert(f"{_NAMES[int(found['month'])]} {found['day']} {found['clock']}{year}"),
            "log.level": _LEVELS[found["level"]],
            "process.pid": found["pid"],
            "log.logger": found["logger"],
            "message": found["message"],
        }

    return parse


FORMAT = Format("klog", "klog", 30, _reader)
