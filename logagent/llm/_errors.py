"""Which error of ours a refusal becomes: what was rejected, in the vendor's words, and what to do."""

import re
from typing import Final

from logagent.errors import ModelError, ModelProtocolError, ModelRejected, ModelUnavailable
from logagent.llm._classify import Kind, is_filtered, is_out_of_money
from logagent.llm._endpoint import Endpoint
from logagent.llm._failure import Failure, is_page

_RATE_LIMIT: Final = 429
_NO_BALANCE: Final = 402
_NOT_FOUND: Final = 404


def to_error(
    failure: Failure, kind: Kind, endpoint: Endpoint, *, wait_s: float | None = None, left_s: float | None = None
) -> ModelError:
    """The error that the engineer sees, with the vendor's own words, shortened.

    Args:
        failure: what came last.
        kind: its class.
        endpoint: where it came from.
        wait_s: seconds the server asks us to wait.
        left_s: seconds until the deadline.
    """
    said = f": {failure.said}" if failure.said else ""
    if failure.request_id:
        said += f" (request {failure.request_id})"
    values: dict[str, object] = {
        "url": endpoint.shown,
        "model": endpoint.model,
        "status": failure.status,
        "reason": failure.said or failure.transport,
    }
    if kind == "rate_limit":
        return _rate_limited(endpoint, said, values, (wait_s, left_s))
    if failure.transport or kind in {"transient", "warming_up"}:
        values["reason"] = _short(failure)
        message = f"The model endpoint {endpoint.shown} gave no usable answer ({_short(failure)}){said}"
        return ModelUnavailable(message, code="LA506", hint="Check that the endpoint is up.", values=values)
    if is_page(failure.body):
        message = f"{endpoint.chat_url_shown} answered {failure.status} with a page{said}"
        values["url"] = endpoint.chat_url_shown
        return ModelProtocolError(message, code="LA506", hint=_URL_HINT, values=values)
    return _rejected(failure, kind, endpoint, said, values)


_URL_HINT: Final = "Check the base URL of the model endpoint; most end in /v1."


def _rate_limited(
    endpoint: Endpoint, said: str, values: dict[str, object], times: tuple[float | None, float | None]
) -> ModelError:
    wait_s, left_s = times
    if wait_s is not None:
        values["seconds"] = round(wait_s)
        said += f"; next slot in {wait_s:.0f} s"
    if left_s is not None:
        values["left"] = round(max(0.0, left_s))
    message = f"The model endpoint {endpoint.shown} limits the rate ({values['status'] or _RATE_LIMIT}){said}"
    return ModelUnavailable(message, code="LA503", hint="Wait, or use another endpoint.", values=values)


def _rejected(failure: Failure, kind: Kind, endpoint: Endpoint, said: str, values: dict[str, object]) -> ModelRejected:
    what, hint = _what(failure, kind)
    if failure.status == _NOT_FOUND:
        values["url"] = endpoint.chat_url_shown
        said = f" at {endpoint.chat_url_shown}{said}"
    if is_filtered(failure):
        values["category"] = filter_category(failure)
        what = f"request (content filter: {values['category']})"
    values["what"] = what
    message = f"The model endpoint {endpoint.shown} rejected the {what} ({failure.status or 'in its answer'}){said}"
    return ModelRejected(message, code="LA502", hint=hint, values=values)


def _what(failure: Failure, kind: Kind) -> tuple[str, str]:
    """What was rejected, and what to do."""
    if is_filtered(failure):
        return "request", "Log text may have triggered it; leave out or redact the last tool result."
    if is_out_of_money(failure) or failure.status == _NO_BALANCE:
        return "request for lack of balance or quota", "Top up the account, or use another endpoint."
    if kind in {"overflow", "lower_cap"}:
        return "length of the request", "Use a model with a larger context window, or narrow the question."
    if failure.status in {401, 403}:
        return "key", "Check the key of the model endpoint and its rights."
    if failure.status == _NOT_FOUND:
        return "URL or model name", f"Check the model name. {_URL_HINT}"
    return "request", "Check the model name and the settings of the endpoint."


def filter_category(failure: Failure) -> str:
    """Which category of a content filter was hit, e.g. `jailbreak`."""
    hits = re.findall(r'"(\w+)":\s*\{[^{}]*"(?:filtered|detected)":\s*true', failure.body)
    return ", ".join(dict.fromkeys(hits)) or "content_filter"


def _short(failure: Failure) -> str:
    if failure.transport == "timeout":
        return failure.message or "timeout"
    if failure.transport or not failure.status:
        return _TRANSPORT_WORDS.get(failure.transport, failure.transport) or "no usable answer"
    return f"status {failure.status}"


_TRANSPORT_WORDS: Final = {
    "refused": "connection refused",
    "dns": "unknown host",
    "tls": "TLS failure",
    "connect": "no connection",
    "cut": "connection cut",
    "encoding": "wrong content encoding",
}
