"""Gemini through its OpenAI-compatible path: signatures on calls go back in place."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("generativelanguage.googleapis.com",),
    assumed_window=1_048_576,
)
