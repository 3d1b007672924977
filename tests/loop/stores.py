# ruff: noqa: ARG002 - a protocol fixes the arguments
"""A LogStore over a list of records: for tests of the loop and of the tools that need no real store."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Literal

from logagent.errors import LogAgentError
from logagent.fields import ECS, FieldChoice, FieldMap
from logagent.logs import Bucket, LogRecord, RecordId, Severity, TermCount, TimeWindow, WeightedRecord
from logagent.query import All, And, Exists, Level, LogQuery, Node, Not, Or, Phrase, Range, Term, Wildcard
from logagent.stores._base import (
    Description,
    FieldCounts,
    Measure,
    Measured,
    MeasuredSet,
    Sample,
    ScanPage,
    SearchPage,
    Series,
    SourceInfo,
    StoreUsage,
    Timeline,
    TopValues,
)

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_ROLES = {"severity": "level", "duration": "duration_ms", "user": "user", "url": "url"}


def record(seconds: float, message: str, **more: object) -> LogRecord:
    """One record, `seconds` after noon."""
    level = str(more.pop("level", "info"))
    values: dict[str, object] = {"service": "order-api", "host": "node-1", **more}
    number = int(seconds * 1000)
    return LogRecord(
        RecordId("app.log", str(number)),
        NOON + timedelta(seconds=seconds),
        message,
        severity=Severity[level.upper()],
        level=level,
        **values,  # type: ignore[arg-type]
    )


@dataclass
class ListStore:
    """Answers from `records`, oldest first. `fail` is raised by every question while it is set."""

    records: list[LogRecord]
    fail: LogAgentError | None = None
    before_each: Callable[[], None] = lambda: None
    usage: StoreUsage = field(default_factory=StoreUsage)
    asked: list[str] = field(default_factory=list)

    def describe(self) -> Description:
        roles = {role: (FieldChoice(ECS[role]),) for role in ECS if any(_value(one, role) for one in self.records)}
        levels: dict[Severity, tuple[str, ...]] = {}
        for one in self.records:
            if one.severity is not None:
                levels[one.severity] = (one.level,)
        times = [one.timestamp for one in self.records if one.timestamp]
        first, last = min(times, default=None), max(times, default=None)
        return Description(
            "embedded",
            "list",
            (SourceInfo("app.log", len(self.records), first, last),),
            FieldMap(roles, levels, {ECS[role]: "keyword" for role in roles}, "ecs"),
            len(self.records),
            first,
            last,
        )

    def search(
        self, query: LogQuery, *, limit: int, order: Literal["newest", "oldest"] = "newest", exact_total: bool = True
    ) -> SearchPage:
        found = self._found("search", query)
        ordered = found if order == "oldest" else found[::-1]
        return SearchPage(tuple(ordered[:limit]), len(found))

    def scan(self, query: LogQuery, *, limit: int = 5000, cursor: object | None = None) -> ScanPage:
        return ScanPage(tuple(self._found("scan", query)[:limit]), None)

    def around(self, record: RecordId, query: LogQuery, *, limit: int) -> SearchPage:
        found = self._found("around", query)
        at = next((place for place, one in enumerate(found) if one.id == record), 0)
        start = max(0, at - limit // 2)
        return SearchPage(tuple(found[start : start + limit]), len(found))

    def sample(self, query: LogQuery, *, limit: int = 5000, buckets: int = 60, seed: int = 0) -> Sample:
        found = self._found("sample", query)
        return Sample(tuple(WeightedRecord(one) for one in found[:limit]), len(found), exact=True)

    def traces(self, query: LogQuery, *, slices: int = 12, ids: int = 300, limit: int = 20_000) -> ScanPage:
        chosen = {one.trace_id: None for one in self._found("traces", query) if one.trace_id}
        every = (one for one in self.records if one.trace_id in list(chosen)[:ids])
        return ScanPage(tuple(every)[:limit], None)

    def count_over_time(
        self, queries: Sequence[LogQuery], *, interval_seconds: int, split: str = "", size: int = 20
    ) -> Timeline:
        series = []
        for query in queries:
            found = self._found("count_over_time", query)
            groups = {"": found}
            if split:
                names = Counter(_value(one, split) for one in found)
                groups = {
                    name: [one for one in found if _value(one, split) == name] for name, _ in names.most_common(size)
                }
            series += [Series(name, _buckets(part, query.window, interval_seconds)) for name, part in groups.items()]
        whole = Series("", _buckets(found, queries[0].window, interval_seconds)) if split else None
        return Timeline(interval_seconds, tuple(series), whole)

    def top_values(
        self, query: LogQuery, fields: Sequence[str], *, size: int = 10, baseline: TimeWindow | None = None
    ) -> TopValues:
        found = self._found("top_values", query)
        old = self._matching(LogQuery(baseline, query.node, query.indices)) if baseline else []
        answers = []
        for name in fields:
            counts = Counter(value for one in found if (value := _value(one, name)))
            before = Counter(value for one in old if (value := _value(one, name)))
            top = counts.most_common(size)
            terms = tuple(TermCount(value, count, before[value]) for value, count in top)
            rest = sum(counts.values()) - sum(count for _, count in top)
            answers.append(FieldCounts(name, terms, rest, len(found) - sum(counts.values())))
        return TopValues(tuple(answers))

    def count(self, measures: Sequence[Measure]) -> MeasuredSet:
        values: list[Measured] = []
        for measure in measures:
            found = self._found("count", measure.query)
            if measure.op == "distinct":
                values.append(Measured(len({_value(one, measure.field) for one in found})))
            elif measure.op == "count":
                values.append(Measured(len(found)))
            else:
                at = 0 if measure.op == "first" else -1
                values.append(Measured(found[at].timestamp if found else None))
        return MeasuredSet(tuple(values))

    def fetch(self, ids: Iterable[RecordId]) -> dict[RecordId, LogRecord]:
        wanted = set(ids)
        return {one.id: one for one in self.records if one.id in wanted}

    def close(self) -> None:
        """Nothing to release."""

    def _found(self, what: str, query: LogQuery) -> list[LogRecord]:
        self.before_each()
        if self.fail is not None:
            raise self.fail
        self.usage.requests += 1
        self.asked.append(what)
        return self._matching(query)

    def _matching(self, query: LogQuery) -> list[LogRecord]:
        return [
            one
            for one in self.records
            if one.timestamp is not None and query.window.contains(one.timestamp) and matches(query.node, one)
        ]


def _buckets(records: Sequence[LogRecord], window: TimeWindow, step: int) -> tuple[Bucket, ...]:
    counts = Counter(int(one.timestamp.timestamp()) // step for one in records if one.timestamp)
    first, last = int(window.start.timestamp()) // step, int(window.end.timestamp() - 0.001) // step
    return tuple(Bucket(datetime.fromtimestamp(at * step, UTC), counts[at]) for at in range(first, last + 1))


def _value(one: LogRecord, name: str) -> str:
    role = FieldMap().role_of(name) or name
    if role == "timestamp":
        return str(one.timestamp)
    value = getattr(one, _ROLES.get(role, role), None)
    return str(one.fields.get(name, "") if value is None else value)


def matches(node: Node, one: LogRecord) -> bool:  # noqa: C901, PLR0911, PLR0912 - one case a kind of node
    """Whether a record matches a query tree; phrases and terms of the message by substring."""
    match node:
        case All():
            return True
        case And(nodes):
            return all(matches(part, one) for part in nodes)
        case Or(nodes):
            return any(matches(part, one) for part in nodes)
        case Not(inner):
            return not matches(inner, one)
        case Level(severity, and_worse):
            have = int(one.severity) if one.severity is not None else -1
            return have >= severity if and_worse else have == severity
        case Exists(name):
            return bool(_value(one, name))
        case Wildcard(name, pattern):
            return fnmatchcase(_value(one, name or "message"), pattern)
        case Range(name, low, high):
            value = _value(one, name)
            return (
                bool(value)
                and (low is None or float(value) >= float(low))
                and (high is None or float(value) <= float(high))
            )
        case Term(name, value) | Phrase(name, value):
            have = _value(one, name or "message")
            return value.lower() in have.lower() if not name or name == "message" else have == value
