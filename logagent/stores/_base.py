"""The seam to the logs: a handful of coarse, read-only questions is enough for every tool and for the survey.

Roles in `split`, `fields` and queries are those of `logagent.fields`; a store resolves them through its own
FieldMap. Stores answer values of `logagent.logs`, never text.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from logagent.fields import FieldMap
from logagent.logs import Bucket, Completeness, LogRecord, RecordId, TermCount, TimeWindow, WeightedRecord
from logagent.query import LogQuery

SEARCH_LIMIT = 1_000
"""Most hits of one search; asking for more is a ValueError."""
PAGE_LIMIT = 5_000
"""Most records of one page of `scan`, `sample` and `traces`."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """One source (index, data stream, alias or file): how many events, from when to when."""

    name: str
    events: int
    first: datetime | None
    last: datetime | None
    note: str = ""
    """E.g. `JSON lines, gzip` or `12 backing indices`."""


@dataclass(frozen=True, slots=True)
class Description:
    """What the store knows of itself and of the scope, before any question."""

    backend: Literal["embedded", "elasticsearch", "opensearch"]
    product: str
    """Human name with version: `Elasticsearch 8.19.21`, `embedded (DuckDB 2.0.1)`."""
    sources: tuple[SourceInfo, ...]
    fields: FieldMap
    events: int
    first: datetime | None
    last: datetime | None
    """Newest event of the scope, no later than the clock + 1 day where sources hold nonsense."""
    lag_seconds: float | None = None
    """Ingest lag, 95th percentile, where an ingest time exists."""
    unparsed: int = 0
    """Lines of files that could not be read as records."""
    future: int = 0
    """Events later than the clock."""
    untimed: int = 0
    """Events without a usable time (left out of windows)."""
    has_times: bool = True
    """False: no event has a time, and the store counted the lines instead (LA308)."""
    notes: tuple[str, ...] = ()
    """Facts to print: format found, fields chosen, clusters skipped."""
    completeness: Completeness = Completeness()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Hits in the order asked for. `total` counts all matches; exact unless `total_is_exact` is False."""

    records: tuple[LogRecord, ...]
    total: int
    total_is_exact: bool = True
    completeness: Completeness = Completeness()


@dataclass(frozen=True, slots=True)
class ScanPage:
    """One page of all matches, oldest first. `cursor` None: this was the last page."""

    records: tuple[LogRecord, ...]
    cursor: object | None
    completeness: Completeness = Completeness()


@dataclass(frozen=True, slots=True)
class Sample:
    """Records that stand for all matches. `exact`: weights are true counts (all matches were grouped)."""

    rows: tuple[WeightedRecord, ...]
    total: int
    exact: bool
    completeness: Completeness = Completeness()


@dataclass(frozen=True, slots=True)
class Series:
    """Counts per bucket of one query or of one value of a split; gaps are filled with 0."""

    name: str
    buckets: tuple[Bucket, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """One or more series over the same buckets."""

    interval_seconds: int
    series: tuple[Series, ...]
    whole: Series | None = None
    """With a split: all matches, whatever their value."""
    completeness: Completeness = Completeness()


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """Top values of one field. `other` counts matches with a value outside the list, `missing` those without one."""

    field: str
    values: tuple[TermCount, ...]
    other: int = 0
    missing: int = 0
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class TopValues:
    """Answer of `top_values`: one entry for each field asked for, in that order."""

    fields: tuple[FieldCounts, ...]
    completeness: Completeness = Completeness()


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure to compute: `op` over the matches of `query`.

    count: number of matches · distinct: different values of `field` (a role or name) · first, last: time of the
    first or last match. A ratio is two counts, made by the caller.
    """

    query: LogQuery
    op: Literal["count", "distinct", "first", "last"] = "count"
    field: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """value: int for count and distinct, datetime or None for first and last."""

    value: int | datetime | None
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """Answers of `count`, in the order of the measures."""

    values: tuple[Measured, ...]
    completeness: Completeness = Completeness()


@dataclass(slots=True)
class StoreUsage:
    """Running totals of a store; one request = one round trip (a query, on the embedded store)."""

    requests: int = 0
    took_ms: int = 0
    log: list[str] = field(default_factory=list)
    """With verbose on: one line a request (what was asked, took, shards)."""


class LogStore(Protocol):
    """Read access to logs.

    All methods may raise SourceError (errors.py) and nothing else on purpose; ValueError for limits
    above the constants of this module. Safe to call from several threads at once.
    `tests/contract/` holds what each backend must do, and runs against all of them.
    """

    usage: StoreUsage

    def describe(self) -> Description:
        """Sources, fields by role, first and last event. Cached: the second call costs nothing."""
        ...

    def search(
        self,
        query: LogQuery,
        *,
        limit: int,
        order: Literal["newest", "oldest"] = "newest",
        exact_total: bool = True,
    ) -> SearchPage:
        """At most `limit` (1 to SEARCH_LIMIT) matching records."""
        ...

    def scan(self, query: LogQuery, *, limit: int = PAGE_LIMIT, cursor: object | None = None) -> ScanPage:
        """All matches, oldest first (ties by source order), a page at a time; pass `cursor` of the page before."""
        ...

    def around(self, record: RecordId, query: LogQuery, *, limit: int) -> SearchPage:
        """The records before and after `record` (half each, it included) among the matches, oldest first."""
        ...

    def sample(self, query: LogQuery, *, limit: int = PAGE_LIMIT, buckets: int = 60, seed: int = 0) -> Sample:
        """At most `limit` rows that stand for all matches.

        The embedded store groups all matches by (service, severity, status class, mask of the message, time bucket)
        and answers one row a group with its exact weight (rarest masks first where there are more than `limit`).
        A cluster answers a uniform random sample; weight = total / rows (1, and exact, where all fit).
        """
        ...

    def traces(self, query: LogQuery, *, slices: int = 12, ids: int = 300, limit: int = 4 * PAGE_LIMIT) -> ScanPage:
        """Complete lines, oldest first, of at most `ids` trace ids sampled evenly over `slices` of time.

        Chosen by time, never by outcome. Empty where the trace role is unknown.
        """
        ...

    def count_over_time(
        self, queries: Sequence[LogQuery], *, interval_seconds: int, split: str = "", size: int = 20
    ) -> Timeline:
        """Counts per bucket: one series a query (at most 100, all with the same window) in one round trip.

        With `split` (one query only): one series for each of the `size` most frequent values of that role or field,
        and `whole`, the series of all matches.
        Bucket starts are multiples of the interval since the epoch; the window has at most 500 buckets.
        """
        ...

    def top_values(
        self, query: LogQuery, fields: Sequence[str], *, size: int = 10, baseline: TimeWindow | None = None
    ) -> TopValues:
        """Most frequent values (at most 50) of each field (role or name), with their counts in `baseline`."""
        ...

    def count(self, measures: Sequence[Measure]) -> MeasuredSet:
        """Many figures in as few round trips as possible: about 100 or 200 measures each, plain counts many more."""
        ...

    def fetch(self, ids: Iterable[RecordId]) -> dict[RecordId, LogRecord]:
        """The records that exist among `ids` (at most 1,000); missing ones are left out."""
        ...

    def close(self) -> None:
        """Release connections. May be called twice."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """What a backend module exports as `BACKEND`."""

    schemes: tuple[str, ...]
    """URL schemes it opens: `("http", "https")`, or `("file",)`."""
    open: Callable[..., LogStore]
    """Open a store; raises SourceError. Keyword arguments are the backend's own options dataclass, made by wiring."""
