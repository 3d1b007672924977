"""A report in a budget: always within it, always with head, caveats and link, and always saying what is missing."""

import itertools
import re

import pytest

from logagent.diagnosis import Caveat, Diagnosis, Link
from logagent.report import render
from logagent.report._brief import Keep, fitted, steps

BUDGETS = (400, 700, 1000, 1500, 2500, 4000, 9000, 18000, 60000)


@pytest.fixture
def long(outage: Diagnosis) -> Diagnosis:
    """More of everything than fits into a chat message."""
    row = outage.evidence[1]
    row.samples = [{"_index": "logs", "_id": "7", "message": "pool is empty " * 20}]
    outage.evidence += [row.model_copy(update={"id": f"E{number}"}) for number in range(10, 60)]
    outage.patterns = [outage.patterns[0].model_copy(update={"id": f"P{number}"}) for number in range(1, 30)]
    outage.hypotheses += [outage.hypotheses[1].model_copy(update={"id": f"H{number}"}) for number in range(3, 9)]
    outage.data_quality.caveats = [Caveat(code="LA401", severity="warning", text="3 of 48 shards failed")]
    outage.links = [Link(rel="report", href="https://reports.example/1.html", title="Full report")]
    return outage


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_it_fits_and_keeps_head_caveats_and_link(long: Diagnosis, budget: int, language: str) -> None:
    text = render(long, "md", budget=budget, language=language)
    assert len(text) <= budget
    assert "order-api: 1 in 6 requests fails" in text
    assert "[Full report](<https://reports.example/1.html>)" in text
    assert long.id in text
    if budget >= 1000:
        assert "LA401" in text
        assert "kubectl -n shop get deploy payment-api" in text


def test_more_room_never_shows_less(long: Diagnosis) -> None:
    lengths = [len(render(long, "md", budget=budget)) for budget in BUDGETS]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > 5


def test_what_is_given_up_first_is_detail_of_the_evidence(long: Diagnosis) -> None:
    whole = render(long, "md")
    for budget in range(len(whole), 400, -500):
        text = render(long, "md", budget=budget)
        has = [mark in text for mark in ("pool is empty", "<details>", "### CHECKS", "### PATTERNS", "### NEXT STEPS")]
        assert has == sorted(has), budget  # each part outlives those before it
    assert "pool is empty" in whole


def test_something_left_out_is_said(long: Diagnosis) -> None:
    assert "all of it: --format json" not in render(long, "md")
    assert render(long, "md", budget=3000).endswith("all of it: --format json, or -vv")


def test_nothing_is_left_open_by_a_cut(long: Diagnosis) -> None:
    for budget in BUDGETS:
        text = render(long, "md", budget=budget)
        assert text.count("<details>") == text.count("</details>")
        assert len(re.findall(r"^ *```", text, re.MULTILINE)) % 2 == 0


def test_the_order_only_ever_takes_away() -> None:
    every = list(steps())
    assert every[0] == Keep()
    for before, after in itertools.pairwise(every):
        assert all(getattr(after, name) <= getattr(before, name) for name in Keep.__dataclass_fields__)


def test_the_length_may_be_one_in_bytes() -> None:
    text = fitted(lambda keep: f"头\n\n{'证' * keep.rows}\n\n链接", 100, "更多", lambda one: len(one.encode()))
    assert len(text.encode()) <= 100
    assert text.endswith("链接\n\n更多")


def test_a_link_that_is_no_web_address_is_none(long: Diagnosis) -> None:
    long.links = [
        Link(rel="report", href="javascript:alert(1)", title="x"),
        Link(rel="report", href="https://a.example/>x", title="y"),
    ]
    assert "](" not in render(long, "md", budget=800)
