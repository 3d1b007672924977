"""Durations that jump from one level to another, and one kind of request far slower than the others."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logagent.analysis.facts import Event, Fact
from logagent.analysis.gauges import Gauge
from logagent.analysis.limits import REACHABLE
from logagent.analysis.statistics import fisher_greater, quantile
from logagent.analysis.study import Study
from logagent.expressions import expression

FACTOR = 3
"""Least ratio of the medians after and before a shift."""
RISE_MS = 250
_POINTS, _SIDE = 14, 5
_HIGH_AFTER, _HIGH_BEFORE = 0.6, 0.2
_REQUEST = expression(
    r"\b(?:get|post|put|request|page|view|render\w{0,5}|query|endpoint|call|handled|served)\b|(?:^|\s)/\w",
    re.IGNORECASE,
)
_DIGITS = expression(r"\d+")
_MESSAGE_CHARS, _SHAPE_LINES, _PLACES = 300, 30, 6
_FEWEST, _MOST = 3, 30
_ENDPOINT_LINES, _OTHER_LINES, _ENDPOINT_S, _ENDPOINT_FACTOR = 8, 20, 2.0, 10

Timed = tuple[float, Event]


def slow_shifts(study: Study, found: Sequence[Gauge]) -> list[Fact]:
    """Durations that jump, per statement with one change in time; the surest of each service."""
    timed = [gauge for gauge in found if gauge.timed and len(gauge.points) >= _POINTS]
    facts = [fact for gauge in timed if (fact := _shift(study, gauge, len(timed))) is not None]
    best: dict[str, Fact] = {}
    for fact in sorted(facts, key=lambda fact: fact.p):
        best.setdefault(fact.service, fact)
    return list(best.values())


def _shift(study: Study, gauge: Gauge, tests: int) -> Fact | None:
    points = gauge.points
    k = _split([value for _, value in points])
    if k is None:
        return None
    values = [value for _, value in points]
    before, after = quantile(values[:k], 0.5), quantile(values[k:], 0.5)
    if after < FACTOR * before or after - before < RISE_MS:
        return None
    p = _chance([value > math.sqrt(max(before, 0.0) * after) for value in values], k) * tests
    if p > REACHABLE:
        return None
    service, template = gauge.slot.service, gauge.slot.template
    slowest = max(points[k:], key=lambda point: point[1])[0]
    line = next((e.message for e in study.events_with(template) if e.time == slowest), gauge.sample)
    text = (
        f'latency: {service} slow: "{gauge.label.strip()[:50]}" median {before:.0f} ms in {k} before, '
        f'{after:.0f} ms in {len(points) - k} after; slowest "{line[:120]}"'
    )
    return Fact(
        "slow_shift",
        service,
        min(1.0, p),
        text,
        (points[k - 1][0], points[k][0]),
        template,
        figures={"before": before, "after": after, "last": points[-1][0], "lines": [line]},
    )


def _split(values: Sequence[float]) -> int | None:
    """Place that parts the logarithms of the values best, at least 5 on either side."""
    logs = [math.log(max(value, 0.1)) for value in values]
    n, total, left = len(logs), sum(logs), 0.0
    best, gain = None, -1.0
    for k in range(1, n):
        left += logs[k - 1]
        if k >= _SIDE and n - k >= _SIDE:
            apart = (left / k - (total - left) / (n - k)) ** 2 * k * (n - k)
            if apart > gain:
                best, gain = k, apart
    return best


def _chance(high: Sequence[bool], k: int) -> float:
    """P of the split by the values above the geometric mean of both medians; 1 when they do not part well."""
    n, before, after = len(high), sum(high[:k]), sum(high[k:])
    if after < _HIGH_AFTER * (n - k) or before > _HIGH_BEFORE * k:
        return 1.0
    return fisher_greater(before, k, after, n - k) * max(1, n - 2 * _SIDE)


@dataclass(slots=True)
class _Grouping:
    """Requests grouped by the word at one place; `contrast` is how far the slowest group leads."""

    contrast: float
    groups: Mapping[str, list[Timed]]


def slow_endpoints(study: Study) -> list[Fact]:
    """Kinds of request far slower than the others of the only service (texts only): by first word or path."""
    if len(study.window.services) > 1:
        return []
    best: _Grouping | None = None
    for rows in _shapes(study).values():
        if len(rows) >= _SHAPE_LINES:
            for grouping in _groupings(rows):
                if best is None or grouping.contrast > best.contrast:
                    best = grouping
    if best is None:
        return []
    facts = (_endpoint(study, best.groups, name) for name in best.groups)
    return [fact for fact in facts if fact is not None]


def _shapes(study: Study) -> dict[int, list[tuple[float, Event, list[str]]]]:
    """(longest duration, event, words) of request lines, by the number of words."""
    shapes: defaultdict[int, list[tuple[float, Event, list[str]]]] = defaultdict(list)
    requests = {t for t in study.window.by_template if _REQUEST.search(study.window.first(t).message)}
    for i, span in sorted(study.spans.items()):
        event = study.window.events[i]
        if event.template in requests and len(event.message) < _MESSAGE_CHARS:
            words = event.message.split()
            shapes[len(words)].append((span, event, words))
    return shapes


def _groupings(rows: Sequence[tuple[float, Event, list[str]]]) -> list[_Grouping]:
    found = []
    for place in range(min(_PLACES, len(rows[0][2]))):
        groups: defaultdict[str, list[Timed]] = defaultdict(list)
        for value, event, words in rows:
            name = _DIGITS.sub("#", words[place])
            if not name.startswith("#"):
                groups[name].append((value, event))
        if _FEWEST <= len(groups) <= _MOST:
            medians = [quantile([v for v, _ in row], 0.5) for row in groups.values() if len(row) >= _ENDPOINT_LINES]
            tops = sorted(medians, reverse=True)
            found.append(_Grouping(tops[0] / max(1e-3, tops[1]) if len(tops) > 1 else 0.0, groups))
    return found


def _endpoint(study: Study, groups: Mapping[str, list[Timed]], name: str) -> Fact | None:
    rows = groups[name]
    rest = [value for other, row in groups.items() if other != name for value, _ in row]
    if len(rows) < _ENDPOINT_LINES or len(rest) < _OTHER_LINES:
        return None
    median, usual = quantile([value for value, _ in rows], 0.5), quantile(rest, 0.9)
    if median < _ENDPOINT_S or median < _ENDPOINT_FACTOR * usual:
        return None
    worst = max(rows, key=lambda row: row[0])[1]
    text = (
        f'latency: "{name}" of {worst.service} takes {median:.2f} s (median of {len(rows)}), the other requests '
        f'{quantile(rest, 0.5):.2f} s (p90 {usual:.2f} s): "{worst.message[:120]}"'
    )
    return Fact(
        "slow_endpoint",
        worst.service,
        1.0,
        text,
        (study.window.start, rows[0][1].time),
        worst.template,
        figures={"p50": median, "last": rows[-1][1].time, "lines": [worst.message]},
    )
