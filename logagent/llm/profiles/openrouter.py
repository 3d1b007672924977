"""OpenRouter: passes `reasoning_details` through; the object form of `tool_choice` is often refused."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("openrouter.ai",),
)
