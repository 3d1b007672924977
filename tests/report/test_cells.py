"""Widths of text without the tables of wcwidth: the short cut and the tables agree."""

import sys

import pytest
from wcwidth import wcwidth

from logagent.report._text import _NARROW, cells


@pytest.mark.parametrize("start", range(0, 0x30000, 0x1000))
def test_every_character_of_the_short_cut_fills_one_column(start: int) -> None:
    chars = [chr(point) for point in range(start, min(start + 0x1000, sys.maxunicode))]
    assert [char for char in chars if _NARROW.fullmatch(char) and wcwidth(char) != 1] == []


def test_what_is_outside_the_short_cut_is_measured_by_the_tables() -> None:
    assert cells("连接池 a") == 8
    assert cells("e\u0301 ▅▂ … café") == 11
