"""Kimi by Moonshot: same rule for reasoning as DeepSeek; ids are `functions.name:n` and go back untouched."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("api.moonshot.ai", "api.moonshot.cn"),
    fill_reasoning=True,
    assumed_window=131_072,
)
