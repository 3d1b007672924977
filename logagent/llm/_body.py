"""The body of a request: as little as possible (llm-endpoints.md 2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from logagent.analysis.redact import ModelText
from logagent.llm._outgoing import clean, wire_messages
from logagent.llm._schema import wire_tools
from logagent.llm._state import State
from logagent.llm._text_protocol import STOP, as_text
from logagent.llm._wire import Message, ToolDeclaration

_OPEN_OBJECT: Final = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked for."""

    messages: Sequence[Message]
    tools: Sequence[ToolDeclaration]
    force: str = ""
    cap: int | None = None
    """Output cap, where it differs from the setting."""
    exact: bool = False
    """Whether the endpoint itself named this cap: then our estimate of the prompt does not count."""
    as_text: bool = False

    def followed(self, message: Message) -> "Ask":
        """The same with one more message."""
        return replace(self, messages=[*self.messages, message])

    def nudged(self, text: str) -> "Ask":
        """The same with words to the model at its end: inside the last tool result, else as the user's."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role in {"tool", "user"}:
            words = replace(last, text=ModelText(f"{last.text}\n\n{text}"))
            return replace(self, messages=[*self.messages[:-1], words])
        return self.followed(Message("user", ModelText(text)))


def build_body(ask: Ask, state: State) -> dict[str, object]:
    """The request as this endpoint takes it. Tools first: they are constant, and caches match prefixes."""
    now = state.record.now
    tools = _tools(ask, state)
    native = bool(tools) and _is_native(ask, state)
    messages = ask.messages if native or not ask.tools else as_text(ask.messages, ask.tools)
    body: dict[str, object] = {"model": state.endpoint.model}
    if native:
        body["tools"] = wire_tools(tools)
        body.update(_choice(ask, state))
    body["messages"] = wire_messages(messages, state.endpoint.origin, now)
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    body[now.cap_field] = state.cap(ask)
    if ask.tools and not native:
        body["stop"] = [STOP]
    body.update({key: clean(value) for key, value in state.endpoint.extra_body.items() if key not in _OURS})
    return {key: value for key, value in body.items() if key not in now.dropped}


_OURS: Final = frozenset({"messages", "tools", "stream"})


def _is_native(ask: Ask, state: State) -> bool:
    if ask.as_text or state.endpoint.tools == "text":
        return False
    return state.endpoint.tools == "native" or state.record.now.native_tools


def _tools(ask: Ask, state: State) -> Sequence[ToolDeclaration]:
    """The tools; where none are offered but the history has calls and the endpoint wants them declared: their names."""
    if ask.tools or not state.record.now.needs_tools:
        return ask.tools
    names = dict.fromkeys(call.name for message in ask.messages for call in message.tool_calls)
    return [ToolDeclaration(name, "Used before in this conversation.", _OPEN_OBJECT) for name in names]


def _choice(ask: Ask, state: State) -> dict[str, object]:
    if not ask.tools:
        return {"tool_choice": "none"}
    if ask.force and state.profile.forced_tool_choice and any(tool.name == ask.force for tool in ask.tools):
        return {"tool_choice": {"type": "function", "function": {"name": ask.force}}}
    return {}
