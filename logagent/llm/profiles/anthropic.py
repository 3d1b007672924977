"""Anthropic through its OpenAI-compatible path: thinking refuses a forced tool."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("api.anthropic.com",),
    assumed_window=200_000,
)
