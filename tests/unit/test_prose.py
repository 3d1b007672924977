"""Numbers, times and quotes of a sentence, in English and Chinese."""

import pytest

from logagent.analysis.prose import stated


@pytest.mark.parametrize(
    ("sentence", "value", "unit"),
    [
        ("76 requests fail", 76, ""),
        ("1,029 lines", 1029, ""),
        ("48k events", 48_000, ""),
        ("1.95 thousand events", 1950, ""),
        ("15.8 % fail", 15.8, "%"),
        ("15.8 percent fail", 15.8, "%"),
        ("5.8 times as many", 5.8, "x"),
        ("it took 3,007ms", 3.007, "s"),
        ("it took 3.2 seconds", 3.2, "s"),
        ("for 25 minutes", 1500, "s"),
        ("uses 1.5 GiB", 1.5 * 2**30, "B"),
        ("seventy-six requests", 76, ""),
        ("three hundred and twenty-one lines", 321, ""),
        ("half of the requests", 50, "%"),
        ("two thirds of them", 200 / 3, "%"),
        ("one in six requests", 100 / 6, "%"),
        ("twice as many", 2, "x"),
        ("共有三百二十一条", 321, ""),
        ("共有三千零七条", 3007, ""),
        ("十二条日志", 12, ""),
        ("占百分之十五点八", 15.8, "%"),
        ("占百分之14", 14, "%"),
        ("三分之一的请求", 100 / 3, "%"),
        ("七成请求", 70, "%"),
        ("两倍", 2, "x"),
        ("等待了3007毫秒", 3.007, "s"),
    ],
)
def test_a_number_is_read_with_its_unit(sentence: str, value: float, unit: str) -> None:
    (quantity,) = stated(sentence).quantities
    assert quantity.value == pytest.approx(value)
    assert quantity.unit == unit


@pytest.mark.parametrize(
    "sentence",
    [
        "HikariPool-1 on node-1 fails in version 3.4.1",
        "all 5xx come from one pod",
        "the first request of this one host",
        "he said “74 lines”",
        "第三个请求失败",
        "10.0.0.12:5432 refuses",
        "it began at 14:05",
    ],
)
def test_names_and_what_is_quoted_are_no_numbers(sentence: str) -> None:
    assert stated(sentence).quantities == ()


@pytest.mark.parametrize(
    ("sentence", "right", "wrong"),
    [
        ("15.8 %", 15.83, 15.9),
        ("about 400 lines", 401, 470),
        ("over 70 lines", 74, 92),
        ("25 minutes", 25.4 * 60, 26 * 60),
        ("约三百条", 330, 420),
        ("76 条左右", 78, 90),
    ],
)
def test_a_number_is_as_exact_as_it_is_written(sentence: str, right: float, wrong: float) -> None:
    (quantity,) = stated(sentence).quantities
    assert quantity.fits(right)
    assert not quantity.fits(wrong)


@pytest.mark.parametrize(
    "text",
    ["06:05:20", "06:05 UTC", "2026-11-24T06:05:20Z", "14:05:20 +08:00", "14:05 UTC+8", "北京时间14:05:20", "6点05分",
     "自6点05分起", "2:05:20 pm +08:00", "下午2点05分 +08:00", "01:05 UTC-5"],
)  # fmt: skip
def test_a_time_of_day_is_read_in_utc(text: str) -> None:
    (clock,) = stated(f"It began at {text}.").clocks
    exact = 6 * 60 + 5 + 20 / 60
    assert clock.fits(exact, "2026-11-24")
    assert not clock.fits(exact + 60, "2026-11-24")
    assert not clock.fits(exact + 480, "2026-11-24")


def test_a_written_day_is_part_of_the_time() -> None:
    (clock,) = stated("since 2026-11-24T06:05:20Z").clocks
    assert not clock.fits(365.33, "2026-11-25")


def test_quotes_are_taken_whole_and_an_apostrophe_opens_none() -> None:
    assert stated("It's the node's \"request timed out. Retry 3\" and 「连接超时」").quotes == (
        "request timed out. Retry 3",
        "连接超时",
    )
