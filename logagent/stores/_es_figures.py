"""Figures of a cluster: counts over time, top values, measures."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from logagent.errors import StoreQueryError
from logagent.logs import Completeness, LogRecord, TermCount, TimeWindow
from logagent.query import All, Exists, LogQuery, Node, Not, Phrase, conjunction
from logagent.stores._base import (
    PAGE_LIMIT,
    FieldCounts,
    Measure,
    Measured,
    MeasuredSet,
    Series,
    Timeline,
    TopValues,
)
from logagent.stores._es_answers import completeness_of, key_of, merged, total_of
from logagent.stores._es_bodies import (
    ALL_BUCKETS,
    MOST_COUNTS,
    MOST_FILTERS,
    MOST_MEASURES,
    bucket_starts,
    filled,
    histogram,
)
from logagent.stores._es_compile import Clause, in_window
from logagent.stores._es_fields import ClusterFields
from logagent.stores._es_measures import MeasurePlan
from logagent.stores._es_reading import Reading, Search
from logagent.stores._es_records import as_text
from logagent.stores._es_values import (
    PRECISE_DISTINCT,
    by_request,
    cardinality,
    counts_of,
    field_counts,
    frequent,
    left_out,
    parts_of,
    terms,
)

_MOST_VALUES = 50
_MERGED_VALUES = 1_000
"""Of each field or form, where one value may be spread over several."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts for the fields of one scope."""

    fields: ClusterFields
    clause: Callable[[LogQuery], Clause]
    matching: Callable[[Node, TimeWindow], Clause]
    """A node without its window."""
    send: Search
    reading: Reading
    many: bool = False
    """The scope holds so many events that going through all of them is felt."""

    def count_over_time(self, queries: Sequence[LogQuery], *, interval_seconds: int, split: str, size: int) -> Timeline:
        """One series a query; with `split` one a value."""
        if not 1 <= len(queries) <= MOST_FILTERS or (split and len(queries) > 1):
            raise ValueError(f"{len(queries)} queries are asked for; possible are 1 to {MOST_FILTERS}, 1 with a split")
        if len({query.window for query in queries}) > 1:
            raise ValueError("all queries of a timeline have the same window")
        starts = bucket_starts(queries[0].window, interval_seconds)
        if split:
            return self._split(queries[0], interval_seconds, split, size)
        each = max(1, ALL_BUCKETS // max(1, len(starts)))
        series: list[Series] = []
        seen: list[Completeness] = []
        for first in range(0, len(queries), each):
            part = queries[first : first + each]
            body = {
                "size": 0,
                "track_total_hits": False,
                "query": in_window(self.fields.time, part[0].window),
                "aggs": {
                    "query": {
                        "filters": {"filters": {f"q{number}": self.clause(one) for number, one in enumerate(part)}},
                        "aggs": {"time": histogram(self.fields.time, interval_seconds)},
                    }
                },
            }
            answer = self.send("counts over time", body, part[0].indices)
            seen.append(completeness_of(answer))
            buckets = _aggregation(answer, "query").get("buckets") or {}
            for number in range(len(part)):
                found = (buckets.get(f"q{number}") or {}).get("time")
                series.append(Series(f"q{first + number}", filled(found, starts)))
        return Timeline(interval_seconds, tuple(series), completeness=merged(seen))

    def top_values(
        self, query: LogQuery, fields: Sequence[str], *, size: int, baseline: TimeWindow | None
    ) -> TopValues:
        """Most frequent values, exact where the field has exact values, else from a sample."""
        if not 1 <= size <= _MOST_VALUES:
            raise ValueError(f"{size} values are asked for; possible are 1 to {_MOST_VALUES}")
        seen: list[Completeness] = []
        exact = [name for name in fields if self.fields.exact_forms(name)]
        found: dict[str, FieldCounts] = {}
        if exact:
            found.update(self._terms(query, exact, size, seen))
        sampled = [name for name in fields if name not in found]
        if sampled:
            found.update(self._sampled(query, sampled, size, seen))
        rows = [found[name] for name in fields]
        if baseline is not None:
            rows = self._with_baseline(replace(query, window=baseline), rows, seen)
        return TopValues(tuple(rows), merged(seen))

    def count(self, measures: Sequence[Measure]) -> MeasuredSet:
        """All measures: 200 a request, 900 where only counts are asked for; more for each other part of the scope."""
        values: dict[int, Measured] = {}
        seen: list[Completeness] = []
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, measure in enumerate(measures):
            self._check(measure)
            if measure.op == "distinct" and self.fields.choices(measure.field) and not self.fields.sole(measure.field):
                values[number] = self._distinct(measure, seen)
            else:
                groups.setdefault(measure.query.indices, []).append(number)
        each = MOST_COUNTS if all(measure.op == "count" for measure in measures) else MOST_MEASURES
        for indices, numbers in groups.items():
            alone = [number for number in numbers if self.many and _alone(measures[number])]
            rest = [number for number in numbers if number not in alone]
            parts = [rest[first : first + each] for first in range(0, len(rest), each)]
            for part in [*parts, *([number] for number in alone)]:
                plan = MeasurePlan([measures[one] for one in part], self.matching, self.fields)
                answer = self.send("figures", plan.body(), indices)
                seen.append(completeness_of(answer))
                values.update(zip(part, plan.read(answer), strict=True))
        return MeasuredSet(tuple(values[number] for number in range(len(measures))), merged(seen))

    def _check(self, measure: Measure) -> None:
        if measure.op != "distinct" or not self.fields.choices(measure.field):
            return
        if not self.fields.exact_forms(measure.field):
            raise StoreQueryError(
                f"Different values of {measure.field} cannot be counted: it is text without a keyword sub-field."
            )

    def _split(self, query: LogQuery, seconds: int, split: str, size: int) -> Timeline:
        exact = self.fields.sole(split)
        at_once = self._split_at_once(query, seconds, exact, size) if exact else None
        return at_once or self._split_by_name(query, seconds, split, size)

    def _split_at_once(self, query: LogQuery, seconds: int, exact: str, size: int) -> Timeline | None:
        """Values with their buckets in one request; None where shards may have left out some of a value."""
        starts = bucket_starts(query.window, seconds)
        by_time = {"time": histogram(self.fields.time, seconds)}
        aggs = {**by_time, "value": {**frequent(exact, min(size, _MOST_VALUES)), "aggs": by_time}}
        body = {"size": 0, "track_total_hits": False, "query": self.clause(query), "aggs": aggs}
        answer = self.send("counts over time by value", body, query.indices)
        values = _aggregation(answer, "value")
        if int(values.get("doc_count_error_upper_bound", 0)) > 0:
            return None
        buckets = sorted(values.get("buckets") or (), key=lambda one: (-int(one["doc_count"]), key_of(one)))
        series = tuple(Series(key_of(one), filled(one.get("time"), starts)) for one in buckets)
        whole = Series("", filled(_aggregation(answer, "time"), starts))
        return Timeline(seconds, series, whole, completeness_of(answer))

    def _split_by_name(self, query: LogQuery, seconds: int, split: str, size: int) -> Timeline:
        """The most frequent values first, then the buckets of each by a query of its own."""
        top = self.top_values(query, [split], size=min(size, _MOST_VALUES), baseline=None)
        names = [count.value for count in top.fields[0].values]
        parts = [query, *(replace(query, node=conjunction(query.node, Phrase(split, name))) for name in names)]
        timeline = self.count_over_time(parts, interval_seconds=seconds, split="", size=size)
        whole, *found = timeline.series
        series = tuple(Series(name, one.buckets) for name, one in zip(names, found, strict=True))
        return Timeline(seconds, series, whole, merged([top.completeness, timeline.completeness]))

    def _terms(
        self, query: LogQuery, names: Sequence[str], size: int, seen: list[Completeness]
    ) -> dict[str, FieldCounts]:
        wanted = [self.fields.exact_forms(name) for name in names]
        missing = {
            f"missing{number}": {"filter": self.clause(replace(query, node=Not(Exists(name))))}
            for number, name in enumerate(names)
        }
        requests = by_request(wanted, self.fields, terms(size, _MERGED_VALUES))
        requests[()].update(missing)
        answers = self._values(query, requests, seen)
        return {
            name: field_counts(
                name,
                parts_of(number, answers),
                size,
                int(_aggregation(answers[0], f"missing{number}").get("doc_count", 0)),
                total_of(answers[0])[0],
            )
            for number, name in enumerate(names)
        }

    def _values(
        self, query: LogQuery, requests: Mapping[tuple[str, ...], Mapping[str, Clause]], seen: list[Completeness]
    ) -> list[Mapping[str, Any]]:
        """The answers, that over the whole scope first."""
        answers = []
        for only, aggs in requests.items():
            body = {"size": 0, "track_total_hits": True, "query": self.clause(query), "aggs": aggs}
            answers.append(self.send("top values", body, query.indices, only))
            seen.append(completeness_of(answers[-1]))
        return answers

    def _distinct(self, measure: Measure, seen: list[Completeness]) -> Measured:
        """Different values of a field whose mappings differ: each value once, in how many forms it may stand."""
        wanted = [self.fields.exact_forms(measure.field)]
        listed = self._values(
            measure.query, by_request(wanted, self.fields, terms(PRECISE_DISTINCT, PRECISE_DISTINCT)), seen
        )
        if not left_out(parts_of(0, listed)):
            return Measured(len(counts_of(parts_of(0, listed))))
        counted = self._values(measure.query, by_request(wanted, self.fields, cardinality), seen)
        return Measured(sum(int(part.get("value", 0)) for part in parts_of(0, counted)), approximate=True)

    def _sampled(
        self, query: LogQuery, names: Sequence[str], size: int, seen: list[Completeness]
    ) -> dict[str, FieldCounts]:
        """Fields of text without a keyword: values that a sample shows, each then counted in all matches.

        Exact where all matches fit into the sample; of a text of the log the counts are estimates.
        """
        sample = self.reading.sample(query, limit=PAGE_LIMIT, seed=0)
        seen.append(sample.completeness)
        scale = sample.total / len(sample.rows) if sample.rows else 0.0
        columns = {name: Counter(filter(None, (self._text(row.record, name) for row in sample.rows))) for name in names}
        tops = {name: column.most_common(size) for name, column in columns.items()}
        again = [name for name in names if not sample.exact and not self.fields.is_prose(name)]
        counted = self._counted(query, [(name, value) for name in again for value, _ in tops[name]], seen)
        found = {}
        for name in names:
            values = [TermCount(value, counted.get((name, value), round(count * scale))) for value, count in tops[name]]
            missing = round((len(sample.rows) - columns[name].total()) * scale)
            found[name] = FieldCounts(
                field=name,
                values=tuple(sorted(values, key=lambda one: -one.count)),
                other=max(0, sample.total - missing - sum(one.count for one in values)),
                missing=missing,
                approximate=not sample.exact,
            )
        return found

    def _counted(
        self, query: LogQuery, wanted: Sequence[tuple[str, str]], seen: list[Completeness]
    ) -> dict[tuple[str, str], int]:
        """How many matches have each of these values, by (field, value)."""
        if not wanted:
            return {}
        asked = [Measure(replace(query, node=conjunction(query.node, Phrase(name, value)))) for name, value in wanted]
        answer = self.count(asked)
        seen.append(answer.completeness)
        return {key: one.value for key, one in zip(wanted, answer.values, strict=True) if isinstance(one.value, int)}

    def _text(self, record: LogRecord, name: str) -> str:
        role = self.fields.map.role_of(name)
        role = {"severity": "level"}.get(role, role)
        if role and hasattr(record, role):
            return as_text(getattr(record, role))
        choices = self.fields.choices(name)
        values = (record.fields.get(choice.name) for choice in choices)
        return next((as_text(value) for value in values if value is not None), "")

    def _with_baseline(
        self, query: LogQuery, rows: Sequence[FieldCounts], seen: list[Completeness]
    ) -> list[FieldCounts]:
        wanted = [(row.field, value.value) for row in rows for value in row.values]
        counts = self._counted(query, wanted, seen)
        return [
            replace(
                row,
                values=tuple(replace(one, baseline=counts.get((row.field, one.value), 0)) for one in row.values),
            )
            for row in rows
        ]


def _alone(measure: Measure) -> bool:
    """Whether a server that is asked for nothing else passes over events with a value that it has seen."""
    return measure.op == "distinct" and measure.query.node == All()


def _aggregation(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return dict((answer.get("aggregations") or {}).get(name) or {})
