"""The only way to a cluster: reads, from a list of allowed requests, with limits on time, size and number.

No method that writes exists, and a request outside the list raises before a byte leaves. The same for Elasticsearch
7.17 to 9 and OpenSearch 2 and 3: plain `application/json`, no product check, no compatibility header.
"""

import base64
import hashlib
import json
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from logagent.errors import BudgetExceeded, SourceError, StoreQueryError, StoreUnavailable, UsageError
from logagent.stores._base import StoreUsage
from logagent.stores._es_errors import of_failure, of_status, types_of

if TYPE_CHECKING:
    from logagent.stores._es_node import CappedNode

_INDICES = r"(?:[a-z0-9_-]+:)?[a-z0-9][a-z0-9_.-]*\*?(?:,(?:[a-z0-9_-]+:)?[a-z0-9][a-z0-9_.-]*\*?)*"
_ALLOWED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("GET", re.compile(r"/\Z")),
    ("POST", re.compile(rf"/{_INDICES}/_search\Z")),
    ("POST", re.compile(rf"/{_INDICES}/_count\Z")),
    ("GET", re.compile(rf"/{_INDICES}/_field_caps\Z")),
    ("GET", re.compile(rf"/_resolve/index/{_INDICES}\Z")),
    ("POST", re.compile(r"/_security/user/_has_privileges\Z")),
    ("GET", re.compile(r"/_security/_authenticate\Z")),
    ("GET", re.compile(r"/_plugins/_security/authinfo\Z")),
)
_FORBIDDEN = frozenset(
    {
        "script", "scripted_metric", "script_score", "script_fields", "runtime_mappings", "derived", "query_string",
        "simple_query_string", "regexp", "prefix", "fuzzy", "more_like_this", "percolate", "profile", "explain",
        "collapse", "post_filter", "rescore", "suggest", "highlight", "significant_text", "scroll", "indices_boost",
    }
)  # fmt: skip
_NAMES_FIELDS = frozenset({"term", "terms", "match", "match_phrase", "wildcard", "range"})
_AGGREGATIONS = frozenset({"aggs", "aggregations"})
_LONGEST_LINE = 4_096
_BACKOFF_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 10.0
_TRIES = 2


@dataclass(frozen=True, slots=True)
class Access:
    """Where the cluster is and how to get in. Secrets never show in `repr`."""

    url: str
    api_key: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    ca_cert: str | None = None
    fingerprint: str | None = None
    insecure: bool = False
    request_timeout: float = 30.0
    """Seconds for one request, waiting and reading."""
    max_requests: int = 0
    """Most requests of this run; 0 = no limit."""
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]


class ReadOnlyTransport:
    """Sends allowed requests, at most 4 at a time, each at most twice. Safe to use from several threads."""

    def __init__(
        self,
        access: Access,
        usage: StoreUsage,
        *,
        sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - the default of what is passed in
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._access = access
        self._usage = usage
        self._sleep = sleep
        self._clock = clock
        self._slots = threading.BoundedSemaphore(4)
        self._lock = threading.Lock()
        self._node: CappedNode | None = None
        self.url = _origin(access.url)

    def __repr__(self) -> str:
        return f"ReadOnlyTransport({self.url!r})"

    def get(self, path: str, *, what: str, params: Mapping[str, str] | None = None) -> Answer:
        """A request without a body."""
        return self.call("GET", path, what=what, params=params)

    def call(
        self,
        method: str,
        path: str,
        *,
        what: str,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send one allowed request and decode its answer.

        Args:
            method: as in the list of allowed requests.
            path: without host and parameters.
            what: what is asked, for messages and the log of requests.
            params: query parameters.
            body: to be sent as JSON.

        Raises:
            StoreQueryError: not on the list, forbidden in a body, or refused by the server.
            StoreUnavailable: no usable answer after all tries.
            StoreDenied: 401 or 403.
            NoData: a named index does not exist.
            BudgetExceeded: `max_requests` are spent.
        """
        target = _target(method, path, params, body)
        data = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode() if body is not None else None
        started = self._clock()
        for attempt in range(1, _TRIES + 1):
            self._count()
            with self._slots:
                outcome = self._send(method, target, data)
            if not isinstance(outcome, Exception) and 200 <= outcome[0].status < 300:  # noqa: PLR2004
                return self._accept(outcome, what)
            error = self._error(outcome, what, attempt, self._clock() - started)
            wait = _wait(outcome, error, attempt)
            if wait is None:
                raise error
            self._sleep(wait)
        raise AssertionError  # the last try never waits

    def close(self) -> None:
        """Release connections."""
        with self._lock:
            node, self._node = self._node, None
        if node is not None:
            node.close()

    def _count(self) -> None:
        limit = self._access.max_requests
        with self._lock:
            if limit and self._usage.requests >= limit:
                raise BudgetExceeded(f"All {limit} requests to the log store are spent.", values={"requests": limit})
            self._usage.requests += 1

    def _open(self) -> "CappedNode":
        from elastic_transport import NodeConfig  # noqa: PLC0415 - 0.3 s, only when a cluster is really asked

        from logagent.stores._es_node import CappedNode  # noqa: PLC0415

        with self._lock:
            if self._node is None:
                try:
                    self._node = CappedNode(NodeConfig(**self._config()))
                except (OSError, ValueError) as error:  # a fingerprint of the wrong length, a CA file that is none
                    raise UsageError(f"Cannot use the TLS settings of {self.url}: {error}") from error
            return self._node

    def _config(self) -> dict[str, Any]:
        access = self._access
        parts = urlsplit(self.url)
        config: dict[str, Any] = {
            "scheme": parts.scheme,
            "host": parts.hostname or "",
            "port": parts.port or 0,
            "path_prefix": parts.path.rstrip("/"),
            "connections_per_node": 4,
            "request_timeout": access.request_timeout,
        }
        if parts.scheme == "https":
            if access.ca_cert:
                Path(access.ca_cert).open("rb").close()  # urllib3 would say so only in the first request
            config["verify_certs"] = not access.insecure and not access.fingerprint
            config["ssl_show_warn"] = False
            config["ca_certs"] = access.ca_cert
            config["ssl_assert_fingerprint"] = access.fingerprint
        return config

    def _send(self, method: str, target: str, data: bytes | None) -> "tuple[Any, bytes] | Exception":
        from elastic_transport import HttpHeaders, TransportError  # noqa: PLC0415

        from logagent.stores._es_node import TooLarge  # noqa: PLC0415

        node = self._open()
        try:
            answer = node.perform_request(
                method,
                target,
                body=data,
                headers=HttpHeaders(self._headers()),
                request_timeout=self._access.request_timeout,
            )
        except (TransportError, TooLarge) as error:
            return error
        return answer.meta, answer.body

    def _headers(self) -> dict[str, str]:
        access = self._access
        headers = {
            "accept": "application/json",
            "content-type": "application/json",
            "x-opaque-id": "logagent",
            "user-agent": f"logagent (run {access.run_id})" if access.run_id else "logagent",
        }
        if access.run_id:
            trace = hashlib.sha256(access.run_id.encode()).hexdigest()[:32]
            headers["traceparent"] = f"00-{trace}-{random.getrandbits(64):016x}-01"
        if access.api_key:
            headers["authorization"] = f"ApiKey {access.api_key}"
        elif access.username:
            pair = f"{access.username}:{access.password}".encode()
            headers["authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        return headers

    def _error(self, outcome: "tuple[Any, bytes] | Exception", what: str, tries: int, seconds: float) -> SourceError:
        if isinstance(outcome, Exception):
            return of_failure(outcome, url=self.url, what=what, tries=tries, seconds=seconds)
        meta, data = outcome
        return of_status(meta.status, _decoded(data), url=self.url, what=what, tries=tries)

    def _accept(self, outcome: "tuple[Any, bytes]", what: str) -> Answer:
        meta, data = outcome
        kind = str(meta.headers.get("content-type", ""))
        body = _decoded(data)
        if not isinstance(body, dict):
            page = "html" in kind or data.lstrip()[:1] == b"<"
            said = "a web page" if page else f"something that is not JSON ({kind or 'no content type'})"
            raise StoreUnavailable(
                f"{self.url} answered with {said}: a proxy, a login page, a broken answer or another service.",
                hint="Check the URL and its port; Elasticsearch answers JSON.",
                values={"url": self.url, "reason": said},
            )
        self._note(body, what)
        return Answer(body, {str(key).lower(): str(value) for key, value in meta.headers.items()})

    def _note(self, body: Mapping[str, Any], what: str) -> None:
        took = body.get("took")
        shards = body.get("_shards") or {}
        with self._lock:
            self._usage.took_ms += took if isinstance(took, int) else 0
            detail = f", {shards.get('successful', 0)} of {shards.get('total', 0)} shards" if shards else ""
            self._usage.log.append(f"{what}: {took if took is not None else '-'} ms{detail}")


def _origin(url: str) -> str:
    """Scheme, host, port and path prefix, without user and password, which belong into settings."""
    parts = urlsplit(url if "://" in url else f"https://{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise UsageError(f"The port in {parts.hostname} is not a number.", code="LA702") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError("The URL of the log store must start with http:// or https:// and name a host.", code="LA702")
    if parts.username or parts.password:
        raise UsageError("The URL of the log store holds a user or password.", code="LA706")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def _target(method: str, path: str, params: Mapping[str, str] | None, body: Mapping[str, Any] | None) -> str:
    """The request line's target, after all checks."""
    if not any(method == allowed and pattern.match(path) for allowed, pattern in _ALLOWED):
        raise StoreQueryError(f"{method} {path[:200]} is not a request that reads logs; it was not sent.")
    found = _forbidden(body)
    if found:
        raise StoreQueryError(f"{found!r} is not allowed in a search; it was not sent.")
    target = quote(path, safe="/*,:._-") + (f"?{urlencode(params)}" if params else "")
    if len(target) > _LONGEST_LINE - 20:
        raise StoreQueryError("Too many index names for one request.", hint="Name a pattern instead.")
    return target


def _forbidden(body: object, parent: str = "") -> str:
    """The first clause that must not occur, at any depth; below a clause such as `term`, keys are names of fields."""
    if isinstance(body, Mapping):
        for key, value in body.items():
            if key in _FORBIDDEN and parent not in _NAMES_FIELDS:
                return str(key)
            found = _in_aggregations(value) if key in _AGGREGATIONS else _forbidden(value, str(key))
            if found:
                return found
    elif isinstance(body, list | tuple):
        return next((found for part in body if (found := _forbidden(part, parent))), "")
    return ""


def _in_aggregations(body: object) -> str:
    """The same of aggregations: keys are names of their own, and those of `terms` are options and no fields."""
    named = body.values() if isinstance(body, Mapping) else ()
    for kind, options in (pair for one in named if isinstance(one, Mapping) for pair in one.items()):
        found = _in_aggregations(options) if kind in _AGGREGATIONS else str(kind) if kind in _FORBIDDEN else ""
        found = found or _forbidden(options, "" if kind in _NAMES_FIELDS else str(kind))
        if found:
            return found
    return ""


def _decoded(data: bytes) -> object:
    import orjson  # noqa: PLC0415

    try:
        return orjson.loads(data)
    except ValueError:
        return None


def _wait(outcome: "tuple[Any, bytes] | Exception", error: SourceError, attempt: int) -> float | None:
    """Seconds until the next try, or None for none: 429 (no breaker), 503 and broken connections are worth one."""
    if attempt >= _TRIES or not isinstance(error, StoreUnavailable) or not _worth_a_retry(outcome, error):
        return None
    asked = "" if isinstance(outcome, Exception) else str(outcome[0].headers.get("retry-after", ""))
    if asked.isdigit():
        return float(asked) if float(asked) <= _LONGEST_WAIT_SECONDS else None
    return _BACKOFF_SECONDS * (1 + random.random() / 2)  # noqa: S311 - spreads clients, no secret


def _worth_a_retry(outcome: "tuple[Any, bytes] | Exception", error: StoreUnavailable) -> bool:
    if isinstance(outcome, Exception):
        return error.code == "LA101"
    meta, data = outcome
    breaker = "circuit_breaking_exception" in types_of(_decoded(data))
    return meta.status in {429, 503} and not breaker
