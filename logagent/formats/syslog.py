"""Syslog: RFC 5424, RFC 3164 with or without priority, and journal text with an ISO stamp."""

import re
from typing import Any

from logagent.expressions import expression
from logagent.formats import _stamps
from logagent.formats._base import Format, Parse, Sample
from logagent.formats.generic import after_time
from logagent.formats.jsonlines import json_object

_NEW = expression(
    r"^(?:<(?P<priority>\d{1,3})>)1 (?P<time>\S+) (?P<host>\S+) (?P<app>\S+) (?P<pid>\S+) (?P<msgid>\S+) "
    r"(?P<data>-|(?:\[(?:[^\]\"\\]|\\.|\"(?:[^\"\\]|\\.)*\")*\])+)(?: \ufeff?(?P<message>.*))?$",
    re.DOTALL,
)
_OLD = expression(
    rf"^(?:<(?P<priority>\d{{1,3}})>)?(?P<time>(?:{'|'.join(_stamps.MONTHS)})\s+\d\d?(?:\s\d{{4}})?\s\d\d:\d\d:\d\d(?:\.\d+)?"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))"
    r" (?P<host>[\w.:-]+) (?P<app>[\w./@()-]+?)(?:\[(?P<pid>\d+)\])?: (?P<message>.*)$",
    re.DOTALL,
)
_PAIR = expression(r'([\w.@-]+)="((?:[^"\\]|\\.)*)"')
_LEVELS = ("emergency", "alert", "critical", "error", "warning", "notice", "info", "debug")


def _reader(sample: Sample) -> Parse:
    convert = _stamps.converter("ctime", sample.now)

    def parse(line: str) -> dict[str, Any] | None:
        found = _NEW.match(line) or _OLD.match(line)
        if found is None:
            return None
        stamp = found["time"]
        return _fields(found, stamp if stamp[:1].isdigit() else convert(stamp))

    return parse


def _fields(found: re.Match[str], at: str | None) -> dict[str, Any]:
    groups = found.groupdict()
    fields: dict[str, Any] = {}
    if at and at != "-":
        fields["@timestamp"] = at
    for name, group in (("host.name", "host"), ("service.name", "app"), ("process.pid", "pid")):
        if groups[group] and groups[group] != "-":
            fields[name] = groups[group]
    if groups["priority"]:
        fields["log.level"] = _LEVELS[int(groups["priority"]) % 8]
    if groups.get("data", "-") not in {None, "-"}:
        fields.update({f"syslog.{name}": value for name, value in _PAIR.findall(groups["data"])})
    text = (groups["message"] or "").strip()
    carried = json_object(text)
    if carried:
        return {**fields, **carried}
    within = after_time("", text)
    if "log.level" in within:
        fields.setdefault("log.level", within["log.level"])
    return {**fields, "message": text}


FORMAT = Format("syslog", "syslog", 40, _reader)
