"""One item of a report in full: evidence with query and samples, a hypothesis with its rows, a pattern."""

from logagent.diagnosis import Diagnosis, EvidenceOut, Hypothesis, Pattern
from logagent.errors import UsageError
from logagent.report import _facts
from logagent.report._charts import sparkline
from logagent.report._head import Lines, labelled
from logagent.report._style import Style
from logagent.report._text import cells, cited, clean, ids_of, number, percent, wrap

_INDENT = 12
_SHOWN = 30


def render(diagnosis: Diagnosis, item: str, style: Style) -> str:
    """The item as text, nothing cut.

    Raises:
        UsageError: the diagnosis has no such item.
    """
    wanted = item.strip().upper()
    evidence = next((one for one in diagnosis.evidence if one.id == wanted), None)
    hypothesis = next((one for one in diagnosis.hypotheses if one.id == wanted), None)
    pattern = next((one for one in diagnosis.patterns if one.id.upper() == wanted), None)
    if evidence is not None:
        lines = _evidence(evidence, style)
    elif hypothesis is not None:
        lines = _hypothesis(hypothesis, diagnosis, style)
    elif pattern is not None:
        lines = _pattern(pattern, style)
    else:
        raise UsageError(f"{diagnosis.id} has no {clean(item)[:20]!r}.", hint=f"It has: {_known(diagnosis)}.")
    return "\n".join(line.rstrip() for line in lines)


def _known(diagnosis: Diagnosis) -> str:
    names = [one.id for one in diagnosis.evidence]
    names += [one.id for one in diagnosis.hypotheses]
    names += [one.id for one in diagnosis.patterns]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _rows(title: str, rows: list[tuple[str, str]], style: Style) -> Lines:
    lines = [style.paint(line, "strong") for line in wrap(title, style.columns)]
    width = max([_INDENT, *(cells(label) + 2 for label, _ in rows)])
    for label, text in rows:
        if text:
            lines += labelled(label, wrap(text, style.columns - width), width, style, "plain")
    return lines


def _evidence(one: EvidenceOut, style: Style) -> Lines:
    check = one.verification
    state = style.say(f"verification.{check.state}")
    if check.observed_value is not None and check.state != "verified":
        state = style.say("verification.observed", state=state, value=value_text(check.observed_value))
    rows = [
        (style.say("label.value"), " ".join(part for part in (value_text(one.value), clean(one.unit)) if part)),
        (style.say("label.usually"), value_text(one.baseline_value)),
        (style.say("label.state"), state),
        (style.say("label.query"), clean(one.query.text)),
        ("", ", ".join(clean(name) for name in one.query.indices)),
    ]
    if one.query.from_ and one.query.to:
        rows.append(("", f"{one.query.from_} .. {one.query.to}"))
    lines = _rows(f"{one.id}  {clean(one.statement)}", rows, style)
    for sample in one.samples:
        label = style.say("label.sample")
        lines += ["", f"{label}  {clean(str(sample.get('_index', '')))} {clean(str(sample.get('_id', '')))}".rstrip()]
        fields = [(clean(name), clean(str(value))) for name, value in sample.items() if not name.startswith("_")]
        lines += [line for name, value in fields for line in wrap(f"{name}: {value}", style.columns)]
    return lines


def value_text(value: float | str | None, *, is_share: bool = False) -> str:
    """A figure of a row as people read it; a ratio as percent."""
    if value is None:
        return ""
    if not isinstance(value, int | float):
        return clean(value)
    return percent(value) if is_share else number(value)


def _hypothesis(one: Hypothesis, diagnosis: Diagnosis, style: Style) -> Lines:
    state = style.comma(_facts.hypothesis_state(one, style), _facts.grade(one, style))
    rows = [
        (style.say("label.state"), state),
        ("", clean(one.mechanism)),
        ("", ", ".join(f"{clean(name)}={clean(value)}" for name, value in one.entity.items())),
        (style.say("label.for"), ids_of(style, one.supporting, 20)),
        (style.say("label.against"), ids_of(style, one.contradicting, 20)),
        (style.say("label.refute"), clean(one.would_refute)),
        (style.say("label.ruled_out"), clean(one.ruled_out_because)),
    ]
    lines = _rows(f"{one.id}  {cited(clean(one.statement))[0]}", rows, style)
    rows_in_use = {*one.supporting, *one.contradicting, *one.discriminating, *one.mechanism_lines}
    found = [row for row in diagnosis.evidence if row.id in rows_in_use]
    return [*lines, *(line for row in found for line in wrap(f"{row.id}  {clean(row.statement)}", style.columns))]


def _pattern(one: Pattern, style: Style) -> Lines:
    usual = _facts.usual(one, style)
    rows = [
        (style.say("label.change"), style.say(f"change.{one.change}")),
        (style.say("label.now"), number(one.count)),
        (style.say("label.usual"), usual),
        (style.say("label.first"), style.clock(one.first_seen) if one.first_seen else ""),
        (style.say("label.service"), ", ".join(clean(name) for name in one.fields.get("service.name", []))),
        (style.say("label.evidence"), ids_of(style, one.evidence)),
    ]
    lines = _rows(f"{one.id}  {clean(one.template)}", rows, style)
    chart = sparkline(one.sparkline, style.columns, unicode=style.unicode)
    return [*lines, chart] if chart else lines
