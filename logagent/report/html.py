"""The report as one HTML file: opens from disk or as an attachment, loads nothing, needs no script (ux.md 3.3).

The four lines first, then pictures with the same data as tables behind them, then what they rest on. Text of logs and
of the model is text only: `_markup.tag` escapes whatever it did not make.
"""

from logagent.diagnosis import Diagnosis
from logagent.report import _facts, _quiet_words
from logagent.report._details import evidence, quality, steps
from logagent.report._figures import timeline
from logagent.report._markup import Child, Html, join, tag
from logagent.report._page import LARGEST, Page, command, document, page_of
from logagent.report._sections import changes, checks, hypotheses, patterns, where
from logagent.report._style import Style
from logagent.report._text import clean

_SAMPLES = (5, 1, 0)
"""Samples shown of a row: fewer where the page would grow beyond what it may have."""


def render(diagnosis: Diagnosis, style: Style) -> str:
    """The report as a page, without a newline at the end."""
    page = page_of(diagnosis, style)
    text = ""
    for samples in _SAMPLES:
        text = document(page, _body(page, samples))
        if len(text.encode()) <= LARGEST:
            break
    return text


def _body(page: Page, samples: int) -> list[Child]:
    parts = {
        "timeline": timeline(page),
        "patterns": patterns(page),
        "where": where(page),
        "changes": changes(page),
        "hypotheses": hypotheses(page),
        "evidence": evidence(page, samples),
        "checks": checks(page),
        "steps": steps(page),
        "quality": quality(page),
    }
    return [
        tag("a", page.say("page.skip"), href="#report", class_="skip"),
        _bar(page, [key for key, part in parts.items() if part]),
        tag("main", *_banners(page), _head(page), *parts.values(), id="report"),
    ]


def _bar(page: Page, keys: list[str]) -> Html:
    """Stays in view: the state, and where to go."""
    word, tone = _facts.status(page.diagnosis, page.style)
    links = [tag("li", tag("a", page.label(key), href=f"#{key}")) for key in keys]
    nav = tag("nav", tag("ul", *links), aria_label=page.say("page.contents"))
    hint = page.diagnosis.severity
    severity = tag("span", f"{clean(hint.suggested)}?", class_="severity") if hint else None
    return tag("header", tag("span", word, class_=f"status {tone}"), severity, nav, class_="bar")


def _banners(page: Page) -> list[Html]:
    return [tag("p", text, class_="banner", role="note") for text in _facts.banners(page.diagnosis, page.style)]


def _head(page: Page) -> Html:
    """State, headline, window; then WHAT, SINCE, CAUSE, NEXT."""
    diagnosis, style = page.diagnosis, page.style
    word, _ = _facts.status(diagnosis, style)
    title = tag("h1", tag("span", f"{word}: ", class_="hidden"), clean(diagnosis.summary.headline))
    rows = _quiet(page) if diagnosis.outcome == "no_anomaly" else _four(page)
    pairs = [tag("div", tag("dt", label), tag("dd", *value)) for label, value in rows]
    asked = diagnosis.request.question
    question = tag("p", tag("q", clean(asked)), class_="dim") if asked else None
    about = tag("p", _facts.span(diagnosis, style), class_="dim")
    return tag("div", title, about, question, tag("dl", *pairs, class_="head"), class_="top")


def _four(page: Page) -> list[tuple[str, list[Child]]]:
    diagnosis, style = page.diagnosis, page.style
    what = [tag("p", text, page.ids(ids)) for text, ids in _facts.impact(diagnosis, style) if text]
    since, since_ids = _facts.since(diagnosis, style)
    label, cause, cause_ids = _facts.cause(diagnosis, style)
    why = tag("p", page.linked(_facts.verdict(diagnosis, style)), class_="dim")
    rows: list[tuple[str, list[Child]]] = [
        (style.say("label.what"), [*what]),
        (style.say("label.since"), [tag("p", since, page.ids(since_ids))]),
        (label, [tag("p", cause, page.ids(cause_ids), class_="cause"), why]),
        (style.say("label.next"), _next(page)),
    ]
    if diagnosis.outcome == "insufficient_data":
        rows.append((style.say("label.note"), [tag("p", style.say("cannot.advice"))]))
    return rows


def _next(page: Page) -> list[Child]:
    purpose, line = _facts.next_step(page.diagnosis, page.style)
    return [tag("p", page.linked(purpose)), command(line, page) if line else None]


def _quiet(page: Page) -> list[tuple[str, list[Child]]]:
    """Nothing unusual: what was looked at, what is clear, and where else to look."""
    style = page.style
    found = [tag("p", page.linked(one)) for one in _quiet_words.sentences(page.diagnosis, style)]
    clear = _facts.checks(page.diagnosis, "no_signal")
    names = style.say("checks.counted", n=len(clear), names=style.comma(*(clean(one.name) for one in clear)))
    rows: list[tuple[str, list[Child]]] = [(style.say("label.what"), [*found])]
    rows += [(style.say("label.clear"), [tag("p", names, class_="quiet")])] if clear else []
    return [*rows, (style.say("label.next"), [join([tag("p", style.say("quiet.advice"))])])]
