"""What is spoken about logs: instants, windows, records, buckets, and how complete an answer is.

All instants are aware datetimes in UTC. Windows are half-open: start <= t < end.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple


class Severity(enum.IntEnum):
    """Severity classes of the query language (ux.md 2.2): notice counts as info, critical and worse as fatal."""

    TRACE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4
    FATAL = 5

    @property
    def word(self) -> str:
        """Lower-case name, as written in queries: `error`."""
        return self.name.lower()


class RecordId(NamedTuple):
    """Where a record lives: index (or file name) and document id (or line number as text)."""

    source: str
    id: str


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A half-open span of time.

    Raises:
        ValueError: an end that is not aware, or start > end.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or self.end.tzinfo is None:
            msg = "window ends must be aware datetimes"
            raise ValueError(msg)
        if self.start > self.end:
            msg = f"window ends before it starts: {self.start} > {self.end}"
            raise ValueError(msg)

    @property
    def seconds(self) -> float:
        """Length in seconds, at least 0."""
        return (self.end - self.start).total_seconds()

    def shifted(self, delta: timedelta) -> "TimeWindow":
        """The same length, moved by `delta`."""
        return TimeWindow(self.start + delta, self.end + delta)

    def contains(self, at: datetime) -> bool:
        """Whether `at` lies inside (end excluded)."""
        return self.start <= at < self.end


def instant(seconds: float) -> datetime:
    """Seconds since the epoch as an aware UTC datetime, rounded to microseconds."""
    return datetime.fromtimestamp(seconds, UTC)


def iso(at: datetime) -> str:
    """RFC 3339 in UTC with `Z`; milliseconds only where there are any.

    >>> iso(datetime(2026, 11, 30, 6, 5, 20, tzinfo=UTC))
    '2026-11-30T06:05:20Z'
    """
    at = at.astimezone(UTC)
    spec = "milliseconds" if at.microsecond else "seconds"
    return at.isoformat(timespec=spec).replace("+00:00", "Z")


@dataclass(slots=True)
class LogRecord:
    """One log event, reduced to roles; every other field of the source stays in `fields`. Nobody changes one.

    Not frozen: a run makes tens of thousands, and the nineteen fields of a frozen one take four times as long to set.

    `message` is never None; multi-line events are one record. `timestamp` is None only for
    sources without any time, where `RecordId.id` order is the order.
    """

    id: RecordId
    timestamp: datetime | None
    message: str
    service: str = ""
    severity: Severity | None = None
    level: str = ""
    """The level as the source wrote it."""
    error_type: str = ""
    error_message: str = ""
    stack: str = ""
    host: str = ""
    pod: str = ""
    namespace: str = ""
    version: str = ""
    trace_id: str = ""
    span_id: str = ""
    logger: str = ""
    """Logger or call site (`pkg.Class#31`)."""
    status: int | None = None
    """HTTP status, 100 to 599."""
    duration_ms: float | None = None
    fields: Mapping[str, str | float | bool] = field(default_factory=dict)
    """Flattened remaining fields by dotted name (numbers as float, the rest as text)."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """How much of the truth an answer holds (elasticsearch.md 3). Defaults describe a complete local answer."""

    shards_total: int = 1
    shards_successful: int = 1
    shards_skipped: int = 0
    shards_failed: int = 0
    clusters_skipped: tuple[str, ...] = ()
    timed_out: bool = False
    reasons: tuple[str, ...] = ()
    """Failure reasons of shards, sanitised, at most 3."""
    cut: tuple[str, ...] = ()
    """Files of which only a part could be read."""

    @property
    def complete(self) -> bool:
        """The test of elasticsearch.md 3."""
        return (
            not self.timed_out
            and self.shards_failed == 0
            and self.shards_successful == self.shards_total
            and self.shards_total > 0
            and not self.clusters_skipped
            and not self.cut
        )

    @property
    def failed_share(self) -> float:
        """Share of shards that did not answer, 0 to 1."""
        missing = max(self.shards_failed, self.shards_total - self.shards_successful)
        return missing / self.shards_total if self.shards_total else 1.0


@dataclass(frozen=True, slots=True)
class Bucket:
    """One time bucket of a series: start and number of events."""

    at: datetime
    count: int


@dataclass(frozen=True, slots=True)
class TermCount:
    """One value of a field with its count in the window and, where asked, in the other window."""

    value: str
    count: int
    baseline: int = 0


@dataclass(frozen=True, slots=True)
class WeightedRecord:
    """A record that stands for `weight` records alike (same service, severity, status class and mask, same bucket).

    weight is exact when the store grouped all records, else an estimate (`Sample.exact` says which).
    """

    record: LogRecord
    weight: float = 1.0
    first: datetime | None = None
    last: datetime | None = None
