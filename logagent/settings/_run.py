"""What one run was asked to do: made by the cli from its options, read by wiring."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class RunOptions:
    """The question of one run. Times stay text: what "now" is only the opened source knows (ux.md 2.2)."""

    command: Literal["diagnose", "ask", "demo"] = "diagnose"
    question: str | None = None
    services: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Paths; `-` is standard input."""
    indices: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    at: str | None = None
    baseline: str = "auto"
    filters: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Role (environment, host, namespace, version, trace_id) to the values asked for."""
    effort: str = "standard"
    deadline_seconds: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    use_model: bool = True
    require_model: bool = False
    time_shift_seconds: float = 0.0
    strict: bool = False
    save: bool = True
    scenario: str | None = None
    dry_run: bool = False
    case: str | None = None
    assumptions: tuple[str, ...] = ()
    language: str = "en"
    zone: str = "UTC"

    @property
    def source_words(self) -> tuple[str, ...]:
        """The words that name the files or indices of this run in a command."""
        return (*self.files, *(part for index in self.indices for part in ("-i", index)))
