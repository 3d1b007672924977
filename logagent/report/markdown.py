"""The report as GitHub-flavoured Markdown, readable as plain text (ux.md 3.4): for tickets and pull requests.

Log text stands in code only. Evidence and queries are folded. At most 60,000 characters: samples go first, then
evidence; what was left out is said.
"""

from logagent.diagnosis import Diagnosis, EvidenceOut, Pattern
from logagent.report import _facts, _timeline
from logagent.report._charts import sparkline
from logagent.report._escape import cell, code, fence, prose
from logagent.report._style import Style
from logagent.report._text import cited, clean, ids_of, number, rounded

NAMES = ("md",)
LARGEST = 60_000
"""Characters: GitHub accepts 65,536."""
_WIDTH = 60
_VALUES = 3
"""Values shown of a dimension; how many were left out is said."""
_EVERYTHING = (5, 200, 60)
_STEPS = (_EVERYTHING, (1, 60, 40), (0, 30, 20), (0, 0, 10))
"""Samples a row, rows, patterns: tried in this order until the report fits."""


def render(diagnosis: Diagnosis, style: Style) -> str:
    """The report as Markdown, without a newline at the end."""
    text = ""
    for step in _STEPS:
        text = _compose(diagnosis, style, step)
        if len(text) <= LARGEST:
            return text
    return text[: LARGEST - 200].rsplit("\n", 1)[0] + f"\n\n{style.say('more.full')}"


def _compose(diagnosis: Diagnosis, style: Style, step: tuple[int, int, int]) -> str:
    samples, rows, patterns = step
    blocks = [
        _head(diagnosis, style),
        _series(diagnosis, style),
        _patterns(diagnosis, style, patterns),
        _where(diagnosis, style),
        _hypotheses(diagnosis, style),
        _steps(diagnosis, style),
        _checks(diagnosis, style),
        _questions(diagnosis, style),
        _evidence(diagnosis, style, samples, rows),
        _foot(diagnosis, style),
    ]
    if step != _EVERYTHING:
        blocks.append([style.say("more.full")])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(diagnosis: Diagnosis, style: Style) -> list[str]:
    word, _ = _facts.status(diagnosis, style)
    severity = f" ({prose(diagnosis.severity.suggested)}?)" if diagnosis.severity else ""
    lines = [f"> {prose(text)}" for text in _facts.banners(diagnosis, style)]
    lines += [""] if lines else []
    lines += [f"## {word}: {prose(diagnosis.summary.headline)}{severity}", ""]
    what = " ".join(f"{prose(text)}{_ids(ids)}." for text, ids in _facts.impact(diagnosis, style) if text)
    since, since_ids = _facts.since(diagnosis, style)
    label, cause, cause_ids = _facts.cause(diagnosis, style)
    purpose, command = _facts.next_step(diagnosis, style)
    rows = [
        (style.say("label.what"), what),
        (style.say("label.since"), f"{_facts.span(diagnosis, style)}: {prose(since)}{_ids(since_ids)}"),
        (label, f"{prose(cause)}{_ids(cause_ids)} ({prose(_facts.verdict(diagnosis, style))})"),
        (style.say("label.next"), f"{prose(purpose)} {code(command)}".strip()),
    ]
    return lines + [f"**{name}** {text}  " for name, text in rows]


def _ids(ids: list[str]) -> str:
    return f" [{' '.join(ids)}]" if ids else ""


def _title(style: Style, key: str) -> list[str]:
    return [f"### {style.say(f'label.{key}')}", ""]


def _series(diagnosis: Diagnosis, style: Style) -> list[str]:
    line = _timeline.main(diagnosis)
    if line is None:
        return []
    series, points = line.series[0], _timeline.full(line.series[0].points)
    chart = sparkline([point.count for point in points], _WIDTH, unicode=style.unicode)
    rows = [_timeline.title(line, series.name, style), f"{_timeline.span(points, style)}  {chart}"]
    rows.append(_timeline.band(series, style))
    rows += [
        f"{style.clock(one.at)}  {style.say(f'mark.{one.kind}')}  {_timeline.mark_label(one)}".rstrip()
        for one in _timeline.marks(diagnosis)
    ]
    return [*_title(style, "timeline"), *fence(rows, "text")]


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(cell(one) for one in line) + " |" for line in lines]


def _patterns(diagnosis: Diagnosis, style: Style, most: int) -> list[str]:
    if not diagnosis.patterns:
        return []
    header = [style.say(f"label.{key}") for key in ("change", "now", "usual", "first", "service", "text")]
    rows = [_pattern(one, style) for one in diagnosis.patterns[:most]]
    more = len(diagnosis.patterns) - len(rows)
    tail = ["", style.say("more.patterns", n=more)] if more else []
    return [*_title(style, "patterns"), *_table(header, rows), *tail]


def _pattern(one: Pattern, style: Style) -> list[str]:
    usual = _facts.usual(one, style)
    services = ", ".join(code(name) for name in one.fields.get("service.name", [])[:3])
    first = style.clock(one.first_seen) if one.first_seen else "-"
    figures = [f"{style.say(f'change.{one.change}')} {one.id}", number(one.count), usual, first]
    return [*figures, services, code(one.template) + _ids(one.evidence)]


def _where(diagnosis: Diagnosis, style: Style) -> list[str]:
    rows = []
    for radius in diagnosis.blast_radius:
        for value in radius.values[:_VALUES]:
            bad = "-" if value.share_in_anomaly is None else rounded(value.share_in_anomaly)
            good = "-" if value.share_in_baseline is None else rounded(value.share_in_baseline)
            rows.append([code(radius.dimension), code(value.value), number(value.affected_events), bad, good])
    if not rows:
        return []
    header = [style.say(f"label.{key}") for key in ("dimension", "value", "now", "failing", "healthy")]
    names = list(dict.fromkeys(name for radius in diagnosis.blast_radius for name in radius.unaffected))
    more = sum(max(0, len(radius.values) - _VALUES) for radius in diagnosis.blast_radius)
    tail = ["", style.say("more.values", n=more)] if more else []
    tail += ["", style.say("where.unaffected", names=", ".join(code(name) for name in names))] if names else []
    return [*_title(style, "where"), *_table(header, rows), *tail]


def _hypotheses(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines = []
    for one in sorted(diagnosis.hypotheses, key=lambda hypothesis: hypothesis.rank):
        values = {"for": ids_of(style, one.supporting, 12), "against": ids_of(style, one.contradicting, 12)}
        tail = prose(one.ruled_out_because) or style.say("hypothesis.for_against", **values)
        lines.append(
            f"- **{one.id} {_facts.hypothesis_state(one, style)}** {prose(cited(clean(one.statement))[0])}: {tail}"
        )
        if one.would_refute:
            lines.append(f"  - {style.say('label.refute')}: {prose(one.would_refute)}")
    return [*_title(style, "hypotheses"), *lines] if lines else []


def _steps(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines = []
    for place, one in enumerate(sorted(diagnosis.next_steps, key=lambda step: step.order), start=1):
        lines.append(f"{place}. {prose(_facts.step_words(one, style))}")
        if one.command:
            lines += [f"   {line}" for line in fence([one.command], "sh")]
        lines += [f"   - {prose(text)}" for text in (one.expect_if_true, one.expect_if_false) if text]
    options = [f"- {prose(one.label)}: {', '.join(one.fits)}" for one in diagnosis.mitigations]
    steps = [*_title(style, "steps"), *lines] if lines else []
    return [
        *steps,
        *([""] if steps and options else []),
        *([*_title(style, "mitigations"), *options] if options else []),
    ]


def _checks(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines = []
    for key, result in _facts.CHECKS:
        found = _facts.checks(diagnosis, result)
        names = ", ".join(prose(one.name) + (f" ({prose(one.detail)})" if one.detail else "") for one in found)
        lines += [f"**{style.say(f'label.{key}')}** {names}  "] if names else []
    return [*_title(style, "checks"), *lines] if lines else []


def _questions(diagnosis: Diagnosis, style: Style) -> list[str]:
    lines = [f"- {prose(one)}" for one in diagnosis.open_questions]
    return [*_title(style, "questions"), *lines] if lines else []


def _evidence(diagnosis: Diagnosis, style: Style, samples: int, most: int) -> list[str]:
    shown = diagnosis.evidence[:most]
    if not shown:
        return []
    lines = ["<details>", f"<summary>{style.say('label.evidence')} ({len(diagnosis.evidence)})</summary>", ""]
    for one in shown:
        lines += _row(one, style, samples)
    more = len(diagnosis.evidence) - len(shown)
    return [*lines, *([style.say("more.values", n=more), ""] if more else []), "</details>"]


def _row(one: EvidenceOut, style: Style, samples: int) -> list[str]:
    state = style.say(f"verification.{one.verification.state}")
    lines = [f"- **{one.id}** {prose(one.statement)} ({state})  ", f"  {code(one.query.text)}"]
    texts = [clean(str(sample.get("message", ""))) for sample in one.samples[:samples]]
    rows = [text for text in texts if text]
    return [*lines, *(f"  {line}" for line in (fence(rows, "text") if rows else [])), ""]


def _foot(diagnosis: Diagnosis, style: Style) -> list[str]:
    rows = [("data", _facts.data_line(diagnosis, style)), ("base", _facts.base_line(diagnosis, style))]
    rows += [("note", note) for note in _facts.notes(diagnosis)]
    rows += [("cost", _facts.cost_line(diagnosis, style)), ("case", diagnosis.id)]
    return [*_title(style, "quality"), *(f"**{style.say(f'label.{key}')}** {prose(text)}  " for key, text in rows)]
