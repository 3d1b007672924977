"""What creeps: gauges that grow or run down to the end of the window, and a rising share of failing lines."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from logagent.analysis.facts import Fact
from logagent.analysis.figures import clock
from logagent.analysis.gauges import FALLING, Gauge, mechanism_of_gauge
from logagent.analysis.hinge import Hinge, Point, hinge
from logagent.analysis.limits import ALPHA, ERROR
from logagent.analysis.statistics import quantile
from logagent.analysis.study import Study, samples
from logagent.analysis.window import BUCKETS

RISE = 0.8
"""Growth over the level, where no limit is known."""
FIT = 0.75
"""Share of the variation that a ramp explains."""
_INSIDE = 0.08
"""Share of the window on either side of the bend."""
_THIN, _CELLS, _LEAST = 60, 40, 12
_LATE = 0.3
_TRAFFIC, _FOLLOWS = 1.3, 1.6
_LATENCY_MS, _LATENCY_FACTOR = 200, 3
_LAG, _LAG_FACTOR = 100, 4
_ERROR_CELLS, _ERROR_LINES, _ERROR_FIT = 30, 150, 0.6
_ERRORS, _LEAST_CELLS = 15, 15
_ERROR_RISE, _ERROR_FLOOR = 0.1, 0.01
_CELL_LINES = 3


def ramps(study: Study, found: Sequence[Gauge]) -> list[Fact]:
    """Gauges that stay level and then grow (or run down) to the end: onset is where the slope begins."""
    facts = [fact for gauge in found if (fact := _ramp(study, gauge, len(found))) is not None]
    best: dict[tuple[str, object], Fact] = {}
    for fact in sorted(facts, key=_unlikeness):
        best.setdefault((fact.service, fact.figures["id"]), fact)
    return list(best.values())


def _unlikeness(fact: Fact) -> float:
    fit = fact.figures["fit"]
    return -fit if isinstance(fit, float) else 0.0


def _ramp(study: Study, gauge: Gauge, tests: int) -> Fact | None:
    words = gauge.label.replace("_", " ")
    mechanism = "" if gauge.timed else mechanism_of_gauge(words)
    if mechanism is None:
        return None
    falls = FALLING.search(words) is not None
    lasts, points = to_peak(_thinned(gauge.points), falling=falls)
    if len(points) < _LEAST:
        return None
    bend = hinge(points)
    end = bend.end(points)
    if bend.fit < FIT or bend.step_error < bend.error * 0.9 or (end < bend.level) != falls:
        return None
    limit = gauge.limit(end)
    if bend.chance(len(points)) * tests > ALPHA or not _inside(study, points, bend) or _late(points, bend) < _LATE:
        return None
    if _follows_traffic(study, gauge, points[bend.k][0], (bend.level, end), falls=falls):
        return None
    enough = _enough(gauge, mechanism, (bend.level, end), limit, falls=falls)
    return _fact(gauge, mechanism, points, bend, (limit, lasts)) if enough else None


def _fact(gauge: Gauge, mechanism: str, points: Sequence[Point], bend: Hinge, more: tuple[float | None, bool]) -> Fact:
    limit, lasts = more
    end, begin, service = bend.end(points), points[bend.k][0], gauge.slot.service
    first = points[max(0, bend.first - 1)][0]
    last = points[min(bend.last + 1, len(points) - 1)][0]
    what, then = ("falling", "falls") if end < bend.level else ("growing", "rises")
    of_limit = f" (limit {limit:g})" if limit else ""
    text = (
        f'{what}: "{gauge.label.strip()[:50]}" of {service} stays near {bend.level:.4g}, '
        f"then {then} to {end:.4g}{of_limit} from {clock(begin)} on; "
        f'latest "{gauge.sample[:120]}"{" latency" if gauge.timed else ""}'
    )
    return Fact(
        "ramp",
        service,
        1.0,
        text,
        (first, begin),
        gauge.slot.template,
        persists=lasts,
        figures={
            "id": mechanism or None,
            "fit": bend.fit,
            "from": bend.level,
            "to": end,
            "limit": limit,
            "interval": (first, last),
            "timed": gauge.timed,
            "last": points[-1][0],
            "lines": [gauge.sample],
        },
    )


def _inside(study: Study, points: Sequence[Point], bend: Hinge) -> bool:
    """Whether the bend lies well inside the window."""
    edge = _INSIDE * study.window.length
    begin = points[bend.k][0]
    return begin - study.window.start >= edge and points[-1][0] - begin >= edge


def _late(points: Sequence[Point], bend: Hinge) -> float:
    """Slope of the last third of the ramp, in units of its slope."""
    tail = points[bend.k + 2 * (len(points) - bend.k) // 3 :]
    if len(tail) < 3 or not bend.slope:  # noqa: PLR2004
        return 1.0
    return (tail[-1][1] - tail[0][1]) / max(1e-9, tail[-1][0] - tail[0][0]) / bend.slope


def _follows_traffic(study: Study, gauge: Gauge, since: float, heights: tuple[float, float], *, falls: bool) -> bool:
    """Whether the service just has more to do, and the gauge grew about as much."""
    if gauge.timed or falls:
        return False
    level, end = heights
    volume = _growth(study, gauge.slot.service, since)
    return volume >= _TRAFFIC and end <= _FOLLOWS * volume * abs(level)


def _growth(study: Study, service: str, since: float) -> float:
    """Rate of the service's lines in the last fifth of the time after `since`, against before it."""
    window = study.window
    cut = window.end - (window.end - since) / 5
    before = study.number(study.lines_between(service, window.start, since)) / max(1e-6, since - window.start)
    after = study.number(study.lines_between(service, cut, window.end)) / max(1e-6, window.end - cut)
    return after / before if before else 1.0


def _enough(gauge: Gauge, mechanism: str, heights: tuple[float, float], limit: float | None, *, falls: bool) -> bool:
    """Whether the change is large, against the limit where one is known."""
    level, end = heights
    if falls:
        return end <= 0.4 * level
    if limit:
        return end >= 0.8 * limit and end - level >= 0.25 * limit
    rise = end - level
    if rise < RISE * max(abs(level), 1e-9):
        return False
    if gauge.timed and (rise < _LATENCY_MS or end < _LATENCY_FACTOR * level):
        return False
    return mechanism != "queue.lag" or (rise >= _LAG and end >= _LAG_FACTOR * level)


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Medians of 40 cells of time, for more than 60 points."""
    if len(points) <= _THIN:
        return list(points)
    start, width = points[0][0], max(1e-6, (points[-1][0] - points[0][0]) / _CELLS)
    cells: defaultdict[int, list[Point]] = defaultdict(list)
    for time, value in points:
        cells[min(_CELLS - 1, int((time - start) / width))].append((time, value))
    return [
        (sum(time for time, _ in row) / len(row), quantile([value for _, value in row], 0.5))
        for _, row in sorted(cells.items())
    ]


def to_peak(points: list[Point], *, falling: bool) -> tuple[bool, list[Point]]:
    """Cut after the extreme value when the series goes back after it (restart, reset).

    Returns:
        Whether the series is still there at the end, and the points up to the extreme one.
    """
    values = [value for _, value in points]
    extreme = min if falling else max
    top = extreme(range(len(values)), key=values.__getitem__)
    back, base = values[top + 1 :], quantile(values[:5], 0.5)
    if len(back) < 3 or top < len(values) / 2:  # noqa: PLR2004
        return True, points
    returned = abs(quantile(back, 0.5) - base) < 0.4 * abs(values[top] - base)
    gone = min(back[-3:]) > 2 * values[top] + 1 if falling else max(back[-3:]) < 0.7 * values[top]
    return (False, points[: top + 1]) if returned and gone else (True, points)


def error_ramps(study: Study) -> list[Fact]:
    """Shares of failing lines, per service, that creep up: onset is the first failing line behind the bend."""
    found = []
    for service in study.window.services:
        fact = _error_ramp(study, service)
        if fact is not None:
            found.append(fact)
    return found


def _error_ramp(study: Study, service: str) -> Fact | None:
    points = _shares(study, service)
    if len(points) < _LEAST_CELLS:
        return None
    bend = hinge(points)
    end, begin, window = bend.end(points), points[bend.k][0], study.window
    if bend.fit < _ERROR_FIT or bend.step_error < 0.95 * bend.error or begin - window.start < _INSIDE * window.length:
        return None
    if bend.chance(len(points)) * len(window.services) > ALPHA:
        return None
    if end - bend.level < _ERROR_RISE or end < 3 * max(bend.level, _ERROR_FLOOR):
        return None
    since = begin - window.length / _ERROR_CELLS
    bad = [event for event in study.errors if event.service == service and event.time >= since]
    if not bad:
        return None
    top = Counter(event.template for event in bad).most_common(1)[0][0]
    text = (
        f"share of failing lines of {service} rises from {max(0.0, bend.level):.1%} to {end:.1%} from {clock(begin)} "
        f'on: "{bad[0].message[:120]}"'
    )
    return Fact(
        "ramp",
        service,
        1.0,
        text,
        (points[max(0, bend.first - 1)][0], max(begin, bad[0].time)),
        top,
        figures={
            "id": None,
            "fit": bend.fit,
            "from": bend.level,
            "to": end,
            "share": True,
            "last": bad[-1].time,
            "templates": sorted({event.template for event in bad}),
            "lines": samples(bad),
        },
    )


def _shares(study: Study, service: str) -> list[Point]:
    """(middle of the cell, share of failing lines) of a service for cells of two buckets with 3 lines or more.

    Empty when the service wrote too few lines, or too few failing ones.
    """
    window, indices = study.window, study.by_service[service]
    bad = [i for i in indices if window.severity[window.events[i].template] >= ERROR]
    if len(bad) == 0 or sum(study.tested_weights[i] for i in bad) < _ERRORS:
        return []
    every, failing = _cells(study, indices), _cells(study, bad)
    if sum(every) < _ERROR_LINES:
        return []
    width = window.length / _ERROR_CELLS
    return [
        (window.start + (place + 0.5) * width, errors / lines)
        for place, (errors, lines) in enumerate(zip(failing, every, strict=True))
        if lines >= _CELL_LINES
    ]


def _cells(study: Study, indices: Sequence[int]) -> list[float]:
    row = study.series(indices, study.weights)
    return [row[place] + row[place + 1] for place in range(0, BUCKETS, BUCKETS // _ERROR_CELLS)]
