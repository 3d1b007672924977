"""What the analysis speaks: events, facts, hypotheses, the conclusion. Times are float seconds since the epoch, UTC."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from logagent.logs import LogRecord

Verdict = Literal["cause", "inconclusive", "no_anomaly"]
GradeName = Literal["confirmed", "likely", "possible"]
StatusName = Literal["ongoing", "recovering", "recovered", "intermittent", "unknown"]

UNNAMED = "unknown"
"""The service of events that name none; nothing to filter by."""


@dataclass(slots=True)
class Event:
    """One log record, or a group of alike ones, as the signals read it.

    `weight` counts the records it stands for (1 when all were read); `count` the occurrences that one record tells of
    (a Kubernetes event with `count: 12`). Every figure is a sum of weight, never a number of Event objects.
    """

    time: float
    service: str
    level: int | None
    """Severity class 0 to 5 (logs.Severity), None where none is known."""
    message: str
    trace: str | None = None
    span: str | None = None
    callsite: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Remaining flat fields, error fields among them."""
    template: int = -1
    failed: bool = False
    """Carries a 5xx status, in a field or in the text."""
    count: int = 1
    first: float | None = None
    """First time inside such an event."""
    event: bool = False
    reporter: str = ""
    object: str = ""
    """kind/name of the object of a platform event."""
    weight: float = 1.0
    record: LogRecord | None = None


@dataclass(slots=True)
class Fact:
    """One fact that speaks for (or excuses) a service.

    kind: own_error own_gone entry_gone relay branch stops new_error slow slow_peer slow_number slow_hint slow_shift
    slow_endpoint episode relay_episode spike needle healed steady_error mechanism mechanism_weak ramp silent
    unreachable undiscovered (analysis.md 3 and 5).
    """

    kind: str
    service: str
    p: float
    text: str
    onset: tuple[float, float] | None = None
    """(last good, first bad); None = not known."""
    template: int | None = None
    blames: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()
    """Failing traces."""
    weight: float = 1.0
    persists: bool = True
    figures: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Suspect:
    """One service and what speaks for it, best fact first."""

    service: str
    score: float
    facts: list[Fact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ChangeFact:
    """A change line before the onset. `supported`: the failing lines name something that only it names."""

    seconds_before: float
    service: str
    text: str
    supported: bool
    shared: tuple[str, ...] = ()
    kind: str = "other"
    """A ChangeKind of diagnosis.py."""
    event: Event | None = None


@dataclass(slots=True)
class Conclusion:
    """What the analysis answers."""

    verdict: Verdict
    ranking: list[Suspect]
    onset: tuple[float, float] | None
    """(last good, first bad)."""
    onset_kind: Literal["exact", "interval", "before_window", "unknown"]
    reason: str
    mechanism: str | None = None
    entity: str | None = None
    grade: GradeName = "possible"
    status: StatusName = "unknown"
    period: float | None = None
    """Seconds between bursts, when intermittent."""
    ended: float | None = None
    """Time of recovery, when recovered."""
    changes: list[ChangeFact] = field(default_factory=list)
    cause_text: str = ""
