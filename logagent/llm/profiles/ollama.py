"""Ollama: 4,096 tokens unless told otherwise, and a longer prompt is cut from the front without a word."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    ports=(11434,),
    assumed_window=4_096,
    cuts_silently=True,
    tools_remedy="Use a model whose page on ollama.com lists tools.",
)
