"""The head of the terminal report: banner, headline, WHAT, SINCE, CAUSE, NEXT. At most nine rows of 80 columns."""

from logagent.diagnosis import Diagnosis
from logagent.report import _facts
from logagent.report._limits import Limits
from logagent.report._style import Style, Tone
from logagent.report._text import cells, clean, cut, fit, pad, right, with_ids, wrap

Lines = list[str]


def banner(diagnosis: Diagnosis, style: Style) -> Lines:
    """Warnings above the headline, each in full."""
    lines: Lines = []
    for text in _facts.banners(diagnosis, style):
        lines += [style.paint(line, "warn") for line in wrap(text, style.columns)]
    return lines


def headline(diagnosis: Diagnosis, style: Style) -> Lines:
    """Status word, headline, and the suggested severity at the right margin."""
    word, tone = _facts.status(diagnosis, style)
    hint = f"{fit(clean(diagnosis.severity.suggested), 10, style.ellipsis)}?" if diagnosis.severity else ""
    indent = cells(word) + 2
    room = style.columns - indent - (cells(hint) + 2 if hint else 0)
    text = wrap(clean(diagnosis.summary.headline), max(20, room))
    first = pad(text[0], room) + right(hint, cells(hint) + 2) if hint else text[0]
    rest = [" " * indent + line for line in text[1:]]
    return [f"{style.paint(word, tone)}  {style.paint(first, 'strong')}", *(style.paint(one, "strong") for one in rest)]


def head(diagnosis: Diagnosis, style: Style, limits: Limits) -> Lines:
    """The four fields."""
    cause_label, cause, cause_ids = _facts.cause(diagnosis, style)
    labels = [style.say("label.what"), style.say("label.since"), cause_label, style.say("label.next")]
    width = max(cells(label) for label in labels) + 2
    room = style.columns - width
    what: Lines = []
    for text, ids in _facts.impact(diagnosis, style)[:2]:
        what += with_ids(text, ids, room, max(2, limits.prose), style.ellipsis)
    since, since_ids = _facts.since(diagnosis, style)
    why = with_ids(cause, cause_ids, room, limits.prose, style.ellipsis)
    why += cut(wrap(_facts.verdict(diagnosis, style), room), limits.prose, room, style.ellipsis)
    fields = [what, with_ids(since, since_ids, room, 2, style.ellipsis), why]
    fields.append(_next(diagnosis, style, room, limits))
    lines: Lines = []
    for label, text_lines in zip(labels, fields, strict=True):
        lines += labelled(label, text_lines, width, style)
    return lines


def _next(diagnosis: Diagnosis, style: Style, room: int, limits: Limits) -> Lines:
    """Purpose, then the command in full: a cut command would be worse than none."""
    purpose, command = _facts.next_step(diagnosis, style)
    if not command:
        return cut(wrap(purpose, room), limits.prose, room, style.ellipsis)
    return [
        *cut(wrap(style.say("join.colon", text=purpose), room), limits.prose, room, style.ellipsis),
        *wrap(command, room),
    ]


def labelled(label: str, text: Lines, width: int, style: Style, tone: Tone = "strong") -> Lines:
    """`LABEL  text`, further lines indented by `width` columns."""
    first = style.paint(label, tone) + " " * max(1, width - cells(label))
    return [first + text[0], *(" " * width + line for line in text[1:])]
