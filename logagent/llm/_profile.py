"""First guesses about an endpoint, one small file a vendor under `profiles/`; what it answers beats them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from logagent.llm import profiles
from logagent.llm._endpoint import Endpoint
from logagent.plugins import modules

CapField = Literal["max_tokens", "max_completion_tokens"]

ASSUMED_WINDOW = 32_768
"""Tokens of a remote model that nobody told us about."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a vendor's endpoints are known to want.

    A profile applies where each kind of criterion that it gives is met; the one that gives
    more wins, a host before a model name.
    """

    hosts: tuple[str, ...] = ()
    """Ends of host names."""
    ports: tuple[int, ...] = ()
    models: tuple[str, ...] = ()
    """Parts of model names, lower case."""
    cap_field: CapField = "max_tokens"
    forced_tool_choice: bool = False
    """Whether a named tool may be demanded."""
    short_ids: bool = False
    """Whether call ids must be nine letters and digits."""
    bridge: bool = False
    """Whether a user message may not follow a tool message."""
    fill_reasoning: bool = False
    """Whether turns with calls need `reasoning_content`, if only an empty one."""
    refused_keys: tuple[str, ...] = ()
    """Keys of assistant messages that are refused."""
    assumed_window: int = ASSUMED_WINDOW
    cuts_silently: bool = False
    """Whether a prompt beyond the window is cut from the front without a word."""
    key_header: str = ""
    """Header that carries the key; empty: `Authorization: Bearer`."""
    tools_remedy: str = ""
    """What switches native tool calls on, for the notice that they are missing."""

    def score(self, endpoint: Endpoint) -> int:
        """How well the profile fits; 0: not at all."""
        model = endpoint.model.lower()
        criteria = (
            (4, self.hosts, any(_is_under(endpoint.host, host) for host in self.hosts)),
            (2, self.ports, endpoint.port in self.ports),
            (1, self.models, any(part in model for part in self.models)),
        )
        given = [(weight, met) for weight, wanted, met in criteria if wanted]
        return sum(weight for weight, _ in given) if all(met for _, met in given) else 0


def profile_for(endpoint: Endpoint) -> Profile:
    """The profile that fits best; one without any claim if none does."""
    best, most = Profile(), 0
    for profile in _profiles():
        score = profile.score(endpoint)
        if score > most:
            best, most = profile, score
    return best


def _profiles() -> Iterator[Profile]:
    for _, module in modules(profiles):
        if isinstance(module.PROFILE, Profile):
            yield module.PROFILE


def _is_under(host: str, end: str) -> bool:
    return host == end or host.endswith(f".{end}")
