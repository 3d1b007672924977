"""What a sentence states that can be looked up: numbers with their units, clock times, quotes. English and Chinese.

Names with digits in them (`node-1`, `HikariPool-1`, versions, `5xx`) state nothing. A number is as exact as it is
written: `25 minutes` is anything from 24.5 to 25.5, `about 400` anything that rounds to it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from logagent.analysis.sentences import QUOTE
from logagent.expressions import expression

Unit = Literal["", "%", "x", "s", "B"]
"""Plain, share in percent, multiple, seconds, bytes."""

_ZEROS_KEPT = 0.05
"""Least relative room of a number that is said to be rough."""
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number: `value` in its unit, right if the true one is within `room` of it."""

    text: str
    value: float
    room: float
    unit: Unit = ""
    scale: float = 1.0
    """The written unit in seconds or bytes: `3 ms` has 0.001."""
    counted: bool = False
    """It is said of lines, events, requests: a count, and no number that a line happens to hold."""

    def fits(self, true: float) -> bool:
        """Whether this is the true value, rounded as written."""
        return abs(self.value - true) <= self.room * (1 + 1e-9) + 1e-12


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes of UTC, right if the true one is within `room` minutes."""

    text: str
    minute: float
    room: float
    day: str = ""
    """`2026-11-24`, where it is written."""

    def fits(self, minute: float, day: str) -> bool:
        """Whether this is that time of that day."""
        apart = abs(self.minute - minute) % _DAY_MINUTES
        return min(apart, _DAY_MINUTES - apart) <= self.room and self.day in {"", day}


@dataclass(frozen=True, slots=True)
class Stated:
    """What one sentence states."""

    quantities: tuple[Quantity, ...]
    clocks: tuple[Clock, ...]
    quotes: tuple[str, ...]


_ROUGH = expression(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|over|more than|less than|at least|some|circa"
    r"|close to|up to)|[~≈<>≥≤]|大?约|近|将近|接近|超过|至少|不到|大概)\s*$",
    re.IGNORECASE,
)
_ROUGHLY = expression(r"^\s*[个条次例笔]?(?:左右|上下|多|余|or so\b|\+)", re.IGNORECASE)
_COUNTED = expression(
    r"\s?(?:(?:such|failing|failed|new|more|of these|matching|similar|different|of the|error|log)\s)*"
    r"(?:lines?|events?|errors?|requests?|logs?|failures?|occurrences|entries|records|exceptions|times)\b"
    r"|\s?[条次例笔](?!\w*[位])|\s?个(?:错误|请求|事件)",
    re.IGNORECASE,
)
_UNITS: dict[str, tuple[Unit, float]] = {
    "%": ("%", 1), "％": ("%", 1), "percent": ("%", 1), "per cent": ("%", 1),
    "x": ("x", 1), "×": ("x", 1), "times": ("x", 1), "-fold": ("x", 1), "fold": ("x", 1), "倍": ("x", 1),
    "ms": ("s", 1e-3), "millisecond": ("s", 1e-3), "milliseconds": ("s", 1e-3), "毫秒": ("s", 1e-3),
    "s": ("s", 1), "sec": ("s", 1), "secs": ("s", 1), "second": ("s", 1), "seconds": ("s", 1), "秒": ("s", 1),
    "秒钟": ("s", 1), "min": ("s", 60), "mins": ("s", 60), "minute": ("s", 60), "minutes": ("s", 60),
    "分钟": ("s", 60), "分": ("s", 60), "h": ("s", 3600), "hour": ("s", 3600), "hours": ("s", 3600),
    "小时": ("s", 3600), "个小时": ("s", 3600), "day": ("s", 86400), "days": ("s", 86400), "天": ("s", 86400),
    "kb": ("B", 1e3), "mb": ("B", 1e6), "gb": ("B", 1e9), "tb": ("B", 1e12),
    "kib": ("B", 2**10), "mib": ("B", 2**20), "gib": ("B", 2**30),
}  # fmt: skip
_UNIT = "|".join(re.escape(one) for one in sorted(_UNITS, key=len, reverse=True))
_SIZES = {"k": 1e3, "m": 1e6, "million": 1e6, "thousand": 1e3, "万": 1e4, "千": 1e3, "亿": 1e8, "百万": 1e6}
_SIZE = r"[kKmM](?![A-Za-z])|\s(?:million|thousand)\b|百万|[千万亿]"
_DIGITS = expression(
    r"(?<![\w.:/#=@-])(?<![A-Za-z][-_])(\d{1,3}(?:[,'\u2009]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"({_SIZE})?(?:\s?({_UNIT})(?![A-Za-z]))?(?![\w:/-]*[A-Za-z0-9_])(?!\.\d)",
    re.IGNORECASE,
)
_AFTER_CHINESE = expression(r"(?<=[\u3400-\u9fff])(?=\d)|(?<=\d)(?=[\u3400-\u9fff])")
_DATE = r"(?P<day>\d{4}-\d\d-\d\d)[T ]"
_ZONE = r"\s?(?P<zone>Z\b|UTC(?:[+-]\d{1,2}(?::?\d\d)?)?|GMT|CST|[+-]\d\d:?\d\d|北京时间)?"
_CLOCK = expression(
    rf"(?<![A-Za-z0-9_:.])(?P<front>北京时间\s?)?(?:{_DATE})?(?P<half>[上下]午|凌晨|晚上|早上)?\s?(?P<h>[01]?\d|2[0-4])"
    rf"(?::(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?|点(?:(?P<cm>[0-5]?\d)分?)?(?:(?P<cs>[0-5]?\d)秒)?)"
    rf"(?!\d)(?:\s?(?P<ampm>[ap]\.?m\b\.?))?{_ZONE}",
    re.IGNORECASE,
)
_EAST = 8 * 60
"""Minutes of China's time before UTC."""


def stated(sentence: str) -> Stated:
    """The numbers, times and quotes of a sentence; what stands inside a quote is only quoted.

    >>> [(one.text, one.value, one.unit) for one in stated("14 % of calls took 3.2 s since 14:05").quantities]
    [('14 %', 14.0, '%'), ('3.2 s', 3.2, 's')]
    """
    quotes: list[str] = []
    plain = QUOTE.sub(lambda hit: _note(hit, quotes), sentence)
    clocks: list[Clock] = []
    plain = _CLOCK.sub(lambda hit: _clock(hit, clocks), plain)
    spaced = _AFTER_CHINESE.sub(" ", plain)
    return Stated((*_digits(spaced), *_words(_DIGITS.sub(" _ ", spaced))), tuple(clocks), tuple(quotes))


def _note(hit: re.Match[str], quotes: list[str]) -> str:
    quotes.append(next(group for group in hit.groups() if group is not None))
    return " _ "


def _clock(hit: re.Match[str], clocks: list[Clock]) -> str:
    """Note a time in UTC; one without a zone is read as UTC, as results are written."""
    hour, minute = int(hit["h"]), int(hit["m"] or hit["cm"] or 0)
    seconds = hit["s"] or hit["cs"]
    if (hit["half"] in {"下午", "晚上"} or (hit["ampm"] or "").lower().startswith("p")) and hour < 12:  # noqa: PLR2004
        hour += 12
    exact = hit["m"] or hit["cm"]
    room = 30.0 if not exact else 1.0 if seconds is None else 0.02
    rough = _ROUGH.search(hit.string[: hit.start()]) is not None
    at = hour * 60 + minute + float(seconds or 0) / 60 - _offset(hit["zone"], front=bool(hit["front"]))
    day = (hit["day"] or "") if 0 <= at < _DAY_MINUTES else ""
    clocks.append(Clock(hit[0].strip(), at % _DAY_MINUTES, max(room, 5.0) if rough else room, day))
    return " _ "


def _offset(zone: str | None, *, front: bool) -> int:
    """Minutes east of UTC."""
    if front or zone in {"CST", "北京时间"}:
        return _EAST
    found = re.search(r"([+-])(\d{1,2}):?(\d\d)?", zone or "")
    if found is None:
        return 0
    return (-1 if found[1] == "-" else 1) * (int(found[2]) * 60 + int(found[3] or 0))


def _digits(text: str) -> Iterator[Quantity]:
    for hit in _DIGITS.finditer(text):
        digits = re.sub(r"[,'\u2009]", "", hit[1])
        size = _SIZES.get((hit[2] or "").strip().lower(), 1.0)
        unit, scale = _UNITS.get((hit[3] or "").lower(), ("", 1.0))
        fraction = len(digits.partition(".")[2])
        percent = re.search(r"百分之\s?$", text[: hit.start()])
        yield _quantity(
            hit[0].strip(),
            float(digits) * size,
            10.0**-fraction * size,
            ("%", 1.0) if percent else (unit, scale),
            rough=_is_rough(text, hit),
            counted=_COUNTED.match(text, hit.end()) is not None,
        )


def _is_rough(text: str, hit: re.Match[str]) -> bool:
    return bool(_ROUGH.search(text[: hit.start()]) or _ROUGHLY.match(text[hit.end() :]))


def _quantity(
    text: str, number: float, step: float, unit: tuple[Unit, float], *, rough: bool, counted: bool = False
) -> Quantity:
    """`number` is written in steps of `step`; a rough one in steps of its last digit that is not zero."""
    name, scale = unit
    room = step / 2
    if rough:
        while number and number % (step * 10) == 0:
            step *= 10
        room = max(step / 2, _ZEROS_KEPT * number)
    return Quantity(text, number * scale, room * scale, name, scale, counted and not name)


# -- numbers in words ----------------------------------------------------------------------------------------------

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve "
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: float(value) for value, word in enumerate(_ONES.split())} | {
    word: 10.0 * place for place, word in enumerate(_TENS.split(), 2)
}
_POWERS = {"hundred": 1e2, "thousand": 1e3, "million": 1e6}
_CHINESE = {one: float(value) for value, one in enumerate("零一二三四五六七八九")} | {"〇": 0.0, "两": 2.0}
_CHINESE_POWERS = {"十": 1e1, "百": 1e2, "千": 1e3, "万": 1e4, "亿": 1e8}


@cache
def _word_pattern() -> re.Pattern[str]:
    word = "|".join([*_VALUES, *_POWERS])
    return expression(
        rf"(?<![\w-])(?P<number>(?:{word})(?:(?:[ -]|\sand\s)(?:{word}))*)"
        rf"(?:\s(?P<third>thirds?|quarters?|fifths?|in|out of)(?:\s(?P<of>{word}|\d+))?)?"
        rf"(?:\s?(?P<unit>percent|per cent|times|(?:milli)?seconds?|minutes?|hours?|days?))?(?![\w-])"
        r"|(?<![\w-])(?P<share>half|an? (?:third|quarter|fifth))(?= (?:of|the|all)\b)"
        r"|(?<![\w-])(?P<double>twice|doubled?|tripled?)(?![\w-])",
        re.IGNORECASE,
    )


_CHINESE_NUMBER = "[零〇一二两三四五六七八九十百千万亿]+"
_CHINESE_WORDS = expression(
    rf"(?<!第)(?:(?P<percent>百分之)(?P<p>{_CHINESE_NUMBER})(?:点(?P<pf>[零〇一二三四五六七八九]+))?"
    rf"|(?P<below>{_CHINESE_NUMBER})分之(?P<above>{_CHINESE_NUMBER})|(?P<half>一半)"
    rf"|(?P<n>{_CHINESE_NUMBER})(?P<unit>毫秒|秒钟?|分钟|个?小时|天|倍|成|[个条次台名人行例笔])"
    rf"|(?P<long>[一二两三四五六七八九][{_CHINESE_NUMBER[1:-2]}]{{2,}}))"
)
_SHARES = {"half": 50.0, "third": 100 / 3, "quarter": 25.0, "fifth": 20.0}
_ROUGH_SHARE = 5.0


def _words(text: str) -> Iterator[Quantity]:
    for hit in _word_pattern().finditer(text):
        yield from _english(hit, rough=_is_rough(text, hit))
    for hit in _CHINESE_WORDS.finditer(text):
        yield from _chinese(hit, rough=_is_rough(text, hit))


def _english(hit: re.Match[str], *, rough: bool) -> Iterator[Quantity]:
    if hit["double"]:
        yield Quantity(hit[0], 3.0 if hit["double"].lower().startswith("tripl") else 2.0, 0.25, "x")
        return
    if hit["share"]:
        yield Quantity(hit[0], _SHARES[hit["share"].lower().split()[-1]], _ROUGH_SHARE, "%")
        return
    number = _english_number(hit["number"])
    if hit["third"] and not hit["third"].lower().startswith(("in", "out")):
        yield Quantity(hit[0], number * _SHARES[hit["third"].lower().rstrip("s")], _ROUGH_SHARE, "%")
    elif hit["of"]:
        whole = float(hit["of"]) if hit["of"].isdigit() else _english_number(hit["of"])
        if whole:
            yield Quantity(hit[0], 100 * number / whole, 100 * number / whole * 0.5 / whole + 0.5, "%")
    elif number != 1.0 or hit["unit"]:
        unit = _UNITS.get((hit["unit"] or "").lower(), ("", 1.0))
        counted = _COUNTED.match(hit.string, hit.end()) is not None
        yield _quantity(hit[0], number, 1.0, unit, rough=rough, counted=counted)


def _english_number(text: str) -> float:
    total = part = 0.0
    for word in re.split(r"[\s-]+", text.lower()):
        if word in _VALUES:
            part += _VALUES[word]
        elif word == "hundred":
            part = max(part, 1.0) * 100
        elif word in _POWERS:
            total, part = total + max(part, 1.0) * _POWERS[word], 0.0
    return total + part


def _chinese(hit: re.Match[str], *, rough: bool) -> Iterator[Quantity]:
    if hit["percent"]:
        places = hit["pf"] or ""
        fraction = sum(_CHINESE[one] * 10.0 ** -(at + 1) for at, one in enumerate(places))
        yield _quantity(hit[0], _chinese_number(hit["p"]) + fraction, 10.0 ** -len(places), ("%", 1.0), rough=rough)
    elif hit["half"]:
        yield Quantity(hit[0], 50.0, _ROUGH_SHARE, "%")
    elif hit["below"]:
        share = 100 * _chinese_number(hit["above"]) / max(_chinese_number(hit["below"]), 1.0)
        yield Quantity(hit[0], share, max(share * 0.5 / max(_chinese_number(hit["below"]), 1.0) + 0.5, 1.0), "%")
    elif hit["unit"] == "成":
        yield Quantity(hit[0], 10 * _chinese_number(hit["n"]), _ROUGH_SHARE, "%")
    else:
        number = _chinese_number(hit["n"] or hit["long"])
        unit = _UNITS.get(hit["unit"] or "", ("", 1.0))
        if number != 1.0 or unit[0]:
            counted = bool(hit["unit"]) and hit["unit"] in "条次例笔"
            yield _quantity(hit[0], number, 1.0, unit, rough=rough, counted=counted)


def _chinese_number(text: str) -> float:
    """`三千零七` is 3007, `十二` 12, `一百五` 150."""
    total = section = digit = 0.0
    last = 1.0
    for one in text:
        if one in _CHINESE:
            digit = _CHINESE[one]
            last = 10.0 if one in "零〇" else last
        elif (power := _CHINESE_POWERS[one]) >= _CHINESE_POWERS["万"]:
            total, section, digit, last = (total + section + digit or 1.0) * power, 0.0, 0.0, power
        else:
            section, digit, last = section + (digit or 1.0) * power, 0.0, power
    return total + section + digit * (last / 10 if last > 10 else 1.0)  # noqa: PLR2004 - a shortened last place
