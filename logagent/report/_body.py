"""The middle of the terminal report: timeline, patterns, blast radius, hypotheses, checks."""

from bisect import bisect_right
from collections.abc import Sequence

from logagent.diagnosis import BlastRadius, Diagnosis, Hypothesis, Pattern, Point, TimelineEvent
from logagent.report import _facts, _timeline
from logagent.report._charts import sparkline
from logagent.report._head import Lines, labelled
from logagent.report._limits import Limits
from logagent.report._style import Style, Tone
from logagent.report._text import (
    cells,
    cited,
    clean,
    cut,
    fit,
    ids_of,
    number,
    pad,
    right,
    rounded,
    wrap,
)

_TONES: dict[str, Tone] = {"new": "warn", "spiking": "warn", "vanished": "warn"}
_TABLE_SERVICE = 20
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Names of the marks; there are never more."""


def timeline(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """The main series as a sparkline with its band and peak, below it the baseline and the letters of the marks."""
    marks, line = _shown_marks(diagnosis, limits), _timeline.main(diagnosis)
    if line is None:
        return _marks(diagnosis, marks, style)
    series = line.series[0]
    lines = with_ids_free(_timeline.title(line, series.name, style), _timeline.band(series, style), style.columns)
    if not style.accessible:
        points = _timeline.full(series.points)
        label, counts = _timeline.span(points, style), [point.count for point in points]
        room = style.columns - cells(label) - 2
        lines.append(f"{label}  {sparkline(counts, room, unicode=style.unicode)}")
        track = _track(diagnosis, points, marks, min(room, len(points)), style)
        lines += [" " * (cells(label) + 2) + track] if track else []
    return [*lines, *_marks(diagnosis, marks, style)]


def _track(
    diagnosis: Diagnosis, points: Sequence[Point], marks: Sequence[TimelineEvent], width: int, style: Style
) -> str:
    """Which part of the sparkline is the baseline, and the letters of the marks, below the buckets they lie in."""
    starts = [point.at for point in points]

    def place(at: str) -> int:
        return max(0, bisect_right(starts, at) - 1) * width // len(points)

    before, letters = place(diagnosis.window.from_), dict[int, str]()
    for letter, one in zip(LETTERS, marks, strict=False):
        free = (at for at in range(place(one.at), width) if at not in letters)
        letters[next(free, width - 1)] = letter
    row = [letters.get(at, "-" if at < before else " ") for at in range(width)]
    word = style.say("timeline.baseline")
    if before >= cells(word) + 2 and min(letters, default=before) >= before:
        row[:before] = ["|", word.center(before - 2 - (cells(word) - len(word)), "-"), "|"]
    return "".join(row).rstrip()


def with_ids_free(left: str, tail: str, width: int) -> Lines:
    """Two texts on one line where they fit, else one below the other."""
    one = f"{left}     {tail}"
    return (
        [one] if tail and cells(one) <= width else [line for text in (left, tail) if text for line in wrap(text, width)]
    )


def _shown_marks(diagnosis: Diagnosis, limits: Limits) -> list[TimelineEvent]:
    """The marks there is room for, in order of time; begin and end come before the others."""
    ranked = sorted(_timeline.marks(diagnosis), key=lambda one: one.kind not in {"onset", "recovery"})
    return sorted(ranked[: limits.marks], key=lambda one: one.at)


def _marks(diagnosis: Diagnosis, kept: Sequence[TimelineEvent], style: Style) -> Lines:
    width = max((cells(style.say(f"mark.{one.kind}")) for one in kept), default=0)
    lines = []
    for letter, one in zip(LETTERS, kept, strict=False):
        word = style.say(f"mark.{one.kind}")
        row = f"{letter} {style.clock(one.at)}  {pad(word, width)}  {_timeline.mark_label(one)}".rstrip()
        lines.append(fit(row, style.columns, style.ellipsis))
    if (more := len(_timeline.marks(diagnosis)) - len(lines)) > 0:
        lines.append("  " + style.say("more.marks", n=more))
    return lines


# -- patterns --------------------------------------------------------------------------------------------------------


def patterns(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """Changed patterns: a table, or a list on a narrow terminal. Steady ones only where nothing changed."""
    every = diagnosis.patterns if style.verbose > 1 else [one for one in diagnosis.patterns if one.change != "steady"]
    every = every or diagnosis.patterns[:2]
    if not every:
        return []
    shown = every[: limits.patterns]
    services = max(cells(_service(one)) for one in shown)
    is_list = style.is_narrow or services > _TABLE_SERVICE
    lines = _list(shown, style, limits) if is_list else _table(shown, style, limits)
    if len(every) > len(shown):
        lines.append("  " + style.say("more.patterns", n=len(every) - len(shown)))
    return lines


def _service(pattern: Pattern) -> str:
    names = [clean(name) for name in pattern.fields.get("service.name", []) if name]
    return f"{names[0]} +{len(names) - 1}" if len(names) > 1 else "".join(names)


def _table(shown: list[Pattern], style: Style, limits: Limits) -> Lines:
    labels = [style.say(f"label.{key}") for key in ("patterns", "now", "usual", "first", "service", "text")]
    words = {one.change: style.say(f"change.{one.change}") for one in shown}
    changes = max(cells(word) for word in words.values())
    nows = max(cells(number(one.count)) for one in shown)
    lead = max(cells(labels[0]), changes + 2 + nows, cells(labels[0]) + 2 + cells(labels[1])) + 2
    usual = max(cells(labels[2]), *(cells(_facts.usual(one, style)) for one in shown)) + 2
    first = max(8, cells(labels[3]), *(cells(_facts.first(one, style)) for one in shown)) + 2
    service = max(cells(labels[4]), *(cells(_service(one)) for one in shown)) + 2
    left = lead - 2 + usual + 2 + first + service
    room = style.columns - left
    title = pad(labels[0], lead - 2 - cells(labels[1])) + labels[1]
    lines = [
        style.paint(title, "strong") + right(labels[2], usual) + "  "
        + pad(labels[3], first) + pad(labels[4], service) + labels[5]
    ]  # fmt: skip
    for one in shown:
        word = words[one.change]
        numbers = right(number(one.count), lead - 2 - cells(word)) + right(_facts.usual(one, style), usual)
        start = f"{numbers}  {pad(_facts.first(one, style), first)}{pad(_service(one), service)}"
        text = cut(wrap(clean(one.template), room), limits.pattern_lines, room, style.ellipsis)
        lines.append(style.paint(word, _TONES.get(one.change, "plain")) + start + text[0])
        lines += [" " * left + line for line in text[1:]]
    return lines


def _list(shown: list[Pattern], style: Style, limits: Limits) -> Lines:
    lines = [style.paint(style.say("label.patterns"), "strong")]
    for one in shown:
        word = style.say(f"change.{one.change}")
        figures = style.say(
            "pattern.line", now=number(one.count), usual=_facts.usual(one, style), since=_facts.first(one, style)
        )  # fmt: skip
        rest = wrap(f"{figures}  {_service(one)}", style.columns - 8)
        lines += labelled(word, rest, 8, style, _TONES.get(one.change, "plain"))
        text = cut(
            wrap(clean(one.template), style.columns - 8), limits.pattern_lines + 1, style.columns - 8, style.ellipsis
        )
        lines += [" " * 8 + line for line in text]
    return lines


# -- where -----------------------------------------------------------------------------------------------------------


def where(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """What is over-represented among failures, and what is not affected."""
    rows = [(radius, value) for radius in diagnosis.blast_radius for value in radius.values[:1]]
    rows += [(radius, value) for radius in diagnosis.blast_radius for value in radius.values[1:2]]
    if not rows:
        return []
    label = style.say("label.where")
    indent = 8 if cells(label) <= 6 else cells(label) + 2  # noqa: PLR2004 - the column of the text
    shown = rows[: limits.values]
    names = [f"{_facts.dimension(radius.dimension)} {clean(value.value)}" for radius, value in shown]
    widest = min(max((cells(name) for name in names), default=0), (style.columns - indent) // 2)
    lines: Lines = []
    for (_, value), name in zip(shown, names, strict=True):
        if value.share_in_anomaly is None:
            text = style.say("where.count", n=number(value.affected_events))
        else:
            healthy = "-" if value.share_in_baseline is None else rounded(value.share_in_baseline)
            text = style.say("where.share", bad=rounded(value.share_in_anomaly), good=healthy)
        row = f"{pad(name, widest)}   {text}"
        fits = cells(row) <= style.columns - indent and not style.is_narrow
        lines += [row] if fits else [*wrap(name, style.columns - indent), *wrap(f"  {text}", style.columns - indent)]
    if len(rows) > len(shown):
        lines.append(style.say("more.values", n=len(rows) - len(shown)))
    lines += _unaffected([radius for radius, _ in shown], style, style.columns - indent, limits.unaffected)
    return labelled(label, lines, indent, style)


def _unaffected(radii: list[BlastRadius], style: Style, room: int, most: int) -> Lines:
    names = list(dict.fromkeys(clean(name) for radius in radii for name in radius.unaffected))
    if not names or not most:
        return []
    text = style.say("where.unaffected", names=", ".join(names[:8]))
    more = f" {style.say('more.plain', n=len(names) - 8)}" if len(names) > 8 else ""  # noqa: PLR2004 - eight fit
    return cut(wrap(text + more, room), most, room, style.ellipsis)


# -- hypotheses and checks -------------------------------------------------------------------------------------------


def hypotheses(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """Each explanation with what speaks for and against it; ruled-out ones with the reason."""
    every = sorted(diagnosis.hypotheses, key=lambda one: one.rank)
    shown = every[: limits.hypotheses]
    labels = [f"{one.id} {_facts.hypothesis_state(one, style)}" for one in shown]
    width = max((cells(label) for label in labels), default=0) + 2
    room = style.columns - width
    lines: Lines = []
    for label, one in zip(labels, shown, strict=True):
        lines += labelled(label, _hypothesis(one, style, room), width, style, "plain")
    if len(every) > len(shown):
        lines.append(style.say("more.hypotheses", n=len(every) - len(shown)))
    return lines


def _hypothesis(one: Hypothesis, style: Style, room: int) -> Lines:
    most = 2 if style.verbose < 2 else 99  # noqa: PLR2004 - everything
    statement = cut(wrap(cited(clean(one.statement))[0], room), most, room, style.ellipsis)
    if one.state == "ruled_out" and one.ruled_out_because:
        tail = clean(one.ruled_out_because)
    else:
        values = {"for": ids_of(style, one.supporting), "against": ids_of(style, one.contradicting)}
        tail = style.say("hypothesis.for_against", **values)
    if len(statement) == 1 and cells(statement[0]) + 3 + cells(tail) <= room:
        return [f"{statement[0]}   {tail}"]
    return [*statement, *cut(wrap(tail, room - 2), 1, room - 2, style.ellipsis)]


def checks(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """What was looked for and clear, and what could not be checked."""
    every = [(key, _facts.checks(diagnosis, result)) for key, result in _facts.CHECKS]
    groups = [(key, found) for key, found in every if found]
    width = max((cells(style.say(f"label.{key}")) for key, _ in groups), default=0) + 2
    lines: Lines = []
    for key, found in groups:
        names = style.comma(*(style.paren(clean(one.name), clean(one.detail)) for one in found))
        text = style.say("checks.counted", n=len(found), names=names) if key == "clear" else names
        room = style.columns - width
        lines += labelled(
            style.say(f"label.{key}"), cut(wrap(text, room), limits.check_lines, room, style.ellipsis), width, style
        )
    return lines
