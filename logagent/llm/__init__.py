"""The model: an OpenAI-compatible chat endpoint behind the seam `ChatModel`."""

from logagent.llm._wire import ChatModel, Message, Reply, Role, ToolCall, ToolDeclaration

__all__ = ["ChatModel", "Message", "Reply", "Role", "ToolCall", "ToolDeclaration"]
