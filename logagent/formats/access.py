"""Access logs: common and combined log format of Apache, nginx, Traefik and others."""

import re
from typing import Any

from logagent.formats._base import Format, Parse, Sample

_LINE = re.compile(
    r'^(?:(?P<vhost>[\w.-]+:\d+) )?(?P<client>[\w.:,-]+(?:, [\w.:]+)*) (?P<ident>\S+) (?P<user>\S+|"[^"]*") '
    r"\[(?P<time>\d\d?/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}|-) (?P<bytes>\d+|-)'
    r'(?: "(?P<referrer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)")?(?P<rest>.*)$'
)
_REQUEST = re.compile(r"^([A-Z]{3,10}) (\S+)(?: (HTTP/[\d.]+))?$")
_DURATION = re.compile(r"(?:^|\s)(?:rt=|request_time=)?(\d+\.\d{3,}|\d+ms)(?:\s|$)")
_FAILED, _REFUSED = 500, 400


def _reader(sample: Sample) -> Parse:
    del sample
    return access


def access(line: str) -> dict[str, Any] | None:
    """Fields of an access line, or None."""
    found = _LINE.match(line)
    if found is None:
        return None
    fields: dict[str, Any] = {"@timestamp": found["time"], "client.address": found["client"]}
    request = _REQUEST.match(found["request"])
    if request:
        fields["http.request.method"], fields["url.original"] = request[1], request[2]
        fields["url.path"] = request[2].partition("?")[0]
    if found["status"] != "-":
        code = int(found["status"])
        fields["http.response.status_code"] = code
        fields["log.level"] = "error" if code >= _FAILED else "warn" if code >= _REFUSED else "info"
    for name, group in (("http.response.body.bytes", "bytes"), ("user.name", "user"), ("user_agent.original", "agent")):
        if found[group] not in {None, "-"}:
            fields[name] = found[group]
    if duration := _DURATION.search(found["rest"]):
        text = duration[1]
        fields["duration_ms"] = float(text[:-2]) if text.endswith("ms") else float(text) * 1_000
    fields["message"] = f"{found['request']} {found['status']}"
    return fields


FORMAT = Format("access", "access log", 30, _reader)
