"""Services that fell silent, and services that others can no longer reach (analysis.md 3.2 and 3.6)."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from logagent.analysis.facts import Event, Fact
from logagent.analysis.figures import lines, number
from logagent.analysis.lexicon import DISCOVERY
from logagent.analysis.limits import ALPHA, EDGE, ERROR
from logagent.analysis.study import Study

TAIL = 0.1
"""Share of the window that a silence lasts at least."""
BURST_GAP_S = 1.0
BURSTS = 6
ANSWERS = 0.1
"""Largest share of requests that an unreachable service still answers."""
_DUE = 10


def silent_services(study: Study) -> list[Fact]:
    """Services whose lines end long before the window does, while the rest goes on; never claimed alone.

    None where the logs are separate captures: where one of these ends says nothing of its services.
    """
    if study.captures:
        return []
    window = study.window
    weights = [0.0, *accumulate(study.tested_weights)]
    found = []
    for service in study.by_service:
        last = window.events[study.by_service[service][-1]].time
        off = study.alert is not None and abs(last - study.alert) > study.reach
        if off or window.end - last < TAIL * window.length:
            continue
        tail = weights[-1] - weights[bisect_right(window.events, last, key=lambda event: event.time)]
        fact = _silence(study, service, tail, weights[-1])
        if fact is not None:
            found.append(fact)
    return found


def _silence(study: Study, service: str, tail: float, total: float) -> Fact | None:
    """The silence of one service; `tail` of `total` lines were written after it."""
    window, events = study.window, study.events_of(service)
    bursts, last = _bursts(events), events[-1].time
    if bursts < BURSTS:
        return None
    others = total - sum(study.tested(event) for event in events)
    chance = math.exp(bursts * math.log(max(1e-12, 1 - tail / max(1.0, others))))
    p = chance * len(study.by_service)
    if p > ALPHA:
        return None
    text = (
        f"{service} logs nothing after {last - window.start:.0f} s of {window.length:.0f} s ({bursts} bursts before; "
        f"the others wrote {tail:.0f} lines since)"
    )
    return Fact(
        "silent",
        service,
        min(1.0, p),
        text,
        (last, last),
        figures={
            "tail": tail,
            "last": window.end,
            "templates": [events[-1].template],
            "lines": [events[-1].message],
        },
    )


def _bursts(events: Sequence[Event]) -> int:
    """Number of stretches without a pause of more than a second."""
    bursts, before = 0, -math.inf
    for event in events:
        bursts += event.time - before > BURST_GAP_S
        before = event.time
    return bursts


@dataclass(slots=True)
class _Accused:
    """A service and the facts of others whose errors name it, from `begin` on."""

    service: str
    facts: list[Fact]
    begin: float

    def fact(self, *, looked_up: bool, text: str, last: float, lines: list[str]) -> Fact:
        """`unreachable`, or `undiscovered` where the errors tell of a failed look-up."""
        best = min(self.facts, key=lambda fact: fact.p)
        return Fact(
            "undiscovered" if looked_up else "unreachable",
            self.service,
            best.p,
            text,
            min((fact.onset for fact in self.facts if fact.onset), default=None),
            figures={
                "a": best.figures.get("a"),
                "b": best.template,
                "templates": sorted({fact.template for fact in self.facts if fact.template is not None}),
                "last": last,
                "lines": lines,
            },
        )

    @property
    def callers(self) -> str:
        """Names of those who complain."""
        return ", ".join(sorted({fact.service for fact in self.facts}))


def _accused(facts: Sequence[Fact], kind: str) -> list[_Accused]:
    relays = [fact for fact in facts if fact.kind == kind and fact.onset]
    found = []
    for service in sorted({named for fact in relays for named in fact.blames}):
        own = [fact for fact in relays if service in fact.blames]
        found.append(_Accused(service, own, min(fact.onset[1] for fact in own if fact.onset)))
    return found


def unreachable(study: Study, steps: Sequence[Fact]) -> list[Fact]:
    """Services that callers name in new errors and that answer hardly any request from then on."""
    window, found = study.window, []
    for accused in _accused(steps, "relay"):
        failing = frozenset(trace for fact in accused.facts for trace in fact.units)
        answered = {
            event.trace
            for event in window.trace_docs
            if event.service == accused.service and event.time >= accused.begin and event.trace
        } - failing
        if len(answered) > ANSWERS * (len(answered) + len(failing)):
            continue
        text = (
            f"{accused.service} is named by new errors of {accused.callers} in {len(failing)} requests and answers in "
            f"{len(answered)} others since"
        )
        errors = [f for f in accused.facts if f.template is not None and window.severity[f.template] >= ERROR]
        looked_up = any(DISCOVERY.search(window.text(f.template)) for f in errors if f.template is not None)
        fact = accused.fact(looked_up=looked_up, text=text, last=_last(accused), lines=_lines(accused))
        fact.units = failing
        found.append(fact)
    return found


def unreachable_by_counts(study: Study, episodes: Sequence[Fact]) -> list[Fact]:
    """Services that new errors of others name and whose own lines fall to a tenth from then on."""
    found = []
    for accused in _accused(episodes, "relay_episode"):
        own = study.events_of(accused.service)
        before = sum(study.tested(event) for event in own if event.time < accused.begin)
        after = sum(study.tested(event) for event in own) - before
        rest_before = sum(study.tested(e) for e in study.window.events if e.time < accused.begin) - before
        every = sum(study.tested_weights)
        due = before * (every - rest_before - before - after) / max(1.0, rest_before)
        if due < _DUE or after > ANSWERS * due:
            continue
        text = (
            f"{accused.service} is named by new errors of {accused.callers} and wrote {after:.0f} lines since where "
            f"{due:.0f} were due"
        )
        texts = [study.window.text(fact.template) for fact in accused.facts if fact.template is not None]
        looked_up = any(DISCOVERY.search(each) for each in texts)
        found.append(accused.fact(looked_up=looked_up, text=text, last=_last(accused), lines=_lines(accused)))
    return found


def _last(accused: _Accused) -> float:
    return max(number(fact, "last") for fact in accused.facts)


def _lines(accused: _Accused) -> list[str]:
    return list(dict.fromkeys(line for fact in accused.facts for line in lines(fact)))[:3]


def stops_in_silence(study: Study, facts: Sequence[Fact]) -> None:
    """Turn statements that stopped together with another, silent service into its consequence."""
    near = max(10.0, EDGE * study.window.length)
    quiet = [fact for fact in facts if fact.kind in ("silent", "unreachable", "undiscovered") and fact.onset]
    for fact in facts:
        if fact.kind == "own_gone" and fact.onset and any(_apart(fact, other) <= near for other in quiet):
            fact.kind = "stops"


def _apart(fact: Fact, other: Fact) -> float:
    """Seconds between the last good times of two facts of different services, infinite for the same service."""
    if fact.service == other.service or not fact.onset or not other.onset:
        return math.inf
    return abs(other.onset[0] - fact.onset[0])
