"""DeepSeek: thinking mode wants the reasoning of each turn with calls back, and refuses a forced tool."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("api.deepseek.com",),
    fill_reasoning=True,
    assumed_window=65_536,
)
