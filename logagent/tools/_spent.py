"""Where time is spent: durations of requests, or the gaps between lines of one request, now against before."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from logagent.analysis.events import from_record
from logagent.analysis.statistics import quantile
from logagent.analysis.templates import mine
from logagent.analysis.trim import cut
from logagent.errors import ToolError
from logagent.evidence import Claim, EvidenceQuery, Figure
from logagent.fields import FieldMap
from logagent.logs import Completeness, LogRecord, TimeWindow, instant
from logagent.query import Exists, LogQuery, Phrase, conjunction, to_text
from logagent.stores._base import PAGE_LIMIT, LogStore
from logagent.tools._asked import Asked, clock, number, span
from logagent.tools._base import Answer, Row, ToolContext
from logagent.tools._joined import Joined, joined
from logagent.tools._nothing import explain
from logagent.tools._patterns import base_window, plain_text
from logagent.tools._shape import shape

Spent = Literal["duration", "gap"]
MOST_READ = 4 * PAGE_LIMIT
"""Most lines that are read of one stretch."""
_NEEDS: dict[Spent, str] = {"duration": "duration", "gap": "trace_id"}
MOST_ROWS = 20
_NONE = "all"
_FACTOR, _STEP_MS = 5.0, 50.0
"""Slow is this many times the lower quartile of the stretch compared with, and this much more."""
_FLOOR_MS, _QUARTILES = 250.0, 10.0
"""Without such a stretch also what takes this long, and so many times the lower quartile of all."""
_SOUND = 8
"""Samples on both sides from which a change comes before those of fewer."""
_ALIKE = 4
"""Most services, or pairs of them, that are told though their times do not differ."""
_PATTERN_LIMIT = 90
"""Most characters of a pattern in a pair."""
_FEW = 5
"""Samples below which their number is told with a bucket, and from which two sides are compared."""
_NOTICED_MS = 5.0


@dataclass(frozen=True, slots=True)
class _Time:
    """One time: whose it is, under which name it is told, how long, and the lines it lies between."""

    value: str
    name: str
    ms: float
    record: LogRecord
    before: LogRecord | None = None

    @property
    def at(self) -> float:
        """When it ended, in seconds."""
        return self.record.timestamp.timestamp() if self.record.timestamp else 0.0


@dataclass(slots=True)
class _Group:
    """The times of one value, now and in the stretch compared with."""

    name: str
    limit: float
    """Milliseconds from which a time counts as slow."""
    now: list[_Time] = field(default_factory=list)
    old: list[float] = field(default_factory=list)
    halved: bool = False
    """`old` is the early half of `now`."""

    @property
    def sound(self) -> int:
        """How many of the two sides have so many samples that they mean something: 0 to 2."""
        later = len(self.now) - (len(self.old) if self.halved else 0)
        return sum(side >= _SOUND for side in (later, len(self.old)))

    @property
    def share(self) -> float:
        """How many are slow now, of all."""
        return self._slow(one.ms for one in self.now) / max(1, len(self.now))

    @property
    def change(self) -> float:
        """How much more often it is slow now than before, in standard errors or so, and how much its median moved.

        What became faster counts half.
        """
        now = [one.ms for one in self.now]
        if not now or not self.old:
            return 0.5 * self._slow(now) / math.sqrt(max(1, len(now)))
        share = self._slow(now) / len(now) - self._slow(self.old) / len(self.old)
        weight = math.sqrt(len(now) * len(self.old) / (len(now) + len(self.old)))
        moved = math.log1p(quantile(now, 0.5)) - math.log1p(quantile(self.old, 0.5))
        return max(share, -share / 2) * weight + 0.1 * max(moved, -moved / 2)

    @property
    def differs(self) -> bool:
        """Whether enough times on both sides differ noticeably: in how many are slow, or in the median."""
        if min(len(self.now), len(self.old)) < _FEW:
            return False
        medians = sorted((quantile([one.ms for one in self.now], 0.5), quantile(self.old, 0.5)))
        twice = medians[1] > 2 * medians[0] and medians[1] - medians[0] > _NOTICED_MS
        return abs(self.change) >= 1 or twice

    def _slow(self, times: Iterable[float]) -> int:
        return sum(ms > self.limit for ms in times)

    def figures(self, times: list[float]) -> str:
        """`30, min 1 p50 4 p95 226 max 229, 12 slow`; `0` where there are none."""
        if not times:
            return "0"
        p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
        told = f"min {number(min(times))} p50 {number(p50)} p95 {number(p95)} max {number(max(times))}"
        return f"{number(len(times))}, {told}, {self._slow(times)} slow"


@dataclass(slots=True)
class _Stretch:
    """The times of one window, and how much of it was read."""

    times: list[_Time]
    """Those asked for."""
    every: list[_Time]
    """All, whatever the filter: what is slow is told by these."""
    completeness: Completeness
    note: str = ""


def spent(kind: Spent, split: str, size: int, asked: Asked, context: ToolContext, *, step: int) -> Answer:
    """One row a value of `split`, now against the baseline, most changed first; of gaps one a pair of values.

    Where there is no baseline, the late half stands against the early one. Gaps lie between neighbours of a trace,
    whatever the filter: it picks those of which either line matches.

    Raises:
        ToolError: no field holds what is asked for.
    """
    role = _NEEDS[kind]
    if not context.fields.roles.get(role):
        raise ToolError(f"no field plays {role} here: measure {kind} cannot be told; leave measure out for counts")
    if kind == "gap" and not split and context.fields.roles.get("service"):
        split = "service"
    now = _stretch(kind, split, asked.query, context)
    if not now.times:
        return Answer(f"0 {kind}s: {asked.said(now.completeness)}", tail=explain(asked, context))
    base = base_window(context)
    base = None if base == asked.window else base
    old = _stretch(kind, split, replace(asked.query, window=base), context) if base else None
    read = [one for one in (now, old) if one is not None]
    by_pattern = context.fields.role_of(split) == "message"
    if by_pattern:
        _by_pattern(kind, read)
    groups = sorted(_groups(now, old, _middle(asked.window)), key=_order)
    head = _head(kind, split, step, (asked, base), read)
    asked_by = split if kind == "duration" and not by_pattern else ""
    rows = tuple(_row(group, asked, asked_by, step, by_pattern=by_pattern) for group in groups[:size])
    return Answer(head, rows, _more(len(groups), size, "" if by_pattern else split))


def _order(group: _Group) -> tuple[object, ...]:
    """Most changed first, what has few samples behind; without a baseline what did not change by the share of slow."""
    if group.halved and not group.differs:
        return -group.sound, True, -group.share, -group.change, -len(group.now), group.name
    return -group.sound, False, -group.change, 0.0, -len(group.now), group.name


def moved(asked: Asked, base: LogQuery, size: int, context: ToolContext) -> tuple[list[Row], str]:
    """Times of services and of pairs of them in two queries, and how they were joined; none where nothing tells times.

    Those that differ have a row each, most first, at most `size` of a kind; the rest of a kind is one row.
    """
    if not context.fields.roles.get("service"):
        return [], ""
    rows: list[Row] = []
    notes: list[str] = []
    for kind in (kind for kind, role in _NEEDS.items() if context.fields.roles.get(role)):
        now, old = (_stretch(kind, "service", query, context) for query in (asked.query, base))
        groups = sorted(_groups(now, old, 0.0), key=lambda one: (not one.differs, -abs(one.change), one.name))
        told = [one for one in groups if one.differs][:size]
        rows += [_compared(group, kind, asked) for group in told]
        rest = sorted((one for one in groups if one not in told), key=lambda one: -len(one.now) - len(one.old))
        rows += [Row(_alike(kind, rest))] if rest else []
        notes.append(now.note)
    return rows, "; ".join(filter(None, notes))


def _compared(group: _Group, kind: Spent, asked: Asked) -> Row:
    figures = f"A {group.figures([one.ms for one in group.now])} | B {group.figures(group.old)}"
    text = f"{kind} ms {group.name}: {figures} (slow > {number(group.limit)} ms)"
    return Row(text, claim=_claim(group, asked, "service" if kind == "duration" else "", figures))


def _alike(kind: Spent, groups: Sequence[_Group]) -> str:
    """`duration ms, no clear change, p50/p95 A | B: seat 20/41 | 19/40 (30 | 28), 3 more`."""

    def side(times: list[float]) -> str:
        return f"{number(quantile(times, 0.5))}/{number(quantile(times, 0.95))}" if times else "-"

    told = [
        f"{one.name} {side([each.ms for each in one.now])} | {side(one.old)} ({len(one.now)} | {len(one.old)})"
        for one in groups[:_ALIKE]
    ]
    more = [f"{len(groups) - _ALIKE} more"] if len(groups) > _ALIKE else []
    return f"{kind} ms, no clear change, p50/p95 A | B (lines): {', '.join([*told, *more])}"


def _more(all_of_them: int, size: int, split: str) -> str:
    if all_of_them <= size:
        return ""
    wider = f"size up to {MOST_ROWS}, or " if size < MOST_ROWS else ""
    by = split or "service"
    return f"more: {all_of_them - size} changed less; {wider}query {by}:… for one, NOT {by}:(…) for others"


def _head(kind: Spent, split: str, step: int, asked: tuple[Asked, TimeWindow | None], read: list[_Stretch]) -> str:
    (question, base), notes = asked, "; ".join(dict.fromkeys(one.note for one in read if one.note))
    what = "duration" if kind == "duration" else "time since the line before of the same trace"
    first = instant(int(question.window.start.timestamp() // step) * step)
    against = f"base {span(base)}" if base else "no baseline: late half against early half"
    order = "most changed first" if base else "most changed first, then most slow"
    head = f"{what} in ms{f', by {split}' if split else ''}, {order}, against {against}; "
    head += f"p95 per {step} s from {clock(first, question.window)}, (n) where few: "
    lacking = _lacking(kind, split, read[0].times)
    return head + "; ".join(part for part in (question.said(read[0].completeness), lacking, notes) if part)


def _lacking(kind: Spent, split: str, times: Sequence[_Time]) -> str:
    """That lines of the measure do not have the field they are to be told by, and why."""
    without = sum(one.value == "-" for one in times)
    if not without:
        return ""
    lines = f"{number(without)} of {number(len(times))} lines that hold {_NEEDS[kind]}"
    return f"- = no {split}: so {lines}; {split} stands on other lines, pick by query instead"


def _middle(window: TimeWindow) -> float:
    return window.start.timestamp() + window.seconds / 2


def _groups(now: _Stretch, old: _Stretch | None, middle: float) -> list[_Group]:
    """By name; without an older stretch the early half is one."""
    limits = _limits(now, old)
    names = dict.fromkeys(one.name for one in (*now.times, *(old.times if old else ())))
    groups = {name: _Group(name, limits[name], halved=old is None) for name in names}
    for one in now.times:
        groups[one.name].now.append(one)
        if old is None and one.at < middle:
            groups[one.name].old.append(one.ms)
    for one in old.times if old else ():
        groups[one.name].old.append(one.ms)
    return list(groups.values())


def _limits(now: _Stretch, old: _Stretch | None) -> dict[str, float]:
    """From when on a time of each name is slow: by all times of that name before, else now."""
    held: list[defaultdict[str, list[float]]] = []
    for stretch in (now, old):
        held.append(defaultdict(list))
        for one in stretch.every if stretch else ():
            held[-1][one.name].append(one.ms)
    most = float("inf") if old else max(_FLOOR_MS, _QUARTILES * quantile([one.ms for one in now.every], 0.25))
    limits = {}
    for name in dict.fromkeys((*held[0], *held[1])):
        low = quantile(held[1].get(name) or held[0][name], 0.25)
        limits[name] = min(most, max(_FACTOR * low, low + _STEP_MS))
    return limits


def _by_pattern(kind: Spent, stretches: Iterable[_Stretch]) -> None:
    """Tell all times by the patterns of their lines, which mean the same in all stretches, not by their texts."""
    records = {
        record.id: record
        for stretch in stretches
        for one in (*stretch.every, *stretch.times)
        for record in (one.before, one.record)
        if record is not None
    }
    events = [from_record(record, 1.0, at=0.0) for record in records.values()]
    for event in events:
        event.callsite = ""
    drain = mine(events)
    texts = {
        template: cut(plain_text(drain.display(template)), _PATTERN_LIMIT)
        for template in {event.template for event in events}
    }
    told = {key: f"{event.service}: {texts[event.template]}" for key, event in zip(records, events, strict=True)}

    def named(one: _Time) -> _Time:
        value = told[one.record.id]
        pair = kind == "gap" and one.before is not None and told[one.before.id] != value
        return replace(one, value=value, name=f"{told[one.before.id]} -> {value}" if pair and one.before else value)

    for stretch in stretches:
        stretch.every, stretch.times = list(map(named, stretch.every)), list(map(named, stretch.times))


# -- reading -------------------------------------------------------------------------------------------------------


def _stretch(kind: Spent, split: str, query: LogQuery, context: ToolContext) -> _Stretch:
    matching = replace(query, node=conjunction(query.node, Exists(_NEEDS[kind])))
    if kind == "duration":
        records, whole, completeness = _read(context.store, matching)
        note = "" if whole else f"ONLY THE FIRST {MOST_READ:,} LINES were read: narrow the window or the query"
        times = list(_durations(records, split, context.fields))
        if query.node == context.scope.base:
            return _Stretch(times, times, completeness, note)
        others = _read(context.store, context.scope.query(Exists("duration"), query.window, query.indices))[0]
        return _Stretch(times, [*_durations(others, split, context.fields), *times], completeness, note)
    every = context.scope.query(Exists("trace_id"), query.window, query.indices)
    records, note, completeness = _traces(context.store, every)
    joins = joined(context)
    notes = "; ".join(part for part in (note, joins.note) if part)
    times = list(_gaps(records, split, context.fields, joins))
    if query.node == context.scope.base:
        return _Stretch(times, times, completeness, notes)
    wanted = {record.id for record in _read(context.store, matching)[0]}
    picked = [one for one in times if one.record.id in wanted or (one.before and one.before.id in wanted)]
    return _Stretch(picked, times, completeness, notes)


def _traces(store: LogStore, query: LogQuery) -> tuple[list[LogRecord], str, Completeness]:
    """All lines of all traces; where these are too many, of a sample of them."""
    records, whole, completeness = _read(store, query)
    if whole:
        return records, "", completeness
    sampled = list(store.traces(query, limit=MOST_READ).records)
    if not sampled:
        return records, f"ONLY THE FIRST {MOST_READ:,} LINES were read: narrow the window", completeness
    ids = len({record.trace_id for record in sampled})
    return sampled, f"of {ids} traces, a sample over the whole time: a shorter window has all", completeness


def _read(store: LogStore, query: LogQuery) -> tuple[list[LogRecord], bool, Completeness]:
    """Matching lines, oldest first, whether these are all, and how complete the answers were."""
    page = store.scan(query)
    records = list(page.records)
    while page.cursor is not None and len(records) < MOST_READ:
        page = store.scan(query, cursor=page.cursor)
        records += page.records
    return records, page.cursor is None, page.completeness


def _durations(records: Iterable[LogRecord], split: str, fields: FieldMap) -> Iterator[_Time]:
    for record in records:
        if record.duration_ms is not None:
            value = _value(record, split, fields)
            yield _Time(value, value, record.duration_ms, record)


def _gaps(records: Iterable[LogRecord], split: str, fields: FieldMap, joins: Joined) -> Iterator[_Time]:
    """Between two neighbours of one trace; told as `a -> b` where their values differ."""
    before: dict[tuple[str, ...], LogRecord] = {}
    for record in records:
        if not record.trace_id or record.timestamp is None:
            continue
        key = joins.key(record)
        old = before.get(key)
        before[key] = record
        if old is None or old.timestamp is None:
            continue
        value, come = _value(record, split, fields), _value(old, split, fields)
        ms = (record.timestamp - old.timestamp).total_seconds() * 1000
        yield _Time(value, value if come == value else f"{come} -> {value}", ms, record, old)


def _value(record: LogRecord, split: str, fields: FieldMap) -> str:
    """The value of a role or field in a record, `-` where it has none."""
    if not split:
        return _NONE
    told = getattr(record, split, None)
    if told is None:
        names = [choice.name for choice in fields.roles.get(split, ())]
        told = next((record.fields[name] for name in (*names, split) if name in record.fields), None)
    return str(told) if told not in {None, ""} else "-"


# -- rows ----------------------------------------------------------------------------------------------------------


def _row(group: _Group, asked: Asked, split: str, step: int, *, by_pattern: bool) -> Row:
    newer = [one for one in group.now if not group.halved or one.at >= _middle(asked.window)]
    older = "early" if group.halved else "base"
    figures = f"{group.figures([one.ms for one in newer])} | {older} {group.figures(group.old)}"
    name, quote = ("", group.name) if by_pattern else (f"{group.name}: ", "")
    text = f"{name}{figures} (slow > {number(group.limit)} ms)"
    if not group.now:
        return Row(text, quote)
    buckets = _buckets(group.now, asked.window, step)
    return Row(text, quote, _claim(group, asked, split, figures), after=f"| {buckets}")


def _buckets(times: Iterable[_Time], window: TimeWindow, step: int) -> str:
    """p95 of each bucket, with their number where there are few."""
    held: defaultdict[int, list[float]] = defaultdict(list)
    for one in times:
        held[int(one.at // step)].append(one.ms)
    first = int(window.start.timestamp() // step)
    last = max(first, int((window.end.timestamp() - 1e-6) // step))
    values = []
    for place in range(first, last + 1):
        some = held.get(place, [])
        few = f"({len(some)})" if len(some) < _FEW else ""
        values.append(f"{quantile(some, 0.95):.0f}{few}" if some else "-")
    return shape(values, lambda place: clock(instant((first + place) * step), window).removesuffix("Z"))


def _claim(group: _Group, asked: Asked, split: str, figures: str) -> Claim:
    """The slowest line stands for the row: get_log_context shows where its time went."""
    slowest = max(group.now, key=lambda one: one.ms)
    query, record = asked.query, slowest.record
    node = conjunction(query.node, Phrase(split, slowest.value)) if split and slowest.value != "-" else query.node
    return Claim(
        "sample",
        f"{group.name}: {figures}",
        EvidenceQuery(to_text(node), query.window, Figure("documents"), query.indices),
        samples=(record,),
        service=record.service,
        onset=record.timestamp,
        sample_only=True,
    )
