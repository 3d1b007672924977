"""Numbers in fields and texts that measure something: which, under what words, against which limit."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from logagent.analysis.digits import alike
from logagent.analysis.facts import Event
from logagent.analysis.figures import measure
from logagent.analysis.lexicon import DURATION_FIELD
from logagent.analysis.study import Study, thinned
from logagent.expressions import expression

NUMBER = expression(
    r"(?<![\w.:/-])(-?\d{1,18}(?:[.,]\d{1,18})?)\s?(ms|milliseconds?|s|secs?|seconds?|%|[KMGT]i?B?|k|m)?(?![\w:-])"
)
NOISE = expression(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|"
    r"\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b"
)
"""Times, addresses and hashes: digits that measure nothing."""
_CLOCK, _HASH, _ADDRESS_DOTS = expression(r"\d:\d"), expression(r"[0-9a-f]{8}"), 3
"""What every match of NOISE holds one of; cheap to look for."""
COUNTER = expression(
    r"\b(?:id|seq|offset|lsn|port|pid|tid|line|uptime|epoch|version|total|count(?:er)?|batch|number|no|#|session|object|"
    r"part|block|revision|generation|sequence|bytes (?:sent|read|written))\W{0,3}$",
    re.IGNORECASE,
)
"""Words before a number that only counts or names."""
FALLING = expression(r"remain|\bleft\b|\bfree\b|available|headroom|hit.?(?:rate|ratio)|throughput", re.IGNORECASE)
"""Words of a gauge that is in trouble when it falls."""
_TIMED = expression(r"latency|response.?time|elapsed", re.IGNORECASE)
_OF = expression(r"\s?(?:[KMGT]i?B?|m)?\s?(?:/|\bof\b)\s?(\d+(?:\.\d+)?)", re.IGNORECASE)
_LIMIT = expression(r"\b(?:limit|max|capacity)[=: ]{1,2}(\d+(?:\.\d+)?)", re.IGNORECASE)
_DIGIT = expression(r"\d")
_KINDS = (
    (r"heap|memory|\bmem\b|\brss\b|resident|anon", "memory.near_limit"),
    (r"rate.?limit|quota", "quota.rate_limited"),
    (r"repl\w{0,10} (?:lag|delay)|seconds.behind", "db.replication"),
    (r"\blag\b|queue|backlog|pending|depth|in.?flight|waiting|unacked|behind", "queue.lag"),
    (r"pool|connections?|\bactive\b|sessions", "pool.exhausted"),
    (r"open files|\bfds?\b|descriptors", "limits.file_descriptors"),
    (r"threads", "limits.threads"),
    (r"disk|storage|free space|volume|inodes", "disk.low_space"),
    (r"\bcpu\b|\bload\b", "cpu.starved"),
    (r"\bgc\b|pause", "memory.gc_pressure"),
    (
        r"latency|duration|elapsed|\btook\b|response.?time|\bp(?:50|90|95|99)\b|rendered|finished|completed|answered",
        "",
    ),
    (r"error.?rate|errors?.{0,3}%|fail\w{0,10}.?(?:rate|share)|percent|util|usage", ""),
)
_GAUGES = tuple((expression(pattern, re.IGNORECASE), mechanism) for pattern, mechanism in _KINDS)
_ANY = expression("|".join(f"(?:{pattern})" for pattern, _ in _KINDS))
"""Any kind of gauge, in lower case."""
_BEFORE, _BEHIND = 28, 14
"""Characters around a number that say what it measures."""
_POINTS = 10
_SAMPLE, _FEWEST, _READ = 400, 40, 20_000
"""Most points of one series, of which there may be fewer with many statements; longer ones are thinned evenly."""
_MESSAGE_CHARS = 400
_PROBES = 8
"""Lines of a statement that are asked whether it measures anything."""
_SECONDS = frozenset({"s", "sec", "secs", "second", "seconds"})


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a number stands: a template, and a field name or the place among the numbers of the text."""

    service: str
    template: int
    name: str | int


@dataclass(slots=True)
class Gauge:
    """One number over time with the words around it. Durations in texts are in milliseconds."""

    slot: Slot
    points: list[tuple[float, float]]
    label: str
    timed: bool
    sample: str

    def limit(self, end: float) -> float | None:
        """The number behind this one in `x / y`, `x of y`, `limit=y`, or 100 for per cent; None when unknown.

        A limit under half of `end` is none.
        """
        if isinstance(self.slot.name, int):
            text = NOISE.sub(" ", self.sample)
            hits = list(NUMBER.finditer(text))
            if self.slot.name < len(hits):
                spot = hits[self.slot.name].end()
                beside = _OF.match(text[spot:])
                if beside and float(beside[1]) >= abs(end) / 2:
                    return float(beside[1])
                if text[max(0, spot - 1) : spot + 2].strip().startswith("%") and end <= 101:  # noqa: PLR2004
                    return 100.0
        named = _LIMIT.search(self.sample)
        return float(named[1]) if named and float(named[1]) >= abs(end) / 2 else None


def gauges(study: Study) -> list[Gauge]:
    """All numbers that measure something and were written at least ten times, oldest point first."""
    window, reader = study.window, NumberReader()
    most = max(_FEWEST, min(_SAMPLE, _READ // len(window.by_template)))
    found = []
    for template, indices in window.by_template.items():
        if len(indices) < _POINTS:
            continue
        if not any(True for i in thinned(indices, _PROBES) for _ in reader.numbers(window.events[i])):
            continue  # a statement that measures nothing
        for name, points in reader.series([window.events[i] for i in thinned(indices, most)]).items():
            if len(points) >= _POINTS:
                found.append(_gauge(study, Slot(window.service(template), template, name), sorted(points)))
    return found


class _Measuring(dict[str, bool]):
    """Whether a field holds a measure, by its name."""

    def __missing__(self, field: str) -> bool:
        words = field.lower().replace("_", " ").replace(".", " ")
        known = self[field] = _ANY.search(words) is not None or DURATION_FIELD.search(field) is not None
        return known


class _Spot(NamedTuple):
    """Where a number that measures something stands in a text without noise; `scale` makes it milliseconds."""

    place: int
    start: int
    end: int
    scale: float


class NumberReader:
    """Reads the numbers of events that measure something; remembers where they stand in texts that are alike."""

    def __init__(self) -> None:
        self._measures = _Measuring()
        self._spots: dict[str, tuple[bool, list[_Spot]]] = {}
        self._contexts: dict[tuple[str, str, bool], bool] = {}

    def series(self, events: Iterable[Event]) -> dict[str | int, list[tuple[float, float]]]:
        """(time, value) by field name or place in the text."""
        found: defaultdict[str | int, list[tuple[float, float]]] = defaultdict(list)
        for event in events:
            for name, value in self.numbers(event):
                found[name].append((event.time, value))
        return found

    def numbers(self, event: Event) -> Iterator[tuple[str | int, float]]:
        """(field name or place in the text, value) of the numbers of one event that measure something."""
        for key, value in event.extra.items():
            if self._measures[key] and (known := measure(value)) is not None:
                yield key, known
        if len(event.message) > _MESSAGE_CHARS or not _DIGIT.search(event.message):
            return
        same = alike(event.message)  # where numbers stand and what is said of them is not in their digits
        read = self._spots.get(same)
        if read is None:
            read = self._spots[same] = self._read(same)
        noisy, spots = read
        if not spots:
            return
        text = NOISE.sub(" ", event.message) if noisy else event.message
        for place, start, end, scale in spots:
            yield place, float(text[start:end].replace(",", ".")) * scale

    def _read(self, message: str) -> tuple[bool, list[_Spot]]:
        """Whether a text holds noise, and its numbers that measure something."""
        noisy = _is_noisy(message)
        text = NOISE.sub(" ", message) if noisy else message
        low = text.lower()
        spots = []
        for place, hit in enumerate(NUMBER.finditer(text)):
            unit = (hit[2] or "").lower()
            start, end = hit.span()
            if self._is_gauge(low[max(0, start - _BEFORE) : start], low[end : end + _BEHIND], unit):
                spots.append(_Spot(place, hit.start(1), hit.end(1), 1000.0 if unit in _SECONDS else 1.0))
        return noisy, spots

    def _is_gauge(self, around: str, behind: str, unit: str) -> bool:
        """Whether the words around a number say that it measures something."""
        timed = unit.startswith(("ms", "mill", "s"))
        key = (around, behind, timed)
        known = self._contexts.get(key)
        if known is None:
            words = around.replace("_", " ")
            known = not COUNTER.search(words) and (timed or _ANY.search(f"{words} {behind}") is not None)
            self._contexts[key] = known
        return known


def _is_noisy(text: str) -> bool:
    return bool(_CLOCK.search(text) or text.count(".") >= _ADDRESS_DOTS or _HASH.search(text))


def mechanism_of_gauge(words: str) -> str | None:
    """Mechanism that the growth of a gauge hints at, empty for none in particular, None for no gauge."""
    return next((mechanism for pattern, mechanism in _GAUGES if pattern.search(words)), None)


def _gauge(study: Study, slot: Slot, points: list[tuple[float, float]]) -> Gauge:
    """Add the words around the number in the latest line."""
    sample = study.window.events[study.window.by_template[slot.template][-1]].message
    if isinstance(slot.name, str):
        return Gauge(slot, points, slot.name, DURATION_FIELD.search(slot.name) is not None, sample)
    text = NOISE.sub(" ", sample)
    for place, hit in enumerate(NUMBER.finditer(text)):
        if place == slot.name:
            label = text[max(0, hit.start() - _BEFORE) : hit.end() + _BEHIND]
            unit = (hit[2] or "").lower()
            timed = unit.startswith(("ms", "mill", "s")) or _TIMED.search(label) is not None
            return Gauge(slot, points, label, timed, sample)
    return Gauge(slot, points, "", timed=False, sample=sample)
