"""What a run reports while it goes on: progress for the terminal and for servers, step records for the transcript."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class StepStarted:
    """One of the eight steps of a run begins (ux.md 2.6)."""

    number: int
    total: int
    name: str


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step is over; `text` is its one-line finding, `seconds` counts from the start of the run."""

    number: int
    total: int
    name: str
    word: Literal["ok", "warn", "fail", "skip"]
    seconds: float
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning or notice of `texts/` that does not end the run, e.g. LA501."""

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """One reply of the model. Texts are redacted."""

    turn: int
    text: str
    calls: tuple[tuple[str, str, str], ...]
    """(tool, arguments as JSON text, why)."""
    input_tokens: int
    output_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """One tool call is over. `evidence` are the ids its result issued."""

    turn: int
    call_id: str
    tool: str
    arguments: str
    ok: bool
    seconds: float
    result: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """One round trip to the store (shown with -v)."""

    what: str
    took_ms: int
    detail: str = ""


RunEvent = StepStarted | StepFinished | Notice | ModelReplied | ToolFinished | StoreRequest
OnEvent = Callable[[RunEvent], None]


def ignore(event: RunEvent) -> None:
    """An OnEvent that does nothing."""
