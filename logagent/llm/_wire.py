"""What is spoken with a model: messages, tool calls, declarations, replies, and the seam `ChatModel`.

Nothing here knows HTTP. The loop depends on this module only, so that a test or another
program can put any `ChatModel` in its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from logagent.analysis.redact import ModelText

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asks for."""

    call_id: str
    """Unique within one reply, never empty; across turns endpoints do repeat ids."""
    name: str
    arguments: str
    """JSON text: an object after repair, or the model's own text where no repair gives one."""
    raw: Mapping[str, object] = field(default_factory=dict)
    """The call as it came, with the keys that are unknown to us (signatures), for the replay."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation. Only text that passed the redactor fits in `text`."""

    role: Role
    text: ModelText
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    """For role `tool`: which call this answers."""
    raw: Mapping[str, object] | None = None
    """For role `assistant`: the message as it came, sent back verbatim to where it came from."""
    origin: tuple[str, str] | None = None
    """Base URL and model that wrote `raw`."""


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool as the model is told of it; `parameters` is a JSON schema of the common subset."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """One complete answer of the model."""

    message: Message
    """What to append to the conversation."""
    text: str
    """What the model says to a reader, without reasoning and without markup of calls."""
    tool_calls: tuple[ToolCall, ...]
    """The calls to run; empty when the answer was cut by its length limit."""
    finish_reason: str
    """`stop`, `tool_calls`, `length`, `content_filter`, `refusal`, or the endpoint's own word."""
    input_tokens: int
    output_tokens: int
    estimated: bool
    """Whether the two counts are our estimate, since the endpoint gave none."""
    seconds: float
    notices: tuple[str, ...] = ()
    """What was learned or mended on the way, one English sentence each."""
    reasoning: str = ""
    """What the model thought, where the endpoint shows it; for the transcript, never for the report."""
    cached_tokens: int = 0
    """Part of `input_tokens` that came from the endpoint's cache."""


class ChatModel(Protocol):
    """A model that takes a conversation and gives one reply."""

    @property
    def name(self) -> str:
        """Model name as the endpoint knows it."""
        ...

    @property
    def window(self) -> int | None:
        """Context window in tokens; None while nothing tells it."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        force: str = "",
        deadline: float | None = None,
    ) -> Reply:
        """Ask for the next message of the assistant.

        Args:
            messages: the whole conversation, system message first.
            tools: always the same tools in the same order within one run.
            force: name of a tool the model should call now; acts only where the endpoint allows it.
            deadline: instant of `time.monotonic` by which the reply must be complete.

        Raises:
            ModelUnavailable: no usable answer after all tries, or the deadline passed.
            ModelRejected: the endpoint refuses: key, model name, balance, content filter, too much text.
            ModelProtocolError: what answered is no chat completion.
        """
        ...

    def estimate(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> int:
        """Tokens of such a request, estimated on the safe side."""
        ...

    def close(self) -> None:
        """Release connections. May be called twice."""
        ...
