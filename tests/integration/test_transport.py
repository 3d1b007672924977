"""The transport over a loopback wire: what leaves, what is retried, what an engineer is told."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from logagent.errors import (
    BudgetExceeded,
    LogAgentError,
    NoData,
    StoreDenied,
    StoreQueryError,
    StoreUnavailable,
    UsageError,
)
from logagent.stores._base import StoreUsage
from logagent.stores._transport import Access, ReadOnlyTransport
from logagent.stores.elasticsearch import ElasticsearchOptions, ElasticsearchStore
from tests.integration.wire import CERTIFICATE, Reply, Wire

FOUND = {"took": 3, "timed_out": False, "_shards": {"total": 2, "successful": 2, "failed": 0}, "hits": {"hits": []}}
BUSY = {
    "error": {
        "type": "search_phase_execution_exception",
        "reason": "",
        "caused_by": {"type": "es_rejected_execution_exception", "reason": "queue capacity"},
    },
    "status": 429,
}
BREAKER = {"error": {"type": "circuit_breaking_exception", "reason": "[parent] Data too large"}, "status": 429}
KEY = "c2VjcmV0LWtleTpkby1ub3Qtc2hvdw=="


@contextmanager
def transport(url: str, waits: list[float] | None = None, **more: object) -> Iterator[ReadOnlyTransport]:
    access = Access(url=url, **{"request_timeout": 5.0, **more})  # type: ignore[arg-type]
    opened = ReadOnlyTransport(access, StoreUsage(), sleep=(waits if waits is not None else []).append)
    try:
        yield opened
    finally:
        opened.close()


def search(opened: ReadOnlyTransport, body: dict[str, object] | None = None) -> object:
    return opened.call("POST", "/logs-a/_search", what="records", body=body or {"size": 1}).body


def failure(url: str, **more: object) -> LogAgentError:
    with transport(url, [], **more) as opened, pytest.raises(LogAgentError) as raised:
        search(opened)
    return raised.value


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/logs-a/_doc"),
        ("PUT", "/logs-a"),
        ("DELETE", "/logs-a"),
        ("POST", "/_bulk"),
        ("POST", "/logs-a/_delete_by_query"),
        ("POST", "/logs-a/_update_by_query"),
        ("POST", "/_aliases"),
        ("PUT", "/logs-a/_search"),
        ("POST", "/_search"),
        ("POST", "/_all/_search"),
        ("POST", "/.security*/_search"),
        ("POST", "/logs-*,-logs-b/_search"),
        ("POST", "/<logs-{now}>/_search"),
        ("POST", "/logs-a/_search/../_bulk"),
        ("POST", "/logs-a/_search\n"),
        ("GET", "/_cluster/settings"),
        ("POST", "/logs-a/_search/scroll"),
    ],
)
def test_a_request_outside_the_list_raises_before_a_byte_leaves(method: str, path: str) -> None:
    with Wire([Reply(FOUND)]) as wire, transport(wire.url) as opened:
        with pytest.raises(StoreQueryError):
            opened.call(method, path, what="x", body={})
        assert wire.requests == []


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"script": {"script": "1"}}},
        {"query": {"bool": {"filter": [{"query_string": {"query": "*"}}]}}},
        {"runtime_mappings": {"a": {"type": "keyword"}}},
        {"aggs": {"a": {"scripted_metric": {}}}},
        {"query": {"regexp": {"a": "b"}}},
        {"profile": True},
    ],
)
def test_a_forbidden_clause_raises_before_a_byte_leaves(body: dict[str, object]) -> None:
    with Wire([Reply(FOUND)]) as wire, transport(wire.url) as opened:
        with pytest.raises(StoreQueryError):
            search(opened, body)
        assert wire.requests == []


def test_a_field_may_be_named_like_a_forbidden_clause() -> None:
    with Wire([Reply(FOUND)]) as wire, transport(wire.url) as opened:
        search(opened, {"query": {"term": {"profile": {"value": "a"}}}})
        assert len(wire.requests) == 1


def test_requests_carry_our_name_the_run_and_plain_json() -> None:
    with Wire([Reply(FOUND)]) as wire, transport(wire.url, api_key=KEY, run_id="20261130-1431-7f3a") as opened:
        search(opened)
    headers = {name.lower(): value for name, value in wire.requests[0][2].items()}
    assert headers["x-opaque-id"] == "logagent"
    assert headers["content-type"] == headers["accept"] == "application/json"
    assert headers["authorization"] == f"ApiKey {KEY}"
    assert "20261130-1431-7f3a" in headers["user-agent"]
    assert headers["traceparent"].startswith("00-")
    assert "x-elastic-client-meta" not in headers


def test_a_full_queue_is_tried_once_more_after_a_pause() -> None:
    waits: list[float] = []
    with Wire([Reply(BUSY, 429), Reply(FOUND)]) as wire, transport(wire.url, waits) as opened:
        search(opened)
    assert len(wire.requests) == 2
    assert 0.5 <= waits[0] <= 0.75


def test_the_pause_a_server_asks_for_is_kept() -> None:
    waits: list[float] = []
    with Wire([Reply(BUSY, 429, {"Retry-After": "3"}), Reply(FOUND)]) as wire, transport(wire.url, waits) as opened:
        search(opened)
    assert waits == [3.0]


def test_a_pause_that_is_too_long_is_not_waited_for() -> None:
    with Wire([Reply(BUSY, 429, {"Retry-After": "120"})]) as wire:
        error = failure(wire.url)
        assert len(wire.requests) == 1
    assert error.code == "LA404"


def test_two_refusals_are_the_end() -> None:
    with Wire([Reply(BUSY, 429)]) as wire:
        error = failure(wire.url)
        assert len(wire.requests) == 2
    assert isinstance(error, StoreUnavailable)
    assert (error.code, error.values["tries"], error.values["reason"]) == ("LA404", 2, "queue capacity")


def test_a_breaker_is_not_asked_again() -> None:
    with Wire([Reply(BREAKER, 429)]) as wire:
        error = failure(wire.url)
        assert len(wire.requests) == 1
    assert error.code == "LA404"


def test_too_many_buckets_is_our_mistake_and_not_retried() -> None:
    body = {"error": {"type": "x", "reason": "", "caused_by": {"type": "too_many_buckets_exception", "reason": "many"}}}
    with Wire([Reply(body, 503)]) as wire:
        error = failure(wire.url)
    assert isinstance(error, StoreQueryError)


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        (Reply({"error": {"type": "security_exception", "reason": "unable to authenticate"}}, 401), StoreDenied, "LA201"),
        (Reply({"error": {"type": "security_exception", "reason": "api key is expired"}}, 401), StoreDenied, "LA202"),
        (Reply({"error": {"type": "security_exception", "reason": "action [..] is unauthorized"}}, 403), StoreDenied, "LA203"),
        (Reply({"error": {"type": "index_not_found_exception", "reason": "no such index [logs-a]"}}, 404), NoData, "LA301"),
        (Reply(b"<html><body>Sign in</body></html>", 200, kind="text/html"), StoreUnavailable, ""),
        (Reply(b"<html>502 Bad Gateway</html>", 502, kind="text/html"), StoreUnavailable, ""),
        (Reply(b'{"took":3,"hi', 200), StoreUnavailable, ""),
        (Reply(b'{"took":3,"hi', 200, promised_bytes=900), StoreUnavailable, "LA101"),
        (Reply(b"[]", 200), StoreUnavailable, ""),
        (Reply(b"", 302, {"Location": "http://127.0.0.1:1/"}), StoreUnavailable, ""),
        (Reply({"error": "Incorrect HTTP method for uri"}, 405), StoreQueryError, ""),
    ],
)  # fmt: skip
def test_each_refusal_has_its_error(reply: Reply, kind: type[LogAgentError], code: str) -> None:
    with Wire([reply]) as wire:
        error = failure(wire.url)
    assert (type(error), error.code) == (kind, code)


def test_a_web_page_is_named_as_one() -> None:
    with Wire([Reply(b"<!DOCTYPE html><title>Login</title>", kind="text/html; charset=utf-8")]) as wire:
        assert "a web page" in failure(wire.url).message


def test_a_redirect_is_not_followed() -> None:
    with Wire([Reply(FOUND)]) as other, Wire([Reply(b"", 307, {"Location": f"{other.url}/logs-a/_search"})]) as wire:
        failure(wire.url)
        assert other.requests == []


def test_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    waits: list[float] = []
    with transport(f"http://127.0.0.1:{port}", waits) as opened, pytest.raises(StoreUnavailable) as raised:
        search(opened)
    assert (raised.value.code, raised.value.values["tries"], len(waits)) == ("LA101", 2, 1)


def test_a_name_that_does_not_resolve() -> None:
    error = failure("http://no-such-host.invalid:9200")
    assert (error.code, error.values["host"]) == ("LA102", "no-such-host.invalid")


def test_an_answer_that_does_not_come() -> None:
    held = threading.Event()
    with Wire([Reply(FOUND, before=held.wait)]) as wire:
        error = failure(wire.url, request_timeout=0.2)
        held.set()
        assert len(wire.requests) == 1
    assert error.code == "LA103"


def test_http_to_a_tls_port_says_so() -> None:
    with Wire([Reply(FOUND)], tls=True) as wire:
        error = failure(wire.url.replace("https", "http"))
    assert (error.code, error.values["fixed_url"]) == ("LA105", wire.url)


def test_https_to_a_plain_port_says_so() -> None:
    with Wire([Reply(FOUND)]) as wire:
        error = failure(wire.url.replace("http", "https"))
    assert "speaks plain HTTP" in error.message


def test_an_unknown_certificate_is_refused() -> None:
    with Wire([Reply(FOUND)], tls=True) as wire:
        error = failure(wire.url)
        assert wire.requests == []
    assert error.code == "LA104"
    assert "self-signed" in str(error.values["reason"])


def test_a_certificate_is_trusted_by_its_file_or_its_fingerprint() -> None:
    import hashlib  # noqa: PLC0415
    import ssl  # noqa: PLC0415

    pem = CERTIFICATE.read_text()
    der = ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE") :].strip())
    fingerprint = hashlib.sha256(der).hexdigest()
    for more in ({"ca_cert": str(CERTIFICATE)}, {"fingerprint": fingerprint}, {"insecure": True}):
        with Wire([Reply(FOUND)], tls=True) as wire, transport(wire.url, **more) as opened:
            search(opened)
            assert len(wire.requests) == 1


def test_a_wrong_fingerprint_is_refused() -> None:
    with Wire([Reply(FOUND)], tls=True) as wire:
        error = failure(wire.url, fingerprint="00" * 32)
        assert wire.requests == []
    assert error.code == "LA104"


def test_a_ca_file_that_is_missing_is_a_mistake_of_the_settings() -> None:
    error = failure("https://127.0.0.1:1", ca_cert="/nowhere/ca.crt")
    assert isinstance(error, UsageError)


def test_an_answer_over_32_mb_is_not_read() -> None:
    big = b'{"took":1,"hits":{"hits":["' + b"x" * (33 * 1024 * 1024) + b'"]}}'
    with Wire([Reply(big)]) as wire:
        error = failure(wire.url)
    assert isinstance(error, StoreQueryError)
    assert "32 MB" in error.message


def test_the_budget_of_requests_ends_them() -> None:
    with Wire([Reply(FOUND)]) as wire, transport(wire.url, max_requests=1) as opened:
        search(opened)
        with pytest.raises(BudgetExceeded):
            search(opened)
        assert len(wire.requests) == 1


@pytest.mark.parametrize("url", ["ftp://es:9200", "http://", "http://user:pass@es:9200", "http://es:port"])
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as raised:
        ReadOnlyTransport(Access(url=url), StoreUsage())
    assert "pass" not in raised.value.message.replace("password", "")


def test_secrets_show_nowhere() -> None:
    options = ElasticsearchOptions(url="http://127.0.0.1:1", indices=["logs-*"], api_key=KEY, password="hunter2")
    store = ElasticsearchStore(options)
    with Wire([Reply(BUSY, 429)]) as wire:
        error = failure(wire.url, api_key=KEY)
    shown = f"{options!r} {store!r} {store.__dict__!r} {error!r} {error.values!r}"
    store.close()
    assert KEY not in shown
    assert "hunter2" not in shown


def test_too_old_a_server_is_named() -> None:
    old = {"version": {"number": "6.8.23"}, "tagline": "You Know, for Search"}
    with Wire([Reply(old)]) as wire:
        store = ElasticsearchStore(ElasticsearchOptions(url=wire.url, indices=["logs-*"]))
        with pytest.raises(UsageError) as raised:
            store.describe()
        store.close()
    assert (raised.value.code, raised.value.values["version"]) == ("LA106", "6.8.23")
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    "pattern",
    ["", "*", "_all", "a*", "log*", ".security", "-logs", "logs-*-x", "Logs-a", "logs a", "logs-a,logs-b", "<logs-{now/d}>", "logs::failures", "eu:logs-*", "logs..a", "logs/a", "logs-a%2c", "lögs-a"],
)  # fmt: skip
def test_index_patterns_outside_the_grammar_are_refused(pattern: str) -> None:
    with pytest.raises(UsageError):
        ElasticsearchStore(ElasticsearchOptions(url="http://127.0.0.1:1", indices=[pattern]))


@pytest.mark.parametrize("pattern", ["logs-*", "logs-2026.11.30", "app_1", "filebeat*"])
def test_index_patterns_inside_the_grammar_are_taken(pattern: str) -> None:
    ElasticsearchStore(ElasticsearchOptions(url="http://127.0.0.1:1", indices=[pattern])).close()


def test_a_remote_cluster_must_be_configured() -> None:
    ElasticsearchStore(ElasticsearchOptions(url="http://127.0.0.1:1", indices=["eu:logs-*"], remotes=["eu"])).close()
