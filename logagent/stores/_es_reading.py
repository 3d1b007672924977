"""Records of a cluster: search, scan, around, sample, traces, fetch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from logagent.errors import StoreQueryError
from logagent.logs import Completeness, LogRecord, RecordId, TimeWindow, WeightedRecord
from logagent.query import LogQuery
from logagent.stores._base import PAGE_LIMIT, SEARCH_LIMIT, Sample, ScanPage, SearchPage
from logagent.stores._es_answers import completeness_of, hits_of, key_of, merged, total_of
from logagent.stores._es_bodies import documents, piece_of, slices_of, sorting
from logagent.stores._es_compile import Clause, all_of, any_of, in_window, one_of, within
from logagent.stores._es_fields import ClusterFields
from logagent.stores._es_names import exists_in
from logagent.stores._es_records import record_of
from logagent.stores._es_values import Wanted, by_request, parts_of

_UNCOUNTED = 10_000
"""Up to so many matches are counted where an exact total is not asked for."""
_SHRINK = 8
_MOST_TERMS = 50
_LINES_OF_ID = 30
"""Lines that are looked at for each trace id that is wanted."""
_MORE = 10
"""So many times the lines, where those held too few ids."""
_WHOLE = 100_000
"""Up to so many lines all of them, then."""


class Search(Protocol):
    """Sends one search."""

    def __call__(
        self, what: str, body: Mapping[str, Any], indices: Sequence[str] = (), only: Sequence[str] = ()
    ) -> Mapping[str, Any]:
        """(what is asked, body, part of the scope, the only indices of it to look into) -> answer."""
        ...


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the next page of a scan begins: the sort values of the last hit, and which ids had those already."""

    after: tuple[Any, ...]
    seen: frozenset[RecordId]


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads records for the fields of one scope."""

    fields: ClusterFields
    clause: Callable[[LogQuery], Clause]
    send: Search
    indices: Sequence[str]

    def search(
        self, query: LogQuery, *, limit: int, order: Literal["newest", "oldest"], exact_total: bool
    ) -> SearchPage:
        """Newest or oldest matches."""
        body = {
            "query": self.clause(query),
            "sort": sorting(self.fields, order),
            "track_total_hits": True if exact_total else _UNCOUNTED,
            **documents(self.fields),
        }
        answer = self._page("records", body, limit, query.indices)
        total, exact = total_of(answer)
        return SearchPage(self._records(answer), total, exact, completeness_of(answer))

    def scan(self, query: LogQuery, *, limit: int, cursor: object | None) -> ScanPage:
        """One page of all matches, oldest first."""
        return self._scan_clause(self.clause(query), query.indices, limit, cursor)

    def around(self, record: RecordId, query: LogQuery, *, limit: int) -> SearchPage:
        """Neighbours in time among the matches, the record itself included."""
        place = self._place(record, query.indices)
        if place is None:
            return SearchPage((), 0)
        clause = self.clause(query)
        base = {"query": clause, "track_total_hits": True, **documents(self.fields)}
        later_count = limit - limit // 2
        later = self._page(
            "records after one",
            {**base, "sort": sorting(self.fields, "oldest"), "search_after": [place[0], place[1] - 1]},
            min(SEARCH_LIMIT, later_count + 1),
            query.indices,
        )
        earlier = self._page(
            "records before one",
            {**base, "sort": sorting(self.fields, "newest"), "search_after": place},
            max(1, limit // 2),
            query.indices,
        )
        before = list(reversed(self._records(earlier)))[-(limit // 2) :] if limit > 1 else []
        after = self._records(later)[:later_count]
        parts = (completeness_of(later), completeness_of(earlier))
        return SearchPage((*before, *after), total_of(later)[0], completeness=merged(parts))

    def sample(self, query: LogQuery, *, limit: int, seed: int) -> Sample:
        """Random matches, oldest first."""
        random = {"seed": seed, "field": "_seq_no"}
        body = {
            "query": {
                "function_score": {
                    "query": self.clause(query),
                    "functions": [{"random_score": random}],
                    "boost_mode": "replace",
                }
            },
            "track_total_hits": True,
            **documents(self.fields),
        }
        answer = self._page("random records", body, limit, query.indices)
        total, _ = total_of(answer)
        records = sorted(self._records(answer), key=lambda one: (one.timestamp is None, one.timestamp, one.id))
        exact = total <= len(records)
        weight = 1.0 if exact or not records else total / len(records)
        rows = tuple(WeightedRecord(one, weight, one.timestamp, one.timestamp) for one in records)
        return Sample(rows, total, exact, completeness_of(answer))

    def traces(self, query: LogQuery, *, slices: int, ids: int, limit: int) -> ScanPage:
        """Lines of trace ids chosen by time, never by outcome."""
        forms = [
            (choice, form)
            for choice in self.fields.choices("trace_id")
            for form in self.fields.forms_of(choice)
            if form.exact
        ]
        if not forms:
            return ScanPage((), None)
        values, seen = self._trace_ids(query, forms, slices, ids)
        if not values:
            return ScanPage((), None, merged(seen))
        by_id = any_of([within(form.indices, one_of(values, form)) for _, form in forms])
        clause = all_of([self.clause(query), by_id])
        records: list[LogRecord] = []
        cursor: object | None = None
        while len(records) < limit:
            page = self._scan_clause(clause, query.indices, min(PAGE_LIMIT, limit - len(records)), cursor)
            records += page.records
            seen.append(page.completeness)
            cursor = page.cursor
            if cursor is None:
                break
        return ScanPage(tuple(records), None, merged(seen))

    def fetch(self, ids: Sequence[RecordId]) -> dict[RecordId, LogRecord]:
        """Records by id; the index is checked afterwards, since ids are unique in an index only."""
        found: dict[RecordId, LogRecord] = {}
        wanted = set(ids)
        half = SEARCH_LIMIT // 2
        for start in range(0, len(ids), half):
            body = {
                "query": {"ids": {"values": [one.id for one in ids[start : start + half]]}},
                "sort": sorting(self.fields, "oldest"),
                **documents(self.fields),
            }
            for record in self._records(self._page("records by id", body, SEARCH_LIMIT, ())):
                if record.id in wanted:
                    found[record.id] = record
        return found

    def _scan_clause(self, clause: Clause, indices: Sequence[str], limit: int, cursor: object | None) -> ScanPage:
        """The page after `cursor`.

        The last sort values are asked for again and known ids left out: two shards may hold records with the same time
        and sequence number, and none may get lost between two pages.
        """
        known = cursor if isinstance(cursor, Cursor) else None
        body: dict[str, Any] = {
            "query": clause,
            "sort": sorting(self.fields, "oldest"),
            "track_total_hits": False,
            **documents(self.fields),
        }
        extra = 0
        if known is not None:
            body["search_after"] = [known.after[0], known.after[1] - 1]
            extra = len(known.seen)
        answer = self._page("a page of all records", body, limit + extra, indices, least=extra + 1)
        hits = hits_of(answer)
        seen = known.seen if known else frozenset()
        fresh = [hit for hit in hits if _id(hit) not in seen][:limit]
        complete = completeness_of(answer)
        if not fresh or (len(hits) < limit + extra and not answer["shrunk"]):
            return ScanPage(tuple(record_of(hit, self.fields) for hit in fresh), None, complete)
        last = tuple(fresh[-1]["sort"])
        same = frozenset(_id(hit) for hit in fresh if tuple(hit["sort"]) == last)
        same |= seen if known and known.after == last else frozenset()
        return ScanPage(tuple(record_of(hit, self.fields) for hit in fresh), Cursor(last, same), complete)

    def _page(
        self, what: str, body: Mapping[str, Any], size: int, indices: Sequence[str], *, least: int = 1
    ) -> Mapping[str, Any]:
        """A page; a smaller one where its documents are so large that the answer would pass the cap."""
        shrunk = False
        while True:
            try:
                answer = self.send(what, {**body, "size": size}, indices)
            except StoreQueryError as error:
                if error.code != "too_large" or size <= least:
                    raise
                size, shrunk = max(least, size // _SHRINK), True
            else:
                return {**answer, "shrunk": shrunk}

    def _records(self, answer: Mapping[str, Any]) -> tuple[LogRecord, ...]:
        return tuple(record_of(hit, self.fields) for hit in hits_of(answer))

    def _place(self, record: RecordId, indices: Sequence[str]) -> list[Any] | None:
        body = {
            "size": SEARCH_LIMIT,
            "query": {"ids": {"values": [record.id]}},
            "sort": sorting(self.fields, "oldest"),
            "_source": False,
        }
        for hit in hits_of(self.send("place of one record", body, indices)):
            if _id(hit) == record:
                return list(hit["sort"])
        return None

    def _trace_ids(self, query: LogQuery, forms: Wanted, slices: int, ids: int) -> tuple[list[str], list[Completeness]]:
        """Ids by time in the order of the ids themselves, and what the answers say of themselves.

        Reading the id of a line is dear, so of each slice only a piece with enough lines is looked at: larger ones
        where those hold too few ids.
        """
        parts = slices_of(query.window, slices)
        some = any_of([within(form.indices, exists_in(choice.name, self.fields)) for choice, form in forms])
        lines = {"size": 0, "track_total_hits": False, "query": all_of([self.clause(query), some])}
        by_time = {**lines, "aggs": self._sliced(parts, {})}
        answer = self.send("lines with trace ids by time", by_time, query.indices)
        seen = [completeness_of(answer)]
        counts = [int(bucket["doc_count"]) for bucket in _slices(answer)]
        each = min(_MOST_TERMS, max(1, -(-ids // slices)))
        first = {"size": each, "order": {"_key": "asc"}, "execution_hint": "map"}
        requests = by_request([forms], self.fields, lambda name, _: {"terms": {"field": name, **first}})
        values: list[str] = []
        few = _LINES_OF_ID * each
        for most in (few, max(counts, default=0) if sum(counts) <= _WHOLE else _MORE * few):
            pieces = [
                piece_of(part, most / max(1, count), place)
                for place, (part, count) in enumerate(zip(parts, counts, strict=True))
            ]
            answers = [
                self.send("trace ids by time", {**lines, "aggs": self._sliced(pieces, aggs)}, query.indices, only)
                for only, aggs in requests.items()
                if aggs
            ]
            seen += map(completeness_of, answers)
            values = _keys(answers)[:ids]
            if 2 * len(values) >= ids or max(counts, default=0) <= most:
                break
        return values, seen

    def _sliced(self, windows: Sequence[TimeWindow], aggs: Mapping[str, Any]) -> dict[str, Any]:
        """The aggregations in each window."""
        filters = {"filters": [in_window(self.fields.time, window) for window in windows]}
        return {"slice": {"filters": filters, "aggs": dict(aggs)}}


def _slices(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(((answer.get("aggregations") or {}).get("slice") or {}).get("buckets") or ())


def _keys(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Chosen ids, in turns from each slice, each once."""
    columns = [
        [key_of(one) for one in part["buckets"]]
        for answer in answers
        for slice_ in _slices(answer)
        for part in parts_of(0, [{"aggregations": slice_}])
    ]
    longest = max(map(len, columns), default=0)
    turns = (column[row] for row in range(longest) for column in columns if row < len(column))
    return list(dict.fromkeys(turns))


def _id(hit: Mapping[str, Any]) -> RecordId:
    return RecordId(str(hit.get("_index", "")), str(hit.get("_id", "")))
