"""One window under study: the window, what was asked about it, and what all signals look up in it."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from logagent.analysis.captures import OPENING_S, Capture, separate
from logagent.analysis.facts import Event
from logagent.analysis.lexicon import durations
from logagent.analysis.limits import EDGE, ERROR, EVEN
from logagent.analysis.window import BUCKETS, Window

_PROBES = 8
_READ = 2000
_NAMING = 50
_MESSAGE_CHARS = 400


class Blame(NamedTuple):
    """What a group of errors says about others."""

    relay: bool
    """Most of them only tell that a call failed."""
    named: frozenset[str]
    """Services that at least half of them name."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, besides the events."""

    alert: float | None = None
    """Time of an alert; changes are only looked for within `reach` seconds of it."""
    reach: float = 120.0
    asked: tuple[float, float] | None = None
    """The span the user means, when the events also hold an earlier stretch."""
    exact: bool = True
    """False: weights are estimates from a sample; tests then count the events read, never their weights."""


class Study:
    """A window, the question, and lookups by service. Built once a survey; the signals only read it."""

    def __init__(self, window: Window, question: Question) -> None:
        self.window = window
        self.alert = question.alert
        self.reach = question.reach if question.alert is None else max(question.reach, EDGE * window.length)
        self.asked = question.asked
        self.exact = question.exact

    @cached_property
    def by_service(self) -> dict[str, list[int]]:
        """Indices of the events of each service, oldest first."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for index, event in enumerate(self.window.events):
            found[event.service].append(index)
        return dict(found)

    @cached_property
    def _times(self) -> dict[str, list[float]]:
        events = self.window.events
        return {service: [events[i].time for i in indices] for service, indices in self.by_service.items()}

    @cached_property
    def volume(self) -> dict[str, float]:
        """Lines per service."""
        return {service: self.number(self.events_of(service)) for service in self.by_service}

    @cached_property
    def buckets(self) -> list[int]:
        """The bucket of every event."""
        bucket = self.window.bucket
        return [bucket(event.time) for event in self.window.events]

    @cached_property
    def weights(self) -> list[float]:
        """The weight of every event."""
        return [event.weight for event in self.window.events]

    @cached_property
    def tested_weights(self) -> list[float]:
        """What every event counts for in a test of significance."""
        return self.weights if self.exact else [1.0] * len(self.window.events)

    @cached_property
    def spans(self) -> dict[int, float]:
        """Longest duration in the text of an event, in seconds, by index; statements without durations are left out.

        A statement is asked in a few lines whether it holds any; a very frequent one is read in part.
        """
        found: dict[int, float] = {}
        for indices in self.window.by_template.values():
            if any(self._span(i) for i in thinned(indices, _PROBES)):
                found.update((i, span) for i in thinned(indices, _READ) if (span := self._span(i)) is not None)
        return found

    def _span(self, index: int) -> float | None:
        message = self.window.events[index].message
        return max(durations(message), default=None) if len(message) < _MESSAGE_CHARS else None

    def series(self, indices: Iterable[int], weights: Sequence[float]) -> list[float]:
        """Sums of weights per bucket."""
        row, buckets = [0.0] * BUCKETS, self.buckets
        for i in indices:
            row[buckets[i]] += weights[i]
        return row

    @cached_property
    def errors(self) -> list[Event]:
        """Error lines, oldest first."""
        severity = self.window.severity
        bad = {template for template, value in severity.items() if value >= ERROR}
        return [event for event in self.window.events if event.template in bad]

    @cached_property
    def captures(self) -> list[Capture]:
        """Stretches of the source that have no service in common; empty where it is all one."""
        times = self._times
        return separate({service: (own[0], own[-1], len(own)) for service, own in times.items()})

    def opens(self, time: float) -> bool:
        """Whether a capture begins shortly before."""
        return any(one.start <= time <= one.start + OPENING_S for one in self.captures)

    @cached_property
    def naming(self) -> dict[str, set[str]]:
        """Who names a service in its errors, of the span asked about; a frequent error is read in part."""
        begin = self.asked[0] if self.asked else self.window.start
        rows: defaultdict[tuple[int, str], list[Event]] = defaultdict(list)
        for event in self.errors:
            if event.time >= begin:
                rows[event.template, event.service].append(event)
        found: defaultdict[str, set[str]] = defaultdict(set)
        for (_, service), events in rows.items():
            for event in events[:: max(1, len(events) // _NAMING)]:
                for named in self.window.blames(event)[0]:
                    found[named].add(service)
        return dict(found)

    def events_of(self, service: str) -> list[Event]:
        """The events of a service, oldest first; empty for an unknown one."""
        return [self.window.events[i] for i in self.by_service.get(service, ())]

    def events_with(self, template: int) -> list[Event]:
        """The events of a template, oldest first."""
        return [self.window.events[i] for i in self.window.by_template.get(template, ())]

    def rare(self, template: int, most: int) -> bool:
        """Whether at most `most` lines carry the template."""
        return self.window.weight_of.get(template, 0.0) <= most

    def last_before(self, service: str, time: float) -> float:
        """Time of the last line of the service before `time`; the start of the window where there is none."""
        times = self._times.get(service, [])
        place = bisect_left(times, time)
        return times[place - 1] if place else self.window.start

    def lines_between(self, service: str, start: float, end: float) -> Sequence[Event]:
        """Events of the service with start <= time <= end."""
        times, indices = self._times.get(service, []), self.by_service.get(service, [])
        return [self.window.events[i] for i in indices[bisect_left(times, start) : bisect_right(times, end)]]

    def number(self, events: Iterable[Event]) -> float:
        """Lines that the events stand for."""
        return sum(event.weight for event in events)

    def tested(self, event: Event) -> float:
        """What one event counts for in a test of significance: its weight where that is exact, else 1."""
        return event.weight if self.exact else 1.0

    def near(self, times: Sequence[float]) -> Callable[[int], bool] | None:
        """Which places of a sequence an alert allows for a change; None without an alert."""
        alert, reach = self.alert, self.reach
        if alert is None:
            return None
        return lambda place: abs(times[place] - alert) <= reach

    def near_bucket(self) -> Callable[[int], bool] | None:
        """Which buckets an alert allows for a beginning; None without an alert."""
        alert, start, width = self.alert, self.window.start, self.window.length / BUCKETS
        if alert is None:
            return None
        reach = self.reach + width
        return lambda bucket: abs(start + bucket * width - alert) <= reach

    def blame_of(self, events: Sequence[Event]) -> Blame:
        """The views of several errors together."""
        views = [(self.window.blames(event), event.weight) for event in events]
        weight = sum(each for _, each in views)
        relay = sum(each for view, each in views if view[1])
        named: defaultdict[str, float] = defaultdict(float)
        for view, each in views:
            for service in view[0]:
                named[service] += each
        return Blame(relay * EVEN > weight, frozenset(s for s, n in named.items() if n * EVEN >= weight))


def thinned(indices: Sequence[int], most: int) -> Sequence[int]:
    """At most `most` of the indices, evenly spread.

    >>> thinned([1, 2, 3, 4, 5], 3)
    [1, 3, 5]
    """
    return indices[:: max(1, -(-len(indices) // most))]


def traces_of(events: Iterable[Event]) -> frozenset[str]:
    """Trace ids of the events."""
    return frozenset(event.trace for event in events if event.trace)


def samples(*groups: Iterable[Event], most: int = 3) -> list[str]:
    """At most `most` different messages, in order: the sample lines of a fact."""
    return list(dict.fromkeys(event.message for group in groups for event in group))[:most]
