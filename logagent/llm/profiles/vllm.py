"""vLLM on its usual port; native calls need two server flags."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    ports=(8000,),
    tools_remedy="Start vLLM with --enable-auto-tool-choice and --tool-call-parser.",
)
