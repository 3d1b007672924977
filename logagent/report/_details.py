"""The end of the page: evidence that opens in place, next steps with their commands, data quality, how to go on."""

from collections.abc import Sequence

from logagent.diagnosis import EvidenceOut, Mitigation, NextStep
from logagent.report import _facts
from logagent.report._items import value_text
from logagent.report._markup import Child, Html, tag
from logagent.report._page import Page, code, command, fold, safe_link, section
from logagent.report._text import clean, rounded

_STATES = {"verified": "fine", "contradicted": "bad", "error": "warn", "drifted": "warn"}


def evidence(page: Page, samples: int) -> Html:
    """Every row in use: what it says and whether it was verified; opened, its query and lines."""
    rows = [_evidence(page, one, samples) for one in page.diagnosis.evidence]
    title = f"{page.label('evidence')} ({len(rows)})"
    return section(page, "evidence", *rows, title=title)


def _evidence(page: Page, one: EvidenceOut, samples: int) -> Html:
    state = tag(
        "span",
        page.say(f"verification.{one.verification.state}"),
        class_=f"state {_STATES.get(one.verification.state, 'dim')}",
    )
    words = tag("span", clean(one.statement), class_="words")
    summary = tag("span", tag("span", one.id, class_="id"), words, state, class_="line")
    pairs = [tag("div", tag("dt", page.label(key)), tag("dd", value)) for key, value in _facts_of(page, one) if value]
    lines = [_sample(page, sample) for sample in one.samples[:samples]]
    links = [safe_link(link.href, clean(link.title) or page.say("page.discover")) for link in one.links]
    outward = tag("p", *links, class_="links") if links else None
    return fold(
        summary, tag("div", tag("dl", *pairs, class_="rows"), outward, *lines, id=one.id, class_="inner"), class_="row"
    )


def _facts_of(page: Page, one: EvidenceOut) -> list[tuple[str, Child]]:
    style, check, query = page.style, one.verification, one.query
    state = style.say(f"verification.{check.state}")
    if check.observed_value is not None and check.state != "verified":
        state = style.say("verification.observed", state=state, value=value_text(check.observed_value))
    at = tag("span", state, " ", page.time(check.checked_at)) if check.checked_at else tag("span", state)
    between: Child = None
    if query.from_ and query.to:
        between = tag("span", page.time(query.from_), " .. ", page.time(query.to))
    unit = "" if one.unit in {None, "ratio"} else clean(one.unit)
    value = value_text(one.value, is_share=one.unit == "ratio")
    return [
        ("value", " ".join(part for part in (value, unit) if part)),
        ("usually", value_text(one.baseline_value, is_share=one.unit == "ratio")),
        ("state", at),
        ("query", code(query.text) if query.text else page.say("page.everything")),
        ("range", between),
        ("source", style.comma(*(clean(name) for name in query.indices))),
    ]


def _sample(page: Page, sample: dict[str, object]) -> Html:
    """One line of the log: its message as it was logged, then what else the record says."""
    place = f"{clean(str(sample.get('_index', '')))} {clean(str(sample.get('_id', '')))}".strip()
    message = clean(str(sample.get("message", "")))
    fields = [
        tag("div", tag("dt", clean(name)), tag("dd", code(str(value))))
        for name, value in sample.items()
        if not name.startswith("_") and name != "message" and value is not None
    ]
    shown = tag("p", code(message), class_="logged") if message else None
    head = tag("figcaption", f"{page.label('sample')} {place}")
    return tag("figure", head, shown, tag("dl", *fields, class_="fields"), class_="sample")


# -- next ------------------------------------------------------------------------------------------------------------


def steps(page: Page) -> Html:
    """What to do next, each with its command and what either result means; options for the commander apart."""
    every = sorted(page.diagnosis.next_steps, key=lambda step: step.order)
    items = [_step(page, one) for one in every]
    parts: list[Child] = [tag("ol", *items, class_="steps")] if items else []
    options = [_option(page, one) for one in page.diagnosis.mitigations]
    parts += [tag("h3", page.label("mitigations")), tag("ul", *options, class_="plain")] if options else []
    questions = [tag("li", page.linked(clean(one))) for one in page.diagnosis.open_questions]
    parts += [tag("h3", page.label("questions")), tag("ul", *questions)] if questions else []
    return section(page, "steps", *parts)


def _step(page: Page, one: NextStep) -> Html:
    words = tag("p", tag("strong", page.linked(_facts.step_words(one, page.style))))
    results = [("if_true", one.expect_if_true), ("if_false", one.expect_if_false)]
    pairs = [tag("div", tag("dt", page.label(key)), tag("dd", clean(text))) for key, text in results if text]
    told = tag("dl", *pairs, class_="rows") if pairs else None
    return tag("li", words, command(one.command, page) if one.command else None, told)


def _option(page: Page, one: Mitigation) -> Html:
    rows = [("fits", " ".join(one.fits)), ("would_not_help", " ".join(one.would_not_help))]
    pairs = [tag("div", tag("dt", page.label(key)), tag("dd", page.linked(text))) for key, text in rows if text]
    watch = tag("div", tag("dt", page.label("watch")), tag("dd", clean(one.watch_after))) if one.watch_after else None
    return tag("li", clean(one.label), tag("dl", *pairs, watch, class_="rows") if pairs or watch else None)


def quality(page: Page) -> Html:
    """What limits trust in the figures, what it cost, and how to check all of it again."""
    diagnosis, style = page.diagnosis, page.style
    rows: list[tuple[str, Child]] = [
        ("data", _facts.data_line(diagnosis, style)),
        ("base", _facts.base_line(diagnosis, style)),
    ]
    rows += [("note", page.linked(note)) for note in _facts.notes(diagnosis)]
    rows += [("source", style.comma(*(clean(name) for name in diagnosis.request.scope.indices)))]
    rows += [("assumed", clean(one)) for one in diagnosis.request.assumptions]
    rows += [("cost", _facts.cost_line(diagnosis, style)), ("case", clean(diagnosis.id))]
    pairs = [tag("div", tag("dt", page.label(key)), tag("dd", value)) for key, value in rows if value]
    return section(page, "quality", tag("dl", *pairs, class_="rows"), _coverage(page), *_again(page))


def _coverage(page: Page) -> Html | None:
    shares = page.diagnosis.data_quality.field_coverage
    items = [tag("li", f"{clean(name)} {rounded(share)}") for name, share in shares.items()]
    return fold(page.label("coverage"), tag("ul", *items, class_="flow")) if items else None


def _again(page: Page) -> Sequence[Html]:
    case = clean(page.diagnosis.id)
    first = page.diagnosis.evidence[0].id if page.diagnosis.evidence else ""
    lines = [("page.verify", f"logagent verify {case}")]
    lines += [("page.behind", f"logagent show {case} {first}")] if first else []
    return [tag("div", tag("p", page.say(key)), command(text, page)) for key, text in lines]
