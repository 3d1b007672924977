"""What an endpoint can do, learned from its answers and kept on disk (llm-endpoints.md 3)."""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from logagent.llm._endpoint import Endpoint
from logagent.llm._profile import CapField, Profile

EmptyContent = Literal["empty", "null", "absent"]

_RATIO_LOW, _RATIO_HIGH = 0.5, 2.5
_OLD_WEIGHT = 0.7


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One record for one endpoint and model."""

    cap_field: CapField = "max_tokens"
    cap_field_swapped: bool = False
    dropped: tuple[str, ...] = ()
    """Request parameters that were refused."""
    refused_keys: tuple[str, ...] = ()
    """Keys of messages that were refused."""
    empty_content: EmptyContent = "empty"
    """Content of assistant turns that hold calls only."""
    reasoning_field: str = ""
    """Where the endpoint puts its reasoning."""
    fill_reasoning: bool = False
    bridge: bool = False
    short_ids: bool = False
    needs_tools: bool = False
    """Whether tools must be declared where the history has calls."""
    native_tools: bool = True
    identity_encoding: bool = False
    window: int | None = None
    """Context size in tokens."""
    max_output: int | None = None
    """Largest output cap in tokens."""
    token_ratio: float = 1.0
    """Real tokens for each one that we estimate."""

    @classmethod
    def guess(cls, profile: Profile) -> "Capabilities":
        """The record of an endpoint that was never spoken with."""
        return cls(
            cap_field=profile.cap_field,
            refused_keys=profile.refused_keys,
            fill_reasoning=profile.fill_reasoning,
            bridge=profile.bridge,
            short_ids=profile.short_ids,
        )

    def without(self, parameter: str) -> "Capabilities":
        """The record once a request parameter was refused."""
        return replace(self, dropped=(*self.dropped, parameter))

    def calibrated(self, estimated: int, counted: int) -> "Capabilities":
        """The record after a request of `estimated` tokens (before the ratio) was counted by the endpoint."""
        seen = min(_RATIO_HIGH, max(_RATIO_LOW, counted / estimated))
        ratio = _OLD_WEIGHT * self.token_ratio + (1 - _OLD_WEIGHT) * seen
        return replace(self, token_ratio=round(min(_RATIO_HIGH, max(_RATIO_LOW, ratio)), 3))


class CapabilityRecord:
    """The record of one endpoint, in a folder or in memory only.

    A file that cannot be read or written is no error: the record is learned again.
    """

    def __init__(self, endpoint: Endpoint, profile: Profile, folder: Path | None) -> None:
        key = hashlib.sha256("\n".join(endpoint.origin).encode()).hexdigest()[:24]
        self._path = folder / f"{key}.json" if folder else None
        self._endpoint = endpoint
        self.now = self._load(Capabilities.guess(profile))

    def learn(self, capabilities: Capabilities) -> None:
        """Take over what was learned and keep it."""
        if capabilities != self.now:
            self.now = capabilities
            self._save()

    def _load(self, guess: Capabilities) -> Capabilities:
        if self._path is None:
            return guess
        try:
            return TypeAdapter(Capabilities).validate_json(self._path.read_bytes())
        except (OSError, ValueError):
            return guess

    def _save(self) -> None:
        if self._path is None:
            return
        base_url, model = self._endpoint.origin
        text = json.dumps({"base_url": base_url, "model": model, **asdict(self.now)}, indent=1)
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".new-")  # created 0600
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(name).replace(self._path)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
