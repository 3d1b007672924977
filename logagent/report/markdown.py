"""The report as GitHub-flavoured Markdown, readable as plain text (ux.md 3.4): for tickets and pull requests.

Log text stands in code only. Evidence and queries are folded. At most 60,000 characters, or the budget of the reader:
`_brief` says in which order parts are given up; that something was left out is said.
"""

from logagent.diagnosis import Diagnosis, EvidenceOut, Pattern
from logagent.report import _facts, _quiet_words, _timeline
from logagent.report._brief import Keep, fitted
from logagent.report._charts import sparkline
from logagent.report._escape import cell, code, fence, outward, prose
from logagent.report._style import Style
from logagent.report._text import cited, clean, ids_of, number, rounded

LARGEST = 60_000
"""Characters: GitHub accepts 65,536."""
_WIDTH = 60


def render(diagnosis: Diagnosis, style: Style) -> str:
    """The report as Markdown, without a newline at the end."""
    budget = min(style.budget or LARGEST, LARGEST)
    return fitted(lambda keep: _compose(diagnosis, style, keep), budget, style.say("more.full"))


def _compose(diagnosis: Diagnosis, style: Style, keep: Keep) -> str:
    blocks = [
        _head(diagnosis, style, keep),
        _series(diagnosis, style) if keep.timeline else [],
        _patterns(diagnosis, style, keep),
        _where(diagnosis, style, keep),
        _hypotheses(diagnosis, style, keep),
        _steps(diagnosis, style, keep),
        _checks(diagnosis, style) if keep.checks else [],
        _questions(diagnosis, style) if keep.checks else [],
        _evidence(diagnosis, style, keep),
        _quality(diagnosis, style, keep),
        _link(diagnosis, style),
    ]
    return "\n\n".join("\n".join(block).strip("\n") for block in blocks if block)


def _head(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[str]:
    word, _ = _facts.status(diagnosis, style)
    severity = f" ({prose(diagnosis.severity.suggested)}?)" if diagnosis.severity else ""
    lines = [f"> {prose(text)}" for text in _facts.banners(diagnosis, style)]
    lines += [""] if lines else []
    lines += [f"## {word}: {prose(diagnosis.summary.headline)}{severity}", ""]
    rows = _calm(diagnosis, style) if diagnosis.outcome == "no_anomaly" else _four(diagnosis, style, keep)
    return lines + [f"**{name}** {text}  " for name, text in rows]


def _four(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[tuple[str, str]]:
    said = _facts.impact(diagnosis, style)[: 2 if keep.impact else 1]
    what = " ".join(f"{prose(text)}{_ids(ids)}." for text, ids in said if text)
    since, since_ids = _facts.since(diagnosis, style)
    label, cause, cause_ids = _facts.cause(diagnosis, style)
    purpose, command = _facts.next_step(diagnosis, style)
    return [
        (style.say("label.what"), what),
        (style.say("label.since"), f"{_facts.span(diagnosis, style)}: {prose(since)}{_ids(since_ids)}"),
        (label, f"{prose(cause)}{_ids(cause_ids)} ({prose(_facts.verdict(diagnosis, style))})"),
        (style.say("label.next"), f"{prose(purpose)} {code(command)}".strip()),
    ]


def _calm(diagnosis: Diagnosis, style: Style) -> list[tuple[str, str]]:
    what = style.semicolon(*(prose(one) for one in _quiet_words.sentences(diagnosis, style)))
    return [(style.say("label.what"), what), (style.say("label.next"), prose(style.say("quiet.advice")))]


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


def _patterns(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[str]:
    if not diagnosis.patterns or not keep.patterns:
        return []
    header = [style.say(f"label.{key}") for key in ("change", "now", "usual", "first", "service", "text")]
    rows = [_pattern(one, style) for one in diagnosis.patterns[: keep.patterns]]
    more = len(diagnosis.patterns) - len(rows)
    tail = ["", style.say("more.patterns", n=more)] if more else []
    return [*_title(style, "patterns"), *_table(header, rows), *tail]


def _pattern(one: Pattern, style: Style) -> list[str]:
    usual = _facts.usual(one, style)
    services = ", ".join(code(name) for name in one.fields.get("service.name", [])[:3])
    first = _facts.first(one, style)
    figures = [f"{style.say(f'change.{one.change}')} {one.id}", number(one.count), usual, first]
    return [*figures, services, code(one.template) + _ids(one.evidence)]


def _where(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[str]:
    rows, radii = [], diagnosis.blast_radius[: keep.dimensions]
    for radius in radii:
        for value in radius.values[: keep.values]:
            bad = "-" if value.share_in_anomaly is None else rounded(value.share_in_anomaly)
            good = "-" if value.share_in_baseline is None else rounded(value.share_in_baseline)
            rows.append([code(radius.dimension), code(value.value), number(value.affected_events), bad, good])
    if not rows:
        return []
    header = [style.say(f"label.{key}") for key in ("dimension", "value", "now", "failing", "healthy")]
    names = list(dict.fromkeys(name for radius in radii for name in radius.unaffected))
    more = sum(len(radius.values) for radius in diagnosis.blast_radius) - len(rows)
    tail = ["", style.say("more.values", n=more)] if more else []
    tail += ["", style.say("where.unaffected", names=", ".join(code(name) for name in names))] if names else []
    return [*_title(style, "where"), *_table(header, rows), *tail]


def _hypotheses(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[str]:
    lines = []
    for one in sorted(diagnosis.hypotheses, key=lambda hypothesis: hypothesis.rank)[: keep.hypotheses]:
        values = {"for": ids_of(style, one.supporting, 12), "against": ids_of(style, one.contradicting, 12)}
        tail = prose(one.ruled_out_because) or style.say("hypothesis.for_against", **values)
        lines.append(
            f"- **{one.id} {_facts.hypothesis_state(one, style)}** {prose(cited(clean(one.statement))[0])}: {tail}"
        )
        if one.would_refute:
            lines.append(f"  - {style.say('label.refute')}: {prose(one.would_refute)}")
    return [*_title(style, "hypotheses"), *lines] if lines else []


def _steps(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[str]:
    lines = []
    for place, one in enumerate(sorted(diagnosis.next_steps, key=lambda step: step.order)[: keep.steps], start=1):
        lines.append(f"{place}. {prose(_facts.step_words(one, style))}")
        if one.command:
            lines += [f"   {line}" for line in fence([one.command], "sh")]
        lines += [f"   - {prose(text)}" for text in (one.expect_if_true, one.expect_if_false) if text]
    options = [f"- {prose(one.label)}: {', '.join(one.fits)}" for one in diagnosis.mitigations[: keep.steps]]
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


def _evidence(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[str]:
    shown = diagnosis.evidence[: keep.rows]
    if not shown:
        return []
    lines = ["<details>", f"<summary>{style.say('label.evidence')} ({len(diagnosis.evidence)})</summary>", ""]
    for one in shown:
        lines += _row(one, style, keep.samples)
    more = len(diagnosis.evidence) - len(shown)
    return [*lines, *([style.say("more.values", n=more), ""] if more else []), "</details>"]


def _row(one: EvidenceOut, style: Style, samples: int) -> list[str]:
    state = style.say(f"verification.{one.verification.state}")
    lines = [f"- **{one.id}** {prose(one.statement)} ({state})  ", f"  {code(one.query.text)}"]
    lines += [f"  {link}" for link in (outward(one.href, one.title or one.rel) for one in one.links) if link]
    texts = [clean(str(sample.get("message", ""))) for sample in one.samples[:samples]]
    rows = [text for text in texts if text]
    return [*lines, *(f"  {line}" for line in (fence(rows, "text") if rows else [])), ""]


def _quality(diagnosis: Diagnosis, style: Style, keep: Keep) -> list[str]:
    rows = [("data", _facts.data_line(diagnosis, style)), *(("note", note) for note in _facts.notes(diagnosis))]
    if keep.cost:
        rows += [("base", _facts.base_line(diagnosis, style)), ("cost", _facts.cost_line(diagnosis, style))]
    title = _title(style, "quality") if keep.cost else []
    return [*title, *(f"**{style.say(f'label.{key}')}** {prose(text)}  " for key, text in rows)]


def _link(diagnosis: Diagnosis, style: Style) -> list[str]:
    """Where the whole report is: the case, and the links of the configuration."""
    links = [outward(one.href, one.title or one.rel) for one in diagnosis.links]
    return [" ".join([f"**{style.say('label.case')}** {prose(diagnosis.id)}", *(link for link in links if link)])]
