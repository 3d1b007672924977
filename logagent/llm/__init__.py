"""The model: an OpenAI-compatible chat endpoint behind the seam `ChatModel`."""

from logagent.llm._arguments import ArgumentsError, parse_arguments
from logagent.llm._client import ChatClient
from logagent.llm._endpoint import Endpoint, Limits
from logagent.llm._state import Attempt, Compact, Timing
from logagent.llm._wire import ChatModel, Message, Reply, Role, ToolCall, ToolDeclaration

__all__ = [
    "ArgumentsError",
    "Attempt",
    "ChatClient",
    "ChatModel",
    "Compact",
    "Endpoint",
    "Limits",
    "Message",
    "Reply",
    "Role",
    "Timing",
    "ToolCall",
    "ToolDeclaration",
    "parse_arguments",
]
