"""What a refusal says: one extractor for the body shapes of all vendors (llm-endpoints.md 14)."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from logagent.expressions import expression

_MAX_TEXT: Final = 400
_MAX_BODY: Final = 8_000
_MAX_DEPTH: Final = 6
_CLIENT_ERROR: Final = 400
_NO_STATUS: Final = 600
_STATUS_BY_WORD: Final = {
    "invalid_request": 400,
    "badrequest": 400,
    "bad_request": 400,
    "invalid_argument": 400,
    "invalid_parameter": 400,
    "authentication": 401,
    "unauthenticated": 401,
    "invalid_api_key": 401,
    "permission": 403,
    "not_found": 404,
    "notfound": 404,
    "rate_limit": 429,
    "ratelimit": 429,
    "resource_exhausted": 429,
    "overloaded": 529,
    "gateway_timeout": 504,
    "gatewaytimeout": 504,
    "server_error": 500,
    "servererror": 500,
    "api_error": 500,
    "unavailable": 503,
}
"""Statuses of errors inside a stream that name a type only."""
_TITLE = expression(r"<(?:title|h1)[^>]*>(.*?)</(?:title|h1)>", re.IGNORECASE | re.DOTALL)
_TAGS = expression(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Failure:
    """One refusal in plain fields; empty where the endpoint said nothing."""

    status: int = 0
    """HTTP status, or the one named inside a stream; 0 for a broken connection."""
    code: str = ""
    type: str = ""
    message: str = ""
    param: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Response headers, names in lower case."""
    body: str = ""
    """Everything the body holds, as text to look for keys in."""
    request_id: str = ""
    transport: str = ""
    """What broke on the wire: `refused`, `dns`, `tls`, `timeout`, `cut`, `encoding`; empty for an answer."""

    @property
    def text(self) -> str:
        """All that can be matched, lower case."""
        return f"{self.code} {self.type} {self.message} {self.body}".lower()

    def without(self, secret: str) -> "Failure":
        """The same where a secret of ours, which some proxies echo, is masked."""
        if not secret or secret not in self.message + self.body:
            return self
        message, body = (text.replace(secret, "<api key>") for text in (self.message, self.body))
        return replace(self, message=message, body=body)

    @property
    def said(self) -> str:
        """One line for people."""
        return (self.message or self.code or self.type or self.body)[:_MAX_TEXT].strip()


def read_failure(status: int, body: str, headers: Mapping[str, str] | None = None) -> Failure:
    """A failure from an HTTP answer."""
    lower = {key.lower(): value for key, value in (headers or {}).items()}
    text = body.strip()
    try:
        value = json.loads(text, strict=False) if text else None
    except (ValueError, RecursionError):
        return Failure(status, message=_page(text), headers=lower, body=text[:_MAX_BODY], request_id=_request_id(lower))
    return from_body(value, status, lower)


def from_body(value: object, status: int = 0, headers: Mapping[str, str] | None = None) -> Failure:
    """A failure from an error body, as it stands in an answer or in an event of a stream.

    >>> from_body([{"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT"}}]).said
    'bad'
    """
    levels = list(_levels(value))
    found = dict.fromkeys(("code", "type", "message", "param", "request_id"), "")
    for level in levels:
        for key, names in _NAMES.items():
            found[key] = _first(level, names) or found[key]
    code = found["code"]
    inner = _status_of(levels) or _status_by_word(f"{found['type']} {code}".lower())
    lower = {**(headers or {}), **_inner_headers(levels)}
    return Failure(
        status=status if status >= _CLIENT_ERROR else inner,
        code=code,
        type=found["type"],
        message=_page(found["message"]),
        param=found["param"],
        headers=lower,
        body=json.dumps(value, ensure_ascii=False, default=str)[:_MAX_BODY] if value else "",
        request_id=found["request_id"] or _request_id(lower),
    )


_NAMES: dict[str, tuple[str, ...]] = {
    "code": ("code",),
    "type": ("type", "status"),
    "message": ("message", "msg", "detail", "error_msg", "errorMessage", "title", "error"),
    "param": ("param",),
    "request_id": ("request_id", "requestId", "error_id"),
}
_WRAPPERS = ("error", "errors", "detail", "metadata", "raw", "innererror", "inner_error", "body", "message")


def _levels(value: object, depth: int = 0) -> Iterator[Mapping[str, object]]:
    """The objects of an error body from the outside in; the innermost speaks last and is heard."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield from _unpacked(value, depth)
    elif isinstance(value, list):
        for each in value[:1]:
            yield from _levels(each, depth + 1)
    elif isinstance(value, Mapping):
        yield value
        for inner in map(value.get, _WRAPPERS):
            if isinstance(inner, Mapping | list) or (isinstance(inner, str) and "{" in inner):
                yield from _levels(inner, depth + 1)


def _unpacked(text: str, depth: int) -> Iterator[Mapping[str, object]]:
    """A JSON object inside a string, as proxies hand on what they got."""
    at = text.find("{")
    if at < 0:
        if depth == 0 and text:
            yield {"message": text}
        return
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        if depth == 0:
            yield {"message": text}
        return
    yield from _levels(value, depth + 1)


def _first(level: Mapping[str, object], names: tuple[str, ...]) -> str:
    for name in names:
        value = level.get(name)
        if isinstance(value, str) and value and not (name in {"error", "detail"} and value.lstrip().startswith("{")):
            return value
        if isinstance(value, int) and not isinstance(value, bool) and name in {"code", "status"}:
            return str(value)
    return ""


def _status_of(levels: list[Mapping[str, object]]) -> int:
    for level in levels:
        for name in ("status", "status_code", "code"):
            value = level.get(name)
            if isinstance(value, str) and value.isdigit():
                value = int(value)
            if isinstance(value, int) and _CLIENT_ERROR <= value < _NO_STATUS:
                return value
    return 0


def _status_by_word(words: str) -> int:
    return next((status for word, status in _STATUS_BY_WORD.items() if word in words), 0)


def _inner_headers(levels: list[Mapping[str, object]]) -> dict[str, str]:
    """Headers that stand in the body (OpenRouter: the reset time of a limit)."""
    for level in levels:
        headers = level.get("headers")
        if isinstance(headers, Mapping):
            return {str(key).lower(): str(value) for key, value in headers.items()}
    return {}


def _request_id(headers: Mapping[str, str]) -> str:
    names = ("x-request-id", "request-id", "cf-ray", "x-amzn-requestid")
    return next((headers[name] for name in names if name in headers), "")


def _page(text: str) -> str:
    """Title of an HTML page, else the text on one line."""
    if text.lstrip()[:1] == "<":
        title = _TITLE.search(text)
        return " ".join(_TAGS.sub(" ", title[1] if title else text[:_MAX_TEXT]).split())
    return " ".join(text[:_MAX_BODY].split())


def is_page(body: str) -> bool:
    """Whether a body is HTML or a Cloudflare error."""
    start = body.lstrip()[:200].lower()
    return (
        start.startswith(("<!doctype", "<html", "<head", "<title", "<h1", "<center")) or '"cloudflare_error"' in start
    )
