"""Logs in Elasticsearch 7.17 to 9 and OpenSearch 2 and 3, over one read-only transport."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from logagent.errors import NoData, StoreQueryError
from logagent.logs import LogRecord, RecordId, TimeWindow
from logagent.query import All, LogQuery, Node
from logagent.stores._base import (
    PAGE_LIMIT,
    SEARCH_LIMIT,
    Backend,
    Description,
    LogStore,
    Measure,
    MeasuredSet,
    Sample,
    ScanPage,
    SearchPage,
    StoreUsage,
    Timeline,
    TopValues,
)
from logagent.stores._es_answers import completeness_of, total_of, without_others
from logagent.stores._es_compile import Clause, Compiler, within
from logagent.stores._es_describe import Described, Describer
from logagent.stores._es_figures import Figures
from logagent.stores._es_index import check_narrower, check_pattern
from logagent.stores._es_missing import nearby, no_index
from logagent.stores._es_reading import Reading
from logagent.stores._es_rights import beyond_reading
from logagent.stores._transport import Access, ReadOnlyTransport

_BODY_TIMEOUT = "15s"
_SCAN_LIMIT = 1_000_000
"""Most events whose keyword-only messages are read for a word."""
_MANY = 200_000
"""Events from which different values are counted by requests of their own."""
_KEPT = "took,timed_out,terminated_early,_shards,_clusters,hits,aggregations,error,status"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticsearchOptions(Access):
    """How to reach a cluster and what of it is in scope. Secrets never show in `repr`."""

    indices: Sequence[str]
    remotes: Sequence[str] = ()
    """Remote clusters that an index pattern may name."""
    field_overrides: Mapping[str, str] = field(default_factory=dict)
    """Role -> field name, the user's own choice."""
    sleep: Callable[[float], None] = time.sleep  # noqa: TID251 - the default of what is passed in
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


class ElasticsearchStore:
    """A LogStore over one cluster and a fixed set of index patterns.

    Raises:
        UsageError: an index pattern or a URL that is not allowed.
    """

    def __init__(self, options: ElasticsearchOptions) -> None:
        self.usage = StoreUsage()
        self._indices = tuple(check_pattern(pattern, options.remotes) for pattern in options.indices)
        if not self._indices:
            raise NoData("No index pattern is named.", code="LA301", values={"pattern": "''"})
        self._options = options
        self._transport = ReadOnlyTransport(options, self.usage, sleep=options.sleep)
        self._lock = threading.Lock()
        self._described: Described | None = None

    def __repr__(self) -> str:
        return f"ElasticsearchStore({self._transport.url!r}, {', '.join(self._indices)!r})"

    def describe(self) -> Description:
        """Sources, fields by role, first and last event."""
        return self._known().description

    def beyond_reading(self) -> tuple[str, ...] | None:
        """Privileges of the key that write or manage; None where the server does not tell."""
        return beyond_reading(self._transport, self._indices)

    def search(
        self,
        query: LogQuery,
        *,
        limit: int,
        order: Literal["newest", "oldest"] = "newest",
        exact_total: bool = True,
    ) -> SearchPage:
        """At most `limit` matching records."""
        _check(limit, SEARCH_LIMIT, "records of a search")
        return self._reading().search(query, limit=limit, order=order, exact_total=exact_total)

    def scan(self, query: LogQuery, *, limit: int = PAGE_LIMIT, cursor: object | None = None) -> ScanPage:
        """All matches, oldest first, a page at a time."""
        _check(limit, PAGE_LIMIT, "records of a page")
        return self._reading().scan(query, limit=limit, cursor=cursor)

    def around(self, record: RecordId, query: LogQuery, *, limit: int) -> SearchPage:
        """The records before and after one."""
        _check(limit, SEARCH_LIMIT, "records of a search")
        return self._reading().around(record, query, limit=limit)

    def sample(self, query: LogQuery, *, limit: int = PAGE_LIMIT, buckets: int = 60, seed: int = 0) -> Sample:
        """A uniform random sample; all matches where they fit."""
        del buckets  # grouping is what the embedded store can do
        _check(limit, PAGE_LIMIT, "records of a page")
        return self._reading().sample(query, limit=limit, seed=seed)

    def traces(self, query: LogQuery, *, slices: int = 12, ids: int = 300, limit: int = 4 * PAGE_LIMIT) -> ScanPage:
        """Complete lines of trace ids sampled evenly over time."""
        _check(limit, 4 * PAGE_LIMIT, "records of traces")
        return self._reading().traces(query, slices=slices, ids=ids, limit=limit)

    def count_over_time(
        self, queries: Sequence[LogQuery], *, interval_seconds: int, split: str = "", size: int = 20
    ) -> Timeline:
        """Counts per bucket, one series a query or a value."""
        return self._figures().count_over_time(queries, interval_seconds=interval_seconds, split=split, size=size)

    def top_values(
        self, query: LogQuery, fields: Sequence[str], *, size: int = 10, baseline: TimeWindow | None = None
    ) -> TopValues:
        """Most frequent values of fields."""
        return self._figures().top_values(query, fields, size=size, baseline=baseline)

    def count(self, measures: Sequence[Measure]) -> MeasuredSet:
        """Many figures in as few requests as possible."""
        return self._figures().count(measures)

    def fetch(self, ids: Iterable[RecordId]) -> dict[RecordId, LogRecord]:
        """The records that exist among `ids`."""
        wanted = list(dict.fromkeys(ids))
        if len(wanted) > SEARCH_LIMIT:
            raise ValueError(f"{len(wanted)} ids are asked for; at most {SEARCH_LIMIT} are possible")
        return self._reading().fetch(wanted) if wanted else {}

    def close(self) -> None:
        """Release connections."""
        self._transport.close()

    def _known(self) -> Described:
        with self._lock:
            if self._described is None:
                now = self._options.clock()
                describer = Describer(self._probe, self._get, self._indices, self._options.field_overrides, now)
                self._described = describer.describe(self._transport.url)
            return self._described

    def _reading(self) -> Reading:
        return Reading(self._known().fields, self._clause, self._search, self._indices)

    def _figures(self) -> Figures:
        known = self._known()
        many = known.description.events > _MANY
        return Figures(known.fields, self._clause, self._matching, self._search, self._reading(), many)

    def _clause(self, query: LogQuery) -> Clause:
        known = self._known()
        return Compiler(known.fields, lambda: self._may_scan(query)).query(query)

    def _matching(self, node: Node, window: TimeWindow) -> Clause:
        query = LogQuery(window, node)
        return Compiler(self._known().fields, lambda: self._may_scan(query)).node(node)

    def _may_scan(self, query: LogQuery) -> bool:
        """Whether a word may be looked for by reading every value of a keyword: at most 1,000,000 events."""
        known = self._known()
        if known.description.events <= _SCAN_LIMIT:
            return True
        clause = Compiler(known.fields).query(LogQuery(query.window, All()))
        body = {"size": 0, "track_total_hits": True, "query": clause}
        return total_of(self._search("events of the window", body, query.indices))[0] <= _SCAN_LIMIT

    def _get(self, what: str, path: str, params: Mapping[str, str]) -> Mapping[str, Any]:
        return self._transport.get(path, what=what, params=params).body

    def _probe(self, what: str, body: Mapping[str, Any], only: Sequence[str] = ()) -> Mapping[str, Any]:
        """A search of the description, where no shard at all may mean that nothing exists."""
        return self._post(what, body, self._indices, only)

    def _search(
        self, what: str, body: Mapping[str, Any], indices: Sequence[str] = (), only: Sequence[str] = ()
    ) -> Mapping[str, Any]:
        """A search in the scope or in a part of it.

        Raises:
            NoData: the pattern matches no index (LA301).
        """
        names = check_narrower(indices, self._indices)
        answer = self._post(what, body, names, only)
        if completeness_of(answer).shards_total == 0:
            raise no_index(",".join(names), nearby(self._get))
        return answer

    def _post(self, what: str, body: Mapping[str, Any], names: Sequence[str], only: Sequence[str]) -> Mapping[str, Any]:
        """One search; with `only`, shards of all other indices are skipped before they see the aggregations.

        The indices are filtered by name below the scope's own patterns: an alias may have a filter of its own, and a
        key may read the alias alone.
        """
        params = {
            "ignore_unavailable": "true",
            "expand_wildcards": "open",
            "max_concurrent_shard_requests": "3",
            "filter_path": _KEPT,
        }
        sent = {"timeout": _BODY_TIMEOUT, **body}
        if only:
            sent["query"] = within(only, body.get("query", {"bool": {}}))
            params["pre_filter_shard_size"] = "1"
        if only and any(":" in name for name in names):  # or a remote cluster with a single shard would skip nothing
            params["ccs_minimize_roundtrips"] = "false"
        path = f"/{','.join(names)}/_search"
        if not only:
            return self._transport.call("POST", path, what=what, params=params, body=sent).body
        try:
            answer = self._transport.call("POST", path, what=what, params=params, body=sent).body
        except StoreQueryError:  # one shard is asked even where none has a match, and it may be one of the others
            count = {**sent, "size": 0, "track_total_hits": True, "aggs": {}}
            answer = self._transport.call("POST", path, what=what, params=params, body=count).body
            if total_of(answer)[0]:
                raise
        return without_others(answer, only)


def _check(limit: int, most: int, what: str) -> None:
    if not 1 <= limit <= most:
        raise ValueError(f"{limit} {what} are asked for; possible are 1 to {most}")


def _open(options: ElasticsearchOptions) -> LogStore:
    return ElasticsearchStore(options)


BACKEND = Backend(schemes=("http", "https"), open=_open)

__all__ = ["BACKEND", "ElasticsearchOptions", "ElasticsearchStore"]
