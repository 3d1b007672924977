"""From an answer to what it means: text, reasoning, calls, and how it ended (llm-endpoints.md 5 to 9)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from logagent.llm._answer import Answer
from logagent.llm._arguments import ArgumentsError, JsonObject, is_cut, read_objects, to_text
from logagent.llm._coerce import coerce
from logagent.llm._deltas import Slot, is_object
from logagent.llm._leaks import find_leak
from logagent.llm._outgoing import replayed_arguments, short_id
from logagent.llm._reasoning import spoken
from logagent.llm._text_protocol import read_reply
from logagent.llm._tokens import Usage, read_usage
from logagent.llm._wire import ToolCall, ToolDeclaration

Ending = Literal["stop", "length", "content_filter", "overflow", "error", "unknown"]

_PARALLEL: Final = "multi_tool_use.parallel"
_PREFIXES: Final = ("functions.", "functions/", "default_api:", "default_api.", "tools.")
_ENDINGS: Final[dict[str, Ending]] = {
    **dict.fromkeys(
        ("", "stop", "end", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"), "stop"
    ),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "max_length"), "length"),
    **dict.fromkeys(("content_filter", "safety", "sensitive", "recitation", "prohibited_content"), "content_filter"),
    "model_context_window_exceeded": "overflow",
    **dict.fromkeys(("error", "network_error", "abort", "aborted", "insufficient_system_resource"), "error"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """What a request offered: what its answer is read against."""

    tools: Sequence[ToolDeclaration]
    results: Sequence[str]
    """Texts of all tool results, where markup may have been planted."""
    native: bool
    """Whether tools were declared, or explained in words."""
    cap: int
    seed: int
    """Number of messages: makes the ids that we give differ from turn to turn."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an answer says."""

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    raw: Mapping[str, object]
    """The assistant message for the replay."""
    ending: Ending
    finish: str
    usage: Usage
    cut: bool = False
    """Whether the output ended at its cap, whatever the finish reason says."""
    markup: bool = False
    """Whether the text holds a call that cannot be read."""
    promised: bool = False
    """Whether the finish reason speaks of calls and there are none."""
    refusal: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is neither text nor a call."""
        return not self.text.strip() and not self.calls


def read_answer(answer: Answer, offer: Offer) -> Meaning:
    """Read a complete answer against what was offered."""
    said = spoken(answer.message)
    usage = read_usage(answer.usage)
    finish = answer.finish.lower()
    refusal = answer.message.get("refusal")
    calls = tuple(_Calls(offer).of(answer.slots))
    length = _ENDINGS.get(finish) == "length"
    meaning = Meaning(
        text=said.text,
        reasoning=said.reasoning,
        calls=calls,
        raw=_raw(answer.message, calls),
        ending=_ENDINGS.get(finish, "unknown"),
        finish=finish or "stop",
        usage=usage,
        cut=length or bool(answer.slots and _is_truncated(answer.slots, calls, usage, offer.cap)),
        promised=finish in {"tool_calls", "tool_use", "function_call"} and not calls,
    )
    if isinstance(refusal, str) and refusal and meaning.empty:
        return replace(meaning, text=refusal, refusal=True, finish="refusal")
    if calls or not offer.tools or length:
        return meaning
    return _with_leaked(meaning, offer) if offer.native else _with_written(meaning, offer)


def _raw(message: Mapping[str, object], calls: Sequence[ToolCall]) -> dict[str, object]:
    raw = {key: value for key, value in message.items() if value is not None or key == "content"}
    raw.pop("tool_calls", None)
    if calls:
        raw["tool_calls"] = list({id(call.raw): call.raw for call in calls}.values())
    return raw


def _is_truncated(slots: Sequence[Slot], calls: Sequence[ToolCall], usage: Usage, cap: int) -> bool:
    """A cap that was reached, or open brackets: routers rewrite the finish reason."""
    if usage.output is not None and usage.output >= cap:
        return True
    unread = len(calls) < len(slots) or any(not is_object(call.arguments) for call in calls)
    return unread and any(isinstance(slot.arguments, str) and is_cut(slot.arguments) for slot in slots)


def _with_leaked(meaning: Meaning, offer: Offer) -> Meaning:
    leak = find_leak(meaning.text, offer.tools, offer.results)
    if leak.markup:
        return replace(meaning, markup=True)
    if not leak.calls:
        return meaning
    calls = tuple(
        _call(name, arguments, call_id or short_id(offer.seed, at, name, arguments))
        for at, (name, arguments, call_id) in enumerate(leak.calls)
    )
    raw = {**meaning.raw, "content": leak.before, "tool_calls": [call.raw for call in calls]}
    return replace(meaning, text=leak.before, calls=calls, raw=raw, promised=False)


def _with_written(meaning: Meaning, offer: Offer) -> Meaning:
    read = read_reply(meaning.text, offer.tools, offer.results)
    if read.call is None:
        return replace(meaning, markup=read.malformed)
    call = _call(read.call.name, read.call.arguments, short_id(offer.seed, *read.call))
    return replace(meaning, text=read.text, calls=(call,), promised=False)


def _call(name: str, arguments: str, call_id: str) -> ToolCall:
    function = {"name": name, "arguments": replayed_arguments(arguments)}
    return ToolCall(call_id, name, arguments, {"id": call_id, "type": "function", "function": function})


class _Calls:
    """Turns merged slots into calls with unique ids, known names and readable arguments."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._schemas = {tool.name: tool.parameters for tool in offer.tools}
        self._ids: set[str] = set()

    def of(self, slots: Sequence[Slot]) -> Iterator[ToolCall]:
        """Calls in their order; a slot without any name is none."""
        for slot in slots:
            shown = _cut_name(slot.name_among(self._schemas))
            if not shown:
                continue
            name = self._known(shown)
            for at, arguments in enumerate(_arguments(slot)):
                call_id = self._unique(slot.id if at == 0 else "", name, arguments)
                raw = _raw_call(slot, call_id, shown, arguments)
                yield from self._unwrapped(name, arguments, call_id, raw)

    def _known(self, shown: str) -> str:
        for prefix in _PREFIXES:
            rest = shown.removeprefix(prefix)
            if rest != shown and shown not in self._schemas and rest in self._schemas:
                return rest
        return shown

    def _unique(self, wanted: str, name: str, arguments: object) -> str:
        made, number = wanted, 0
        while not made or made in self._ids:
            made = short_id(self._offer.seed, len(self._ids), name, arguments, number)
            number += 1
        self._ids.add(made)
        return made

    def _unwrapped(
        self, name: str, arguments: JsonObject | str, call_id: str, raw: Mapping[str, object]
    ) -> Iterator[ToolCall]:
        parts = list(_parallel(name, arguments)) if name not in self._schemas else []
        if not parts:
            yield ToolCall(call_id, name, self._text(name, arguments), raw)
        for at, (inner, given) in enumerate(parts):
            known = self._known(inner)
            inner_id = call_id if len(parts) == 1 else f"{call_id}.{at + 1}"
            yield ToolCall(inner_id, known, self._text(known, given), raw)

    def _text(self, name: str, arguments: JsonObject | str) -> str:
        if isinstance(arguments, str):
            return arguments
        return to_text(coerce(arguments, self._schemas.get(name, {})))


def _cut_name(name: str) -> str:
    """A name without the control tokens that servers leave behind it."""
    return name.split("<|", maxsplit=1)[0].strip().split(None, 1)[0] if name.split("<|", maxsplit=1)[0].strip() else ""


def _arguments(slot: Slot) -> list[JsonObject | str]:
    """The objects in a slot; its text where there is none to be sure of."""
    try:
        return [*read_objects(slot.arguments)]
    except ArgumentsError:
        pass
    if len(slot.fragments) > 1 and is_object(slot.fragments[-1]):  # each fragment held the whole text so far
        return [*read_objects(slot.fragments[-1])]
    return ["".join(slot.fragments)]


def _raw_call(slot: Slot, call_id: str, name: str, arguments: JsonObject | str) -> dict[str, object]:
    text = slot.arguments if isinstance(slot.arguments, str) and is_object(slot.arguments) else arguments
    written = replayed_arguments(text if isinstance(text, str) else to_text(text))
    extra = {key: value for key, value in slot.extra.items() if key != "function" and value is not None}
    inner = cast("dict[str, object]", slot.extra.get("function") or {})
    return {"id": call_id, "type": "function", **extra, "function": {**inner, "name": name, "arguments": written}}


def _parallel(name: str, arguments: JsonObject | str) -> Iterator[tuple[str, JsonObject | str]]:
    """The calls inside a call of a tool that does not exist, but that GPT models believe in."""
    uses = arguments.get("tool_uses") if isinstance(arguments, dict) and name == _PARALLEL else None
    for use in uses if isinstance(uses, list) else []:
        if not isinstance(use, dict):
            continue
        inner = use.get("recipient_name") or use.get("name")
        given = use.get("parameters", use.get("arguments"))
        if isinstance(inner, str):
            try:
                objects = read_objects(given)
            except ArgumentsError:
                yield inner, str(given)
            else:
                yield inner, objects[0]
