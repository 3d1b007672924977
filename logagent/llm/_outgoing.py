"""The outgoing copy of a conversation: repaired for the endpoint, while the stored one stays as it is.

Pairing of calls and results, one system message, roles in order, ids, contents, clean text
(llm-endpoints.md 2, 8 and 11).
"""

import hashlib
import json
import math
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from logagent.analysis.redact import ModelText
from logagent.expressions import expression
from logagent.llm._arguments import ArgumentsError, parse_arguments, to_text
from logagent.llm._capabilities import Capabilities
from logagent.llm._wire import Message, ToolCall

WireMessage = dict[str, object]

NO_RESULT: Final = "No result: this call was not run. If it was cut off by the length limit, send a shorter call."
BRIDGE: Final = "Understood."

_ALPHABET: Final = string.digits + string.ascii_letters
_SHORT: Final = 9
_LONGEST_ID: Final = 40
_CONTROLS = expression(r"[\x00-\x08\x0b-\x1f]")
_NOT_PORTABLE = expression(r"[^A-Za-z0-9_-]")
_SHORT_ID = expression(r"[A-Za-z0-9]{9}")
_OWN_KEYS: Final = frozenset({"role", "content", "tool_calls"})


def wire_messages(
    messages: Sequence[Message], origin: tuple[str, str], capabilities: Capabilities
) -> list[WireMessage]:
    """The conversation as this endpoint takes it."""
    wire = _merged(_Pairing(origin, capabilities).of(_one_system(messages)))
    if capabilities.bridge:
        wire = list(_bridged(wire))
    return [cast("WireMessage", clean(message)) for message in wire]


def short_id(*seed: object) -> str:
    """Nine letters and digits: the form that every endpoint takes. The same seed gives the same id."""
    number = int.from_bytes(hashlib.sha256("\x1f".join(map(str, seed)).encode("utf-8", "replace")).digest()[:8])
    digits = []
    for _ in range(_SHORT):
        number, rest = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[rest])
    return "".join(digits)


def clean(value: object) -> object:
    """A value that can be sent: no lone surrogates, no control characters but tab and newline, no NaN."""
    if isinstance(value, str):
        return _CONTROLS.sub("", value.encode("utf-8", "replace").decode())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(clean(str(key))): clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    return value


def json_text(value: object) -> str:
    """JSON for a tool result or a message: NaN and Infinity become null, text is cleaned.

    >>> json_text({"rate": float("nan")})
    '{"rate":null}'
    """
    return json.dumps(clean(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)


def replayed_arguments(text: str) -> str:
    """Arguments for the history: the model's own text where it is strict JSON, else what it means, else `{}`."""
    try:
        meant = parse_arguments(text)
    except ArgumentsError:
        return "{}"
    try:
        compact = to_text(meant)
    except ValueError:
        return "{}"
    return text if _is_strict(text) else compact


def _is_strict(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _one_system(messages: Sequence[Message]) -> Iterator[Message]:
    """One system message, first; later ones become words of the user."""
    lead = next((at for at, each in enumerate(messages) if each.role != "system"), len(messages))
    if lead:
        yield replace(messages[0], text=_joined(message.text for message in messages[:lead]))
    for message in messages[lead:]:
        yield replace(message, role="user") if message.role == "system" else message


def _joined(texts: Iterator[str]) -> ModelText:
    return ModelText("\n\n".join(text for text in texts if text))


class _Pairing:
    """Walks the conversation and answers each call exactly once, by position."""

    def __init__(self, origin: tuple[str, str], capabilities: Capabilities) -> None:
        self._origin = origin
        self._capabilities = capabilities
        self._ids: set[str] = set()

    def of(self, messages: Iterator[Message]) -> Iterator[WireMessage]:
        turn: Message | None = None
        following: list[Message] = []
        for message in messages:
            if message.role == "assistant":
                yield from self._turn(turn, following)
                turn, following = message, []
            else:
                following.append(message)
        yield from self._turn(turn, following)

    def _turn(self, turn: Message | None, following: list[Message]) -> Iterator[WireMessage]:
        """One assistant message, the results of its calls in their order, then what else followed."""
        if turn is not None:
            wire, groups = self._assistant(turn)
            if wire:
                yield wire
            results = [message for message in following if message.role == "tool"]
            for wire_id, calls in groups:
                yield {"role": "tool", "tool_call_id": wire_id, "content": _results(calls, results)}
        for message in following:
            if message.role != "tool":
                yield {"role": message.role, "content": str(message.text)}

    def _assistant(self, message: Message) -> tuple[WireMessage, list[tuple[str, list[ToolCall]]]]:
        ours = message.origin == self._origin
        wire: WireMessage = {"role": "assistant", "content": str(message.text)}
        if ours and message.raw is not None:
            extra = {key: value for key, value in message.raw.items() if key not in _OWN_KEYS and value is not None}
            wire = {"role": "assistant", "content": message.raw.get("content", str(message.text)), **extra}
        calls: list[dict[str, object]] = []
        groups: list[tuple[str, list[ToolCall]]] = []
        for group in _by_wire_call(message.tool_calls):
            call = self._call(group, ours=ours)
            calls.append(call)
            groups.append((str(call["id"]), group))
        if calls:
            wire["tool_calls"] = calls
            self._fill_reasoning(wire)
        self._set_content(wire)
        for key in self._capabilities.refused_keys:
            wire.pop(key, None)
            for call in calls:
                call.pop(key, None)
        return (wire if calls or wire.get("content") else {}), groups

    def _call(self, group: list[ToolCall], *, ours: bool) -> dict[str, object]:
        """One call of the history. `group` are the calls of ours that it stands for, mostly one."""
        first = group[0]
        if ours and first.raw.get("id"):
            wire = dict(first.raw)
            wire["function"] = _sound(wire.get("function"), first)
            wanted = str(wire["id"])
        else:
            function = {"name": first.name, "arguments": replayed_arguments(first.arguments)}
            wire = {"id": "", "type": "function", "function": function}
            wanted = first.call_id if ours else _portable(first.call_id)
        wire["id"] = self._unique(wanted or short_id(len(self._ids), first.name, first.arguments))
        return wire

    def _unique(self, wanted: str) -> str:
        if self._capabilities.short_ids and not _SHORT_ID.fullmatch(wanted):
            wanted = short_id(wanted)
        number = 1
        made = wanted
        while made in self._ids:
            number += 1
            made = short_id(wanted, number)
        self._ids.add(made)
        return made

    def _fill_reasoning(self, wire: WireMessage) -> None:
        field = self._capabilities.reasoning_field or "reasoning_content"
        if self._capabilities.fill_reasoning and not any(wire.get(key) for key in (field, "reasoning_content")):
            wire["reasoning_content"] = ""

    def _set_content(self, wire: WireMessage) -> None:
        if wire.get("content") or not wire.get("tool_calls"):
            return
        flag = self._capabilities.empty_content
        if flag == "absent":
            wire.pop("content", None)
        else:
            wire["content"] = "" if flag == "empty" else None


def _by_wire_call(calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
    """Calls that came wrapped in one (`multi_tool_use.parallel`) share their raw form and are answered together."""
    groups: list[list[ToolCall]] = []
    for call in calls:
        if groups and call.raw and groups[-1][0].raw is call.raw:
            groups[-1].append(call)
        else:
            groups.append([call])
    return groups


def _results(calls: list[ToolCall], results: list[Message]) -> str:
    texts = []
    for call in calls:
        at = next((at for at, message in enumerate(results) if message.call_id == call.call_id), None)
        text = NO_RESULT if at is None else str(results.pop(at).text)
        texts.append(f"{call.name}:\n{text}" if len(calls) > 1 else text)
    return "\n\n".join(texts)


def _merged(messages: Iterator[WireMessage]) -> list[WireMessage]:
    """Neighbours of one role become one message, where both are plain text."""
    merged: list[WireMessage] = []
    for message in messages:
        last = merged[-1] if merged else {}
        if message["role"] == last.get("role") and message["role"] != "tool" and _is_plain(last) and _is_plain(message):
            last["content"] = "\n\n".join(str(each["content"]) for each in (last, message) if each["content"])
        else:
            merged.append(message)
    return merged


def _is_plain(message: WireMessage) -> bool:
    return set(message) == {"role", "content"} and isinstance(message["content"], str)


def _bridged(messages: list[WireMessage]) -> Iterator[WireMessage]:
    before = ""
    for message in messages:
        if message["role"] == "user" and before == "tool":
            yield {"role": "assistant", "content": BRIDGE}
        yield message
        before = str(message["role"])


def _sound(function: object, call: ToolCall) -> dict[str, object]:
    """Name and arguments of a stored call; the arguments always a string that is an object."""
    stored = dict(function) if isinstance(function, Mapping) else {"name": call.name}
    written = stored.get("arguments")
    stored["arguments"] = replayed_arguments(written if isinstance(written, str) else call.arguments)
    return stored


def _portable(call_id: str) -> str:
    return _NOT_PORTABLE.sub("_", call_id.split("|", maxsplit=1)[0])[:_LONGEST_ID]
