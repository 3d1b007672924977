"""Exact counts of what the survey found: patterns, failing events, buckets, blast radius; few requests."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise

from logagent.analysis.facts import Event
from logagent.analysis.statistics import band, benjamini_hochberg, g_test
from logagent.diagnosis import Change, Point, SeriesOut, Timeline
from logagent.logs import Completeness, TimeWindow, instant, iso
from logagent.query import All, Exists, Node, Phrase, conjunction
from logagent.stores._base import LogStore, Measure, Series
from logagent.triage._activity import SPLIT, activity
from logagent.triage._findings import Findings, PatternFinding, Volume
from logagent.triage._longer import is_longer
from logagent.triage._spread import count_blast
from logagent.triage._together import together

INTERVALS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 43200, 86400)
BUCKETS = 60
MEASURES = 200
"""Figures of one request to a cluster."""
MIN_RECORDS = 5
GROUPED = 500
"""Characters of a message by which the store groups lines of a sample; behind them no weight is exact."""
SERIES = 6
REQUESTS = 0.02
"""Least share of events with a status, or a duration, from which these count as requests."""
REQUEST_SHARE = 3
"""Failing events for each failing request from which requests are no fit denominator."""
BAND_BUCKETS = 3
"""Baseline buckets from which a band can be told."""
NEW_RATIO, RISING, FALLING = 3.0, 1.25, 0.8


def interval_for(seconds: float) -> int:
    """The bucket length, in seconds, that gives at most about 60 buckets; whole days beyond the last of INTERVALS."""
    days = INTERVALS[-1] * math.ceil(seconds / INTERVALS[-1] / BUCKETS)
    return next((step for step in INTERVALS if seconds / step <= BUCKETS + 1), days)


def count_patterns(store: LogStore, findings: Findings, patterns: Sequence[PatternFinding]) -> None:
    """Count each pattern again by its query, in the bad stretch and in the good ones.

    First and last line come from the events where all were read, else from the store.
    """
    scope, bad, good = findings.scope, findings.bad, findings.good
    dated = not findings.material.exact
    per = 1 + len(good) + (2 + bool(good) if dated else 0)
    whole = TimeWindow(min(one.start for one in (bad, *good)), bad.end)
    for start in range(0, len(patterns), MEASURES // per):
        part = patterns[start : start + MEASURES // per]
        measures: list[Measure] = []
        for pattern in part:
            inside = scope.query(pattern.node, bad)
            measures += [Measure(inside), *(Measure(scope.query(pattern.node, one)) for one in good)]
            measures += [Measure(inside, "first"), Measure(inside, "last")] if dated else []
            measures += [Measure(scope.query(pattern.node, whole), "first")] if dated and good else []
        answer = store.count(measures)
        findings.completeness.append(answer.completeness)
        for place, pattern in enumerate(part):
            values = [one.value for one in answer.values[place * per : (place + 1) * per]]
            pattern.count = _int(values[0])
            pattern.baseline_count = sum(_int(one) for one in values[1 : 1 + len(good)])
            pattern.expected = pattern.baseline_count * _scale(bad, good)
            if dated:
                dates = [value if isinstance(value, datetime) else None for value in values[1 + len(good) :]]
                pattern.first, pattern.last = dates[:2]
                pattern.since = dates[-1] if good else pattern.first
            else:
                _from_events(findings, pattern)


def _from_events(findings: Findings, pattern: PatternFinding) -> None:
    """First and last line; the counts too, where the query cannot single out the lines of the pattern."""
    bad, good = findings.bad, findings.good
    lines = _lines(findings, pattern, bad)
    times = [event.time for event in lines]
    pattern.first, pattern.last = (instant(min(times)), instant(max(times))) if times else (None, None)
    if lines and is_longer(findings.baseline):  # which ends where the trouble began, not where the window opens
        whole = TimeWindow(_lead_in(findings)[1], bad.end)
        pattern.first = instant(min(event.time for event in _lines(findings, pattern, whole)))
    seen = [event.time for one in (bad, *good) for event in _lines(findings, pattern, one)]
    pattern.since = instant(min(seen)) if seen else None
    window = findings.scope.window
    read = (window.start, *(one.start for one in findings.baseline.ranges if one.end == window.start))
    if any(one.start < min(read) for one in good):
        return
    old = [event for one in good for event in _lines(findings, pattern, one)]
    now, before = _weight(lines), _weight(old)
    if findings.material.complete:
        pattern.exact = (now, before) == (pattern.count, pattern.baseline_count)
    else:  # a line stands for all alike of a while, which may begin in the one stretch and end in the other
        short = all(len(event.message) <= GROUPED for event in (*lines, *old))
        pattern.exact = not short or now + before == pattern.count + pattern.baseline_count
        asked = pattern.count + pattern.baseline_count
        if not pattern.exact and asked:
            now, before = _shared(now + before, pattern.baseline_count / asked)
    if not pattern.exact:
        pattern.count, pattern.baseline_count = now, before
        pattern.expected = before * _scale(bad, good)


def _shared(total: int, share: float) -> tuple[int, int]:
    """Lines of both stretches, parted as those that the query finds."""
    before = round(total * share)
    return total - before, before


def _weight(events: Sequence[Event]) -> int:
    return round(sum(event.weight for event in events))


def _lines(findings: Findings, pattern: PatternFinding, stretch: TimeWindow) -> list[Event]:
    """A pattern's events that were read in a stretch."""
    window = findings.analysis.window
    start, end = stretch.start.timestamp(), stretch.end.timestamp()
    indices = (index for template in pattern.templates for index in window.by_template.get(template, ()))
    return [event for index in indices if start <= (event := window.events[index]).time < end]


def classify(findings: Findings, patterns: Sequence[PatternFinding]) -> None:
    """new, spiking, rising, steady, falling or vanished, by G-test and Benjamini-Hochberg (ux.md 3.1)."""
    bad, good = findings.bad.seconds, sum(one.seconds for one in findings.good)
    tested = [p for p in patterns if good > 0 and p.count + p.baseline_count > 0]
    chances = [g_test(p.count, p.baseline_count, bad, good) for p in tested]
    for pattern, significant in zip(tested, benjamini_hochberg(chances), strict=True):
        pattern.change = _change(pattern, significant)
    for pattern in patterns:
        if good <= 0:
            pattern.change = "steady"


def _change(pattern: PatternFinding, significant: bool) -> Change:  # noqa: FBT001  # one pure rule
    if pattern.baseline_count == 0 and pattern.count:
        return "new"
    if not significant or max(pattern.count, pattern.expected) < MIN_RECORDS:
        return "steady"
    if pattern.count == 0:
        return "vanished"
    ratio = pattern.count / pattern.expected if pattern.expected else NEW_RATIO
    if ratio >= NEW_RATIO:
        return "spiking"
    if ratio >= RISING:
        return "rising"
    return "falling" if ratio <= FALLING else "steady"


def count_impact(store: LogStore, findings: Findings) -> None:
    """Volume, timeline and blast radius: none needs the answers of another."""
    jobs = (count_volume, count_timeline, count_blast)
    for seen in together(store, [partial(job, store, findings) for job in jobs]):
        findings.completeness += seen
    if not findings.volume.failing:  # of the services asked for
        findings.blast, findings.blast_service = [], ""


def count_volume(store: LogStore, findings: Findings) -> list[Completeness]:
    """Events, failing events, requests and who is hit, in the bad stretch and in the good ones: one request."""
    scope, fields = findings.scope, findings.description.fields
    focus = findings.focus_node
    failing = conjunction(focus, findings.failing) if findings.failing is not None else None
    requests = conjunction(focus, findings.requests) if findings.requests is not None else None
    volume = Volume(unit="requests" if requests is not None else "events")
    stretches = (findings.bad, *findings.good)
    measures = [Measure(scope.query(focus, one)) for one in stretches]
    if failing is not None:
        measures += [Measure(scope.query(failing, one)) for one in stretches]
    if requests is not None:
        measures += [Measure(scope.query(requests, one)) for one in stretches]
        if failing is not None:
            both = conjunction(failing, requests)
            measures += [Measure(scope.query(both, one)) for one in stretches]
    roles = [role for role in ("service", "host", "user") if fields.roles.get(role)]
    extra = [Measure(scope.query(failing, findings.bad), "distinct", role) for role in roles] if failing else []
    whole = [Measure(scope.query(window=findings.bad), "distinct", role) for role in roles if role != "user"]
    more = _more_of_failing(findings, failing) if failing is not None else []
    answer = store.count([*measures, *extra, *whole, *more])
    numbers = [_int(one.value) for one in answer.values]
    _fill_volume(volume, findings, numbers)
    _fill_more(volume, more, [one.value for one in answer.values[len(numbers) - len(more) :]])
    if volume.failing_requests * REQUEST_SHARE < volume.failing:
        volume.unit, findings.requests = "events", None  # most failures are no requests: their share would mislead
    tail = numbers[len(measures) :]
    _fill_reach(volume, roles, tail[: len(extra)], tail[len(extra) : len(extra) + len(whole)])
    findings.volume = volume
    return [answer.completeness]


def _more_of_failing(findings: Findings, failing: Node) -> list[Measure]:
    """What is not as frequent before, where something is; and when the baseline failed last."""
    scope = findings.scope
    out = [Measure(scope.query(failing, max(findings.good, key=lambda one: one.end)), "last")] if findings.good else []
    if findings.fresh is not None and findings.fresh != findings.failing:
        out.append(Measure(scope.query(conjunction(findings.focus_node, findings.fresh), findings.bad)))
    return out


def _fill_more(volume: Volume, more: Sequence[Measure], values: Sequence[object]) -> None:
    for measure, value in zip(more, values, strict=True):
        if measure.op == "last":
            volume.last_before = value if isinstance(value, datetime) else None
        else:
            volume.steady = volume.failing - _int(value)


def _fill_volume(volume: Volume, findings: Findings, numbers: Sequence[int]) -> None:
    """Groups of (bad, good...) in the order they were asked."""
    step = 1 + len(findings.good)
    scale = _scale(findings.bad, findings.good)
    groups = [(numbers[i], sum(numbers[i + 1 : i + step]) * scale) for i in range(0, len(numbers), step)]
    volume.events, volume.events_before = groups[0]
    place = 1
    if findings.failing is not None:
        volume.failing, volume.failing_before = groups[place]
        place += 1
    if findings.requests is not None:
        volume.requests, volume.requests_before = groups[place]
        if findings.failing is not None:
            volume.failing_requests, volume.failing_requests_before = groups[place + 1]


def _fill_reach(volume: Volume, roles: Sequence[str], hit: Sequence[int], whole: Sequence[int]) -> None:
    failing = dict(zip(roles, hit, strict=False))
    every = dict(zip([role for role in roles if role != "user"], whole, strict=False))
    volume.services_failing, volume.services = failing.get("service", 0), every.get("service", 0)
    volume.hosts_failing, volume.hosts = failing.get("host"), every.get("host")
    volume.users_failing = failing.get("user")


def count_timeline(store: LogStore, findings: Findings) -> list[Completeness]:
    """Failing events per bucket over baseline and window with the band, and which services leave theirs.

    Shown are all that fail; what is as frequent as ever hides no service that leaves its band.
    """
    lead, calm_end = _lead_in(findings)
    span = TimeWindow(lead, findings.bad.end)
    step = interval_for(span.seconds)
    node, focus = findings.failing, findings.focus_node
    split = "service" if node is not None and findings.description.fields.roles.get("service") else ""
    queries = [
        findings.scope.query(conjunction(focus, one) if one is not None else focus, span)
        for one in dict.fromkeys([node, findings.fresh])
    ]
    asked_whole = bool(split) and not findings.material.complete
    if asked_whole:
        queries.append(findings.scope.query(focus, span))
    ask = partial(store.count_over_time, interval_seconds=step, split=split, size=SPLIT)
    answers = together(store, [partial(ask, [query]) for query in queries])
    every = answers[-1].series if asked_whole else None
    shown, tested = answers[0], answers[-2 if asked_whole else -1]
    stretches = (TimeWindow(span.start, calm_end), TimeWindow(findings.bad.start, span.end))
    points, _ = _points(shown.whole or shown.series[0], stretches, step)
    _, findings.anomalous = _points(tested.whole or tested.series[0], stretches, step)
    name = "failing events" if node is not None else "events"
    findings.timeline = Timeline(interval_seconds=step, unit=name, series=[SeriesOut(name=name, points=points)])
    for series in shown.series if split else ():
        own, _ = _points(series, stretches, step)
        if len(findings.timeline.series) <= SERIES and any(point.count for point in own):
            findings.timeline.series.append(SeriesOut(name=series.name, points=own))
    findings.timeline.services = activity(findings, points, shown.series if split else (), every)
    findings.anomalous_services += [one.name for one in tested.series if split and _points(one, stretches, step)[1]]
    return [answer.completeness for answer in answers]


def _lead_in(findings: Findings) -> tuple[datetime, datetime]:
    """Where the series begins, and where its calm part ends: before the window, if the trouble began there."""
    start = findings.bad.start
    if is_longer(findings.baseline):
        return findings.baseline.ranges[0].start, findings.good[0].end if findings.good else start
    return next((one.start for one in findings.good if one.end == start), start), start


def _points(series: Series, stretches: tuple[TimeWindow, TimeWindow], step: int) -> tuple[list[Point], bool]:
    """Points with the band of the calm stretch, and whether the series leaves it upwards in the other.

    Two buckets in a row outside the band, or one beyond twice its width (6 scaled MAD), make it anomalous.
    """
    full, (calm, bad) = timedelta(seconds=step), stretches
    before = [b.count for b in series.buckets if b.at >= calm.start and b.at + full <= calm.end]
    usual = band(before) if len(before) >= BAND_BUCKETS else None
    low, high = (usual.low, usual.high) if usual else (None, None)
    points = [
        Point(
            at=iso(b.at),
            count=b.count,
            expected_low=low,
            expected_high=high,
            partial=True if b.at + full > bad.end or b.at < calm.start else None,
        )
        for b in series.buckets
    ]
    if usual is None:
        return points, False
    after = [b.count for b in series.buckets if b.at >= bad.start - full / 2]
    far = usual.median + 2 * (usual.high - usual.median)
    above = [count > usual.high for count in after]
    return points, any(a and b for a, b in pairwise(above)) or any(c > far for c in after)


@dataclass(frozen=True, slots=True)
class TroubleQuestion:
    """What `count_trouble` asks: first line of `lead`, first failing event of `services`, share of `symptom`."""

    lead: Node | None
    lead_span: TimeWindow
    services: tuple[str, ...]
    span: TimeWindow
    symptom: str
    more: Sequence[Measure] = ()
    """Anything else to be asked at once."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """When the leading pattern and each service failed first, and how much of the symptom's requests fail."""

    lead_first: datetime | None
    firsts: tuple[tuple[datetime, str], ...]
    """Oldest first."""
    shares: tuple[int, ...]
    """(failing, all) requests of the symptom service for the bad stretch, then for each good one."""
    more: tuple[int | datetime | None, ...] = ()
    """Answers to what else was asked."""


def count_trouble(store: LogStore, findings: Findings, asked: TroubleQuestion) -> Trouble:
    """Order of first trouble and the share of the symptom, in one request."""
    scope, failing, fresh = findings.scope, findings.failing, findings.fresh or All()
    measures: list[Measure] = []
    if asked.lead is not None:
        measures.append(Measure(scope.query(asked.lead, asked.lead_span), "first"))
    services = asked.services if failing is not None else ()
    bad = failing or All()
    measures += [Measure(scope.query(conjunction(Phrase("service", s), fresh), asked.span), "first") for s in services]
    if asked.symptom and failing is not None and findings.requests is not None:
        whole = conjunction(Phrase("service", asked.symptom), findings.requests)
        for stretch in (findings.bad, *findings.good):
            measures += [Measure(scope.query(conjunction(whole, bad), stretch)), Measure(scope.query(whole, stretch))]
    if not measures and not asked.more:
        return Trouble(None, (), ())
    answer = store.count([*measures, *asked.more])
    findings.completeness.append(answer.completeness)
    values = [one.value for one in answer.values]
    more, values = tuple(values[len(measures) :]), values[: len(measures)]
    lead = values.pop(0) if asked.lead is not None else None
    seen = [(v, s) for v, s in zip(values, services, strict=False) if isinstance(v, datetime)]
    return Trouble(
        lead if isinstance(lead, datetime) else None,
        tuple(sorted(seen)),
        tuple(map(_int, values[len(services) :])),
        more,
    )


def request_node(findings: Findings) -> Node | None:
    """What counts as a request: an event with a status, else with a duration; one trace id stands on many lines."""
    fields = findings.description.fields
    for role in ("status", "duration"):
        if fields.roles.get(role) and fields.coverage(role) >= REQUESTS:
            return Exists(role)
    return None


def _scale(bad: TimeWindow, good: Sequence[TimeWindow]) -> float:
    """Factor from counts of the good stretches to the length of the bad one."""
    seconds = sum(one.seconds for one in good)
    return bad.seconds / seconds if seconds else 0.0


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
