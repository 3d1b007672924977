"""Compares what a case expects with what was observed."""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evals._quirk_player import BASE_URL, Case, Seen
from logagent.llm import ArgumentsError, parse_arguments

_ALL_TRIES = 3


def problems(case: Case, seen: Seen, known: set[str]) -> Iterator[str]:
    """What does not hold of the `check` of a case, one sentence each; `prevented` is checked elsewhere."""
    for key, wanted in case.get("check", {}).items():
        if key == "prevented":
            continue
        found = _find(key, wanted, case, seen, known)
        if found:
            yield f"{key}: {found}"


def _find(key: str, wanted: Any, case: Case, seen: Seen, known: set[str]) -> str:
    if key == "calls":
        return _differ(wanted, run_calls(seen, known))
    if key == "outcome":
        return _outcome(str(wanted), seen)
    if key in _CHECKS:
        return _CHECKS[key](wanted, seen)
    if key.startswith("replay_"):
        return _replay(key.removeprefix("replay_"), wanted, case, seen)
    if key.startswith("sent_"):
        return _sent(key.removeprefix("sent_"), wanted, case, seen)
    return "no rule for this check"


def run_calls(seen: Seen, known: set[str]) -> list[dict[str, Any]]:
    """Calls that a loop would run: of tools that exist, with arguments that can be read."""
    calls = []
    for call in seen.reply.tool_calls if seen.reply else ():
        if call.name in known:
            try:
                calls.append({"name": call.name, "arguments": parse_arguments(call.arguments)})
            except ArgumentsError:
                continue
    return calls


def _differ(wanted: object, found: object) -> str:
    return "" if wanted == found else f"expected {_short(wanted)}, found {_short(found)}"


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:300]


# -- outcomes ----------------------------------------------------------------------------------------------------


def _outcome(wanted: str, seen: Seen) -> str:
    check = _OUTCOMES.get(wanted) or next((rule for words, rule in _IN_WORDS if re.search(words, wanted)), None)
    if check is None:
        return f"no rule for this outcome; found {_found(seen)}"
    return "" if check(seen) else f"expected {wanted}, found {_found(seen)}"


def _found(seen: Seen) -> str:
    kinds = [f"{attempt.kind} {attempt.change}".strip() for attempt in seen.attempts]
    last = (
        f"error {seen.error.message[:120]}" if seen.error else f"reply {seen.reply.text[:80] if seen.reply else ''!r}"
    )
    return f"{len(seen.requests)} requests, attempts {kinds}, {last}"


def _first_attempt(seen: Seen, kind: str) -> bool:
    return bool(seen.attempts) and seen.attempts[0].kind == kind


def _repeated(kind: str) -> Callable[[Seen], bool]:
    """The same was asked again after a wait, at most three times in all, and the answer was taken."""

    def check(seen: Seen) -> bool:
        tries = len(seen.requests)
        return (
            _first_attempt(seen, kind) and 1 < tries <= _ALL_TRIES and (seen.reply is not None or tries == _ALL_TRIES)
        )

    return check


def _is_transient(seen: Seen) -> bool:
    return _repeated("transient")(seen) or (
        _first_attempt(seen, "adaptable") and "encoding" in seen.attempts[0].change.lower()
    )


def _is_final(seen: Seen) -> bool:
    return seen.error is not None and len(seen.requests) == 1


def _is_adapted(seen: Seen) -> bool:
    return _first_attempt(seen, "adaptable") and seen.reply is not None and seen.requests[0] != seen.requests[1]


def _is_compacted(seen: Seen) -> bool:
    kinds = {attempt.kind for attempt in seen.attempts}
    if "overflow" not in kinds or len(seen.requests) < 2:
        return False
    return len(json.dumps(seen.requests[1])) < len(json.dumps(seen.requests[0])) and len(seen.requests) == 2


def _cap(body: Mapping[str, Any]) -> int:
    return int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)


def _is_lowered(seen: Seen) -> bool:
    same = len(seen.requests) == 2 and seen.requests[0]["messages"] == seen.requests[1]["messages"]
    return same and 0 < _cap(seen.requests[1]) < _cap(seen.requests[0])


def _is_raised(seen: Seen) -> bool:
    return len(seen.requests) == 2 and _cap(seen.requests[1]) > _cap(seen.requests[0])


def _is_cut(seen: Seen) -> bool:
    """No call runs, and each id gets a result that says so."""
    if seen.reply is None or seen.reply.tool_calls or seen.reply.finish_reason != "length":
        return False
    messages = (seen.next_request or {}).get("messages", [])
    asked = [call["id"] for message in messages for call in message.get("tool_calls") or []]
    told = [
        message["tool_call_id"] for message in messages if message["role"] == "tool" and "not run" in message["content"]
    ]
    return asked == told and len(seen.requests) <= 2


def _is_reasked(seen: Seen) -> bool:
    return len(seen.requests) == 2 and seen.attempts[0].kind == "reask" and seen.requests[0] != seen.requests[1]


def _is_text(seen: Seen) -> bool:
    return len(seen.requests) == 2 and "tools" in seen.requests[0] and "tools" not in seen.requests[1]


_OUTCOMES: dict[str, Callable[[Seen], bool]] = {
    "ok": lambda seen: seen.reply is not None and len(seen.requests) == 1,
    "transient": _is_transient,
    "rate_limit": _repeated("rate_limit"),
    "warming_up": lambda seen: _first_attempt(seen, "warming_up") and seen.reply is not None,
    "adaptable": _is_adapted,
    "overflow": _is_compacted,
    "lower_cap": _is_lowered,
    "final": _is_final,
    "error": lambda seen: seen.error is not None,
    "cut": _is_cut,
    "retry_once_with_larger_cap": _is_raised,
    "recover_text_then_one_reask": _is_reasked,
    "reask": _is_reasked,
    "no_tools": _is_text,
    "text_protocol": _is_text,
    "error_result": lambda seen: seen.reply is not None and len(seen.reply.tool_calls) > 0,
    "refusal": lambda seen: (
        seen.reply is not None and seen.reply.finish_reason == "refusal" and len(seen.requests) == 1
    ),
}

_IN_WORDS: list[tuple[str, Callable[[Seen], bool]]] = [
    (r"text.protocol|no.native.tools|as.text", _is_text),
    (r"larger.cap|raise.*cap", _is_raised),
    (r"lower.*cap", _is_lowered),
    (r"re-?.?ask", _is_reasked),
    (r"compact|overflow", _is_compacted),
    (r"refus", _OUTCOMES["refusal"]),
    (r"retry|same.request|again|transient", _is_transient),
    (r"final|stop", _is_final),
    (r"error", _OUTCOMES["error"]),
]


# -- changes -----------------------------------------------------------------------------------------------------


def _change(wanted: str, seen: Seen) -> str:
    if len(seen.requests) < 2:
        return "no second request"
    before, after = seen.requests[:2]
    for pattern, holds in _CHANGES:
        match = re.search(pattern, wanted, re.IGNORECASE)
        if match:
            return "" if holds(match, before, after, seen) else f"not so: {wanted}"
    return "" if before != after else "the second request is the same"


def _ids(body: Mapping[str, Any]) -> list[str]:
    return [call["id"] for message in body["messages"] for call in message.get("tool_calls") or []]


def _keys(body: Mapping[str, Any]) -> set[str]:
    return {
        key for message in body["messages"] for each in (message, *(message.get("tool_calls") or [])) for key in each
    }


def _bridged(body: Mapping[str, Any]) -> bool:
    roles = [message["role"] for message in body["messages"]]
    return ("tool", "user") not in set(itertools.pairwise(roles))


_Holds = Callable[[re.Match[str], dict[str, Any], dict[str, Any], Seen], bool]

_CHANGES: list[tuple[str, _Holds]] = [
    (r"9 alphanumerics", lambda _, a, b, __: a != b and all(re.fullmatch("[A-Za-z0-9]{9}", each) for each in _ids(b))),
    (r"strip (\w+)", lambda m, a, b, _: m[1] in _keys(a) | set(a) and m[1] not in _keys(b) | set(b)),
    (r"send (\w+) instead of (\w+)", lambda m, a, b, _: m[2] in a and m[1] in b and m[2] not in b),
    (r"(?:drop|without|remove|leave out) (\w+)", lambda m, a, b, _: m[1] in a and m[1] not in b),
    (r"between tool and user|bridge", lambda _, a, b, __: not _bridged(a) and _bridged(b)),
    (r"send the tools", lambda _, a, b, __: not a.get("tools") and bool(b.get("tools"))),
    (r"identity", lambda _, __, ___, seen: seen.headers[1].get("accept-encoding") == "identity"),
    (r"text protocol|as text", lambda _, a, b, __: "tools" in a and "tools" not in b),
    (r"lower.*cap|cap.*lower", lambda _, a, b, __: _cap(b) < _cap(a)),
    (r"larger cap|raise.*cap", lambda _, a, b, __: _cap(b) > _cap(a)),
    (r"content.*null", lambda _, __, b, ___: any(m.get("content", "") is None for m in b["messages"])),
    (
        r"reasoning_content",
        lambda _, __, b, ___: all("reasoning_content" in m for m in b["messages"] if m.get("tool_calls")),
    ),
]


# -- what stands in the reply ------------------------------------------------------------------------------------


def _text(wanted: str, seen: Seen) -> str:
    return _differ(wanted, seen.reply.text if seen.reply else None)


def _reasoning(wanted: str, seen: Seen) -> str:
    return _differ(wanted, seen.reply.reasoning if seen.reply else None)


def _usage(wanted: Any, seen: Seen) -> str:
    if seen.reply is None:
        return "no reply"
    if wanted == "estimated":
        return "" if seen.reply.estimated and seen.reply.input_tokens > 0 else "not estimated"
    found = {
        "prompt_tokens": seen.reply.input_tokens,
        "completion_tokens": seen.reply.output_tokens,
        "cached_tokens": seen.reply.cached_tokens,
        "total_tokens": seen.reply.input_tokens + seen.reply.output_tokens,
    }
    return _differ(wanted, {key: found.get(key) for key in wanted})


def _unique_ids(wanted: str, seen: Seen) -> str:
    ids = [call.call_id for call in seen.reply.tool_calls] if seen.reply else []
    replayed = _ids(seen.next_request) if seen.next_request else []
    if not ids or len(set(ids)) != len(ids) or not all(ids) or len(set(replayed)) != len(replayed):
        return f"ids {ids}, replayed {replayed}"
    made = all(re.fullmatch("[A-Za-z0-9]{9}", each) for each in ids)
    return f"ids {ids}" if "made" in str(wanted) and not made else ""


def _tool_messages(wanted: int, seen: Seen) -> str:
    messages = (seen.next_request or {}).get("messages", [])
    return _differ(wanted, sum(message["role"] == "tool" for message in messages))


def _warning(wanted: str, seen: Seen) -> str:
    text = " ".join(seen.reply.notices) if seen.reply else ""
    names = re.findall(r"[A-Z_]{6,}|\b[a-z]+_[a-z_]+\b", wanted)
    missing = [name for name in names if name not in text]
    return f"notices {text!r} lack {missing}" if missing or not text else ""


def _deadline(wanted: str, seen: Seen) -> str:
    said = [attempt.failure.message for attempt in seen.attempts] + ([seen.error.message] if seen.error else [])
    return "" if any(wanted in each for each in said) else f"said {said}"


def _message(wanted: Any, seen: Seen) -> str:
    text = (
        f"{seen.error.message} {seen.error.hint}" if seen.error else " ".join(seen.reply.notices if seen.reply else ())
    )
    parts = wanted if isinstance(wanted, list) else [wanted]
    missing = [part for part in parts if (BASE_URL if part == "the URL tried" else part) not in text]
    return f"{text!r} lacks {missing}" if missing else ""


def _wait(wanted: float, seen: Seen) -> str:
    return "" if seen.slept and abs(seen.slept[0] - wanted) < 0.01 else f"waited {seen.slept}"


def _status(wanted: int, seen: Seen) -> str:
    return _differ(wanted, seen.attempts[0].failure.status if seen.attempts else None)


def _category(wanted: str, seen: Seen) -> str:
    found = str(seen.error.values.get("category", "")) if seen.error else ""
    return "" if wanted in found else f"category {found!r}"


def _refusal(wanted: str, seen: Seen) -> str:
    ended = seen.reply.finish_reason if seen.reply else ""
    return _text(wanted, seen) or ("" if ended == "refusal" else f"ended by {ended}")


def _retry(wanted: bool, seen: Seen) -> str:  # noqa: FBT001 - the value of a check
    return _differ(wanted, len(seen.requests) > 1)


_CHECKS: dict[str, Callable[[Any, Seen], str]] = {
    "text": _text,
    "reasoning": _reasoning,
    "usage": _usage,
    "ids": _unique_ids,
    "tool_messages": _tool_messages,
    "warning": _warning,
    "deadline": _deadline,
    "message": _message,
    "message_has": _message,
    "wait_s": _wait,
    "status": _status,
    "category": _category,
    "refusal": _refusal,
    "retry": _retry,
    "change": _change,
    "requests": lambda wanted, seen: _differ(wanted, len(seen.requests)),
    "finish": lambda wanted, seen: _differ(wanted, seen.reply.finish_reason if seen.reply else None),
}


# -- what goes back ----------------------------------------------------------------------------------------------


def _replay(what: str, wanted: Any, case: Case, seen: Seen) -> str:
    messages = (seen.next_request or {}).get("messages", [])
    said: dict[str, Any] = next((each for each in reversed(messages) if each["role"] == "assistant"), {})
    calls = said.get("tool_calls") or [{}]
    if what == "keeps":
        names = wanted if isinstance(wanted, list) else [wanted]
        kept = {**calls[0], **said}
        lost = [name for name in names if name not in kept or _value(case, name) not in (None, kept[name])]
        return f"lost {lost}" if lost else ""
    place = {
        "id": calls[0].get("id"),
        "ids": [call.get("id") for call in calls],
        "name": calls[0].get("function", {}).get("name"),
        "arguments": calls[0].get("function", {}).get("arguments"),
    }
    return _differ(wanted, place[what] if what in place else said.get(what))


def _value(case: Case, name: str) -> object:
    """The value of a key in the payload of a whole answer."""
    payload = case.get("payload")
    if not isinstance(payload, Mapping):
        return None
    message = payload.get("choices", [{}])[0].get("message", {})
    places = (message, *(message.get("tool_calls") or []))
    return next((place[name] for place in places if name in place), None)


def _sent(what: str, wanted: Any, case: Case, seen: Seen) -> str:
    body = seen.requests[-1] if seen.requests else {}
    messages = [message for message in body.get("messages", []) if message["role"] != "system"]
    if what == "roles":
        given = len(case["payload"].get("messages", [])) if isinstance(case["payload"], Mapping) else 0
        roles = [message["role"] for message in body.get("messages", [])]
        return _differ(wanted, roles if "system" in wanted or not given else [message["role"] for message in messages])
    if what == "content":
        role = case["payload"].get("role") if isinstance(case["payload"], Mapping) else "tool"
        found = next(
            (message["content"] for message in reversed(messages) if message["role"] == (role or "tool")), None
        )
        return "" if _same_json(wanted, found) else _differ(wanted, found)
    return _differ(wanted, body.get(what, messages[-1].get(what) if messages else None))


def _same_json(wanted: object, found: object) -> bool:
    try:
        return bool(json.loads(str(wanted)) == json.loads(str(found)))
    except ValueError:
        return wanted == found
