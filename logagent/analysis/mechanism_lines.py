"""Mechanism lines as facts: what a service's new or spiking lines state, and about whom (analysis.md 3.7, 3.8)."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from logagent.analysis import figures
from logagent.analysis.cycles import period_of
from logagent.analysis.events import full_text
from logagent.analysis.facts import Event, Fact
from logagent.analysis.limits import EDGE, ERROR, EVEN, SMALL, STATED
from logagent.analysis.mechanisms import Entry, Hit
from logagent.analysis.study import Blame, Study
from logagent.expressions import expression

SURE = 1e-3
"""Chance of the lead below which a mechanism counts as new."""
SHARE = 0.05
"""Share of the service's lines, for a fault without a healthy part."""

_VIEWED = 50
"""Lines of a group that are asked whom they blame."""
_SHOWN = 3
_QUOTED = 170
_ENOUGH = 5
"""Occurrences from which the order in time can be tested."""
_REST = 20
"""Other lines of a service from which they measure its time better than the clock does."""
_AT_ONCE_S = 5.0
_FEW_CYCLES = 4
_EVENTS, _ECHO_EVENTS = 2, 3
_LATE = 0.2
_PROBE_S = 120.0
_BEFORE_S, _AFTER_S = -5.0, 600.0
"""Evictions in this span around a bad event of a node belong to the node."""

_STOPPING = expression(r"\bkilling\b|\bstopping container\b|\bterminat", re.IGNORECASE)
_RESTART = expression(r"will be restarted|failed (?:liveness|startup)|oom", re.IGNORECASE)
_NODE = "node/"
_EVICTED = "deploy.evicted"

_CLAIMS = frozenset({"new", "spiking", "order", "small", "present", "cycle", "event"})
"""Novelties that may carry a cause; `rare` and `steady` may not."""
_LESS = {"present": 0.7, "small": 0.9}


@dataclass(frozen=True, slots=True)
class _Group:
    """All lines of one service that state one mechanism."""

    service: str
    entry: Entry
    hit: Hit
    weak: bool
    templates: frozenset[int]
    severity: int
    events: list[Event]
    """Oldest first; never empty."""
    blame: Blame
    count: float
    """Occurrences, those inside events included."""
    first: float
    """Time of the first occurrence, also inside an event."""

    @property
    def of_events(self) -> bool:
        """Whether platform events are among the lines."""
        return any(event.event for event in self.events)


def mechanism_lines(study: Study, episodes: Sequence[Fact]) -> list[Fact]:
    """One fact per service and mechanism; `episodes` say which templates spike."""
    reader = _Reader(study, episodes)
    return _nodes([reader.fact(group) for group in reader.groups()])


class _Reader:
    """Groups the lines of a study by mechanism and judges each group."""

    def __init__(self, study: Study, episodes: Sequence[Fact]) -> None:
        self.study = study
        self.window = study.window
        self.spiking = {fact.template for fact in episodes if fact.kind in {"episode", "spike"}}

    def groups(self) -> Iterator[_Group]:
        """Lines by service and mechanism, without those that only repeat what another service states."""
        by_mechanism: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for template, hit in self.window.hits.items():
            if hit is not None and template in self.window.by_template:
                by_mechanism[self.window.service(template), hit.id].append(template)
        for (service, name), templates in by_mechanism.items():
            events = self._events(templates)
            entry = self.window.catalogue.entries[name]
            if events and not entry.relay:
                group = self._group(service, entry, templates, events)
                if group is not None:
                    yield group

    def _events(self, templates: list[int]) -> list[Event]:
        indices = sorted(i for template in templates for i in self.window.by_template[template])
        events = [self.window.events[i] for i in indices]
        return [event for event in events if not self._stopped(event)]

    def _group(self, service: str, entry: Entry, templates: list[int], events: list[Event]) -> _Group | None:
        hits = [hit for template in templates if (hit := self.window.hits[template]) is not None]
        hit = next((hit for hit in hits if not hit.weak), hits[0])
        viewed = events[:_VIEWED]
        named = sum(event.weight for event in viewed if self.window.blames(event)[0])
        if hit.side == "dependency" and named * EVEN > self.study.number(viewed):
            return None  # the dependency logs here itself and gets the blame instead
        return _Group(
            service=service,
            entry=entry,
            hit=hit,
            weak=all(hit.weak for hit in hits),
            templates=frozenset(templates),
            severity=max(self.window.severity[template] for template in templates),
            events=events,
            blame=self.study.blame_of(viewed),
            count=sum(event.count * event.weight for event in events),
            first=min(event.time if event.first is None else event.first for event in events),
        )

    @cached_property
    def _killed(self) -> dict[str, list[float]]:
        """Object -> times at which it was told to stop (and not to start again)."""
        found: defaultdict[str, list[float]] = defaultdict(list)
        for event in self.window.events:
            if event.event and _STOPPING.search(event.message) and not _RESTART.search(event.message):
                found[event.object].append(event.time)
        return found

    def _stopped(self, event: Event) -> bool:
        """Whether it is a failing probe of a pod that is being stopped, which is no fault."""
        if not event.event or not event.object:
            return False
        return any(0 <= event.time - time <= _PROBE_S for time in self._killed.get(event.object, ()))

    def fact(self, group: _Group) -> Fact:
        """What a group says, and whether it may carry a cause."""
        novelty, p = self._novelty(group)
        novelty = self._promoted(group, novelty)
        claim = _claimable(group, novelty)
        earlier = self.study.last_before(group.service, group.first)
        decisive = _decisive(group.events)
        quoted = decisive[0].message[:_QUOTED]
        return Fact(
            kind="mechanism" if claim else "mechanism_weak",
            service=group.service,
            p=p,
            text=f'{group.entry.id}: {group.count:.0f} lines of {group.service} state it ({novelty}): "{quoted}"',
            onset=(min(earlier, group.first), group.first),
            template=group.events[0].template,
            blames=group.blame.named,
            weight=_weight(group, novelty, claim=claim),
            figures={
                "id": group.entry.id,
                "entity": self._entity(group),
                "side": group.hit.side,
                "weak": group.weak,
                "novelty": novelty,
                "docs": group.events,
                "lines": [event.message for event in decisive],
                "count": group.count,
                "rank": group.hit.rank,
                "event": group.of_events,
            },
        )

    def _entity(self, group: _Group) -> str:
        """What is at fault: the logger, or the dependency that most of the lines name."""
        if group.hit.side != "dependency":
            return group.service
        names: defaultdict[str, float] = defaultdict(float)
        for event in group.events[:_VIEWED]:
            if name := self.window.catalogue.dependency(group.hit, full_text(event), group.service):
                names[name] += event.weight
        return max(names, key=names.__getitem__) if names else group.service

    def _novelty(self, group: _Group) -> tuple[str, float]:
        """(new | spiking | small | present | rare | steady, p)."""
        if self.window.total < SMALL:
            return "small", 1.0
        lead = self._lead(group)
        tested = sum(event.count * self.study.tested(event) for event in group.events)
        p = (1 - min(1.0, max(0.0, lead))) ** tested
        if group.count >= _ENOUGH and p <= SURE:
            return "new", p
        if self.spiking & group.templates:
            return "spiking", p
        if group.count < _ENOUGH:
            return "rare", p
        return ("present", 1.0) if self._present(group, lead) else ("steady", 1.0)

    def _lead(self, group: _Group) -> float:
        """Share of the window before the first line, by the clock or by the service's other lines if that is less."""
        lead = (group.first - self.window.start) / self.window.length
        rest = self.study.volume.get(group.service, 0.0) - self.study.number(group.events)
        if rest < _REST:
            return lead
        templates = {event.template for event in group.events}
        before = self.study.lines_between(group.service, self.window.start, group.first)
        others = sum(e.weight for e in before if e.time < group.first and e.template not in templates)
        return min(lead, others / rest)

    def _present(self, group: _Group, lead: float) -> bool:
        """There from the start to the end, and a fair share of what the service logs."""
        enough = self.study.number(group.events) >= SHARE * self.study.volume.get(group.service, 0.0)
        late = self.window.end - group.events[-1].time <= _LATE * self.window.length
        return lead <= EDGE and enough and late and (group.severity >= ERROR or not group.weak)

    def _promoted(self, group: _Group, novelty: str) -> str:
        """Few or steady lines count where the order of things, a cycle or repeated events speak for them."""
        if novelty == "rare" and self._orders(group):
            novelty = "order"
        if novelty in {"rare", "steady"} and not group.weak and self._cycles(group):
            novelty = "cycle"
        if novelty == "rare" and self._repeated_event(group):
            novelty = "event"
        return novelty

    def _orders(self, group: _Group) -> bool:
        """Whether others name the service afterwards, or it falls silent."""
        if group.weak or group.hit.side != "self" or group.severity < STATED:
            return False
        named = any(time >= group.first - _AT_ONCE_S for time in self._named.get(group.service, ()))
        return named or self._silent_after(group.service, group.events[-1].time)

    def _cycles(self, group: _Group) -> bool:
        if len(group.events) < _FEW_CYCLES:
            return False
        healthy = [e for e in self.study.events_of(group.service) if self.window.severity[e.template] == 0]
        period = period_of(group.events, healthy)
        return period is not None and group.first - self.window.start > 1.5 * period

    def _repeated_event(self, group: _Group) -> bool:
        least = _ECHO_EVENTS if group.entry.echo else _EVENTS
        late = group.first - self.window.start > EDGE * self.window.length
        return group.count >= least and group.severity >= ERROR and late and all(event.event for event in group.events)

    @cached_property
    def _named(self) -> dict[str, list[float]]:
        """Service -> times at which errors of others name it."""
        found: defaultdict[str, list[float]] = defaultdict(list)
        for event in self.study.errors:
            for other in self.window.blames(event)[0]:
                found[other].append(event.time)
        return found

    def _silent_after(self, service: str, last: float) -> bool:
        after = [event for event in self.window.events if event.time > last + 1]
        before = self.study.lines_between(service, self.window.start, last)
        spoke = sum(event.weight for event in before if event.time < last)
        quiet = not any(event.service == service for event in after)
        return quiet and self.study.number(after) >= _REST and spoke >= _REST / 2


def _claimable(group: _Group, novelty: str) -> bool:
    """Whether a group may carry a cause."""
    if novelty not in _CLAIMS or (group.weak and not group.of_events):
        return False
    many = group.count >= _ENOUGH and novelty in {"new", "present"}
    return group.severity >= ERROR or many or (group.events[0].event and not group.weak)


def _weight(group: _Group, novelty: str, *, claim: bool) -> float:
    if not claim:
        return 0.4 if group.weak else 0.6
    return _LESS.get(novelty, 1.0) * (0.8 if group.entry.echo else 1.0)


def _decisive(events: Sequence[Event]) -> list[Event]:
    """The first line, and more wordings; the last line where there is room."""
    first: dict[int, Event] = {}
    for event in events:
        first.setdefault(event.template, event)
    return [*first.values(), events[-1]][:_SHOWN]


def _nodes(found: list[Fact]) -> list[Fact]:
    """Pods that leave a node in trouble are its consequence."""
    nodes = [f for f in found if any(e.object.lower().startswith(_NODE) for e in figures.events(f))]
    for node in nodes:
        pods = [f for f in found if f.service != node.service and f.figures["id"] == _EVICTED and _follows(f, node)]
        if pods:
            node.kind, node.weight = "mechanism", 1.0
            node.figures["novelty"] = "order"
        for pod in pods:
            pod.blames = frozenset({node.service})
    return found


def _follows(fact: Fact, node: Fact) -> bool:
    if fact.onset is None or node.onset is None:
        return False
    return _BEFORE_S <= fact.onset[1] - node.onset[1] <= _AFTER_S
