"""What all formats say of the series over time: its title, its band and peak, the marks on it."""

from collections.abc import Sequence

from logagent.diagnosis import Diagnosis, Point, SeriesOut, Timeline, TimelineEvent
from logagent.report._style import Style
from logagent.report._text import clean, number, seconds


def main(diagnosis: Diagnosis) -> Timeline | None:
    """The timeline whose first series is worth drawing: what fails; where nothing does, all events of the suspect."""
    line = diagnosis.timeline
    if line is None or not line.series:
        return None
    if any(point.count for point in line.series[0].points):
        return line
    lead = min(diagnosis.hypotheses, key=lambda one: one.rank, default=None)
    name = lead.entity.get("service.name", "") if lead is not None else ""
    found = next((one for one in line.services if one.name == name), None)
    if found is None or not any(found.events):
        return None
    pairs = zip(line.series[0].points, found.events, strict=False)
    points = [Point(at=point.at, count=count, partial=point.partial) for point, count in pairs]
    return line.model_copy(update={"unit": "events", "series": [SeriesOut(name=name, points=points)]})


def full(points: Sequence[Point]) -> list[Point]:
    """The buckets that a picture shows, without a cut one at an edge that would look like a recovery and is none."""
    return [points[place] for place in full_places(points, [point.count for point in points])]


def full_places(points: Sequence[Point], counts: Sequence[float]) -> list[int]:
    """Places of the buckets whose count can be trusted: all but cut ones with less than half of what is beside them."""
    last = len(points) - 1
    beside = {0: 1, last: last - 1} if last > 0 else {}
    cut = {at for at, other in beside.items() if points[at].partial and counts[at] < counts[other] / 2}
    return [place for place in range(len(points)) if place not in cut]


def span(points: Sequence[Point], style: Style) -> str:
    """`05:30 to 06:31`."""
    return style.say("timeline.span", start=style.minute(points[0].at), end=style.minute(points[-1].at))


def band(series: SeriesOut, style: Style) -> str:
    """`band 0-18, peak 212 at 14:11`."""
    parts = []
    highs = [point.expected_high for point in series.points if point.expected_high is not None]
    lows = [point.expected_low for point in series.points if point.expected_low is not None]
    if highs:
        parts.append(
            style.say("timeline.band", low=number(round(min(lows, default=0))), high=number(round(max(highs))))
        )
    peak = max(full(series.points), key=lambda point: point.count)
    parts.append(style.say("timeline.peak", count=number(peak.count), at=style.minute(peak.at)))
    return style.comma(*parts)


def title(line: Timeline, series: str, style: Style) -> str:
    """`failing events/min, order-api`; the series is named where it is not simply the unit."""
    unit, name = unit_words(line.unit, style), unit_words(series, style)
    named = unit if name == unit else style.comma(name, unit)
    if line.interval_seconds == 60:  # noqa: PLR2004 - a minute
        return style.say("timeline.minute", unit=named)
    length = seconds(line.interval_seconds)
    return style.say("timeline.head", name=named, seconds=length)


def unit_words(text: str, style: Style) -> str:
    """The units that code writes, in the language of the report; anything else as it is."""
    key = {"failing events": "timeline.failing", "events": "timeline.events"}.get(text)
    return style.say(key) if key else clean(text)


def mark_label(one: TimelineEvent) -> str:
    """What a mark says beyond its kind."""
    label = clean(one.label)
    return "" if label.casefold() == one.kind else label


def marks(diagnosis: Diagnosis) -> list[TimelineEvent]:
    """Marks on the timeline in order of time, each once; the alert that started the run is one of them."""
    if diagnosis.timeline is None:
        return []
    found, alert = list(diagnosis.timeline.events), diagnosis.request.alert
    if alert is not None and alert.starts_at and not any(one.kind == "alert" for one in found):
        found.append(TimelineEvent(at=alert.starts_at, kind="alert", label=alert.name or "alert"))
    once = {(one.at, one.kind, one.label): one for one in found}
    return sorted(once.values(), key=lambda one: one.at)
