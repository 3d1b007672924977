import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.analysis.trim import cut, tokens_in, trim_lines


def test_a_cut_keeps_both_ends_and_says_how_much_is_missing() -> None:
    shown = cut("head " + "x" * 500 + " root cause", 60)
    assert shown.startswith("head ")
    assert shown.endswith("cause")
    assert re.search(r"…\[\+\d+ chars\]", shown)


@given(st.text(max_size=300), st.integers(24, 200))
def test_a_cut_fits_and_counts_right(text: str, limit: int) -> None:
    shown = cut(text, limit)
    assert len(shown) <= max(limit, 24)
    if shown != text:
        dropped = int(re.findall(r"…\[\+(\d+) chars\]", shown)[0])
        assert dropped + len(shown) - len(f"…[+{dropped} chars]") == len(text)


@given(
    st.lists(st.text(st.characters(exclude_characters="\n"), max_size=80), min_size=1, max_size=60),
    st.integers(60, 400),
)
def test_lines_are_kept_whole_within_the_budget(lines: list[str], budget: int) -> None:
    text = "\n".join(lines)
    shown = trim_lines(text, budget)
    assert tokens_in(shown) <= budget
    if shown != text and len(lines) > 2:
        assert shown.split("\n")[-1] == lines[-1]


def test_what_was_cut_is_counted() -> None:
    text = "\n".join(["asked", *(f"row {n} " + "x" * 70 for n in range(100)), "more: narrow it"])
    shown = trim_lines(text, 200).split("\n")
    assert shown[0] == "asked"
    assert shown[-1] == "more: narrow it"
    kept = sum(line.startswith("row") for line in shown)
    assert shown[-2] == f"…[+{100 - kept} lines cut to fit]"


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("支付", 2)])
def test_tokens_are_estimated_from_bytes(text: str, tokens: int) -> None:
    assert tokens_in(text) == tokens
