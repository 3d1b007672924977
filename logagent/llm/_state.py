"""What a client holds from one reply to the next."""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from logagent.llm._capabilities import CapabilityRecord
from logagent.llm._endpoint import Endpoint, is_loopback
from logagent.llm._failure import Failure
from logagent.llm._profile import Profile
from logagent.llm._tokens import Anchor, output_cap
from logagent.llm._wire import Message

if TYPE_CHECKING:
    from logagent.llm._body import Ask
    from logagent.llm._connection import Connection

Compact = Callable[[Sequence[Message], int], Sequence[Message] | None]
"""Takes the conversation and a number of tokens, gives a shorter one, or None where nothing can go."""

AttemptKind = Literal[
    "transient", "rate_limit", "warming_up", "adaptable", "overflow", "lower_cap", "no_tools", "final",
    "cut", "empty", "reask",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that brought no usable answer, and what follows from it. A partial text shown so far is void."""

    kind: AttemptKind
    failure: Failure
    wait_s: float = 0.0
    """Seconds until the request is repeated, or that the server asked for."""
    change: str = ""
    """What the next request changes."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Where time and chance come from, so that tests need not wait."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = field(default_factory=lambda: threading.Event().wait)
    wall: Callable[[], float] = time.time
    random: Callable[[], float] = random.random


@dataclass(slots=True)
class State:
    """Endpoint, what is known of it, and how to reach it."""

    endpoint: Endpoint
    profile: Profile
    record: CapabilityRecord
    connection: "Connection"
    timing: Timing
    compact: Compact | None
    on_attempt: Callable[[Attempt], None]
    anchor: Anchor = field(default_factory=Anchor)
    answered: bool = False
    """Whether the endpoint ever answered this client."""
    unread_turns: int = 0
    """Turns in a row with tool calls in the text that could not be read."""

    @property
    def near(self) -> bool:
        """Whether the endpoint runs on this machine."""
        return is_loopback(self.endpoint.host)

    @property
    def known_window(self) -> int | None:
        """Context window by setting, else as learned."""
        return self.endpoint.context_window or self.record.now.window

    @property
    def window(self) -> int:
        """Context window in tokens; an assumption of the profile while nothing tells it."""
        return self.known_window or self.profile.assumed_window

    def estimate(self, ask: "Ask") -> int:
        """Tokens of a request."""
        return self.anchor.estimate(ask.messages, ask.tools, self.record.now.token_ratio)

    def cap(self, ask: "Ask") -> int:
        """Most tokens that a reply may take."""
        if ask.exact and ask.cap:
            return ask.cap
        setting = ask.cap or self.endpoint.max_output_tokens
        return output_cap(setting, self.window, self.estimate(ask), self.record.now.max_output)

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of each request; the key among them."""
        encoding = "identity" if self.record.now.identity_encoding else "gzip, deflate"
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            "accept-encoding": encoding,
            **self.endpoint.headers,
        }
        if self.endpoint.api_key and self.profile.key_header:
            headers[self.profile.key_header] = self.endpoint.api_key
        elif self.endpoint.api_key:
            headers["authorization"] = f"Bearer {self.endpoint.api_key}"
        return headers
