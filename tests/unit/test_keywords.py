"""A needle's own word shows up, in English and in Chinese."""

import pytest

from logagent.analysis.keywords import keywords

USUAL = [(f"order {n} stored for customer", 1.0) for n in range(300)] + [("订单已保存 客户 正常", 300.0)]


@pytest.mark.parametrize(
    ("needle", "word"),
    [
        ("quota of tenant blueberry exceeded, order not stored", "blueberry"),
        ("order refused: kraken_gateway unreachable", "kraken_gateway"),
        ("库存服务连接池耗尽，订单未保存", "耗尽"),
        ("订单失败：令牌过期", "令牌过期"),
    ],
)
def test_the_own_word_of_a_needle_is_among_the_keywords(needle: str, word: str) -> None:
    found = keywords([*USUAL, (needle, 6.0)], USUAL)
    assert any(word in one for one in found)
    assert not {"order", "stored", "customer", "订单", "客户"} & {*found}


def test_pieces_of_one_chinese_run_are_one_keyword() -> None:
    found = keywords([("令牌过期", 6.0)], USUAL)
    assert found == ("令牌过期",)


def test_a_word_as_frequent_as_before_is_none() -> None:
    assert keywords(USUAL, USUAL) == ()


def test_a_piece_of_a_secret_is_no_keyword() -> None:
    secret = "hunter" + "twosecretvalue"
    found = keywords([(f"login failed password={secret}", 9.0)], USUAL)
    assert secret not in found
    assert "failed" in found


def test_many_lines_count_more_than_one() -> None:
    assert keywords([("alpha_word", 50.0), ("beta_word", 5.0)], USUAL)[0] == "alpha_word"
