"""OpenAI's own hosts: newer models refuse `max_tokens`."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("api.openai.com",),
    cap_field="max_completion_tokens",
    forced_tool_choice=True,
    assumed_window=128_000,
)
