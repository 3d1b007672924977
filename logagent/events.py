"""What a run reports while it goes on: progress for the terminal and for servers, step records for the transcript."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Purpose = Literal["answer", "summary"]
"""What the model is asked for: the next message of the investigation, or a summary of earlier calls."""


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
class ModelAsked:
    """A request to the model begins. `tokens` is our estimate of its size."""

    turn: int
    step: int
    messages: int
    tokens: int
    forced: bool = False
    purpose: Purpose = "answer"
    state: Literal["running"] = "running"


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """One reply of the model: the end of the step that `ModelAsked` began. Texts are redacted."""

    turn: int
    text: str
    calls: tuple[tuple[str, str, str], ...]
    """(tool, arguments as JSON text, why)."""
    input_tokens: int
    output_tokens: int
    seconds: float
    step: int = 0
    cost: float = 0.0
    """In the currency of the prices in the settings; 0 where they name none."""
    finish: str = ""
    call_ids: tuple[str, ...] = ()
    reasoning: str = ""
    """What the model thought, where the endpoint shows it; never evidence, never in a report."""
    notices: tuple[str, ...] = ()
    purpose: Purpose = "answer"
    state: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """A request to the model brought no reply, after all tries."""

    turn: int
    step: int
    code: str
    error: str
    seconds: float
    error_class: str = ""
    purpose: Purpose = "answer"
    state: Literal["failed"] = "failed"


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """One tool call begins."""

    turn: int
    step: int
    call_id: str
    tool: str
    arguments: str
    why: str = ""
    state: Literal["running"] = "running"


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
    step: int = 0
    why: str = ""
    summary: str = ""
    """The result in one line."""
    tokens: int = 0
    """Estimated size of the result."""
    lost: bool = False
    key: str = ""
    """What makes two calls the same call; empty for one that could not be read."""
    state: Literal["done", "failed"] = "done"


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """The loop of model and tools is over, and why."""

    stop: str
    turns: int
    input_tokens: int
    output_tokens: int
    seconds: float
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """One round trip to the store (shown with -v)."""

    what: str
    took_ms: int
    detail: str = ""


RunEvent = (
    StepStarted
    | StepFinished
    | Notice
    | ModelAsked
    | ModelReplied
    | ModelFailed
    | ToolStarted
    | ToolFinished
    | LoopEnded
    | StoreRequest
)
OnEvent = Callable[[RunEvent], None]


def ignore(event: RunEvent) -> None:
    """An OnEvent that does nothing."""
