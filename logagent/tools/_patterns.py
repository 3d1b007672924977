"""Patterns of one stretch against another: mined from a sample of both, then counted again by their own queries."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from logagent.analysis.apart import Kind, apart, kind_of, merged
from logagent.analysis.events import from_record
from logagent.analysis.facts import Event
from logagent.analysis.keywords import keywords
from logagent.analysis.statistics import g_test
from logagent.analysis.templates import SLOT, filled, mine, tokens, typed_mask
from logagent.evidence import Claim, EvidenceQuery, Figure
from logagent.expressions import expression
from logagent.logs import Completeness, Severity, TimeWindow
from logagent.query import All, LogQuery, Node, conjunction, to_text
from logagent.stores._base import LogStore, Measure, Sample
from logagent.tools._asked import clock, number
from logagent.tools._base import Row, ToolContext

Change = Literal["new", "spiking", "rising", "steady", "falling", "vanished"]
Sort = Literal["new", "frequent", "rare"]
_PER_PATTERN = 4
"""Measures a pattern costs; a request holds 100."""
MOST = 100 // _PER_PATTERN
_LEAST = 5
_SLOTS = 4
"""Most values that are told of what stands behind `<*>`."""
_SPIKE, _RISE, _FALL = 3.0, 1.25, 0.8
_SIGNIFICANT = 0.001
_ORDER: dict[Change, int] = {"new": 0, "spiking": 1, "vanished": 1, "rising": 3, "falling": 3, "steady": 4}
_CLASS = expression(r"status-([a-e])xx")
_FAILED = expression(r"(?:^| )\[failed: .*", re.DOTALL)


@dataclass(slots=True)
class Found:
    """One pattern in both stretches. `now` and `base` are true counts once `count` has run."""

    template: str
    service: str
    now: float = 0.0
    base: float = 0.0
    levels: Counter[int] = field(default_factory=Counter)
    example: Event | None = None
    change: Change = "steady"
    slots: Counter[str] = field(default_factory=Counter)
    """What stood in the place of `<*>`."""
    first: datetime | None = None
    last: datetime | None = None
    node: Node | None = None
    lines: Node = All()
    """What finds its lines, without the filter of the question."""
    events: list[Event] = field(default_factory=list)
    kind: Kind | None = None

    @property
    def surprise(self) -> float:
        """How much the two stretches differ; errors count double."""
        worst = max(self.levels, default=0)
        weight = 2.0 if worst >= Severity.ERROR else 1.0
        return weight * abs(math.log1p(self.now) - math.log1p(self.base))

    def take_in(self, other: "Found", kind: Kind) -> None:
        """Become one pattern with another that no query tells from it."""
        self.template, self.service, self.kind = kind.text, kind.service, kind
        self.now, self.base = self.now + other.now, self.base + other.base
        self.levels += other.levels
        self.events += other.events


@dataclass(slots=True)
class Mined:
    """All patterns of two stretches."""

    patterns: list[Found]
    total: int
    base_total: int
    exact: bool
    completeness: Completeness
    keywords: tuple[str, ...] = ()


def compare(store: LogStore, query: LogQuery, base: LogQuery | None) -> Mined:
    """Mine both stretches together, so that a template means the same in both: two requests."""
    now = store.sample(query)
    before = store.sample(base) if base is not None else Sample((), 0, exact=True)
    events, old = _events(now), _events(before)
    drain = mine([*events, *old])
    found: dict[int, Found] = {}
    for event in [*events, *old]:
        if event.template not in found:
            found[event.template] = _new(drain.display(event.template), event)
        _note(found[event.template], event)
    for event in events:
        found[event.template].now += event.weight
    for event in old:
        found[event.template].base += event.weight
    patterns = list(found.values())
    for pattern in patterns:
        pattern.change = _change(pattern, query, base)
    patterns.sort(key=_order)
    return Mined(
        patterns,
        now.total,
        before.total,
        now.exact and before.exact,
        now.completeness,
        keywords(
            [(event.message, event.weight) for event in events],
            [(event.message, event.weight) for event in old],
            scale=_scale(query, base),
        ),
    )


def _order(pattern: Found) -> tuple[float, ...]:
    return _ORDER[pattern.change], -pattern.surprise, -pattern.now


def ordered(mined: list[Found], sort: Sort) -> list[Found]:
    """All patterns: what changed most first, as they were mined, or the most or the least frequent first."""
    if sort == "new":
        return mined
    sign = -1 if sort == "frequent" else 1
    return sorted(mined, key=lambda one: (not one.now, sign * one.now, sign * one.base, *_order(one)))


def left_out(mined: list[Found], shown: list[Found], sort: Sort) -> str:
    """What the patterns that were not shown hold, and the call that shows them."""
    rest = [one for one in mined if one not in shown]
    if not rest:
        return ""
    bad = sum(max(one.levels, default=0) >= Severity.WARN for one in rest)
    most = max(one.now for one in rest)
    text = f"{len(rest)} more patterns hold {number(sum(one.now for one in rest))} lines, at most {number(most)} each"
    text += f", {bad} of them WARN or worse" if bad else ""
    wider = f"size up to {MOST}, " if len(shown) < MOST else ""
    return f"{text}: {wider}sort {'frequent' if sort == 'rare' else 'rare'}, or add service:…, level>=warn"


def _events(sample: Sample) -> list[Event]:
    """Lines by their text alone: what two places of the code write alike is one pattern."""
    found = [from_record(row.record, row.weight, at=0.0) for row in sample.rows]
    for event in found:
        event.callsite = ""
    return found


def _new(template: str, event: Event) -> Found:
    return Found(template, event.service if event.record and event.record.service else "", example=event)


def _fill_slots(pattern: Found) -> None:
    """Which words a pattern merged into `<*>`: often the name that matters."""
    words = tokens(_FAILED.sub("", pattern.template))
    if SLOT not in words:
        return
    for event in pattern.events:
        own = tokens(typed_mask(event.message))
        for place, word in enumerate(words):
            if word == SLOT and place < len(own):
                pattern.slots[own[place]] += max(1, round(event.weight))


def _note(pattern: Found, event: Event) -> None:
    pattern.events.append(event)
    if event.level is not None:
        pattern.levels[event.level] += 1


def _scale(query: LogQuery, base: LogQuery | None) -> float:
    if base is None or not base.window.seconds:
        return 0.0
    return query.window.seconds / base.window.seconds


def _change(pattern: Found, query: LogQuery, base: LogQuery | None) -> Change:
    if base is None or not base.window.seconds:
        return "steady"
    if not pattern.base and pattern.now:
        return "new"
    return _moved(pattern, query, base)


def _moved(pattern: Found, query: LogQuery, base: LogQuery) -> Change:
    """What a pattern that both stretches could hold did between them."""
    chance = g_test(pattern.now, pattern.base, query.window.seconds, base.window.seconds)
    expected = pattern.base * _scale(query, base)
    if chance > _SIGNIFICANT or max(pattern.now, expected) < _LEAST:
        return "steady"
    if not pattern.now:
        return "vanished"
    ratio = pattern.now / expected
    if ratio >= _SPIKE:
        return "spiking"
    if ratio >= _RISE:
        return "rising"
    return "falling" if ratio <= _FALL else "steady"


def count(store: LogStore, mined: list[Found], size: int, query: LogQuery, base: LogQuery | None) -> list[Found]:
    """The first `size` patterns, their mined figures replaced by what the store counts for each one's own query.

    One request. The figure printed is the figure that can be asked again, and no line counts for two patterns.
    """
    shown = _settled(mined, min(size, MOST))
    if not shown:
        return []
    measures: list[Measure] = []
    for pattern in shown:
        lines = pattern.lines = pattern.node or All()
        pattern.node = conjunction(query.node, lines)
        own = replace(query, node=pattern.node)
        old = own if base is None else replace(base, node=conjunction(base.node, lines))
        measures += [Measure(own), Measure(own, "first"), Measure(own, "last"), Measure(old)]
    answer = store.count(measures)
    for place, pattern in enumerate(shown):
        values = [one.value for one in answer.values[place * _PER_PATTERN : (place + 1) * _PER_PATTERN]]
        pattern.now = values[0] if isinstance(values[0], int) else pattern.now
        pattern.first = values[1] if isinstance(values[1], datetime) else None
        pattern.last = values[2] if isinstance(values[2], datetime) else None
        pattern.base = values[3] if base is not None and isinstance(values[3], int) else 0
        pattern.change = _change(pattern, query, base)
        _fill_slots(pattern)
    return shown


def _settled(mined: list[Found], size: int) -> list[Found]:
    """The first patterns, each with a query that no line of another matches; `mined` loses what was taken in."""
    for pattern in mined:
        pattern.kind = kind_of(pattern.template, pattern.service, pattern.events)
    place = 0
    while place < min(size, len(mined)):
        one = mined[place]
        others = {id(other.kind): other for other in mined if other is not one}
        one.node, alike = apart(_kind(one), [_kind(other) for other in others.values()])
        for kind in alike:
            one.take_in(others[id(kind)], merged(_kind(one), kind))
            mined.remove(others[id(kind)])
        place = mined.index(one) + (not alike)  # taken in: the wider text is asked for anew
    return mined[:size]


def _kind(pattern: Found) -> Kind:
    assert pattern.kind is not None  # noqa: S101 - `_settled` made it
    return pattern.kind


def _digit(found: re.Match[str]) -> int:
    return ord(found[1]) - ord("a") + 1


def row(pattern: Found, query: LogQuery, *, base: bool = True, told: str = "") -> Row:
    """`spiking 3,904 | 12 | first..last | order-api ERROR`, then the text; its count only where there is no base.

    `told` is said in place of the change.
    """
    worst = max(pattern.levels, default=None)
    level = Severity(worst).word.upper() if worst is not None else ""
    ends = [clock(at, query.window) for at in (pattern.first, pattern.last) if at]
    when = "..".join(dict.fromkeys(ends)) or "-"
    counts = f"{told or pattern.change} {number(pattern.now)} | {number(pattern.base)}" if base else number(pattern.now)
    text = f"{counts} | {when} | {pattern.service} {level}".strip()
    claim = Claim(
        "absence" if pattern.change == "vanished" else "count",
        f"{pattern.service + ': ' if pattern.service else ''}{pattern.template}",
        EvidenceQuery(to_text(pattern.node or query.node), query.window, Figure("count"), query.indices),
        value=int(pattern.now),
        unit="events",
        baseline_value=int(pattern.base) if base else None,
        samples=(pattern.example.record,) if pattern.example and pattern.example.record else (),
        service=pattern.service,
        onset=pattern.first if pattern.change in {"new", "spiking"} else None,
    )
    return Row(text, _shown(pattern), claim, pattern.service)


def plain_text(template: str) -> str:
    """A template without the marks that only tell apart."""
    return _CLASS.sub(lambda hit: f"{_digit(hit)}xx", _FAILED.sub("", template))


def _shown(pattern: Found) -> str:
    """The line itself where there is but one, else the template: a slot for what varies, or may."""
    every = len(pattern.events) == pattern.now + pattern.base  # and no event stands for several lines
    if every and len(pattern.events) == 1:
        return pattern.events[0].message
    text = plain_text(pattern.template)
    text = filled(text, [event.message for event in pattern.events]) if every else text
    held = [f"{word} x{times:,}" for word, times in pattern.slots.most_common(_SLOTS) if not word.startswith("<")]
    return f"{text} {{{SLOT}: {', '.join(held)}}}" if held and SLOT in text else text


def base_window(context: ToolContext) -> TimeWindow | None:
    """The baseline that tools compare with: the first of the run's, else the same length before the window.

    None where the sources hold nothing for at least half of that.
    """
    scope = context.scope
    if scope.baselines:
        return scope.baselines[0]
    length = scope.window.end - scope.window.start
    start = max(scope.reach.start, scope.window.start - length)
    first = context.store.describe().first
    held = first is not None and first <= scope.window.start - length / 2
    return TimeWindow(start, scope.window.start) if held and start < scope.window.start else None
