"""The terminal report (ux.md 3.2): one screen of 80 columns and at most 40 lines, no box drawing.

What does not fit is counted ("+3 more patterns"), never dropped silently. Text of logs and of the model is sanitised
before it is measured; colour is added last, so it changes no width.
"""

from logagent.diagnosis import Diagnosis
from logagent.report import _facts, _quiet_words
from logagent.report._body import checks, hypotheses, patterns, timeline, where
from logagent.report._head import Lines, banner, head, headline, labelled
from logagent.report._limits import ALL, SHORT_LAYOUT, Limits, steps
from logagent.report._style import Style
from logagent.report._text import cells, clean, cut, wrap

SCREEN = 40
"""Lines of one screen."""
NARROW_SCREEN = 60
"""Lines where the lines are short: tables are lists there."""


def render(diagnosis: Diagnosis, style: Style) -> str:
    """The report for a terminal, without a newline at the end."""
    if style.verbose > 1:
        page = _page(diagnosis, style, ALL)
    else:
        most = NARROW_SCREEN if style.is_narrow else SCREEN
        for limits in steps():
            page = _page(diagnosis, style, limits)
            if len(page) <= most:
                break
    if style.verbose:
        page = [*page, "", *queries(diagnosis, style)]
    return "\n".join(line.rstrip() for line in page)


def _page(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    if diagnosis.outcome == "no_anomaly":
        parts = [_quiet(diagnosis, style, SHORT_LAYOUT)]
    elif diagnosis.outcome == "insufficient_data":
        parts = [_cannot_tell(diagnosis, style, limits), timeline(diagnosis, style, limits)]
        parts += [patterns(diagnosis, style, limits), checks(diagnosis, style, limits)]
    else:
        parts = [headline(diagnosis, style), head(diagnosis, style, limits), timeline(diagnosis, style, limits)]
        parts += [patterns(diagnosis, style, limits), where(diagnosis, style, limits)]
        parts.append(hypotheses(diagnosis, style, limits) + checks(diagnosis, style, limits))
    parts.append(foot(diagnosis, style, limits))
    lines = banner(diagnosis, style)
    for part in parts:
        lines += ["", *part] if lines and part else part
    return lines


def _quiet(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """The short layout where nothing is unusual."""
    word, tone = _facts.status(diagnosis, style)
    width = max(cells(word), cells(style.say("label.clear")), cells(style.say("label.not_possible"))) + 2
    room = style.columns - width
    text = [line for sentence in _quiet_words.sentences(diagnosis, style) for line in wrap(sentence, room)]
    lines = labelled(word, text, width, style, tone)
    lines += checks(diagnosis, style, limits)
    return [*lines, *wrap(style.say("quiet.advice"), style.columns)]


def _cannot_tell(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """The short layout where the data does not allow an answer."""
    return [
        *headline(diagnosis, style),
        "",
        *head(diagnosis, style, limits),
        *wrap(style.say("cannot.advice"), style.columns),
    ]


def foot(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """Data quality, baseline, notes, cost, and how to go on."""
    notes = _facts.notes(diagnosis)
    rows = [("data", _facts.data_line(diagnosis, style)), ("base", _facts.base_line(diagnosis, style))]
    rows += [("note", note) for note in notes[: limits.notes]]
    if len(notes) > limits.notes:
        rows.append(("note", style.say("more.notes", n=len(notes) - limits.notes)))
    rows.append(("cost", _facts.cost_line(diagnosis, style)))
    rows.append(("case", clean(diagnosis.id)))
    width = max(cells(style.say(f"label.{key}")) for key, _ in rows) + 2
    room = style.columns - width
    lines: Lines = []
    for key, text in rows:
        lines += labelled(
            style.say(f"label.{key}"), cut(wrap(text, room), limits.foot, room, style.ellipsis), width, style, "dim"
        )
    return lines


def queries(diagnosis: Diagnosis, style: Style) -> Lines:
    """Every evidence row with its statement and its query, for `-v`."""
    lines = [style.paint(style.say("label.evidence"), "strong")]
    width = max((len(one.id) for one in diagnosis.evidence), default=0) + 2
    for one in diagnosis.evidence:
        state = style.say(f"verification.{one.verification.state}")
        text = wrap(f"{clean(one.statement)} ({state})", style.columns - width)
        lines += labelled(one.id, [*text, *wrap(clean(one.query.text), style.columns - width)], width, style, "plain")
    return lines
