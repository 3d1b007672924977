"""Drawings of the page: inline SVG without text, so that it stretches; labels are HTML beside it, and never shrink.

Every drawing says in words what it shows; `_figures` puts the same as a table behind it. No style attribute is used:
the policy of the page forbids them, so positions are attributes of the shapes or classes `l0` to `l100` (percent).
"""

import math
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from logagent.diagnosis import Point, ServiceActivity
from logagent.report._markup import Html, join, tag

WIDTH, HEIGHT = 1000, 200
"""Units of the timeline."""
LEVELS = 6
"""Shades of a heat map, besides none."""
_BAR = 100
_SPARK = 20
_NICE = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


def nice_top(value: float) -> float:
    """The end of an axis: the next round number.

    >>> nice_top(36), nice_top(0.7), nice_top(212)
    (40.0, 1.0, 300.0)
    """
    if value <= 1:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next((step * unit for step in _NICE if step * unit >= value), 10 * unit)


class Axis:
    """Time to a share of the width: the first bucket begins at 0, the last ends at 1."""

    def __init__(self, points: Sequence[Point], seconds: int) -> None:
        self.start = datetime.fromisoformat(points[0].at).timestamp()
        self.length = max(1.0, datetime.fromisoformat(points[-1].at).timestamp() + seconds - self.start)
        self._half = seconds / 2

    def share(self, at: str) -> float:
        """Where an instant lies, below 0 or above 1 where it lies outside."""
        return (datetime.fromisoformat(at).timestamp() - self.start) / self.length

    def middle(self, point: Point) -> float:
        """Where a bucket has its middle, in units of the timeline."""
        return WIDTH * (self.share(point.at) + self._half / self.length)


def curve(points: Sequence[Point], axis: Axis, top: float, opens: float, marks: Sequence[float]) -> list[Html]:
    """The shapes of the timeline: the window, the band, grid lines, marks, and the series as line and points."""
    shapes = [tag("rect", class_="inside", x=WIDTH * opens, y=0, width=WIDTH * (1 - opens), height=HEIGHT)]
    shapes += [tag("line", class_="grid", x1=0, x2=WIDTH, y1=y, y2=y) for y in (0, HEIGHT / 2, HEIGHT)]
    band = _band(points, axis, top)
    shapes += [tag("polygon", class_="band", points=band)] if band else []
    shapes += [tag("line", class_="mark", x1=WIDTH * at, x2=WIDTH * at, y1=0, y2=HEIGHT) for at in marks]
    places = [f"{axis.middle(point):.4g} {_height(point.count, top):.4g}" for point in points]
    shapes.append(tag("path", class_="series", d="M" + "L".join(places)))
    shapes.append(tag("path", class_="dots", d="".join(f"M{place}h0" for place in places)))
    return shapes


def _height(value: float, top: float) -> float:
    return HEIGHT * (1 - min(value, top) / top)


def _band(points: Sequence[Point], axis: Axis, top: float) -> str:
    known = [one for one in points if one.expected_high is not None]
    if not known:
        return ""
    upper = [(axis.middle(one), _height(one.expected_high or 0, top)) for one in known]
    lower = [(axis.middle(one), _height(one.expected_low or 0, top)) for one in reversed(known)]
    ends = [(0.0, upper[0][1]), *upper, (float(WIDTH), upper[-1][1]), (float(WIDTH), lower[0][1]), *lower]
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in [*ends, (0.0, lower[-1][1])])


def cells(counts: Sequence[float], most: float, onset: float | None, shade: str, label: str) -> Html:
    """One row of a heat map: shades by the logarithm, so that a small service beside a loud one is seen too."""
    shapes: list[Html] = []
    place = 0
    for level, run in groupby(counts, key=lambda count: _level(count, most)):
        length = len(list(run))
        if level:
            shapes.append(tag("rect", class_=f"{shade} q{level}", x=place, y=0, width=length, height=1))
        place += length
    if onset is not None:
        at = onset * len(counts)
        shapes.append(tag("line", class_="mark", x1=at, x2=at, y1=0, y2=1))
    return _svg(shapes, f"0 0 {len(counts)} 1", "cells", label)


def _level(count: float, most: float) -> int:
    return max(1, round(LEVELS * math.log1p(count) / math.log1p(most))) if count > 0 else 0


def evened(counts: Sequence[float]) -> list[float]:
    """Counts of a service as shares of its own busiest bucket, for a picture of when it was silent."""
    most = max(counts, default=0.0) or 1.0
    return [count / most for count in counts]


def spark(values: Sequence[float], label: str) -> Html:
    """A sparkline: area and line."""
    top = max(values, default=0.0) or 1.0
    step = _BAR / max(1, len(values) - 1)
    places = [f"{place * step:.3g} {_SPARK * (1 - value / top) + 1:.3g}" for place, value in enumerate(values)]
    line = "M" + "L".join(places)
    shapes = [tag("path", class_="area", d=f"{line}L{_BAR} {_SPARK + 1}L0 {_SPARK + 1}z")]
    shapes.append(tag("path", class_="series", d=line))
    return _svg(shapes, f"0 0 {_BAR} {_SPARK + 2}", "spark", label)


def bars(bad: float, good: float | None) -> Html:
    """Two shares, one above the other: among failures, and among healthy traffic. The figures stand beside it."""
    shapes = [tag("rect", class_="track", x=0, y=0, width=_BAR, height=10)]
    shapes.append(tag("rect", class_="bad", x=0, y=0, width=_BAR * min(1.0, bad), height=6))
    if good is not None:
        shapes.append(tag("rect", class_="good", x=0, y=6, width=_BAR * min(1.0, good), height=4))
    return _svg(shapes, f"0 0 {_BAR} 10", "bars", "")


def picture(shapes: Sequence[Html], label: str) -> Html:
    """The timeline itself."""
    return _svg(shapes, f"0 0 {WIDTH} {HEIGHT}", "curve", label)


def _svg(shapes: Sequence[Html], view: str, kind: str, label: str) -> Html:
    """A drawing with what it shows in words; one without words is decoration."""
    if not label:
        return tag("svg", *shapes, class_=kind, viewBox=view, preserveAspectRatio="none", aria_hidden="true")
    title = tag("title", label)
    return tag(
        "svg", title, *shapes, class_=kind, viewBox=view, preserveAspectRatio="none", role="img", aria_label=label
    )


def badge(letter: str, share: float, row: int) -> Html:
    """The letter of a mark above the drawing; neighbours stand in rows of their own."""
    place = f"badge l{max(0, min(100, round(100 * share)))} row{row}"
    return tag("span", letter, class_=place, aria_hidden="true")


def rows_of(shares: Sequence[float], room: float = 0.04, most: int = 3) -> list[int]:
    """In which row each badge stands so that none covers its neighbour.

    >>> rows_of([0.1, 0.11, 0.5])
    [0, 1, 0]
    """
    last: dict[int, float] = {}
    out = []
    for share in shares:
        row = next((row for row in range(most) if share - last.get(row, -1.0) >= room), most - 1)
        last[row] = share
        out.append(row)
    return out


def silent(one: ServiceActivity, fewest: int = 3) -> bool:
    """Whether a service that logged in most buckets has none in the last ones."""
    counts = one.events
    if len(counts) < 2 * fewest:
        return False
    quiet = next((place for place, count in enumerate(reversed(counts)) if count), len(counts))
    before = counts[: len(counts) - quiet]
    return quiet >= fewest and bool(before) and sum(1 for count in before if count) > len(before) * 2 // 3


def legend(entries: Sequence[tuple[str, str]]) -> Html:
    """What the colours mean, in words beside a swatch."""
    return tag(
        "p",
        join([tag("span", tag("i", class_=f"swatch {name}", aria_hidden="true"), text) for name, text in entries]),
        class_="legend",
    )
