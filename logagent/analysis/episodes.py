"""Errors that cluster in one stretch of the window, errors all through it, and few lines that say it all."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from logagent.analysis.facts import Event, Fact
from logagent.analysis.figures import clock
from logagent.analysis.lexicon import RECOVERY
from logagent.analysis.limits import ERROR, HIGH, MIN_FAIL, SMALL, STATED
from logagent.analysis.statistics import EpisodeScan, scan_episode
from logagent.analysis.study import Study, samples, traces_of
from logagent.analysis.window import BUCKETS, Window
from logagent.expressions import expression

GAIN = 8.0
"""Least log likelihood ratio of an episode, after division by the overdispersion."""
RATIO = 3.0
"""Least excess over the lines due, unless the gain is twice the least one."""
INSIDE = 5
"""Least lines inside an episode."""
_ALL = 0.8
"""Lines that span this share of the window stand all through it."""
SHARE = 0.6
"""Share of all such lines that lies inside; below it is a spike of something usual."""
_LAST_BUCKETS = 3
_SCANNED = 200
"""Error templates that are scanned one by one, the most frequent ones."""
_NEEDLES = 30
_NEEDLE_SHARE = 0.01
_CONFINED = 0.25
_WARNING_S = 600.0
_COMMON_WORDS = 2
_RARE = 5
_BACK = 50
"""Lines of a request among which the step before an error is looked for."""
_WORD = expression(r"[a-z]{5,}")


@dataclass(slots=True)
class _Group:
    """Errors that are counted together: one template, or all of a service under its worst template."""

    template: int
    indices: Sequence[int]


def error_episodes(study: Study) -> list[Fact]:
    """Errors whose counts per bucket cluster in one stretch of the window (scan statistic)."""
    lines: dict[str, list[float]] = {}
    found = []
    for group in _groups(study):
        service = study.window.service(group.template)
        if service not in lines:
            lines[service] = study.series(study.by_service[service], study.weights)
        fact = _episode(study, group, lines[service])
        if fact is not None:
            found.append(fact)
    return found


def _groups(study: Study) -> Iterator[_Group]:
    """Every frequent error template, and all errors of a service together where there are several templates."""
    window = study.window
    pooled: defaultdict[str, list[_Group]] = defaultdict(list)
    bad = [template for template in window.by_template if window.severity[template] >= ERROR]
    frequent = set(sorted(bad, key=lambda template: -window.weight_of[template])[:_SCANNED])
    for template in bad:
        group = _Group(template, window.by_template[template])
        pooled[window.service(template)].append(group)
        if template in frequent and len(group.indices) >= (1 if study.exact else INSIDE):
            yield group
    for rows in pooled.values():
        if len(rows) > 1:
            worst = max(rows, key=lambda row: (window.severity[row.template], window.weight_of[row.template]))
            yield _Group(worst.template, sorted(i for row in rows for i in row.indices))


def _episode(study: Study, group: _Group, own: Sequence[float]) -> Fact | None:
    """The best stretch of one group, if it is one; `own` are all lines of the service per bucket."""
    weighted = study.series(group.indices, study.weights)
    counts = study.series(group.indices, study.tested_weights)
    rest = [max(0.0, every - errors) for every, errors in zip(own, weighted, strict=True)]
    mean = max(1.0, sum(rest) / BUCKETS)
    hit = _best(study, counts, [mean + others for others in rest])
    return _fact(study, group, hit, sum(counts)) if hit is not None and _counts(hit) else None


def _best(study: Study, counts: Sequence[float], exposure: Sequence[float]) -> EpisodeScan | None:
    """The best stretch; where that ends before the span asked about, it is cut out and the next one is looked for."""
    hit = scan_episode(counts, exposure, study.near_bucket())
    if hit is None or study.asked is None or hit.last > study.window.bucket(study.asked[0]):
        return hit
    return scan_episode(_without(counts, hit), _without(exposure, hit), study.near_bucket())


def _without(row: Sequence[float], hit: EpisodeScan) -> list[float]:
    return [0.0 if hit.first <= bucket < hit.last else value for bucket, value in enumerate(row)]


def _fact(study: Study, group: _Group, hit: EpisodeScan, total: float) -> Fact:
    events = [study.window.events[i] for i in group.indices]
    inside = [study.window.events[i] for i in group.indices if hit.first <= study.buckets[i] < hit.last]
    blame = study.blame_of(events)
    service, number = inside[0].service, study.number(inside)
    text = (
        f'{number:.0f} x "{events[0].message[:140]}" of {service} between {clock(inside[0].time)} and '
        f"{clock(inside[-1].time)}, {hit.expected * number / max(1e-9, hit.inside):.0f} expected"
    )
    usual = hit.inside < SHARE * total
    return Fact(
        "relay_episode" if blame.relay else "spike" if usual else "episode",
        service,
        math.exp(-hit.gain),
        text,
        (study.last_before(service, inside[0].time), inside[0].time),
        group.template,
        blame.named,
        traces_of(inside),
        persists=hit.last >= BUCKETS - _LAST_BUCKETS,
        figures={
            "gain": hit.gain,
            "inside": hit.inside,
            "expected": hit.expected,
            "phi": hit.phi,
            "all": study.number(events),
            "last": events[-1].time,
            "templates": sorted({event.template for event in events}),
            "lines": samples(inside),
        },
    )


def _counts(hit: EpisodeScan) -> bool:
    """Whether a stretch is large and unusual enough."""
    if hit.inside < INSIDE or hit.gain < GAIN:
        return False
    return hit.inside >= RATIO * max(hit.expected, 1e-9) or hit.gain >= 2 * GAIN


def needles(study: Study) -> list[Fact]:
    """Few lines that state a mechanism, confined in time, in a window that is otherwise free of errors."""
    errors = study.errors
    if not errors or not _few(study, errors):
        return []
    found = []
    for service in sorted({event.service for event in errors}):
        own = [
            event
            for event in errors
            if event.service == service
            and study.window.severity[event.template] >= STATED
            and not study.window.blames(event)[1]
        ]
        if own:
            found.append(_needle(study, service, own))
    return found


def _few(study: Study, errors: Sequence[Event]) -> bool:
    """Few errors on the whole, near each other; in a small window any number and any distance."""
    if study.window.total < SMALL:
        return True
    confined = errors[-1].time - errors[0].time <= _CONFINED * study.window.length
    return confined and study.number(errors) <= max(_NEEDLES, _NEEDLE_SHARE * study.window.total)


def _needle(study: Study, service: str, own: Sequence[Event]) -> Fact:
    healed = _healed(study, service, own)
    first = _precursor(study, service, own)
    text = f'{study.number(own):.0f} of {study.window.total:.0f} lines: "{own[0].message[:160]}" of {service}' + (
        f'; later "{healed[:100]}"' if healed else ""
    )
    return Fact(
        "healed" if healed else "needle",
        service,
        1.0,
        text,
        (study.last_before(service, first), first),
        own[0].template,
        persists=not healed,
        figures={
            "count": study.number(own),
            "last": own[-1].time,
            "templates": sorted({event.template for event in own}),
            "lines": samples(own),
        },
    )


def _precursor(study: Study, service: str, bad: Sequence[Event]) -> float:
    """Time of the first warning of the same service about the same thing (two long words in common)."""
    words = long_words(bad)
    begin = bad[0].time
    for event in study.lines_between(service, begin - _CONFINED * study.window.length - _WARNING_S, begin):
        if event.time >= begin:
            break
        if study.window.severity[event.template] >= 1 and len(words & long_words([event])) >= _COMMON_WORDS:
            return event.time
    return begin


def _healed(study: Study, service: str, bad: Sequence[Event]) -> str | None:
    """A later, rare line of the service that reports the end of the same trouble (two long words in common)."""
    window, words = study.window, long_words(bad)
    for event in study.lines_between(service, bad[-1].time, window.end):
        if (
            event.time > bad[-1].time
            and window.severity[event.template] == 0
            and study.rare(event.template, _RARE)
            and RECOVERY.search(event.message)
            and len(words & long_words([event])) >= _COMMON_WORDS
        ):
            return event.message
    return None


def long_words(events: Iterable[Event]) -> set[str]:
    """First six letters of every word of five letters and more."""
    return {word[:6] for event in events for word in _WORD.findall(event.message.lower())}


def steady_errors(study: Study) -> list[Fact]:
    """Own errors that come whenever their step is reached, with nothing healthy to compare with."""
    found = []
    for template in study.window.by_template:
        if study.window.severity[template] < ERROR:
            continue
        events = study.events_with(template)
        if study.number(events) >= MIN_FAIL and not study.blame_of(events).relay:
            found.append(_steady(study, template, events))
    return found


def _span(window: Window, events: Sequence[Event]) -> str:
    """Over how much of the window lines are spread."""
    first, last = events[0].time, events[-1].time
    if last - first >= _ALL * window.length:
        return "all through the window"
    return f"between {clock(first)} and {clock(last)}"


def _steady(study: Study, template: int, events: Sequence[Event]) -> Fact:
    window, service = study.window, events[0].service
    traces = [trace for trace, _ in window.first_places.get(template, ())]
    kinds = Counter(window.entry(trace) for trace in traces)
    breadth = sum(1 for number in kinds.values() if number > 1)
    callers = {window.trace_docs[window.traces[trace][0]].service for trace in traces} - {service}
    where = f", in {breadth} kind{'s' * (breadth > 1)} of request" if breadth else ""
    number = study.number(events)
    tried = _attempts(window, template)
    step = window.text(tried.step)[:60] if tried else ""
    failed = f'; {tried.failed} of {tried.requests} requests with "{step}" fail' if tried else ""
    return Fact(
        "steady_error",
        service,
        1.0,
        f'{number:.0f} x "{events[0].message[:110]}" of {service} {_span(window, events)}{where}{failed}',
        None,
        template,
        weight=1.0 if breadth > 1 and callers else 0.3,
        units=frozenset(traces),
        figures={
            "count": number,
            "breadth": breadth,
            "attempts": (tried.failed, tried.requests) if tried else None,
            "first": events[0].time,
            "last": events[-1].time,
            "lines": samples(events),
        },
    )


class Attempts(NamedTuple):
    """Requests that reach the step before an error of the same service, and those of them in which the error comes.

    Only requests that begin as the failing ones do: one step may serve several kinds, of which others are well.
    """

    step: int
    failed: int
    requests: int


def _attempts(window: Window, template: int) -> Attempts | None:
    """How often a step fails of how often it is tried; None where no step of the service usually comes before it."""
    places = window.first_places.get(template, ())
    before = Counter(step for trace, place in places if (step := _step_before(window, trace, place)) is not None)
    if not before:
        return None
    step, times = before.most_common(1)[0]
    if times < HIGH * len(places):
        return None
    failing = {trace for trace, _ in places}
    kinds = {window.entry(trace) for trace in failing}
    reached = {trace for trace, _ in window.first_places[step] if window.entry(trace) in kinds}
    return Attempts(step, len(reached & failing), len(reached))


def _step_before(window: Window, trace: str, place: int) -> int | None:
    """The last line of the same service before a place of a request."""
    events = [window.trace_docs[i] for i in window.traces[trace][max(0, place - _BACK) : place + 1]]
    return next((e.template for e in reversed(events[:-1]) if e.service == events[-1].service), None)
