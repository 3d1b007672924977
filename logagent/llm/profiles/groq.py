"""Groq: refuses keys in messages that it does not know."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("api.groq.com",),
    forced_tool_choice=True,
    refused_keys=("reasoning_content", "reasoning_details"),
    assumed_window=131_072,
)
