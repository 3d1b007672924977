"""llama.cpp on its usual port; native calls need the Jinja templates."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    ports=(8080,),
    tools_remedy="Start llama-server with --jinja.",
)
