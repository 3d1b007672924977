"""Making a conversation fit: first by whoever knows what matters in it, else older tool results are cut."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from logagent.analysis.redact import ModelText
from logagent.llm._tokens import message_tokens
from logagent.llm._wire import Message

if TYPE_CHECKING:
    from logagent.llm._state import Compact

_HEAD: Final = 240
_MARK: Final = "\n[shortened: the conversation did not fit the model's window]"


def shrink(messages: Sequence[Message], target: int, compact: "Compact | None") -> Sequence[Message] | None:
    """A shorter conversation, or None where nothing can be taken away.

    Args:
        messages: the conversation.
        target: tokens it should take at most.
        compact: the owner's own way, tried first.
    """
    if compact is not None:
        shorter = compact(messages, target)
        if shorter is not None and _size(shorter) < _size(messages):
            return shorter
    shrunk = list(messages)
    for at in [at for at, message in enumerate(messages) if message.role == "tool"]:
        if _size(shrunk) <= target and shrunk != list(messages):
            break
        text = messages[at].text
        if len(text) > _HEAD + len(_MARK):
            shrunk[at] = replace(messages[at], text=ModelText(text[:_HEAD] + _MARK))
    return shrunk if _size(shrunk) < _size(messages) else None


def _size(messages: Sequence[Message]) -> int:
    return sum(map(message_tokens, messages))
