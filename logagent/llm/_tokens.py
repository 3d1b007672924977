"""Counting tokens without a tokenizer, on the safe side (llm-endpoints.md 16)."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from logagent.llm._schema import wire_tools
from logagent.llm._wire import Message, ToolDeclaration

_BYTES_A_TOKEN: Final = 3
"""UTF-8 bytes: ASCII about 3 characters a token, CJK about 1."""
_PER_MESSAGE: Final = 6
RESERVE: Final = 512
"""Tokens between prompt, cap and window that stay free."""
_LEAST_CAP: Final = 256
_CUT_SHARE: Final = 0.6
_LARGE_PROMPT: Final = 2_000


class Usage(NamedTuple):
    """Token counts of one reply; None where the endpoint gave none."""

    input: int | None = None
    output: int | None = None
    cached: int = 0


def read_usage(usage: Mapping[str, object]) -> Usage:
    """Counts in any of the known spellings."""
    details = usage.get("prompt_tokens_details")
    cached = next(
        (
            count
            for count in (
                _count(usage.get("prompt_cache_hit_tokens")),
                _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None,
                _count(usage.get("cached_tokens")),
            )
            if count
        ),
        0,
    )
    prompt = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
    output = _count(usage.get("completion_tokens", usage.get("output_tokens")))
    return Usage(prompt, output, cached)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_tokens(text: str) -> int:
    """Estimated tokens of a text."""
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_A_TOKEN)


def message_tokens(message: Message) -> int:
    """Estimated tokens of one message, with its calls and its reasoning."""
    calls = sum(text_tokens(call.name + call.arguments) + _PER_MESSAGE for call in message.tool_calls)
    raw = message.raw or {}
    thought = sum(text_tokens(value) for key, value in raw.items() if isinstance(value, str) and key != "content")
    return text_tokens(message.text) + calls + thought + _PER_MESSAGE


def request_tokens(messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> int:
    """Estimated tokens of a whole request."""
    declared = text_tokens(json.dumps(wire_tools(tools), ensure_ascii=False)) if tools else 0
    return sum(map(message_tokens, messages)) + declared


class Anchor:
    """Estimates from the last count that the endpoint gave; only what was added since is guessed."""

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] = ()
        self._tokens = 0

    def set(self, messages: Sequence[Message], tokens: int) -> None:
        """Note what `messages` together were counted as."""
        self._messages, self._tokens = tuple(messages), tokens

    def estimate(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration], ratio: float) -> int:
        """Tokens of the request."""
        known = len(self._messages)
        if 0 < known <= len(messages) and self._messages == tuple(messages[:known]):
            return self._tokens + math.ceil(sum(map(message_tokens, messages[known:])) * ratio)
        return math.ceil(request_tokens(messages, tools) * ratio)


def output_cap(setting: int, window: int | None, prompt: int, most: int | None) -> int:
    """What a reply may take: the setting, what the window leaves, and what the endpoint allows at most."""
    limits = [setting]
    if window:
        limits.append(window - prompt - RESERVE)
    if most:
        limits.append(most)
    return max(min(_LEAST_CAP, setting), min(limits))


def looks_cut(counted: int | None, estimated: int) -> bool:
    """Whether a large prompt was counted so low that a part of it must have been cut off."""
    return counted is not None and estimated > _LARGE_PROMPT and 0 < counted < _CUT_SHARE * estimated
