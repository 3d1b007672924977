"""Patterns of one stretch against another: mined from a sample of both, then counted again by their own queries."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from logagent.analysis.events import from_record
from logagent.analysis.facts import Event
from logagent.analysis.pattern_query import pattern_node
from logagent.analysis.statistics import g_test
from logagent.analysis.templates import SLOT, mine, tokens, typed_mask
from logagent.evidence import Claim, EvidenceQuery, Figure
from logagent.logs import Completeness, Severity, TimeWindow
from logagent.query import LogQuery, Node, Range, conjunction, to_text
from logagent.stores._base import LogStore, Measure, Sample
from logagent.tools._asked import clock, number
from logagent.tools._base import Row, ToolContext

Change = Literal["new", "spiking", "rising", "steady", "falling", "vanished"]
_PER_PATTERN = 4
"""Measures a pattern costs; a request holds 100."""
MOST = 100 // _PER_PATTERN
_LEAST = 5
_SLOTS = 4
"""Most values that are told of what stands behind `<*>`."""
_SPIKE, _RISE, _FALL = 3.0, 1.25, 0.8
_SIGNIFICANT = 0.001
_ORDER: dict[Change, int] = {"new": 0, "spiking": 1, "vanished": 1, "rising": 3, "falling": 3, "steady": 4}
_CLASS = re.compile(r"status-([a-e])xx")
_WORD = re.compile(r"[A-Za-z][A-Za-z_]{3,30}")


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

    @property
    def surprise(self) -> float:
        """How much the two stretches differ; errors count double."""
        worst = max(self.levels, default=0)
        weight = 2.0 if worst >= Severity.ERROR else 1.0
        return weight * abs(math.log1p(self.now) - math.log1p(self.base))


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
    for event in events:
        pattern = found.setdefault(event.template, _new(drain.display(event.template), event))
        pattern.now += event.weight
        _note(pattern, event)
    for event in old:
        pattern = found.setdefault(event.template, _new(drain.display(event.template), event))
        pattern.base += event.weight
        _note(pattern, event)
    patterns = list(found.values())
    _fill_slots(found, [*events, *old])
    scale = _scale(query, base)
    for pattern in patterns:
        pattern.change = _change(pattern, query, base)
    patterns.sort(key=lambda one: (_ORDER[one.change], -one.surprise, -one.now))
    return Mined(
        patterns, now.total, before.total, now.exact and before.exact, now.completeness, _keywords(events, old, scale)
    )


def _events(sample: Sample) -> list[Event]:
    return [from_record(row.record, row.weight, at=0.0) for row in sample.rows]


def _new(template: str, event: Event) -> Found:
    return Found(template, event.service if event.record and event.record.service else "", example=event)


def _fill_slots(found: dict[int, Found], events: Iterable[Event]) -> None:
    """Which words a pattern merged into `<*>`: often the name that matters."""
    merged = {
        number: words for number, one in found.items() if SLOT in (words := tokens(one.template.split(" [failed: ")[0]))
    }
    for event in events:
        words = merged.get(event.template, [])
        own = tokens(typed_mask(event.message)) if words else []
        for place, word in enumerate(words):
            if word == SLOT and place < len(own):
                found[event.template].slots[own[place]] += max(1, round(event.weight))


def _note(pattern: Found, event: Event) -> None:
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


def count(store: LogStore, mined: Sequence[Found], query: LogQuery, base: LogQuery | None) -> Completeness:
    """Replace mined figures by what the store counts for each pattern's own query: one request.

    The figure printed is the figure that can be asked again.
    """
    mined = mined[:MOST]
    if not mined:
        return Completeness()
    measures: list[Measure] = []
    for pattern in mined:
        levels = list(pattern.levels)
        lines = conjunction(
            pattern_node(pattern.template, service=pattern.service, levels=levels), *_status_class(pattern)
        )
        pattern.node = conjunction(query.node, lines)
        own = replace(query, node=pattern.node)
        old = own if base is None else replace(base, node=conjunction(base.node, lines))
        measures += [Measure(own), Measure(own, "first"), Measure(own, "last"), Measure(old)]
    answer = store.count(measures)
    for place, pattern in enumerate(mined):
        values = [one.value for one in answer.values[place * _PER_PATTERN : (place + 1) * _PER_PATTERN]]
        pattern.now = values[0] if isinstance(values[0], int) else pattern.now
        pattern.first = values[1] if isinstance(values[1], datetime) else None
        pattern.last = values[2] if isinstance(values[2], datetime) else None
        pattern.base = values[3] if base is not None and isinstance(values[3], int) else 0
        pattern.change = _change(pattern, query, base)
    return answer.completeness


def _status_class(pattern: Found) -> list[Node]:
    """The class of HTTP status that the template holds, where records carry one: literal text says nothing of it."""
    found = _CLASS.search(pattern.template)
    record = pattern.example.record if pattern.example is not None else None
    if found is None or record is None or record.status is None:
        return []
    digit = _digit(found)
    return [Range("status", f"{digit}00", f"{digit}99")]


def _digit(found: re.Match[str]) -> int:
    return ord(found[1]) - ord("a") + 1


def row(pattern: Found, query: LogQuery, *, base: bool = True) -> Row:
    """`spiking 3,904 | 12 | first..last | order-api ERROR`, then the text; its count only where there is no base."""
    worst = max(pattern.levels, default=None)
    level = Severity(worst).word.upper() if worst is not None else ""
    ends = [clock(at, query.window) for at in (pattern.first, pattern.last) if at]
    when = "..".join(dict.fromkeys(ends)) or "-"
    counts = f"{pattern.change} {number(pattern.now)} | {number(pattern.base)}" if base else number(pattern.now)
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


def _shown(pattern: Found) -> str:
    """The text of one line where the pattern is rare, else the template."""
    if pattern.example is not None and pattern.now + pattern.base <= _LEAST:
        return pattern.example.message
    text = _CLASS.sub(lambda hit: f"{_digit(hit)}xx", pattern.template.split(" [failed: ", 1)[0])
    held = [f"{word} x{times:,}" for word, times in pattern.slots.most_common(_SLOTS) if not word.startswith("<")]
    return f"{text} {{{SLOT}: {', '.join(held)}}}" if held and SLOT in text else text


def _keywords(now: Iterable[Event], base: Iterable[Event], scale: float) -> tuple[str, ...]:
    """Words that became much more frequent, most telling first."""
    counts: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for side, events in enumerate((now, base)):
        for event in events:
            for word in set(_WORD.findall(event.message[:500].lower())):
                counts[word][side] += event.weight
    scored = [
        (a * math.log((a + 0.5) / (b * scale + 0.5)), word) for word, (a, b) in counts.items() if a > _SPIKE * b * scale
    ]
    return tuple(word for _, word in sorted(scored, reverse=True)[:8])


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
