"""What no request may hold: the rules that keep an endpoint from refusing it (llm-endpoints.md 2, 8, 12, 18)."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from logagent.llm._leaks import has_markers

_ROLES = {"system", "user", "assistant", "tool"}
_SCHEMA_WORDS = {"type", "description", "properties", "required", "items", "enum"}
_NEVER = {"parallel_tool_calls", "response_format", "temperature", "top_p", "strict", "seed", "n"}
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")


def violations(body: Mapping[str, Any], *, configured: Sequence[str] = ()) -> list[str]:
    """All rules that a request breaks.

    Args:
        body: the request.
        configured: parameters that the user set.
    """
    messages = body["messages"]
    found = [f"sends {name}" for name in sorted(_NEVER & set(body) - set(configured))]
    if body.get("stream") is not True:
        found.append("does not stream")
    if "max_tokens" in body and "max_completion_tokens" in body:
        found.append("both token fields")
    if body.get("tools") == []:
        found.append("an empty list of tools")
    found += [problem for tool in body.get("tools", []) for problem in _tool(tool)]
    found += _roles(messages)
    found += [problem for message in messages for problem in _message(message)]
    found += _pairs(messages)
    if "tools" not in body:
        found += ["markup of calls in the text protocol" for each in messages if has_markers(str(each.get("content")))]
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False)
    except ValueError:
        return [*found, "NaN"]
    if _CONTROL.search(text):
        found.append("control characters or surrogates")
    return list(dict.fromkeys(found))


def _roles(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    roles = [message.get("role") for message in messages]
    yield from (f"role {role}" for role in roles if role not in _ROLES)
    if "system" in roles[1:]:
        yield "a system message that is not the first"
    for before, role in itertools.pairwise(roles):
        if before == role and role != "tool":
            yield f"two {role} messages in a row"


def _message(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    calls = message.get("tool_calls")
    if content is None and not (message["role"] == "assistant" and calls):
        yield "a message without content"
    if isinstance(content, list) and message["role"] != "assistant":
        yield "content in parts"
    if content is None and calls and "content" in message:
        yield "null content"
    if message["role"] == "assistant" and not content and not calls:
        yield "an empty assistant message"
    for call in calls or []:
        yield from _call(call)


def _call(call: Mapping[str, Any]) -> Iterator[str]:
    function = call.get("function", {})
    if not call.get("id"):
        yield "a call without an id"
    if not _NAME.fullmatch(re.sub("[.:/]", "_", str(function.get("name", "")))):
        yield "a call with a bad name"
    if not _is_object(function.get("arguments")):
        yield "arguments that are no JSON object"


def _is_object(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _pairs(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each call answered once, at once, in order; ids unique."""
    ids: list[str] = []
    at = 0
    while at < len(messages):
        wanted = [call.get("id") for call in messages[at].get("tool_calls") or []]
        ids += wanted
        got: list[Any] = []
        at += 1
        while at < len(messages) and messages[at]["role"] == "tool":
            got.append(messages[at].get("tool_call_id"))
            at += 1
        if wanted != got:
            yield f"calls {wanted} answered by {got}"
    if len(ids) != len(set(ids)):
        yield "an id twice"


def _tool(tool: Mapping[str, Any]) -> Iterator[str]:
    function = tool.get("function", {})
    if set(function) - {"name", "description", "parameters"}:
        yield f"tool keys {sorted(set(function) - {'name', 'description', 'parameters'})}"
    if not _NAME.fullmatch(str(function.get("name", ""))):
        yield "a bad tool name"
    if len(str(function.get("description", ""))) > 1_024:
        yield "a description that is too long"
    parameters = function.get("parameters", {})
    if parameters.get("type") != "object" or "properties" not in parameters:
        yield "a root that is no object with properties"
    yield from _schema(parameters)


def _schema(schema: Mapping[str, Any]) -> Iterator[str]:
    unknown = set(schema) - _SCHEMA_WORDS
    if unknown:
        yield f"schema words {sorted(unknown)}"
    if not isinstance(schema.get("type"), str) or schema.get("type") == "null":
        yield "a type that is no single word"
    if schema.get("type") == "array" and not schema.get("items"):
        yield "an array without items"
    if not all(isinstance(word, str) for word in schema.get("enum", [])):
        yield "an enum that is not of strings"
    for each in schema.get("properties", {}).values():
        yield from _schema(each)
    if isinstance(schema.get("items"), Mapping):
        yield from _schema(schema["items"])
