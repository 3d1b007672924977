"""What a tool is: arguments, handler, and what the registry must know before it runs it.

Handlers run in threads and answer raw values (`Answer`). Ids, masks and cuts are made later, on the loop's thread and
in the order of the calls, so that a rerun gives the same prompt.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator

from logagent.analysis.redact import Redactor
from logagent.evidence import Claim, Ledger
from logagent.fields import FieldMap
from logagent.query import Scope
from logagent.stores._base import LogStore

if TYPE_CHECKING:
    from logagent.tools.submit_diagnosis import Submission

Permission = Literal["read", "sensitive", "restricted"]
Cost = Literal["none", "low", "medium", "high"]
WHY_LENGTH = 100
"""Most characters of `why` that are kept."""


def most(usual: int, limit: int, more: str = "") -> Any:
    """A `size` of 1 up to `limit`, which its description states."""
    return Field(usual, ge=1, le=limit, description=f"Max {limit}; {more}" if more else f"Max {limit}")


class ToolArgs(BaseModel):
    """Base of all arguments; the descriptions are read by the model. Unknown arguments are refused."""

    model_config = ConfigDict(extra="forbid")


class ReadArgs(ToolArgs):
    """Arguments of a tool that reads: each call says what it is for."""

    why: str | None = Field(None, description="What this call decides.")

    @field_validator("why")
    @classmethod
    def _short(cls, why: str | None) -> str | None:
        return why[:WHY_LENGTH] if why else why


class RangeArgs(ReadArgs):
    """Arguments of a tool that reads events in a span of time."""

    query: str | None = Field(
        None,
        description='field:value, field:(a OR b), "phrase", wild*, [a TO b], level>=error, AND OR NOT, ( ); service, '
        "level, host, trace_id work on any schema; a bare word is a whole word. Default all.",
    )
    start_time: str | None = Field(None, description="ISO 8601 or now-30m. Default: the run's window.")
    end_time: str | None = None
    index_pattern: str | None = Field(None, description="A source of list_log_sources, or narrower.")


class Catalogue(Protocol):
    """The list of mechanisms, as far as tools need it (`analysis.mechanisms.Catalogue`)."""

    @property
    def ids(self) -> Sequence[str]:
        """All ids that a submission may name."""
        ...

    @property
    def inferred(self) -> Mapping[str, object]:
        """Those of them that no line needs to state."""
        ...

    def near(self, name: str) -> list[str]:
        """The ids that a name which is none comes nearest to."""
        ...

    def mechanism(self, text: str, service: str = "") -> str:
        """Id of the mechanism a text states, or "" for none."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an answer: figures and names made by code, then log text in quotes."""

    text: str
    quote: str = ""
    """Log text, whole and raw; the registry masks, escapes and cuts it."""
    claim: Claim | None = None
    service: str = ""
    """With a quote: whose line it is, for the mechanism shown beside it."""
    after: str = ""
    """Printed behind the quote: `x 214 until 14:03:02`."""
    limit: int = 0
    """Most characters of the quote; 0 is the usual limit, and only `whole` goes beyond that."""
    whole: bool = False
    """The quote is what was asked for: only `limit` cuts it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler answers: what was asked and how complete it is, rows, how to narrow."""

    head: str
    rows: tuple[Row, ...] = ()
    tail: str = ""
    final: bool = False
    """The run is over (an accepted submission)."""
    plain: bool = False
    """Made by code alone: no log text inside, no frame around it."""
    failed: bool = False
    focus: int | None = None
    """The row the answer is about: where not all fit, those farthest from it are cut."""
    rest: Callable[[int], str] = lambda _shown: ""
    """The call that gets what stands behind the first so many rows; "" where nothing does."""
    ends: bool = False
    """Both ends tell most: where not all rows fit, those in the middle are left out."""
    left_out: Callable[[int, int], str] = lambda _start, _end: ""
    """What to say where the rows from one place up to another are left out; asked at both ends also for none."""


@dataclass(slots=True)
class ToolContext:
    """What tools may see of a run. One for each run; `ledger`, `redact` and `shown` belong to the loop's thread."""

    store: LogStore
    fields: FieldMap
    scope: Scope
    ledger: Ledger
    redact: Redactor
    catalogue: Catalogue
    nonce: str
    submission: "Submission | None" = None
    draft: "Submission | None" = None
    """What was right of a submission that was sent back: the best so far, should the run end before the next one."""
    shown: list[str] = field(default_factory=list)
    """Digest and rows the model has read, without what only repeats its own words: what a submission may name."""
    suspicious: list[str] = field(default_factory=list)
    """Ids of lines that seem written for an assistant."""
    local_ids: bool | None = None
    """Whether each process counts its own trace ids; None until a tool had to know (see `_joined`)."""
    faults: int = 0
    """Submissions that were sent back."""

    def occurs(self, value: str) -> bool:
        """Whether a name was shown to the model, whatever its case."""
        wanted = value.strip().lower()
        return bool(wanted) and any(wanted in text.lower() for text in self.shown)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what the model is told, and what the registry enforces."""

    args: type[ToolArgs]
    handler: Callable[..., Answer]
    """`handler(args, context)`; raises ToolError or SourceError."""
    description: str
    """What it does, when to use it and when not; under 1,000 characters."""
    permission: Permission = "read"
    timeout_s: float = 30.0
    result_tokens: int = 1_500
    parallel: bool = True
    """May run beside other calls of the same turn."""
    cost: Cost = "low"
    group: str = "team"
    """What it is found under where the declarations of all tools are too long; the eight of logs are always declared.
    """
