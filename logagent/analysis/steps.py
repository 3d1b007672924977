"""Request steps that stopped or appeared: statement B after statement A in a request (analysis.md 3.1).

Every count is per request, never per line: one request writes dozens of lines, and a test per line would take a burst
for evidence.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from logagent.analysis.facts import Event, Fact
from logagent.analysis.limits import ALPHA, EDGE, ERROR, EVEN, HIGH, LOW, MIN_SIDE, REACHABLE, RISE
from logagent.analysis.statistics import Step, least_p, quantile, scan_step
from logagent.analysis.study import Study, samples
from logagent.analysis.window import Pair, Window

LOOK_AHEAD = 3
"""Lines after A among which B counts as next: logs written asynchronously interleave."""
_SHOWN = 3
"""Sample lines of either kind in a fact."""


class Unit(NamedTuple):
    """The first A of one request, and whether B came next."""

    time: float
    trace: str
    place: int
    followed: bool


@dataclass(slots=True)
class _Test:
    """One step to be tested: the requests with A, oldest first."""

    pair: Pair
    units: list[Unit]
    hits: int


@dataclass(slots=True)
class _Change:
    """A tested step with one change in time: requests before and after it."""

    pair: Pair
    step: Step
    p: float
    onset: tuple[float, float]
    earlier: list[Unit]
    later: list[Unit]


class _Requests:
    """Templates and services of the lines of every request, laid out for the many look-ups of the steps."""

    def __init__(self, window: Window) -> None:
        self.window = window
        events = window.trace_docs
        self.templates = {trace: [events[i].template for i in rows] for trace, rows in window.traces.items()}
        self.services = {trace: [events[i].service for i in rows] for trace, rows in window.traces.items()}
        spans = [events[rows[-1]].time - events[rows[0]].time for rows in window.traces.values()]
        self.cut = window.end - min(quantile(spans, 0.95), EDGE * window.length)
        self._firsts: dict[int, list[tuple[float, str, int]]] = {}

    def event(self, trace: str, place: int) -> Event | None:
        """The line of a request at a place, or None behind its end."""
        rows = self.window.traces[trace]
        return self.window.trace_docs[rows[place]] if place < len(rows) else None

    def firsts(self, template: int) -> list[tuple[float, str, int]]:
        """(time, trace, place) of the first such line of every finished request, oldest first."""
        found = self._firsts.get(template)
        if found is None:
            events, traces = self.window.trace_docs, self.window.traces
            rows = (
                (events[traces[trace][place]].time, trace, place)
                for trace, place in self.window.first_places.get(template, ())
            )
            found = self._firsts[template] = sorted(row for row in rows if row[0] <= self.cut)
        return found

    def units(self, pair: Pair) -> list[Unit]:
        """The requests with A, oldest first; for a return only those in which the caller B spoke before."""
        caller = self.window.service(pair.b) if pair.kind() == "return" else None
        return [
            Unit(time, trace, place, pair.b in self.templates[trace][place + 1 : place + 1 + LOOK_AHEAD])
            for time, trace, place in self.firsts(pair.a)
            if caller is None or caller in self.services[trace][:place]
        ]


def request_steps(study: Study) -> list[Fact]:
    """Steps that stopped, and errors that appeared as a step, each with one change in time."""
    if not study.window.traces:
        return []
    requests = _Requests(study.window)
    found = []
    for change in _changes(study, requests):
        fact = _gone(study, requests, change) or _new_error(study, change)
        if fact is not None:
            found.append(fact)
    return found


def _tests(requests: _Requests) -> Iterator[_Test]:
    """Steps seen often enough that a test could ever be significant (Tarone)."""
    for pair in requests.window.pairs.values():
        if pair.count < MIN_SIDE:
            continue
        units = requests.units(pair)
        hits = sum(unit.followed for unit in units)
        if len(units) >= 2 * MIN_SIDE and least_p(hits, len(units)) <= REACHABLE:
            yield _Test(pair, units, hits)


def _changes(study: Study, requests: _Requests) -> Iterator[_Change]:
    tests = list(_tests(requests))
    for test in tests:
        times = [unit.time for unit in test.units]
        step = scan_step([int(unit.followed) for unit in test.units], study.near(times))
        if step is None or min(step.n_before, step.n_after) < MIN_SIDE:
            continue
        p = min(1.0, step.p * len(tests))
        if p <= ALPHA:
            k = step.k
            yield _Change(test.pair, step, p, (times[k - 1], times[k]), test.units[:k], test.units[k:])


def _gone(study: Study, requests: _Requests, change: _Change) -> Fact | None:
    """A usual step that stopped, blamed by what came in its place."""
    window, pair = study.window, change.pair
    if change.step.before < HIGH or change.step.after > LOW or window.severity[pair.b] >= ERROR:
        return None
    bad = [unit for unit in change.later if not unit.followed]
    good = [unit for unit in change.earlier if unit.followed]
    kind, service, blamed = _who(study, requests, pair, good, bad)
    text = (
        f'"{window.text(pair.b)[:90]}" of {window.service(pair.b)} stopped: followed '
        f'"{window.text(pair.a)[:60]}" in {_hits(change)}'
    )
    instead = [event for unit in bad if (event := requests.event(unit.trace, unit.place + 1)) is not None]
    usual = [
        event
        for unit in good[:_SHOWN]
        for place in range(unit.place + 1, unit.place + 1 + LOOK_AHEAD)
        if (event := requests.event(unit.trace, place)) is not None and event.template == pair.b
    ]
    errors = [event for event in instead if window.is_error(event)]
    lines = samples(errors or instead[-1:], usual)
    return _fact(change, Fact(kind, service, change.p, text, change.onset, pair.b, blamed), bad, lines)


def _new_error(study: Study, change: _Change) -> Fact | None:
    """An error line that became a step of the request."""
    window, pair, step = study.window, change.pair, change.step
    if step.after - step.before < RISE or window.severity[pair.b] < ERROR or step.before > LOW:
        return None
    bad = [unit for unit in change.later if unit.followed]
    events = [
        window.trace_docs[i]
        for unit in bad
        for i in window.traces[unit.trace]
        if window.trace_docs[i].template == pair.b
    ]
    blame = study.blame_of(events)
    text = f'new error of {window.service(pair.b)} "{events[0].message[:140]}": in {_hits(change)}'
    fact = Fact(
        "relay" if blame.relay else "own_error",
        window.service(pair.b),
        change.p,
        text,
        change.onset,
        pair.b,
        blame.named,
    )
    return _fact(change, fact, bad, samples(events))


def _hits(change: _Change) -> str:
    before = sum(unit.followed for unit in change.earlier)
    after = sum(unit.followed for unit in change.later)
    return f"{before} of {len(change.earlier)} requests before, {after} of {len(change.later)} after"


def _fact(change: _Change, fact: Fact, bad: Sequence[Unit], lines: list[str]) -> Fact:
    """Add the failing requests and the figures to a fact."""
    fact.units = frozenset(unit.trace for unit in bad)
    fact.figures = {
        "before": change.step.before,
        "after": change.step.after,
        "a": change.pair.a,
        "b": change.pair.b,
        "n": (len(change.earlier), len(change.later)),
        "hits": (sum(unit.followed for unit in change.earlier), sum(unit.followed for unit in change.later)),
        "last": bad[-1].time,
        "lines": lines,
    }
    return fact


class _Habits:
    """What followed a step while all was well."""

    def __init__(self, requests: _Requests, pair: Pair, good: Sequence[Unit]) -> None:
        self.after_b: set[int] = set()
        self.later: set[int] = set()
        self.ends = 0
        for unit in good:
            tail = requests.templates[unit.trace][unit.place + 1 :]
            self.later.update(tail)
            rest = tail[tail.index(pair.b) + 1 :]
            self.after_b.update(rest[:1])
            self.ends += not rest


def _who(
    study: Study, requests: _Requests, pair: Pair, good: Sequence[Unit], bad: Sequence[Unit]
) -> tuple[str, str, frozenset[str]]:
    """Who is to blame when B no longer follows A: (kind, service, other services named).

    What follows A instead decides: an error (own words or relayed), what usually follows B (B was left out),
    a step never seen before (another branch), or nothing.
    """
    habits = _Habits(requests, pair, good)
    votes: Counter[tuple[str, str]] = Counter()
    named: Counter[str] = Counter()
    for unit in bad:
        event = requests.event(unit.trace, unit.place + 1)
        if event is not None and study.window.is_error(event) and event.template not in habits.after_b:
            named.update(study.window.blames(event)[0])
        votes[_vote(study, pair, habits, event)] += 1
    (kind, service), _ = votes.most_common(1)[0]
    return kind, service, frozenset(s for s, n in named.items() if n * EVEN >= len(bad))


def _vote(study: Study, pair: Pair, habits: _Habits, event: Event | None) -> tuple[str, str]:
    """What one failing request says: (kind, service)."""
    b_service, relation = study.window.service(pair.b), pair.kind()
    if event is None:
        return ("own_gone" if habits.ends or relation == "same" else "stops"), b_service
    if event.template in habits.after_b:
        return ("entry_gone" if relation == "call" else "own_gone"), b_service
    if study.window.is_error(event):
        return ("relay" if study.window.blames(event)[1] else "own_error"), event.service
    if event.template not in habits.later:
        return "branch", event.service
    return "stops", b_service if relation == "call" else study.window.service(pair.a)


def first_share(window: Window, facts: Sequence[Fact]) -> dict[str, float]:
    """For each service the share of its failing requests in which its break is the first one."""
    first: dict[str, tuple[int, str]] = {}
    places: list[tuple[Fact, str]] = []
    for fact in facts:
        if fact.kind not in ("own_error", "own_gone", "entry_gone", "relay", "stops"):
            continue
        anchor = fact.figures.get("a")
        for trace in fact.units:
            place = _place_of(window, trace, anchor)
            if place is None:
                continue
            places.append((fact, trace))
            if trace not in first or place < first[trace][0]:
                first[trace] = (place, fact.service)
    shares: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for fact, trace in places:
        shares[fact.service][0] += first[trace][1] == fact.service
        shares[fact.service][1] += 1
    return {service: own / every for service, (own, every) in shares.items()}


def _place_of(window: Window, trace: str, template: object) -> int | None:
    """Place of the first line with the template in a request."""
    rows = window.traces.get(trace, ())
    return next((place for place, i in enumerate(rows) if window.trace_docs[i].template == template), None)
