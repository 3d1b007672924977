"""What went wrong between us and the cluster, as the error tree says it."""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress

from logagent.errors import NoData, SourceError, StoreDenied, StoreQueryError, StoreUnavailable
from logagent.expressions import expression

_CONTROL = expression(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]")
_LONGEST_REASON = 300
_BUCKETS = "too_many_buckets_exception"
_BREAKER = "circuit_breaking_exception"
_TIMED_OUT = "time_exceeded_exception"


def clean(text: object) -> str:
    """Text of a server on one line, without control and direction characters, at most 300 characters."""
    return _CONTROL.sub(" ", str(text))[:_LONGEST_REASON].strip()


def types_of(body: object) -> set[str]:
    """All exception types in an error body, at any depth."""
    return {str(cause["type"]) for cause in _causes(body) if cause.get("type")}


def innermost(body: object) -> str:
    """The reason that says most: the deepest one, of the failed shards where there are any."""
    if isinstance(body, Mapping) and isinstance(body.get("error"), str):
        return clean(body["error"])
    reasons = [clean(cause["reason"]) for cause in _causes(body) if isinstance(cause.get("reason"), str)]
    kinds = [clean(cause["type"]) for cause in _causes(body) if cause.get("type")]
    return next((reason for reason in reversed(reasons) if reason), kinds[-1] if kinds else "no reason given")


def of_status(status: int, body: object, *, url: str, what: str, tries: int) -> SourceError:
    """The error for an answer that is not a success."""
    kinds = types_of(body)
    reason = innermost(body)
    values = {"url": url, "status": status, "reason": reason, "tries": tries, "query": what}
    if status == 401:  # noqa: PLR2004
        code = "LA202" if "expired" in reason else "LA201"
        return StoreDenied(f"The log store rejected the credentials (401): {reason}", code=code, values=values)
    if status == 403:  # noqa: PLR2004
        return StoreDenied(f"No right to read (403): {reason}", code="LA203", values=values)
    if kinds & {"index_not_found_exception", "no_such_remote_cluster_exception"}:
        return NoData(f"No such index: {reason}", code="LA301", values=values)
    if "index_closed_exception" in kinds:
        return NoData(f"The index is closed: {reason}", code="LA301", values=values)
    if _BUCKETS in kinds:
        return StoreQueryError("The search needs too many buckets.", hint="Use a longer interval or a shorter window.")
    return _of_load(status, kinds, reason, values) or StoreQueryError(
        f"The log store refused the search ({status}): {reason}", values=values
    )


def _of_load(status: int, kinds: set[str], reason: str, values: Mapping[str, object]) -> SourceError | None:
    """Errors of a store that is busy, broken or in between."""
    if _TIMED_OUT in kinds:
        return StoreUnavailable("The search ran out of time.", code="LA103", values=values)
    if _BREAKER in kinds:
        return StoreUnavailable(
            f"The log store has too little memory for this search: {reason}",
            code="LA404",
            hint="Use a shorter window.",
            values={**values, "breaker": True},
        )
    if status == 429:  # noqa: PLR2004
        return StoreUnavailable(f"The log store is rejecting searches (429): {reason}", code="LA404", values=values)
    if 300 <= status < 400:  # noqa: PLR2004
        return StoreUnavailable(
            f"Redirected ({status}) instead of answered; redirects are not followed.", values=values
        )
    if status >= 502:  # noqa: PLR2004
        return StoreUnavailable(f"The log store is not able to answer ({status}): {reason}", values=values)
    return None


def of_failure(error: Exception, *, url: str, what: str, tries: int, seconds: float) -> SourceError:
    """The error for a connection that failed below HTTP."""
    scheme, _, rest = url.partition("://")
    host, _, port = rest.partition("/")[0].rpartition(":")
    values: dict[str, object] = {"url": url, "host": host.strip("[]"), "port": port, "tries": tries, "query": what}
    values["seconds"] = round(seconds, 1)
    causes = list(_chain(error))
    text = " ".join(str(cause) for cause in causes)
    name = type(error).__name__
    if name == "TooLarge":
        return StoreQueryError(
            "The answer is larger than 32 MB.", code="too_large", hint="Ask for fewer records or a shorter window."
        )
    if name == "ConnectionTimeout":
        return StoreUnavailable(f"No answer from {url} within {seconds:.0f} s.", code="LA103", values=values)
    if any(isinstance(cause, socket.gaierror) for cause in causes) or "Failed to resolve" in text:
        return StoreUnavailable(f"Cannot resolve host {values['host']}.", code="LA102", values=values)
    if name == "TlsError" or any(isinstance(cause, ssl.SSLError) for cause in causes):
        return _of_tls(text, url, values)
    refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
    if scheme == "http" and not refused and _speaks_tls(str(values["host"]), int(port)):
        values.update(used="http", speaks="https", fixed_url=f"https://{rest}")
        return StoreUnavailable(f"http:// was used but port {port} speaks TLS.", code="LA105", values=values)
    return StoreUnavailable(f"Cannot connect to {url}: {_last_words(causes)}", code="LA101", values=values)


def _of_tls(text: str, url: str, values: dict[str, object]) -> SourceError:
    plain = ("WRONG_VERSION_NUMBER", "wrong version number", "record layer failure", "RECORD_LAYER", "HTTP_REQUEST")
    if any(word in text for word in plain):
        values.update(used="https", speaks="http", fixed_url=url.replace("https://", "http://", 1))
        return StoreUnavailable(
            f"https:// was used but port {values['port']} speaks plain HTTP.",
            hint="Use http:// in the URL.",
            values=values,
        )
    match = re.search(r"certificate verify failed: ([^(\n]+)|(Fingerprints did not match)", text)
    values["reason"] = clean(match[1] or match[2]) if match else "the handshake failed"
    return StoreUnavailable(
        f"The TLS certificate of {values['host']} is not trusted ({values['reason']}).", code="LA104", values=values
    )


def _speaks_tls(host: str, port: int) -> bool:
    """Whether a TLS handshake succeeds; asked only after plain HTTP failed, and nothing is sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with suppress(OSError), socket.create_connection((host, port), timeout=3) as raw, context.wrap_socket(raw):
        return True
    return False


def _causes(body: object) -> Iterator[Mapping[str, object]]:
    """Every cause in an error body, the outermost first; those of failed shards last."""
    error = body.get("error") if isinstance(body, Mapping) else None
    waiting: list[object] = [error]
    while waiting:
        cause = waiting.pop(0)
        if not isinstance(cause, Mapping):
            continue
        yield cause
        waiting.append(cause.get("caused_by"))
        shards = cause.get("failed_shards")
        if isinstance(shards, list) and shards and isinstance(shards[0], Mapping):
            waiting.append(shards[0].get("reason"))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and what it carries."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop(0)
        if not isinstance(cause, BaseException) or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [cause.__cause__, cause.__context__, getattr(cause, "reason", None)]
        waiting += [part for part in cause.args if isinstance(part, BaseException)]
        waiting += list(getattr(cause, "errors", ()) or ())


def _last_words(causes: list[BaseException]) -> str:
    """The operating system's own words where there are any."""
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
    return clean(re.sub(r"<[^>]*>:? ?", "", str(causes[-1]))) if causes else "no reason given"
