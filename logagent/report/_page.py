"""The frame of the HTML report: one document that loads nothing, with a policy that would forbid it (ux.md 3.3)."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from urllib.parse import urlsplit

from logagent.diagnosis import Diagnosis
from logagent.expressions import expression
from logagent.report._escape import html_json
from logagent.report._markup import Child, Html, join, tag
from logagent.report._style import Style
from logagent.report._text import clean

LARGEST = 300_000
"""Bytes of the whole page."""
DATA_ID = "diagnosis"
"""Id of the element that holds the Diagnosis as JSON, for `logagent show REPORT.html`."""
_CITED = expression(r"\b[EH]\d{1,6}\b")


@dataclass(frozen=True, slots=True)
class Page:
    """What the parts of the page share: the diagnosis, the style, and which ids can be linked to."""

    diagnosis: Diagnosis
    style: Style
    known: frozenset[str]

    def say(self, key: str, **values: object) -> str:
        """The wording `report.{key}`."""
        return self.style.say(key, **values)

    def label(self, key: str) -> str:
        """A label as a title or the head of a column: not shouted."""
        return self.say(f"label.{key}").capitalize()

    def ids(self, ids: Iterable[str]) -> Html:
        """Links to rows of evidence, behind the sentence that rests on them."""
        every = [one for one in ids if one]
        if not every:
            return Html("")
        return tag("span", " [", join([self._link(one) for one in every], " "), "]", class_="cite")

    def linked(self, prose: str) -> Html:
        """Prose in which ids of evidence and hypotheses are links."""
        out: list[Child] = []
        last = 0
        for match in _CITED.finditer(prose):
            out += [prose[last : match.start()], self._link(match[0])]
            last = match.end()
        return join([*out, prose[last:]])

    def _link(self, name: str) -> Html:
        return tag("a", name, href=f"#{name}", class_="id") if name in self.known else join([name])

    def time(self, stamp: str | None, empty: str = "-") -> Html:
        """An instant as the reader's clock shows it; the element holds it in UTC."""
        if not stamp:
            return join([empty])
        return tag("time", self.style.clock(stamp), datetime=stamp)


def page_of(diagnosis: Diagnosis, style: Style) -> Page:
    """The shared part, made once."""
    known = [one.id for one in diagnosis.evidence] + [one.id for one in diagnosis.hypotheses]
    return Page(diagnosis, style, frozenset(known))


def code(text: str | None, **attributes: str | bool) -> Html:
    """Text of logs, a query or a command: not translated, in no language of its own."""
    return tag("code", clean(text), translate="no", lang="", **attributes)


def command(text: str, page: Page) -> Html:
    """A command that one click selects; the script adds a button that copies it."""
    copy, copied = page.say("page.copy"), page.say("page.copied")
    return tag("div", code(text, class_="command"), class_="copy", data_copy=copy, data_copied=copied)


def section(page: Page, key: str, *children: Child, title: str = "") -> Html:
    """A landmark with its heading; nothing where there is nothing to show."""
    if not any(children):
        return Html("")
    heading = tag("h2", title or page.label(key), id=f"{key}-title")
    return tag("section", heading, *children, id=key, aria_labelledby=f"{key}-title")


def fold(summary: Child, *children: Child, is_open: bool = False, class_: str = "fold") -> Html:
    """Something that opens in place, without a script."""
    return tag("details", tag("summary", summary), *children, open=is_open, class_=class_)


def scrolled(label: str, table: Html) -> Html:
    """A table in a box of its own that scrolls where it is wider than the screen, also with the keyboard."""
    return tag("div", table, class_="scroll", role="region", aria_label=label, tabindex="0")


def table(
    caption: str, header: Sequence[Child], rows: Sequence[Sequence[Child]], *, numbers: Sequence[int] = ()
) -> Html:
    """A plain table whose first column names the row."""
    heads = [
        tag("th", one, scope="col", class_="num" if place in numbers else None) for place, one in enumerate(header)
    ]
    body = []
    for row in rows:
        first = tag("th", row[0], scope="row")
        rest = [
            tag("td", one, class_="num" if place in numbers else None) for place, one in enumerate(row[1:], start=1)
        ]
        body.append(tag("tr", first, *rest))
    return tag("table", tag("caption", caption), tag("thead", tag("tr", *heads)), tag("tbody", *body))


def safe_link(href: str, title: str) -> Html:
    """A link out of the report, for addresses that our configuration made; any other scheme is text."""
    if urlsplit(href).scheme not in {"http", "https"}:
        return join([title])
    return tag("a", title, href=href, rel="noopener noreferrer", class_="out")


def document(page: Page, body: Sequence[Child]) -> str:
    """The whole file. The JSON stays out where it would make the page larger than it may be."""
    text = _document(page, body, page.diagnosis.to_json())
    return text if len(text.encode()) <= LARGEST else _document(page, body, "")


def _document(page: Page, body: Sequence[Child], data: str) -> str:
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    diagnosis = page.diagnosis
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"logagent {diagnosis.tool.version}"),
        tag("title", f"{clean(diagnosis.summary.headline)} - logagent {diagnosis.id}"),
        tag("style", Html(style)),
    )
    embedded = tag("script", Html(html_json(data)), type="application/json", id=DATA_ID) if data else None
    inside = tag("body", *body, embedded, tag("script", Html(script)))
    language = "zh-CN" if page.style.language.startswith("zh") else "en"
    return f"<!doctype html>\n{tag('html', head, inside, lang=language)}"


@cache
def _asset(name: str) -> str:
    """A file beside this module, with the places in percent that the policy allows only as classes."""
    text = resources.files("logagent.report").joinpath(name).read_text(encoding="utf-8")
    if name.endswith(".css"):
        text += "".join(f".l{place}{{left:{place}%}}" for place in range(101))
    return text


@cache
def _digest(text: str) -> str:
    """The hash by which a policy knows an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
