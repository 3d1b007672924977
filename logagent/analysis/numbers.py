"""Durations written in messages or fields: which statements are slow as a whole."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from logagent.analysis.facts import Event, Fact
from logagent.analysis.figures import measure
from logagent.analysis.lexicon import DURATION_FIELD
from logagent.analysis.limits import ERROR
from logagent.analysis.statistics import quantile
from logagent.analysis.study import Study
from logagent.fields import milliseconds

SLOW_S = 1.0
_POINTS = 5
_SHARE = 0.1
_TEXT = "text"
_OUTER = 0.95
"""What is left of a slow statement that is slower than the last one."""


@dataclass(slots=True)
class _Series:
    """The durations of one statement: under a field name, or `text` for those in the message."""

    template: int
    name: str
    values: list[float]
    events: list[Event]


def slow_numbers(study: Study) -> list[Fact]:
    """Statements whose durations reach 1 s in at least a tenth of the lines, slowest first; never claimable."""
    rows = [
        series
        for series in _series(study)
        if len(series.values) >= _POINTS and study.window.severity[series.template] < ERROR
    ]
    rows.sort(key=lambda series: -quantile(series.values, 0.95))
    found = [fact for series in rows if (fact := _fact(study, series)) is not None]
    for fact in found[:-1]:
        fact.weight *= _OUTER  # where equally many are slow, the fastest of them is what the others wait for
    return found


def _series(study: Study) -> list[_Series]:
    found: defaultdict[tuple[int, str], tuple[list[float], list[Event]]] = defaultdict(lambda: ([], []))
    for i, event in enumerate(study.window.events):
        for name, value in _durations(event, study.spans.get(i)):
            values, events = found[event.template, name]
            values.append(value)
            events.append(event)
    return [_Series(template, name, *rows) for (template, name), rows in found.items()]


def _durations(event: Event, span: float | None) -> Iterator[tuple[str, float]]:
    """(name, seconds) of the durations of one event: those in fields, and the longest one in the text (`span`)."""
    for key, value in event.extra.items():
        if (unit := _unit(key)) and (known := measure(value)) is not None:
            yield key, known * unit
    if span is not None:
        yield _TEXT, span


@lru_cache(maxsize=1024)
def _unit(field: str) -> float:
    """Seconds of one unit of a field that holds a duration, 0 for any other field."""
    return (milliseconds(field, 1.0) or 0.0) / 1000 if DURATION_FIELD.search(field) else 0.0


def _fact(study: Study, series: _Series) -> Fact | None:
    share = _share(series.values)
    p95, p50 = quantile(series.values, 0.95), quantile(series.values, 0.5)
    if p95 < SLOW_S or share < _SHARE:
        return None
    window, service = study.window, study.window.service(series.template)
    name = series.name if series.name != _TEXT else "duration"
    number = study.number(series.events)
    text = (
        f'latency: {service} "{window.text(series.template)[:80]}" {name} p50 {p50:.2f} s, p95 {p95:.2f} s, '
        f"{share:.0%} of {number:.0f} at or above 1 s"
    )
    slow = [event for event, value in zip(series.events, series.values, strict=True) if value >= SLOW_S]
    worst = max(zip(series.values, series.events, strict=True), key=lambda row: row[0])[1]
    return Fact(
        "slow_number",
        service,
        1.0,
        text,
        None,
        series.template,
        weight=min(1.0, share * 2),
        figures={
            "p95": p95,
            "p50": p50,
            "n": number,
            "share": share,
            "field": series.name if series.name != _TEXT else None,
            "unit": _unit(series.name),
            "last": slow[-1].time,
            "lines": [worst.message],
        },
    )


def _share(values: Sequence[float]) -> float:
    return sum(value >= SLOW_S for value in values) / len(values)
