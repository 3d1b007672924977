"""The middle of the page: patterns, where, changes and traces, hypotheses, checks."""

from collections.abc import Sequence

from logagent.diagnosis import BlastRadius, BlastValue, Hypothesis, Pattern, Trace
from logagent.report import _facts
from logagent.report._markup import Child, Html, join, tag
from logagent.report._page import Page, code, fold, section, table
from logagent.report._pictures import bars, legend, spark
from logagent.report._text import cited, clean, number, rounded

_FIRST = 8
"""Patterns that stand open; the others are folded."""
_VALUES = 6
_SHIFTED = {"new": "warn", "spiking": "warn", "vanished": "warn"}


def patterns(page: Page) -> Html:
    """All patterns: the changed ones first, those beyond the first eight and the steady ones folded."""
    every = page.diagnosis.patterns
    changed = [one for one in every if one.change != "steady"]
    first = (changed or every)[:_FIRST]
    rest = [one for one in every if one not in first]
    parts: list[Child] = [_patterns(page, first)] if first else []
    if rest:
        parts.append(fold(page.say("more.patterns", n=len(rest)), _patterns(page, rest)))
    return section(page, "patterns", *parts)


def _patterns(page: Page, shown: Sequence[Pattern]) -> Html:
    """A table that becomes a list of cards where the screen is narrow; roles keep it a table for screen readers."""
    keys = ("change", "now", "usual", "trend", "first", "service", "text")
    heads = [tag("th", page.label(key), scope="col", role="columnheader", class_=f"c-{key}") for key in keys]
    head = tag("thead", tag("tr", *heads, role="row"), role="rowgroup")
    body = tag("tbody", *(_pattern(page, one, keys) for one in shown), role="rowgroup")
    return tag(
        "table", tag("caption", page.label("patterns"), class_="hidden"), head, body, class_="cards", role="table"
    )


def _pattern(page: Page, one: Pattern, keys: Sequence[str]) -> Html:
    word = tag("span", page.say(f"change.{one.change}"), class_=f"word {_SHIFTED.get(one.change, 'dim')}")
    services = [clean(name) for name in one.fields.get("service.name", []) if name]
    names = ", ".join(services[:3]) + (f" {page.say('more.plain', n=len(services) - 3)}" if len(services) > 3 else "")  # noqa: PLR2004
    first: Child = _facts.first(one, page.style)
    if one.first_seen and first == page.style.clock(one.first_seen):
        first = page.time(one.first_seen)
    trend: Child = None
    if len(one.sparkline) > 1 and any(one.sparkline):
        trend = spark(one.sparkline, page.say("page.trend", peak=number(max(one.sparkline))))
    values: list[Child] = [word, number(one.count), _facts.usual(one, page.style), trend, first, names or "-"]
    values.append(join([code(one.template), page.ids(one.evidence)]))
    cells = [
        tag("td", value, role="cell", class_=f"c-{key}", data_label=page.label(key))
        for key, value in zip(keys, values, strict=True)
    ]
    return tag("tr", *cells, role="row", id=one.id)


# -- where -----------------------------------------------------------------------------------------------------------


def where(page: Page) -> Html:
    """What is over-represented among the failures, as bars with their figures, and what is not affected."""
    radii = [one for one in page.diagnosis.blast_radius if one.values]
    if not radii:
        return Html("")
    entries = [("bad", page.label("failing")), ("good", page.label("healthy"))]
    shares = any(value.share_in_anomaly is not None for one in radii for value in one.values)
    return section(page, "where", legend(entries) if shares else None, *(_radius(page, one) for one in radii))


def _radius(page: Page, radius: BlastRadius) -> Html:
    most = max((value.affected_events for value in radius.values), default=0.0) or 1.0
    shown = radius.values[:_VALUES]
    rows: list[list[Child]] = [_value(one, most) for one in shown]
    title = _facts.dimension(radius.dimension)
    if radius.coverage is not None and radius.coverage < 1:
        title = page.style.paren(title, page.say("where.coverage", share=rounded(radius.coverage)))
    header: list[Child] = [
        page.label("value"),
        page.label("share"),
        page.label("failing"),
        page.label("healthy"),
        page.label("events"),
    ]
    parts: list[Child] = [table(title, header, rows, numbers=(2, 3, 4))]
    if len(radius.values) > len(shown):
        parts.append(tag("p", page.say("more.values", n=len(radius.values) - len(shown)), class_="dim"))
    if radius.unaffected:
        names = page.style.comma(*(clean(name) for name in radius.unaffected))
        parts.append(tag("p", page.say("where.unaffected", names=names), class_="dim"))
    return tag("div", *parts, class_="radius")


def _value(one: BlastValue, most: float) -> list[Child]:
    name = tag("span", clean(one.value), translate="no")
    if one.share_in_anomaly is None:
        return [name, bars(one.affected_events / most, None), "-", "-", number(one.affected_events)]
    good = "-" if one.share_in_baseline is None else rounded(one.share_in_baseline)
    drawing = bars(one.share_in_anomaly, one.share_in_baseline)
    return [name, drawing, rounded(one.share_in_anomaly), good, number(one.affected_events)]


# -- changes and traces ----------------------------------------------------------------------------------------------


def changes(page: Page) -> Html:
    """What changed near the onset, and example traces with the first failing hop."""
    rows = []
    for one in sorted(page.diagnosis.changes, key=lambda change: change.at):
        ahead = one.seconds_before_onset
        when = (
            page.say("page.before_onset" if ahead > 0 else "page.after_onset", n=number(round(abs(ahead))))
            if ahead is not None
            else ""
        )
        rows.append(
            tag("li", page.time(one.at), " ", tag("strong", clean(one.label)), f" {when}", page.ids(one.evidence))
        )
    traces = [_trace(page, one) for one in page.diagnosis.traces]
    parts: list[Child] = [tag("ul", *rows, class_="plain")] if rows else []
    parts += [tag("h3", page.label("traces")), tag("ul", *traces, class_="plain")] if traces else []
    return section(page, "changes", *parts)


def _trace(page: Page, one: Trace) -> Html:
    way = " → ".join(clean(name) for name in one.services)
    broken = ", ".join(f"{clean(str(key))} {clean(str(value))}" for key, value in (one.first_failure or {}).items())
    return tag("li", code(one.trace_id), f" {way} ", tag("strong", broken) if broken else None, page.ids(one.evidence))


# -- hypotheses and checks -------------------------------------------------------------------------------------------


def hypotheses(page: Page) -> Html:
    """Each explanation with what speaks for and against it, what would refute it, or why it is ruled out."""
    every = sorted(page.diagnosis.hypotheses, key=lambda one: one.rank)
    return section(page, "hypotheses", *(_hypothesis(page, one) for one in every))


def _hypothesis(page: Page, one: Hypothesis) -> Html:
    style = page.style
    state = style.comma(_facts.hypothesis_state(one, style), _facts.grade(one, style))
    title = tag("h3", tag("span", one.id, class_="id"), " ", cited(clean(one.statement))[0], " ")
    rows: list[tuple[str, Child]] = [("state", state), ("for", _rows(page, one.supporting))]
    rows += [("discriminating", _rows(page, one.discriminating)), ("against", _rows(page, one.contradicting))]
    rows += [("refute", clean(one.would_refute)), ("ruled_out", page.linked(clean(one.ruled_out_because)))]
    pairs = [tag("div", tag("dt", page.label(key)), tag("dd", value)) for key, value in rows if value]
    parts = clean(one.mechanism).split(" · ") if one.mechanism else []
    how = tag("ul", *(tag("li", page.linked(part)) for part in parts))
    more = fold(page.say("page.how", n=len(parts)), how) if parts else None
    return tag("article", title, tag("dl", *pairs, class_="rows"), more, id=one.id, class_=f"card {one.state}")


def _rows(page: Page, ids: Sequence[str]) -> Child:
    """The rows of evidence in words, each with its link; "-" would say nothing, so none is left out whole."""
    words = {one.id: clean(one.statement) for one in page.diagnosis.evidence}
    items = [tag("li", page.linked(one), " ", words.get(one, "")) for one in dict.fromkeys(ids)]
    return tag("ul", *items, class_="plain") if items else None


def checks(page: Page) -> Html:
    """What was looked for and clear, what could not be checked, what was left out."""
    groups: list[Child] = []
    for key, result in _facts.CHECKS:
        found = _facts.checks(page.diagnosis, result)
        names = [page.style.paren(clean(one.name), clean(one.detail)) for one in found]
        if names:
            items = [tag("li", page.linked(name)) for name in names]
            title = f"{page.label(key)} ({len(names)})"
            groups += [tag("h3", title), tag("ul", *items, class_="flow" if key == "clear" else "plain")]
    return section(page, "checks", *groups)
