"""First guesses about vendors."""

import pytest

from logagent.llm import Endpoint
from logagent.llm._capabilities import Capabilities
from logagent.llm._profile import Profile, profile_for


@pytest.mark.parametrize(
    ("url", "cap_field", "forced", "bridge"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens", True, False),
        ("https://team.openai.azure.com/openai/v1", "max_completion_tokens", True, False),
        ("https://api.mistral.ai/v1", "max_tokens", True, True),
        ("https://api.deepseek.com", "max_tokens", False, False),
        ("https://nobody.example.test/v1", "max_tokens", False, False),
        ("https://api.openai.com.evil.test/v1", "max_tokens", False, False),
    ],
)
def test_a_profile_is_chosen_by_host(url: str, cap_field: str, forced: bool, bridge: bool) -> None:
    profile = profile_for(Endpoint(url, "m"))
    assert (profile.cap_field, profile.forced_tool_choice, profile.bridge) == (cap_field, forced, bridge)


def test_ollama_is_known_by_its_port_and_assumed_small() -> None:
    assert profile_for(Endpoint("http://localhost:11434", "qwen3")).assumed_window == 4_096


def test_a_profile_that_gives_more_wins_and_one_that_is_not_met_never_does() -> None:
    here = Endpoint("https://llm.example.test:8000/v1", "Qwen3-32B")
    assert Profile(models=("qwen",)).score(here) < Profile(hosts=("example.test",)).score(here)
    assert Profile(hosts=("example.test",)).score(here) < Profile(hosts=("example.test",), models=("qwen",)).score(here)
    assert Profile(hosts=("example.test",), models=("llama",)).score(here) == 0
    assert Profile().score(here) == 0


def test_what_is_learned_moves_slowly_and_within_bounds() -> None:
    start = Capabilities()
    assert start.calibrated(1_000, 2_000).token_ratio == 1.3
    assert start.calibrated(1_000, 1_000_000).token_ratio == 1.45
    assert start.calibrated(1_000, 1).token_ratio == 0.85
