"""The patterns of a window as rows of the digest, most telling first, no service crowding out the others."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from logagent.analysis.facts import Event, Fact
from logagent.analysis.lexicon import RECOVERY, WEAK, durations
from logagent.analysis.limits import ERROR
from logagent.analysis.slots import slot_values
from logagent.analysis.statistics import quantile
from logagent.analysis.window import Window

Change = Literal["new", "gone", "stopped", "up", "down", "steady"]

BY_PRIORITY = 40
"""Rows that are ordered by priority alone; from there on the services take turns."""

_NOT_CITED = frozenset({"steady_error", "slow_number"})
_STOPPED = frozenset({"own_gone", "entry_gone", "stops"})
_BY_SEVERITY = (0.0, 2.0, 4.0, 5.0)
_CITED = 6.0
_SLOW_S = 1.0
_FEW = 3
_RARE, _RARE_SHARE = 5, 0.001
_ALL_GONE, _NEARLY_GONE = 3, 8
_FACTOR, _TIMES_MORE = 3.0, 4
_LESS_THAN = 4
_READ = 2000
_PROBED = 25
"""Events of a pattern that are asked whether it holds durations at all."""
_TIMED_TEXT, _SHORT_TEXT = 400, 300
_CUT = 120
_TEXT = 400
"""Characters of a sample that are read for telling words."""
_ERROR_KEYS = ("error", "err.", "exception", "reason", "cause")
_NUMBER_KEYS = ("time", "duration", "latency", "elapsed", "status")


@dataclass(frozen=True, slots=True)
class PatternRow:
    """One text over all services that write it. Counts are sums of weight."""

    priority: float
    templates: tuple[int, ...]
    text: str
    """The pattern for readers, with typed slots."""
    services: Mapping[str, float]
    """Most frequent first."""
    severity: int
    """Class 0 to 3 (lexicon.severity_class)."""
    level: int | None
    change: Change
    ratio: float | None
    """Rate after against rate before, where both are known."""
    before: float
    after: float
    first: float
    last: float
    callsite: str
    sample: Event
    """A real record: the slowest where the text holds durations, else the first after the split."""
    note: str
    """What the fields add: error texts, quantiles of durations, counts of status codes; "" where nothing."""
    mechanism: str
    """Id of the mechanism that the text states, or ""."""
    cited: str
    """Kind of the fact that rests on it, or ""."""
    quiet: bool = False
    """Its lines say nothing by themselves, and no fact is about them."""

    @property
    def count(self) -> float:
        """Records in all."""
        return self.before + self.after


def pattern_rows(window: Window, facts: Sequence[Fact], split: float) -> list[PatternRow]:
    """Every pattern of the window, most telling first.

    Args:
        window: the events.
        facts: what the signals found; their patterns come first.
        split: time in seconds that parts before from after (the onset).
    """
    cited = {f.template: f for f in facts if f.template is not None and f.kind not in _NOT_CITED}
    share = max(1e-6, min(1 - 1e-6, (split - window.start) / window.length))
    stated = {template for fact in facts for template in templates_of(fact)}
    rows = [_row(window, group, cited, stated, (split, share)) for group in _groups(window, cited)]
    return list(_fair(sorted(rows, key=lambda row: -row.priority)))


@dataclass(slots=True)
class _Group:
    """Templates of one text and severity, over all services."""

    templates: list[int]
    events: list[Event]


def _groups(window: Window, cited: Mapping[int, Fact]) -> list[_Group]:
    groups: dict[tuple[str, int], _Group] = {}
    for template, indices in window.by_template.items():
        key = (window.miner.alike[template], window.severity[template])
        group = groups.setdefault(key, _Group([], []))
        group.templates.append(template)
        group.events.extend(window.events[i] for i in indices)
    missing = cited.keys() - window.by_template.keys()
    for template in sorted(missing):  # seen only in the sampled traces
        events = [event for event in window.trace_docs if event.template == template]
        if events:
            groups.setdefault((window.miner.alike[template], -template), _Group([template], events))
    for group in groups.values():
        if len(group.templates) > 1:
            group.events.sort(key=lambda event: event.time)
    return list(groups.values())


def templates_of(fact: Fact) -> set[int]:
    """All templates that a fact is about."""
    found = {fact.template} if fact.template is not None else set()
    more = fact.figures.get("templates", ())
    if isinstance(more, list | tuple):
        found.update(more)
    return found | {value for key in ("a", "b") if isinstance(value := fact.figures.get(key), int)}


def _row(
    window: Window, group: _Group, cited: Mapping[int, Fact], stated: set[int], split: tuple[float, float]
) -> PatternRow:
    events, template = group.events, group.templates[0]
    before = sum(event.weight for event in events if event.time < split[0])
    after = sum(event.weight for event in events) - before
    fact = next((cited[t] for t in group.templates if t in cited), None)
    severity = window.severity[template]
    change, ratio = _change(before, after, split[1])
    sample = _sample(events, split[0])
    hit = next((hit for t in group.templates if (hit := window.hits.get(t)) is not None), None)
    told = hit is not None or not window.excused.isdisjoint(group.templates)
    said = sample.message[:_TEXT]
    interest = _Interest(severity, change, before + after, window.total, cited=fact is not None, told=told)
    return PatternRow(
        priority=_priority(interest, said),
        templates=tuple(group.templates),
        text=window.display(template),
        services=_services(events),
        severity=severity,
        level=events[0].level,
        change="stopped" if _stopped(fact, severity) else change,
        ratio=ratio,
        before=before,
        after=after,
        first=events[0].time,
        last=events[-1].time,
        callsite=window.miner.keys[template][1],
        sample=sample,
        note="; ".join([*_values(events, severity, told=told), *_error_texts(events), *_numbers(events)]),
        mechanism=hit.id if hit else "",
        cited=fact.kind if fact else "",
        quiet=_quiet(window, interest, said) and stated.isdisjoint(group.templates),
    )


def _services(events: Sequence[Event]) -> dict[str, float]:
    services: Counter[str] = Counter()
    for event in events:
        services[event.service] += event.weight  # type: ignore[assignment]  # a Counter adds floats as well
    return dict(services.most_common())


def _stopped(fact: Fact | None, severity: int) -> bool:
    """Whether the fact says that the healthy statement is missing."""
    return fact is not None and (fact.kind in _STOPPED or (fact.kind == "own_error" and severity < ERROR))


def _change(before: float, after: float, share: float) -> tuple[Change, float | None]:
    """How the count after the split compares with the one before; `share` of the window lies before."""
    if before == 0:
        return "new", None
    ratio = (after / (1 - share)) / (before / share)
    if (before >= _ALL_GONE and after == 0) or (before >= _NEARLY_GONE and after < 0.15 * before * (1 - share) / share):
        return "gone", ratio
    if ratio >= _FACTOR and after >= _TIMES_MORE:
        return "up", ratio
    if ratio <= 1 / _FACTOR and before >= _LESS_THAN:
        return "down", ratio
    return "steady", ratio


_BY_CHANGE: Mapping[str, float] = {"gone": 1.0, "new": 1.0, "up": 0.8, "down": 0.5}


@dataclass(frozen=True, slots=True)
class _Interest:
    """What makes a pattern worth a row. `told`: it states a mechanism, or that something is no trouble."""

    severity: int
    change: Change
    count: float
    total: float
    cited: bool
    told: bool


def _priority(interest: _Interest, sample: str) -> float:
    value = _BY_SEVERITY[interest.severity] + _BY_CHANGE.get(interest.change, 0.0)
    value += _CITED if interest.cited else 0.0
    if interest.count <= _FEW:
        value += 1.5
    elif interest.count <= max(_RARE, _RARE_SHARE * interest.total):
        value += 0.8
    if interest.severity < ERROR:
        value += 0.7 if interest.told or WEAK.search(sample) else 0.0
        value += 0.5 if interest.count <= _FEW and RECOVERY.search(sample) else 0.0
    return value + (1.2 if _slow(sample) else 0.0)


def _quiet(window: Window, interest: _Interest, said: str) -> bool:
    """Whether lines like this one say nothing of trouble, recovery, delay or change."""
    if interest.severity or interest.told or WEAK.search(said) or _slow(said):
        return False
    return not (interest.count <= _FEW and RECOVERY.search(said)) and not window.catalogue.change(said)


def _slow(sample: str) -> bool:
    return len(sample) < _SHORT_TEXT and max(durations(sample), default=0.0) >= _SLOW_S


def _sample(events: Sequence[Event], split: float) -> Event:
    if timed := _timed(events[:_PROBED]) and _timed(events[:_READ]):
        return max(timed, key=lambda pair: pair[0])[1]
    return next((event for event in events if event.time >= split), events[-1])


def _timed(events: Sequence[Event]) -> list[tuple[float, Event]]:
    return [
        (max(found), event)
        for event in events
        if len(event.message) < _TIMED_TEXT and (found := durations(event.message))
    ]


def _values(events: Sequence[Event], severity: int, *, told: bool) -> list[str]:
    """Whom the lines of trouble name, where they differ in that."""
    values = slot_values(events) if severity >= ERROR or told else ""
    return [values] if values else []


def _error_texts(events: Sequence[Event]) -> list[str]:
    """The two most frequent texts in fields of errors."""
    texts: Counter[str] = Counter()
    keys = _keys(events, _names_error)
    for event in events[:_READ] if keys else ():
        for key in keys:
            if isinstance(value := event.extra.get(key), str):
                texts[f"{key}={' '.join(value[:_CUT].split())}"] += 1
    return [text for text, _ in texts.most_common(2)]


def _numbers(events: Sequence[Event]) -> list[str]:
    """Quantiles of the first two numeric fields that hold durations, or counts of status codes."""
    found: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    keys = _keys(events, _telling)
    for event in events[:_READ] if keys else ():
        for key in keys:
            if isinstance(value := event.extra.get(key), int | float) and not isinstance(value, bool):
                found[key].append((float(value), event.weight))
    parts = [_number(key, rows) for key, rows in list(found.items())[:2]]
    return [part for part in parts if part]


def _keys(events: Sequence[Event], wanted: Callable[[str], bool]) -> list[str]:
    """Wanted names of fields, in the order in which the events show them."""
    return [key for key in dict.fromkeys(chain.from_iterable(event.extra for event in events[:_READ])) if wanted(key)]


@lru_cache(maxsize=4096)
def _names_error(key: str) -> bool:
    low = key.lower()
    return "stack" not in low and any(word in low for word in _ERROR_KEYS)


@lru_cache(maxsize=4096)
def _telling(key: str) -> bool:
    low = key.lower()
    return any(word in low for word in _NUMBER_KEYS)


def _number(key: str, rows: Sequence[tuple[float, float]]) -> str:
    """`~` where the values stand for more records than were read."""
    about = "~" if any(weight > 1 for _, weight in rows) else ""
    if "status" in key.lower():
        counts: defaultdict[float, float] = defaultdict(float)
        for value, weight in rows:
            counts[value] += weight
        top = sorted(counts.items(), key=lambda pair: -pair[1])[:4]
        return f"{key}: " + ", ".join(f"{value:g} x{about}{count:.0f}" for value, count in top)
    if len(rows) < _FEW:
        return ""
    values = [value for value, _ in rows]
    p50, p95 = quantile(values, 0.5), quantile(values, 0.95)
    return f"{key} p50={about}{p50:.4g} p95={about}{p95:.4g} max={about}{max(values):.4g}"


def _fair(rows: Sequence[PatternRow]) -> Iterator[PatternRow]:
    """Rows by priority; from BY_PRIORITY on, one service may not take more than its turn."""
    yield from rows[:BY_PRIORITY]
    queues: dict[str, deque[PatternRow]] = {}
    for row in rows[BY_PRIORITY:]:
        queues.setdefault(next(iter(row.services)), deque()).append(row)
    while queues:
        for service in list(queues):
            yield queues[service].popleft()
            if not queues[service]:
                del queues[service]
