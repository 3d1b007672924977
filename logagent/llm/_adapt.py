"""Changes of the request that a refusal asks for (llm-endpoints.md 3): one thing at a time, remembered."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from logagent.expressions import expression
from logagent.llm._capabilities import Capabilities, EmptyContent
from logagent.llm._classify import lacks_tools
from logagent.llm._failure import Failure
from logagent.llm._profile import CapField

MAX_CHANGES: Final = 8
"""Changes for one reply; each costs one request."""

_ADAPTABLE: Final = frozenset({0, 400, 404, 405, 415, 422, 500, 501})
_ALWAYS_SENT: Final = frozenset({"model", "messages", "tools", "stream", "max_tokens", "max_completion_tokens"})
_KNOWN_KEYS: Final = frozenset({"role", "content", "tool_calls", "tool_call_id"})
_REFUSES = expression(
    r"unsupported|not (supported|permitted|allowed)|n't support|unrecogni[sz]ed|unknown|unexpected|extra_forbidden|"
    r"extra inputs|invalid|does not support|additional propert|cannot be|must be|only .{0,20}allowed|不支持|无效",
    re.IGNORECASE,
)
_LOC = expression(r'"loc":\s*\[([^\]]*)\]')
_PROPERTY = expression(r"propert(?:y|ies) '?\"?([a-z_]+)'?\"? (?:is|are) (?:unsupported|not)", re.IGNORECASE)
_NINE = expression(r"must be a-z, A-Z, 0-9, with a length of 9|\b3280\b|invalid_function_call", re.IGNORECASE)
_ORDER = expression(r"after role .?tool|\b3230\b|invalid_request_message_order|must alternate", re.IGNORECASE)
_NIL = expression(
    r"content type: <nil>|content.{0,40}(non-?empty|is empty|is blank|cannot be empty|must not be empty)|"
    r"text content blocks must|empty text|content.{0,30}(null|none)\b|expected (a )?string.{0,20}(got|null)",
    re.IGNORECASE,
)
_BACK = expression(
    r"reasoning(_content|_details)?\W.{0,120}(passed? back|missing|must be|required|provide|include)|"
    r"thinking is enabled but reasoning",
    re.IGNORECASE,
)
_EMPTY_ORDER: Final[tuple[EmptyContent, ...]] = ("empty", "null", "absent")


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the record after it, and what it does in words."""

    text: str
    capabilities: Capabilities


def adapt(failure: Failure, body: Mapping[str, object], now: Capabilities) -> Change | None:
    """The change that the refusal of `body` asks for, if it names one that was not made yet."""
    if failure.transport == "encoding" and not now.identity_encoding:
        return Change("Accept-Encoding: identity", replace(now, identity_encoding=True))
    if failure.transport or failure.status not in _ADAPTABLE:
        return None
    for rule in _RULES:
        change = rule(failure, body, now)
        if change is not None and change.capabilities != now:
            return change
    return None


def _swap_cap_field(failure: Failure, body: Mapping[str, object], now: Capabilities) -> Change | None:
    if now.cap_field_swapped or now.cap_field not in body:
        return None
    named = failure.param == now.cap_field or re.search(rf"\b{now.cap_field}\b", failure.text)
    if not named or not _REFUSES.search(failure.text) or re.search(r"too (large|high|big)", failure.text):
        return None
    other: CapField = "max_completion_tokens" if now.cap_field == "max_tokens" else "max_tokens"
    text = f"send {other} instead of {now.cap_field}"
    return Change(text, replace(now, cap_field=other, cap_field_swapped=True))


def _drop_parameter(failure: Failure, body: Mapping[str, object], now: Capabilities) -> Change | None:
    for name in body:
        if name in _ALWAYS_SENT or name in now.dropped:
            continue
        if failure.param.split(".")[0] == name or re.search(rf"\b{re.escape(name)}\b", failure.text):
            return Change(f"drop {name}", now.without(name))
    return None


def _strip_key(failure: Failure, body: Mapping[str, object], now: Capabilities) -> Change | None:
    if _BACK.search(failure.message):
        return None
    sent = _extra_keys(body)
    for name in (*_forbidden(failure), *sorted(sent)):
        named = name in sent and re.search(rf"\b{re.escape(name)}\b", failure.text)
        if named and name not in now.refused_keys and _REFUSES.search(failure.text):
            text = f"strip {name} from the outgoing copy"
            return Change(text, replace(now, refused_keys=(*now.refused_keys, name)))
    return None


def _map_ids(failure: Failure, _: Mapping[str, object], now: Capabilities) -> Change | None:
    if _NINE.search(failure.text):
        return Change("map all ids to 9 alphanumerics", replace(now, short_ids=True))
    return None


def _bridge(failure: Failure, _: Mapping[str, object], now: Capabilities) -> Change | None:
    if _ORDER.search(failure.text):
        return Change("insert a short assistant message between tool and user", replace(now, bridge=True))
    return None


def _return_reasoning(failure: Failure, _: Mapping[str, object], now: Capabilities) -> Change | None:
    if not _BACK.search(failure.message):
        return None
    kept = tuple(key for key in now.refused_keys if not key.startswith("reasoning"))
    return Change("send reasoning_content with every turn", replace(now, fill_reasoning=True, refused_keys=kept))


def _flip_content(failure: Failure, body: Mapping[str, object], now: Capabilities) -> Change | None:
    if not _NIL.search(failure.text) or not any(message.get("tool_calls") for message in _messages(body)):
        return None
    at = _EMPTY_ORDER.index(now.empty_content)
    if at + 1 == len(_EMPTY_ORDER):
        return None
    flag = _EMPTY_ORDER[at + 1]
    return Change(f"content of turns with calls only: {flag}", replace(now, empty_content=flag))


def _send_tools(failure: Failure, _: Mapping[str, object], now: Capabilities) -> Change | None:
    if "without `tools=`" in failure.text or "tools= param" in failure.text:
        return Change("send the tools", replace(now, needs_tools=True))
    return None


def _use_text_protocol(failure: Failure, body: Mapping[str, object], now: Capabilities) -> Change | None:
    if "tools" in body and lacks_tools(failure):
        return Change("offer the tools as text", replace(now, native_tools=False))
    return None


_RULES: tuple[Callable[[Failure, Mapping[str, object], Capabilities], Change | None], ...] = (
    _send_tools,
    _map_ids,
    _bridge,
    _return_reasoning,
    _swap_cap_field,
    _strip_key,
    _drop_parameter,
    _flip_content,
    _use_text_protocol,
)


def _messages(body: Mapping[str, object]) -> list[Mapping[str, object]]:
    messages = body.get("messages")
    return [each for each in messages if isinstance(each, Mapping)] if isinstance(messages, list) else []


def _extra_keys(body: Mapping[str, object]) -> set[str]:
    """Keys of the messages and calls in a request that only some endpoints know."""
    found: set[str] = set()
    for message in _messages(body):
        found |= set(message) - _KNOWN_KEYS
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            found |= set(call) - {"id", "type", "function", "index"}
    return found


def _forbidden(failure: Failure) -> Iterator[str]:
    """Names that a validation error points at."""
    for loc in _LOC.findall(failure.body):
        yield from reversed(re.findall(r'"([A-Za-z_]+)"', loc))
    yield from _PROPERTY.findall(failure.message)
