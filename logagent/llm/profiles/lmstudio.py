"""LM Studio on its usual port; refuses the object form of `tool_choice`."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    ports=(1234,),
    tools_remedy="Load a model that LM Studio marks for tool use.",
)
