"""The page: nothing in it acts, loads or escapes; every picture has its table; a reader needs neither script nor mouse."""

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logagent.cases import CaseStore
from logagent.diagnosis import Diagnosis, Link, Point, ServiceActivity, Trace
from logagent.errors import UsageError
from logagent.report import _markup, _page, _pictures, formats, render

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "'><svg/onload=alert(4)>",
    "javascript:alert(5)",
    "<style>*{display:none}</style></style><body onload=alert(6)>",
    "<!--[if IE]><script>alert(7)</script><![endif]-->",
    "<![CDATA[<script>alert(8)</script>]]>",
    "&lt;script&gt;alert(9)&lt;/script&gt; &#60;b&#62;",
    "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07 \x1b[2J\x9b31m",
    "admin\u202eexe.txt\u202c \u200bhidden\u200b \U000e0041\U000e0042",
    "a\x00b\x08c\x7fd\r\ne\u2028f",
    "</title></head><base href=//evil.example/><meta http-equiv=refresh content=0;url=//evil.example>",
    '<iframe srcdoc="<script>alert(10)</script>"></iframe>',
    "<form action=//evil.example><input name=q autofocus onfocus=alert(11)>",
    "</code></details></section></main></html><plaintext>",
    '{"a":"</SCRIPT >","b":"<!--<script>"}',
    "onmouseover=alert(12) style=background:url(//evil.example)",
)
VOID = {"meta", "br", "hr", "rect", "path", "line", "polygon"}
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "script", "body", "header", "nav", "main", "section", "article", "div"),
    *(
        "h1",
        "h2",
        "h3",
        "p",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ),
    *("details", "summary", "figure", "figcaption", "svg", "rect", "path", "line", "polygon", "a", "code", "span", "i"),
    *("strong", "time", "q"),
}


class Reader(HTMLParser):
    """The tree as a browser would see it: elements with attributes, text, and whether all that opens is closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.odd: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len({name for name, _ in attrs}) < len(attrs):
            self.odd.append(f"an attribute twice in {tag}")
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.odd.append(f"</{tag}>")

    def handle_comment(self, data: str) -> None:
        self.odd.append(f"comment {data}")

    def handle_pi(self, data: str) -> None:
        self.odd.append(f"instruction {data}")

    def unknown_decl(self, data: str) -> None:
        self.odd.append(f"declaration {data}")

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(text for tag, texts in self.texts.items() for text in texts if tag not in {"script", "style"})


def poisoned(value: object, text: str) -> object:
    """Every free text of a diagnosis replaced; what code alone writes (times, ids, words of a list) stays."""
    if isinstance(value, list):
        return [poisoned(one, text) for one in value]
    if not isinstance(value, dict):
        return value
    free = {
        *("template", "statement", "label", "name", "detail", "text", "command", "purpose", "expect_if_true", "unit"),
        *("expect_if_false", "headline", "what_is_happening", "probable_cause", "mechanism", "would_refute", "message"),
        *("ruled_out_because", "value", "dimension", "reason", "suggested", "trace.id", "title", "href", "question"),
        *("display_time_zone", "code", "watch_after"),
    }
    listed = {"unaffected", "open_questions", "service.name", "indices", "reasons", "services", "assumptions", "fits"}
    out = {}
    for key, one in value.items():
        if key in free and isinstance(one, str):
            out[key] = text[:120] if key == "headline" else text
        elif key in listed and isinstance(one, list) and all(isinstance(item, str) for item in one):
            out[key] = [text]
        else:
            out[key] = poisoned(one, text)
    return out


def full(outage: Diagnosis) -> Diagnosis:
    """An outage in which every part is filled."""
    line = outage.timeline
    assert line is not None
    counts = [point.count for point in line.series[0].points]
    line.services = [
        ServiceActivity(name="payment-api", events=[9.0] * len(counts), failing=counts),
        ServiceActivity(
            name="pricing-api", events=[9.0] * 10 + [0.0] * (len(counts) - 10), failing=[0.0] * len(counts)
        ),
    ]
    row = outage.evidence[1]
    row.samples = [{"_index": "logs", "_id": "7", "message": "pool is empty", "service.name": "payment-api"}]
    row.links = [Link(rel="kibana_discover", href="https://kibana.example/s/oncall/app/r?l=X&v=1", title="Discover")]
    trace = {"trace.id": "4bf92f", "services": ["web", "payment-api"], "first_failure": {"service.name": "payment-api"}}
    outage.traces = [Trace.model_validate(trace)]
    outage.request.question = "what broke?"
    outage.request.assumptions = ["rolled back"]
    return outage


def hostile(outage: Diagnosis, text: str) -> Diagnosis:
    found = poisoned(full(outage).model_dump(by_alias=True, exclude_none=True), text)
    assert isinstance(found, dict)
    found["request"]["command"], found["tool"]["name"] = "diagnose", "logagent"
    return Diagnosis.model_validate(found)


def check_page(page: str) -> Reader:
    read = Reader(page)
    assert not read.odd
    assert not read.open
    assert {name for name, _ in read.elements} <= ELEMENTS
    attributes = [(tag, name, value or "") for tag, each in read.elements for name, value in each.items()]
    assert not [one for one in attributes if one[1].startswith("on") or one[1] in {"style", "src", "srcdoc", "action"}]
    links = [value for tag, name, value in attributes if name == "href"]
    assert all(link.startswith(("#", "https://", "http://")) for link in links)
    ids = [value for _, name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    scripts = read.all("script")
    assert [one.get("type") for one in scripts] in ([None], ["application/json", None])
    assert "".join(read.texts["script"][-1:]) == _page._asset("page.js")
    assert "".join(read.texts["style"]) == _page._asset("page.css")
    return read


def test_html_is_a_format_and_goes_by_its_name() -> None:
    assert "html" in formats()


def test_the_four_lines_come_first(outage: Diagnosis) -> None:
    read = Reader(render(full(outage), "html"))
    head = read.text.partition("OPEN")[0]
    for words in ("ONGOING", "160 of 932 requests failed (17.2 %, normally 0.2 %)", "14:05:20 +08:00 (06:05:20Z)"):
        assert words in head
    page = render(outage, "html")
    places = [page.index(f">{label}<") for label in ("WHAT", "SINCE", "CAUSE", "NEXT")]
    assert places == sorted(places)
    assert page.index("kubectl -n shop get deploy payment-api") < page.index("<svg")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text_wherever_it_stands(outage: Diagnosis, text: str) -> None:
    page = render(hostile(outage, text), "html")
    check_page(page)
    unseen = {chr(code) for code in [*range(10), *range(11, 32), *range(127, 160), 0x202E, 0x200B, 0x2028, 0xE0041]}
    assert not set(page) & unseen


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_any_text_leaves_the_page_whole(outage: Diagnosis, text: str) -> None:
    check_page(render(hostile(outage.model_copy(deep=True), text), "html"))


def test_only_web_addresses_are_links(outage: Diagnosis) -> None:
    row = full(outage).evidence[1]
    row.links = [
        Link(rel="runbook", href=address, title=address)
        for address in ("javascript:alert(1)", "data:text/html,x", "https://ok.example/")
    ]
    outward = [one["href"] for one in Reader(render(outage, "html")).all("a") if "out" in (one.get("class") or "")]
    assert outward == ["https://ok.example/"]


def test_the_policy_allows_our_style_and_script_and_nothing_else(outage: Diagnosis) -> None:
    read = check_page(render(outage, "html"))
    policy = next(
        one["content"] or "" for one in read.all("meta") if one.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for rule, tag in (("style-src", "style"), ("script-src", "script")):
        text = read.texts[tag][-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert "unsafe" not in policy


def test_the_page_loads_nothing(outage: Diagnosis) -> None:
    page = render(full(outage), "html")
    read = Reader(page)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {name for name, _ in read.elements}
    assert "url(" not in page
    assert "@import" not in page


def test_the_embedded_report_reads_as_the_same_diagnosis(outage: Diagnosis, tmp_path: Path) -> None:
    outage.patterns[0].template = "</script><b>&amp; 连接池 \u2028"
    file = tmp_path / "r.html"
    file.write_text(render(outage, "html"), encoding="utf-8")
    again = CaseStore(tmp_path / "cases").load(str(file))
    assert json.loads(again.to_json()) == json.loads(outage.to_json())


def test_a_page_without_a_report_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.html"
    file.write_text("<!doctype html><p>hello", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        CaseStore(tmp_path / "cases").load(str(file))
    assert caught.value.code == "LA707"


def test_every_picture_says_in_words_what_it_shows_and_has_its_table(outage: Diagnosis) -> None:
    read = Reader(render(full(outage), "html"))
    for drawing in read.all("svg"):
        assert (drawing.get("role") == "img") == bool(drawing.get("aria-label"))
        assert drawing.get("aria-label") or drawing.get("aria-hidden") == "true"
    curve = next(one for one in read.all("svg") if one["class"] == "curve")
    assert curve["aria-label"] == "order-api, failing events/min, 14:01 to 14:15: band 0-18, peak 212 at 14:11"
    captions = read.texts["caption"]
    assert "order-api, failing events/min" in captions
    assert "Failing events by service" in captions
    assert "All events by service" in captions  # a service fell silent
    assert "silent" in read.text


def test_headings_have_no_gaps_and_tables_name_rows_and_columns(outage: Diagnosis) -> None:
    read = Reader(render(full(outage), "html"))
    levels = [int(name[1]) for name, _ in read.elements if re.fullmatch(r"h\d", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert len(read.all("caption")) == len(read.all("table"))
    assert all(one.get("scope") in {"row", "col"} for one in read.all("th"))
    assert read.all("html")[0]["lang"] == "en"


def test_log_text_is_not_translated_and_is_in_no_language(outage: Diagnosis) -> None:
    codes = Reader(render(full(outage), "html")).all("code")
    assert codes
    assert all(one.get("translate") == "no" and one.get("lang") == "" for one in codes)


def test_a_citation_leads_into_the_fold_that_it_opens(outage: Diagnosis) -> None:
    page = render(full(outage), "html")
    fold = page[page.index('<details class="row"') :]
    assert re.search(r'<details class="row"><summary>.*?</summary><div id="E1"', fold)
    assert '<a href="#E2" class="id">E2</a>' in page
    assert 'href="#E9"' not in page  # no such row


def test_chinese_pages_have_the_same_rows_and_say_which_language_they_are_in(outage: Diagnosis) -> None:
    english, chinese = Reader(render(full(outage), "html")), Reader(render(outage, "html", language="zh-CN"))
    assert chinese.all("html")[0]["lang"] == "zh-CN"
    assert Counter(name for name, _ in english.elements) == Counter(name for name, _ in chinese.elements)
    assert "根因" in chinese.text


def test_short_layouts_say_what_was_looked_at(quiet: Diagnosis, cannot_tell: Diagnosis) -> None:
    calm = check_page(render(quiet, "html")).text
    assert "QUIET" in calm
    assert "nothing unusual in all services, 2026-11-24 14:01 to 14:31 +08:00" in calm
    assert "6 checks" in calm
    unsure = check_page(render(cannot_tell, "html")).text
    assert "CANNOT TELL" in unsure
    assert "This is no all-clear" in unsure


def test_a_page_never_grows_beyond_its_limit(outage: Diagnosis) -> None:
    row = full(outage).evidence[1]
    row.samples = [{"_index": "logs", "_id": str(number), "message": "x" * 3000} for number in range(5)]
    outage.evidence = [row.model_copy(update={"id": f"E{number}"}) for number in range(1, 120)]
    page = render(outage, "html")
    assert len(page.encode()) <= _page.LARGEST
    assert "E119" in page
    check_page(page)


def test_text_is_escaped_unless_it_was_made_as_markup() -> None:
    assert _markup.tag("p", "a < b & 'c'", title='"<') == '<p title="&quot;&lt;">a &lt; b &amp; &#x27;c&#x27;</p>'
    assert _markup.join(["<", _markup.tag("b", "x")], " & ") == "&lt; &amp; <b>x</b>"


def test_only_these_modules_make_markup_from_text() -> None:
    folder = Path(_markup.__file__).parent
    makers = {
        path.name
        for path in folder.glob("*.py")
        if re.search(r"\bHtml\((?!\"\"\)|str\))", path.read_text(encoding="utf-8"))
    }
    assert makers == {"_markup.py", "_page.py"}


def test_a_cut_bucket_at_the_edge_is_no_recovery(outage: Diagnosis) -> None:
    line = full(outage).timeline
    assert line is not None
    before = render(outage, "html").count("h0")
    line.series[0].points.append(
        Point(at="2026-11-24T06:16:00Z", count=0, expected_low=0, expected_high=18, partial=True)
    )
    page = render(outage, "html")
    assert page.count("h0") == before
    assert "cut bucket" in page  # the table shows it, and says so


def test_a_silent_service_is_one_that_logged_steadily_before() -> None:
    def one(events: list[float]) -> ServiceActivity:
        return ServiceActivity(name="a", events=events)

    assert _pictures.silent(one([5.0] * 20 + [0.0] * 5))
    assert not _pictures.silent(one([5.0] * 24 + [0.0]))
    assert not _pictures.silent(one([0.0, 0, 0, 5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0]))
    assert not _pictures.silent(one([0.0] * 20))


def test_marks_beside_each_other_stand_in_rows() -> None:
    assert _pictures.rows_of([0.5, 0.5, 0.5, 0.9]) == [0, 1, 2, 0]
