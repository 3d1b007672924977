"""Mistral: nine-character ids, no user message after a tool message, no foreign keys in messages."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("api.mistral.ai",),
    forced_tool_choice=True,
    short_ids=True,
    bridge=True,
    refused_keys=("reasoning_content", "reasoning", "reasoning_details"),
    assumed_window=128_000,
)
