"""Two windows, hosts, versions or files side by side, asked of a store: about ten requests."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from logagent.analysis.comparison import RATE, Contrast, Spread, Tally, Timed, change_of, contrast, shift
from logagent.analysis.events import from_record
from logagent.analysis.facts import Event
from logagent.analysis.gauges import NumberReader
from logagent.analysis.pattern_query import failing_node, pattern_node
from logagent.analysis.statistics import benjamini_hochberg
from logagent.analysis.templates import mine, typed_mask
from logagent.diagnosis import Change
from logagent.evidence import Claim, Evidence, EvidenceQuery, Figure, Ledger
from logagent.fields import FieldMap, milliseconds
from logagent.logs import Completeness, LogRecord, Severity, TimeWindow, instant
from logagent.query import All, Exists, Level, LogQuery, Node, Phrase, conjunction, to_text
from logagent.stores._base import PAGE_LIMIT, LogStore, Series
from logagent.tools import _patterns as patterns
from logagent.triage._counting import interval_for

Kind = Literal["volume", "failing", "level", "value", "pattern"]
Basis = Literal["time", "events"]
_ROLES = ("service", "version", "host", "pod", "environment", "status", "error_type", "namespace")
_VALUES, _SHOWN_VALUES = 20, 15
_LEAST_GAP = 0.02
"""Difference of shares from which a value is told."""
_SLICES = 8
"""Parts of a long window that are read from their beginnings, for numbers."""
_LEAST_NUMBERS = 8
_TOLD = 1.25
"""Ratio of medians or 95th percentiles from which a number has shifted."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: its name, and all its records."""

    name: str
    query: LogQuery


@dataclass(frozen=True, slots=True)
class Counted:
    """One count on both sides."""

    kind: Kind
    name: str
    a: int
    b: int
    share_a: float | None
    share_b: float | None
    contrast: Contrast
    change: Change
    stands: bool
    """Whether the difference survives that many rows were looked at, and that records come in bursts."""
    evidence: tuple[Evidence, Evidence]
    service: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class Shifted:
    """One number on both sides."""

    name: str
    service: str
    a: Spread
    b: Spread
    p: float
    stands: bool
    evidence: tuple[Evidence, Evidence]

    @property
    def ratio(self) -> float:
        """The larger change of the median or the 95th percentile, B to A; infinite from 0."""
        pairs = ((self.a.p50, self.b.p50), (self.a.p95, self.b.p95))
        ratios = [new / old if old else math.inf if new else 1.0 for old, new in pairs]
        return max(ratios, key=lambda one: abs(math.log(max(one, 1e-9))))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found; rows with the largest difference first, volume and failing events before all."""

    a: Side
    b: Side
    basis: Basis
    """What counts are compared against: seconds of different windows, or all events of sides that differ by a value."""
    rows: tuple[Counted, ...]
    numbers: tuple[Shifted, ...]
    keywords: tuple[str, ...]
    patterns: int
    """All patterns found; those beyond the rows were not counted."""
    read: tuple[int, int]
    """Records from which numbers were read, of each side."""
    completeness: Completeness = Completeness()


@dataclass(slots=True)
class _Asked:
    """A count that is to be made on both sides."""

    kind: Kind
    name: str
    node: Node
    service: str = ""
    level: str = ""


def compare_sides(store: LogStore, ledger: Ledger, fields: FieldMap, a: Side, b: Side) -> Comparison:
    """Count, level, value, pattern and number of A beside B.

    Raises:
        SourceError: the store does not answer.
    """
    basis: Basis = "time" if a.query.window != b.query.window else "events"
    mined = patterns.compare(store, b.query, a.query)
    found = _patterns(store, mined, a, b, basis)
    asked = [_Asked("volume", "events", All()), *_fixed(fields), *_values(store, fields, a, b), *found]
    left, right = _series(store, a, asked), _series(store, b, asked)
    numbers, read = _numbers(store, ledger, a, b)
    return Comparison(
        a,
        b,
        basis,
        _counted(ledger, (a, b), asked, (left, right), basis),
        numbers,
        mined.keywords,
        len(mined.patterns),
        read,
        mined.completeness,
    )


def _fixed(fields: FieldMap) -> Iterator[_Asked]:
    node = failing_node(severity=bool(fields.levels), status=bool(fields.roles.get("status")))
    if node is not None:
        yield _Asked("failing", "failing", node)
    for severity in sorted(fields.levels, reverse=True):
        yield _Asked("level", Severity(severity).word, Level(int(severity)))


def _values(store: LogStore, fields: FieldMap, a: Side, b: Side) -> list[_Asked]:
    """Values whose share differs most between the sides: two requests."""
    told = {one.field for side in (a, b) for one in _phrases(side.query.node)}
    names = [role for role in _ROLES if fields.roles.get(role) and role not in told]
    if not names:
        return []
    first = store.top_values(a.query, names, size=_VALUES).fields
    second = store.top_values(b.query, names, size=_VALUES).fields
    gaps: list[tuple[float, _Asked]] = []
    for one, other in zip(first, second, strict=True):
        before = {term.value: term.count for term in one.values}
        now = {term.value: term.count for term in other.values}
        whole = [
            max(1, sum(counts.values()) + side.other + side.missing) for counts, side in ((before, one), (now, other))
        ]
        for value in dict.fromkeys([*now, *before]):
            if (value not in before and one.other) or (value not in now and other.other):
                continue  # it may be among those that are not listed
            gap = now.get(value, 0) / whole[1] - before.get(value, 0) / whole[0]
            if abs(gap) >= _LEAST_GAP:
                gaps.append((abs(gap), _Asked("value", f"{one.field}={value}", Phrase(one.field, value))))
    gaps.sort(key=lambda pair: -pair[0])
    return [asked for _, asked in gaps[:_SHOWN_VALUES]]


def _phrases(node: Node) -> list[Phrase]:
    parts = getattr(node, "nodes", (node,))
    return [part for part in parts if isinstance(part, Phrase)]


def _patterns(store: LogStore, mined: patterns.Mined, a: Side, b: Side, basis: Basis) -> list[_Asked]:
    """The patterns that differ most against what each side is measured by, each with its own query."""
    if basis == "time":
        scale = b.query.window.seconds / max(1e-3, a.query.window.seconds)
    else:
        scale = mined.total / max(1, mined.base_total)

    def surprise(one: patterns.Found) -> float:
        weight = 2.0 if max(one.levels, default=0) >= Severity.ERROR else 1.0
        gone_or_new = 1.5 if not one.now or not one.base else 1.0
        return weight * gone_or_new * abs(math.log1p(one.now) - math.log1p(one.base * scale))

    mined.patterns.sort(key=lambda one: (-surprise(one), -one.now, one.template))
    found = patterns.count(store, mined.patterns, patterns.MOST, b.query, a.query)
    return [
        _Asked(
            "pattern",
            patterns.plain_text(one.template),
            one.lines,
            one.service,
            Severity(max(one.levels)).word if one.levels else "",
        )
        for one in found
    ]


def _series(store: LogStore, side: Side, asked: Sequence[_Asked]) -> tuple[list[Series], list[float]]:
    """(one series for each count, seconds of each bucket that lie in the window): one request."""
    window = side.query.window
    interval = interval_for(window.seconds)
    queries = [replace(side.query, node=conjunction(side.query.node, one.node)) for one in asked]
    series = list(store.count_over_time(queries, interval_seconds=interval).series)
    seconds = [_overlap(window, bucket.at.timestamp(), interval) for bucket in series[0].buckets]
    return series, seconds


def _overlap(window: TimeWindow, start: float, interval: int) -> float:
    """Seconds of a bucket inside the window: the first and the last one are seldom whole."""
    low, high = window.start.timestamp(), window.end.timestamp()
    return max(1e-3, min(high, start + interval) - max(low, start))


def _counted(
    ledger: Ledger,
    sides: tuple[Side, Side],
    asked: Sequence[_Asked],
    answers: tuple[tuple[list[Series], list[float]], ...],
    basis: Basis,
) -> tuple[Counted, ...]:
    tallies = [
        tuple(
            _tally(one, series[0], seconds, "time" if place == 0 else basis)
            for series, seconds in answers
            for one in [series[place]]
        )
        for place in range(len(asked))
    ]
    contrasts = [contrast(a, b) for a, b in tallies]
    stands = benjamini_hochberg([one.p for one in contrasts], RATE)
    totals = [tally.total for tally in tallies[0]]
    rows = [
        _row(ledger, sides, one, (a, b), (totals[0], totals[1]), (found, known))
        for one, (a, b), found, known in zip(asked, tallies, contrasts, stands, strict=True)
    ]
    order = {"volume": 0, "failing": 1, "level": 2, "pattern": 3, "value": 4}
    return tuple(sorted((row for row in rows if row.a or row.b), key=lambda row: (order[row.kind], *_weight(row))))


def _tally(series: Series, whole: Series, seconds: Sequence[float], basis: Basis) -> Tally:
    counts = [float(bucket.count) for bucket in series.buckets]
    exposures = list(seconds) if basis == "time" else [float(bucket.count) for bucket in whole.buckets]
    half = max(seconds) / 2
    # a sliver of a bucket at either end would make one record in it a burst
    if len(counts) > 1 and seconds[-1] < half:
        counts[-2:], exposures[-2:] = [sum(counts[-2:])], [sum(exposures[-2:])]
    if len(counts) > 1 and seconds[0] < half:
        counts[:2], exposures[:2] = [sum(counts[:2])], [sum(exposures[:2])]
    return Tally(tuple(counts), tuple(exposures))


def _weight(row: Counted) -> tuple[float, ...]:
    """Levels by severity; the rest: what stands first, then by how much the sides differ."""
    if row.kind == "level":
        return (0.0,)
    size = (
        abs(math.log1p(row.b) - math.log1p(row.a))
        if row.contrast.ratio in (None, 0)
        else abs(math.log(row.contrast.ratio or 1))
    )
    severe = row.level in ("error", "fatal")
    return (row.change == "steady", -size * math.log1p(row.a + row.b) * (2 if severe else 1))


def _row(
    ledger: Ledger,
    sides: tuple[Side, Side],
    asked: _Asked,
    tallies: tuple[Tally, Tally],
    totals: tuple[float, float],
    found: tuple[Contrast, bool],
) -> Counted:
    (a, b), (seen, stands) = tallies, found
    rows = [
        ledger.add(
            Claim(
                "count",
                f"{asked.service + ': ' if asked.service else ''}{asked.name}",
                _cited(side, asked.node),
                value=int(tally.total),
                unit="events",
                service=asked.service,
            )
        )
        for side, tally in zip(sides, tallies, strict=True)
    ]
    shares = [tally.total / total if total else None for tally, total in zip(tallies, totals, strict=True)]
    return Counted(
        asked.kind,
        asked.name,
        int(a.total),
        int(b.total),
        shares[0],
        shares[1],
        seen,
        change_of(a, b, seen, stands=stands),
        stands,
        (rows[0], rows[1]),
        asked.service,
        asked.level,
    )


def _cited(side: Side, node: Node) -> EvidenceQuery:
    query = side.query
    return EvidenceQuery(to_text(conjunction(query.node, node)), query.window, Figure("count"), query.indices)


@dataclass(slots=True)
class _Number:
    """One number: the query of the records that hold it, and its values by side."""

    node: Node
    values: tuple[list[Timed], list[Timed]]


def _numbers(store: LogStore, ledger: Ledger, a: Side, b: Side) -> tuple[tuple[Shifted, ...], tuple[int, int]]:
    """Numbers in fields and texts that shifted, most first; and how many records were read for them."""
    records = (_read(store, a.query), _read(store, b.query))
    events = [[from_record(one, at=0.0) for one in side] for side in records]
    drain = mine([*events[0], *events[1]])
    reader = NumberReader()
    found: dict[tuple[str, str], _Number] = {}
    for place, side in enumerate(events):
        for event in side:
            for (service, name), value, node in _numbers_of(event, reader, drain.display(event.template)):
                one = found.setdefault((service, name), _Number(node, ([], [])))
                one.values[place].append((event.time, value))
    kept = {key: one for key, one in found.items() if min(map(len, one.values)) >= _LEAST_NUMBERS}
    ps = [shift(*one.values) for one in kept.values()]
    stands = benjamini_hochberg(ps, RATE)
    rows = [
        _shifted(ledger, (a, b), key, one, (p, known))
        for (key, one), p, known in zip(kept.items(), ps, stands, strict=True)
        if known
    ]
    told = [row for row in rows if not 1 / _TOLD < row.ratio < _TOLD]
    told.sort(key=lambda row: -abs(math.log(min(1e9, max(row.ratio, 1e-9)))))
    return tuple(told), (len(records[0]), len(records[1]))


def _numbers_of(event: Event, reader: NumberReader, template: str) -> Iterator[tuple[tuple[str, str], float, Node]]:
    """((service, name), value, query of its records); a duration under its role, however the field is called."""
    record = event.record
    service = record.service if record is not None else ""
    whose: list[Node] = [Phrase("service", service)] if service else []
    duration = record.duration_ms if record is not None else None
    for name, value in reader.numbers(event):
        if isinstance(name, str):
            if name != "duration_ms" and duration is not None and _is_duration(name, value, duration):
                continue
            node = conjunction(*whose, Exists("duration" if name == "duration_ms" else name))
            yield (service, name), value, node
        else:
            text = f"{patterns.plain_text(template)} #{name + 1}"
            yield (service, text), value, pattern_node(template, service=service)


def _is_duration(name: str, value: float, duration_ms: float) -> bool:
    known = milliseconds(name, value)
    return known is not None and math.isclose(known, duration_ms, rel_tol=1e-3, abs_tol=1e-3)


def _read(store: LogStore, query: LogQuery) -> list[LogRecord]:
    """The records of a short stretch, or the beginnings of equal parts of a long one."""
    page = store.scan(query, limit=PAGE_LIMIT)
    if page.cursor is None:
        return list(page.records)
    start, length = query.window.start.timestamp(), query.window.seconds / _SLICES
    found: list[LogRecord] = []
    for place in range(_SLICES):
        part = TimeWindow(instant(start + place * length), instant(start + (place + 1) * length))
        found += store.scan(replace(query, window=part), limit=PAGE_LIMIT // 2).records
    return found


def _shifted(
    ledger: Ledger, sides: tuple[Side, Side], key: tuple[str, str], one: _Number, found: tuple[float, bool]
) -> Shifted:
    service, name = key
    spreads = [Spread.of([value for _, value in side]) for side in one.values]
    rows = [
        ledger.add(
            Claim(
                "distribution",
                f"{service + ': ' if service else ''}{typed_mask(name)}: p50 {spread.p50:g}, p95 {spread.p95:g}",
                _cited(side, one.node),
                value=spread.n,
                unit="events",
                approximate=True,
                service=service,
            )
        )
        for side, spread in zip(sides, spreads, strict=True)
    ]
    return Shifted(name, service, spreads[0], spreads[1], found[0], found[1], (rows[0], rows[1]))
