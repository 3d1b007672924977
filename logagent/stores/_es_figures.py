"""Figures of a cluster: counts over time, top values, measures."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from logagent.errors import StoreQueryError
from logagent.fields import FieldChoice
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

_MOST_VALUES = 50
_HIDDEN_SHARE = 0.05
"""From this share of values too long for the index on, the list is called approximate."""


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
        exact = [name for name in fields if self._exact(name)]
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
        if measure.op == "distinct" and self.fields.choices(measure.field) and not self._exact(measure.field):
            raise StoreQueryError(
                f"Different values of {measure.field} cannot be counted: it is text without a keyword sub-field."
            )

    def _exact(self, name: str) -> list[FieldChoice]:
        """Fields to aggregate for a role or name; none where one of them has no exact form."""
        choices = self.fields.choices(name)
        return list(choices) if choices and all(choice.exact for choice in choices) else []

    def _split(self, query: LogQuery, seconds: int, split: str, size: int) -> Timeline:
        choices = self._exact(split)
        if len(choices) == 1 and not self.fields.parent(choices[0].name):
            timeline = self._split_at_once(query, seconds, choices[0].exact, size)
            if timeline is not None:
                return timeline
        return self._split_by_name(query, seconds, split, size)

    def _split_at_once(self, query: LogQuery, seconds: int, exact: str, size: int) -> Timeline | None:
        """Values with their buckets in one request; None where shards may have left out some of a value."""
        starts = bucket_starts(query.window, seconds)
        by_time = {"time": histogram(self.fields.time, seconds)}
        most = min(size, _MOST_VALUES)
        terms = {"field": exact, "size": most, "shard_size": max(100, 5 * most)}
        aggs = {**by_time, "value": {"terms": terms, "aggs": by_time}}
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
        aggs: dict[str, Any] = {}
        for number, name in enumerate(names):
            choices = self._exact(name)
            each = size if len(choices) == 1 else _MOST_VALUES  # one value may be spread over several fields
            for place, choice in enumerate(choices):
                terms = {"terms": {"field": choice.exact, "size": each, "shard_size": max(100, 5 * each)}}
                aggs[f"f{number}_{place}"] = self._nested(choice.name, terms)
            aggs[f"missing{number}"] = {"filter": self.clause(replace(query, node=Not(Exists(name))))}
        body = {"size": 0, "track_total_hits": True, "query": self.clause(query), "aggs": aggs}
        answer = self.send("top values", body, query.indices)
        seen.append(completeness_of(answer))
        found = {}
        for number, name in enumerate(names):
            parts = [_unnested(_aggregation(answer, f"f{number}_{place}")) for place in range(len(self._exact(name)))]
            missing = int(_aggregation(answer, f"missing{number}").get("doc_count", 0))
            found[name] = _field_counts(name, parts, size, missing, total_of(answer)[0])
        return found

    def _nested(self, name: str, aggregation: Clause) -> Clause:
        parent = self.fields.parent(name)
        return {"nested": {"path": parent}, "aggs": {"in": aggregation}} if parent else aggregation

    def _sampled(
        self, query: LogQuery, names: Sequence[str], size: int, seen: list[Completeness]
    ) -> dict[str, FieldCounts]:
        """Fields of text without a keyword: values counted in a sample (exact where all matches fit in it)."""
        sample = self.reading.sample(query, limit=PAGE_LIMIT, seed=0)
        seen.append(sample.completeness)
        scale = sample.total / len(sample.rows) if sample.rows else 0.0
        found = {}
        for name in names:
            texts = [self._text(row.record, name) for row in sample.rows]
            counts = Counter(text for text in texts if text)
            top = counts.most_common(size)
            other = counts.total() - sum(count for _, count in top)
            found[name] = FieldCounts(
                field=name,
                values=tuple(TermCount(value, round(count * scale)) for value, count in top),
                other=round(other * scale),
                missing=round((len(texts) - counts.total()) * scale),
                approximate=not sample.exact,
            )
        return found

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
        wanted = [(place, value.value) for place, row in enumerate(rows) for value in row.values]
        measures = [
            Measure(replace(query, node=conjunction(query.node, Phrase(rows[place].field, value))))
            for place, value in wanted
        ]
        if not measures:
            return list(rows)
        answer = self.count(measures)
        seen.append(answer.completeness)
        counts = {key: one.value for key, one in zip(wanted, answer.values, strict=True)}
        return [
            replace(
                row,
                values=tuple(
                    replace(value, baseline=found if isinstance(found := counts[place, value.value], int) else 0)
                    for value in row.values
                ),
            )
            for place, row in enumerate(rows)
        ]


def _alone(measure: Measure) -> bool:
    """Whether a server that is asked for nothing else passes over events with a value that it has seen."""
    return measure.op == "distinct" and measure.query.node == All()


def _aggregation(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return dict((answer.get("aggregations") or {}).get(name) or {})


def _unnested(aggregation: Mapping[str, Any]) -> Mapping[str, Any]:
    return aggregation.get("in") or aggregation


def _field_counts(name: str, parts: Sequence[Mapping[str, Any]], size: int, missing: int, total: int) -> FieldCounts:
    """Merged buckets of the fields of one role.

    Values longer than `ignore_above` are in no bucket; what is left of the total counts as other.
    """
    counts: Counter[str] = Counter()
    for part in parts:
        for bucket in part.get("buckets") or ():
            counts[key_of(bucket)] += int(bucket["doc_count"])
    top = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    other = sum(int(part.get("sum_other_doc_count", 0)) for part in parts) + sum(count for _, count in top[size:])
    cut = len(parts) > 1 and any(int(part.get("sum_other_doc_count", 0)) for part in parts)
    hidden = total - missing - sum(counts.values()) - sum(int(part.get("sum_other_doc_count", 0)) for part in parts)
    return FieldCounts(
        field=name,
        values=tuple(TermCount(value, count) for value, count in top[:size]),
        other=other + max(0, hidden),
        missing=missing,
        approximate=cut
        or hidden > _HIDDEN_SHARE * total
        or any(int(part.get("doc_count_error_upper_bound", 0)) > 0 for part in parts),
    )
