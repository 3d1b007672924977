"""Chinese time words rewritten as the English canonical form: 昨晚10点半 becomes `yesterday night 10:30`."""

import re
from collections.abc import Callable
from functools import cache

Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_DIGITS = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NUMBER = "[0-9零〇一二两三四五六七八九十]{1,4}"
_UNITS = "秒钟|秒|分钟|个小时|小时|个钟头|钟头|天|周|个星期|星期|个礼拜|礼拜"
_LETTER = {"秒": "s", "分": "m", "小": "h", "钟": "h", "天": "d", "周": "w", "星": "w", "礼": "w"}
_WEEKDAYS = dict(zip("一二三四五六日天", ("mon", "tue", "wed", "thu", "fri", "sat", "sun", "sun"), strict=True))
_QUARTERS = {"半": 30, "一刻": 15, "三刻": 45}
_TIME_BEFORE = frozenset("午晨早上晚夜天到至从—- ")
_TIME_AFTER = frozenset("到至左前开之以起的许附 ")


def _number(text: str) -> int:
    """Value of a number below 100 in digits or in Chinese: 十五 is 15, 二十三 is 23."""
    if text.isdigit() and text.isascii():
        return int(text)
    tens, ten, ones = text.partition("十")
    if ten:
        return (_number(tens) if tens else 1) * 10 + (_number(ones) if ones else 0)
    return int("".join(str(_DIGITS.get(char, char)) for char in text))


def _clock(match: re.Match[str]) -> str:
    if match[0] == "一点" and not _beside_time_words(match):  # 慢一点: "a little slower"
        return match[0]
    minute = _QUARTERS.get(match["part"] or "") or _number(match["minute"] or "0")
    second = f":{_number(match['second']):02}" if match["second"] else ""
    return f" {_number(match['hour'])}:{minute:02}{second} "


def _beside_time_words(match: re.Match[str]) -> bool:
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    return before in _TIME_BEFORE or after in _TIME_AFTER


def _duration(match: re.Match[str]) -> str:
    return f" {_number(match['n'])}{_LETTER[match['unit'].lstrip('个')[0]]} "


def _hours_and_half(match: re.Match[str]) -> str:
    return f" {_number(match['n']) * 60 + 30}m "


def _date(match: re.Match[str]) -> str:
    year = f"{match['year']}-" if match["year"] else ""
    return f" {year}{_number(match['month']):02}-{_number(match['day']):02} "


def _weekday(match: re.Match[str]) -> str:
    return f" {'last-week-' if match['last'] else ''}{_WEEKDAYS[match['day']]} "


_CLOCK = (
    f"(?P<hour>{_NUMBER})(?:点钟?|时)"
    f"(?:(?P<part>半|一刻|三刻)|(?P<minute>{_NUMBER})(?:分(?!钟)(?:(?P<second>{_NUMBER})秒)?)?)?"
)
_RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"(?<=[\u4e00-\u9fff])(?=\d{1,2}:\d\d)|(?<=:\d\d)(?=[\u4e00-\u9fff])", " "),
    ("比[今昨前上][天日早晚周]|[跟和与][^跟和与，。？]{1,16}比", " "),  # what is compared with is not the window
    ("扩大到", " last "),
    (f"(?P<n>{_NUMBER})个半(?:小时|钟头)", _hours_and_half),
    ("半个?(?:小时|钟头)", " 30m "),
    ("一刻钟", " 15m "),
    ("半天", " 12h "),
    (rf"(?:(?P<year>\d{{4}})年)?(?P<month>{_NUMBER})月(?P<day>{_NUMBER})[日号]?", _date),
    (f"(?P<n>{_NUMBER})(?P<unit>{_UNITS})", _duration),
    (_CLOCK, _clock),
    ("(?P<last>上)?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天])", _weekday),
    ("大前天", " 3-days-back "),
    ("前天", " 2-days-back "),
    ("昨晚|昨夜", " yesterday night "),
    ("今晚|今夜", " today evening "),
    ("昨早|昨晨", " yesterday morning "),
    ("今早|今晨", " today morning "),
    ("昨天|昨日", " yesterday "),
    ("今天|今日|当天", " today "),
    ("凌晨|后半夜|半夜", " small-hours "),
    ("早上|早晨|清晨|上午|早间", " morning "),
    ("中午|正午", " noontime "),
    ("下午|午后", " afternoon "),
    ("傍晚|晚上|晚间", " evening "),
    ("深夜|夜里|夜间|一夜", " night "),
    ("刚才|刚刚", " just-now "),
    ("[这本](?:周|个?星期)", " this-week "),
    ("上个?(?:周|星期)", " last-week "),
    ("上个?月", " last-month "),
    (r"(?:最近|过去|近)的?\s*(?=\d)", " last "),
    ("从(?= )", " from "),
    ("(?<= )(?:左右|前后|附近|许|的时候)|大约|大概|差不多", " "),
    ("(?<= )(?:之前|以前|前)", " back "),
    ("(?<= )(?:开始|起|到现在|至今|之后|以后|以来|后)", " onwards "),
    ("(?<= )(?:到|至)(?= )", " to "),
)
"""Applied in this order; each replacement is set off by blanks, which the later rules look for."""


@cache
def _rules() -> tuple[Rule, ...]:
    """Compiled when first needed: most runs read no time words."""
    return tuple((re.compile(pattern), replacement) for pattern, replacement in _RULES)


def rewrite(text: str) -> str:
    """Apply the rules to lower-case, half-width text; other text stays."""
    for pattern, replacement in _rules():
        text = pattern.sub(replacement, text)
    return text
