"""The pictures of the page with what stands around them: title, axis, legend, and the same as a table."""

from collections.abc import Sequence

from logagent.diagnosis import Point, SeriesOut, ServiceActivity, Timeline, TimelineEvent
from logagent.report import _timeline
from logagent.report._markup import Child, Html, tag
from logagent.report._page import Page, fold, scrolled, section, table
from logagent.report._pictures import (
    Axis,
    badge,
    cells,
    curve,
    evened,
    legend,
    nice_top,
    picture,
    rows_of,
    silent,
)
from logagent.report._style import Style
from logagent.report._text import clean, number

_LETTERS = "ABCDEFGHIJ"
_TICKS = 5
_EDGE = 0.02
"""Share of the picture before the window from which that part is worth a word."""


def timeline(page: Page) -> Html:
    """Failing events over time against what is usual, with the marks; then each service."""
    diagnosis = page.diagnosis
    line, marks = diagnosis.timeline, _timeline.marks(diagnosis)[: len(_LETTERS)]
    if line is None or not line.series:
        return Html("")
    drawn = _timeline.main(diagnosis)
    if drawn is not None:
        parts: list[Child] = [_curve(page, drawn, _timeline.full(drawn.series[0].points), marks)]
    else:
        parts = [_marks(page, marks)]
    parts += _heat(page, line)
    return section(page, "timeline", *parts)


def _curve(page: Page, line: Timeline, points: Sequence[Point], marks: Sequence[TimelineEvent]) -> Html:
    style, axis = page.style, Axis(points, line.interval_seconds)
    shares = [min(1.0, max(0.0, axis.share(one.at))) for one in marks]
    opens = min(1.0, max(0.0, axis.share(page.diagnosis.window.from_)))
    top = nice_top(max(max(point.count, point.expected_high or 0) for point in points))
    title, band = _timeline.title(line, line.series[0].name, style), _timeline.band(line.series[0], style)
    words = page.say("page.picture", title=title, span=_timeline.span(points, style), band=band)
    drawing = picture(curve(points, axis, top, opens, shares), words)
    rows = rows_of(shares)
    letters = [badge(*one) for one in zip(_LETTERS, shares, rows, strict=False)]
    scale = tag("div", *(tag("span", number(value)) for value in (top, top / 2, 0)), class_="scale", aria_hidden="true")
    area = tag("div", drawing, *letters, class_="area")
    ticks = _ticks(points, style)
    caption = tag("figcaption", tag("strong", title), " ", band)
    return tag(
        "figure",
        caption,
        tag("div", scale, area, ticks, class_=f"plot high{max(rows, default=-1) + 1}"),
        _legend(page, points, opens),
        _marks(page, marks),
        _as_table(page, title, line.series[0], marks),
        class_="chart",
    )


def _ticks(points: Sequence[Point], style: Style) -> Html:
    """Times below a drawing."""
    stamps = [points[round(place * (len(points) - 1) / (_TICKS - 1))].at for place in range(_TICKS)]
    words = [style.minute(at) for at in dict.fromkeys(stamps)]
    if len(set(words)) < len(words):  # several within a minute
        words = [style.clock(at) for at in dict.fromkeys(stamps)]
    shown = [tag("span", word) for word in words]
    return tag("div", *shown, class_="ticks", aria_hidden="true")


def _legend(page: Page, points: Sequence[Point], opens: float) -> Html:
    entries = [("series", page.say("page.counted"))]
    if any(point.expected_high is not None for point in points):
        entries.append(("band", page.say("page.band")))
    if _EDGE < opens < 1:
        entries.append(("inside", page.say("page.inside")))
    return legend(entries)


def _as_table(page: Page, title: str, series: SeriesOut, marks: Sequence[TimelineEvent]) -> Html:
    style = page.style
    rows: list[list[Child]] = []
    for place, point in enumerate(series.points):
        following = series.points[place + 1].at if place + 1 < len(series.points) else "9"
        seen = [style.say(f"mark.{one.kind}") for one in marks if point.at <= one.at < following]
        usual = (
            "-"
            if point.expected_high is None
            else f"{number(round(point.expected_low or 0))}-{number(round(point.expected_high))}"
        )
        partial = page.say("page.partial") if point.partial else ""
        rows.append([page.time(point.at), number(point.count), usual, style.comma(partial, *seen)])
    header = [page.label("time"), page.label("count"), page.label("usual"), page.label("mark")]
    return fold(page.say("page.as_table"), scrolled(title, table(title, header, rows, numbers=(1, 2))))


def _marks(page: Page, marks: Sequence[TimelineEvent]) -> Html:
    """The letters of the picture in words."""
    rows = []
    for letter, one in zip(_LETTERS, marks, strict=False):
        kind = tag("strong", page.say(f"mark.{one.kind}"))
        what = [page.time(one.at), " ", kind, " ", _timeline.mark_label(one), page.ids(one.evidence)]
        rows.append(tag("li", tag("span", letter, class_="letter"), tag("span", *what)))
    return tag("ul", *rows, class_="marks") if rows else Html("")


# -- services over time ----------------------------------------------------------------------------------------------


def _heat(page: Page, line: Timeline) -> list[Html]:
    """Failing events of each service; all events of each where one fell silent, or where none fails."""
    if not line.services:
        return []
    every = [sum(counts) for counts in zip(*(one.events for one in line.services), strict=False)]
    kept = _timeline.full_places(line.series[0].points[: len(every)], every)
    if len(kept) < 2:  # noqa: PLR2004 - one column is no picture
        return []
    points = [line.series[0].points[place] for place in kept]
    services = [_picked(one, kept) for one in line.services]
    failing = sorted((one for one in services if any(one.failing)), key=lambda one: -sum(one.failing))
    gone = [one for one in services if silent(one)]
    out = [_map(page, "failing", failing, points)] if failing else []
    if gone or not failing:
        first = [*gone, *(one for one in services if one not in gone)]
        out.insert(0 if gone else 1, _map(page, "events", first, points))
    return out


def _picked(one: ServiceActivity, kept: Sequence[int]) -> ServiceActivity:
    def pick(counts: Sequence[float]) -> list[float]:
        return [counts[place] if place < len(counts) else 0.0 for place in kept]

    return ServiceActivity(name=one.name, events=pick(one.events), failing=pick(one.failing))


def _map(page: Page, kind: str, services: Sequence[ServiceActivity], points: Sequence[Point]) -> Html:
    assert page.diagnosis.timeline is not None  # noqa: S101 - the caller drew from it
    line, onset = page.diagnosis.timeline, page.diagnosis.onset
    axis = Axis(points, line.interval_seconds)
    began = axis.share(onset.started_at) if onset is not None and onset.earliest else -1.0
    at = began if 0 <= began <= 1 else None
    title = page.say(f"page.heat_{kind}")
    counted = [one.failing if kind == "failing" else one.events for one in services]
    most = max(max(counts) for counts in counted)
    rows = []
    for one, counts in zip(services, counted, strict=True):
        drawn, top = (counts, most) if kind == "failing" else (evened(counts), 1.0)
        row = cells(drawn, top, at, "hot" if kind == "failing" else "cold", _row_words(page, one.name, counts, points))
        note = page.say("page.silent") if kind == "events" and silent(one) else number(sum(counts))
        rows.append(tag("li", tag("span", clean(one.name), class_="name"), row, tag("span", note, class_="total")))
    how = page.say("page.heat_how" if kind == "failing" else "page.heat_each")
    how = page.style.comma(how, page.say("page.heat_onset") if at else "")
    rows.append(tag("li", tag("span"), _ticks(points, page.style), aria_hidden="true"))
    caption = tag("figcaption", tag("strong", title), " ", how)
    return tag("figure", caption, tag("ul", *rows, class_="heat"), _heat_table(page, title, services, counted, points))


def _row_words(page: Page, name: str, counts: Sequence[float], points: Sequence[Point]) -> str:
    peak = max(range(len(counts)), key=lambda place: counts[place])
    words = page.say("timeline.peak", count=number(counts[peak]), at=page.style.minute(points[peak].at))
    return page.style.comma(f"{clean(name)}: {number(sum(counts))}", words)


def _heat_table(
    page: Page,
    title: str,
    services: Sequence[ServiceActivity],
    counted: Sequence[Sequence[float]],
    points: Sequence[Point],
) -> Html:
    header: list[Child] = [page.label("time"), *(clean(one.name) for one in services)]
    rows: list[list[Child]] = [
        [page.time(point.at), *(number(counts[place]) for counts in counted)] for place, point in enumerate(points)
    ]
    numbers = range(1, len(header))
    return fold(page.say("page.as_table"), scrolled(title, table(title, header, rows, numbers=numbers)))
