"""Access logs: common and combined log format of Apache, nginx, Traefik and others."""

from typing import Any

from logagent.expressions import expression
from logagent.formats._base import Format, Parse, Sample

_LINE = expression(
    r'^(?:(?P<vhost>[\w.-]+:\d+) )?(?P<client>[\w.:,-]+(?:, [\w.:]+)*) (?P<ident>\S+) (?P<user>\S+|"[^"]*") '
    r"\[(?P<time>\d\d?/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}|-) (?P<bytes>\d+|-)'
    r'(?: "(?P<referrer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)")?(?P<rest>.*)$'
)
_REQUEST = expression(r"^([A-Z]{3,10}) (\S+)(?: (HTTP/[\d.]+))?$")
_DURATION = expression(r"(?:^|\s)(?:rt=|request_time=)?(\d+\.\d{3,}|\d+ms)(?:\s|$)")
_IP = expression(r"(?:\d{1,3}\.){3}\d{1,3}\Z|(?=.*:)[0-9a-fA-F:.]+\Z")
_ID = expression(r"(?<=/)(?:\d+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|(?=[a-f]*\d)[0-9a-f]{8,})(?=/|$)")
_FAILED, _REFUSED = 500, 400


def _reader(sample: Sample) -> Parse:
    del sample
    return access


def access(line: str) -> dict[str, Any] | None:
    """Fields of an access line, or None."""
    found = _LINE.match(line)
    if found is None:
        return None
    client = found["client"]
    fields: dict[str, Any] = {
        "@timestamp": found["time"],
        "client.ip" if _IP.match(client) else "client.address": client,
    }
    request = _REQUEST.match(found["request"])
    if request:
        fields["http.request.method"], fields["url.original"] = request[1], request[2]
        fields["url.path"] = _route(request[2])
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


def _route(target: str) -> str:
    """The path without its ids, so that it can be counted; `url.original` has it as it was asked for.

    >>> _route("/product/479/reviews?page=2")
    '/product/{id}/reviews'
    """
    path = target.partition("?")[0]
    return _ID.sub("{id}", path) if path[:1] == "/" else path


FORMAT = Format("access", "access log", 30, _reader)
