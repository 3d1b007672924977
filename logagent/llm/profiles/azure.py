"""Azure OpenAI; same wire as OpenAI, old API versions refuse `stream_options` (learned)."""

from logagent.llm._profile import Profile

PROFILE = Profile(
    hosts=("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"),
    cap_field="max_completion_tokens",
    key_header="api-key",
    forced_tool_choice=True,
    assumed_window=128_000,
)
