"""From what people write to one canonical English form, so that one grammar reads both languages."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from logagent.expressions import expression
from logagent.times import _chinese

LENGTH_LIMIT = 128
"""Most characters of one time expression."""
JUST_NOW_SECONDS = 15 * 60.0
"""刚才 and "just now" reach back this far."""

_SECONDS = {
    name: seconds
    for seconds, spelled in (
        (0.001, "ms"),
        (1, "s sec secs second seconds"),
        (60, "m min mins minute minutes"),
        (3_600, "h hr hrs hour hours"),
        (86_400, "d day days"),
        (604_800, "w week weeks"),
        (1_209_600, "fortnight fortnights"),
    )
    for name in spelled.split()
}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "few": 3}
_UNITS = "|".join(sorted(_SECONDS, key=len, reverse=True))
DURATION = rf"(?:\d{{1,6}}(?:\.\d{{1,6}})? ?(?:{_UNITS})\b ?(?:and )?)"
_DURATIONS = expression(rf"(?:(?:last|past) )?((?:{DURATION}){{1,6}})(?:ago|back)?", re.ASCII)
_ONE = expression(rf"(\d{{1,6}}(?:\.\d{{1,6}})?) ?({_UNITS})\b", re.ASCII)

_RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"(\d(?:ms|[smhdw]|min|hr))(?=\d)", r"\1 "),
    (r"\bhalf an? hour\b", "30m"),
    (r"\ba quarter of an hour\b", "15m"),
    (rf"\b({'|'.join(_NUMBERS)}) ({_UNITS})\b", lambda match: f"{_NUMBERS[match[1]]} {match[2]}"),
    (r"\b(?:the )?last weeks?\b", "last-week"),
    (r"\bpast week\b", "last 7d"),
    (rf"\b(last|past) ({_UNITS})\b", r"\1 1 \2"),
    (r"\bthis week\b", "this-week"),
    (r"\blast month\b", "last-month"),
    (r"\b(?:the )?day before yesterday\b", "2-days-back"),
    (r"\b(?:widen|expand|zoom out) to (?=\d)", "last "),
    (r"\blast night(?:'?s)?\b|\bovernight\b|\bduring the night\b", "yesterday night"),
    (r"\bthis (morning|afternoon|evening)\b", r"today \1"),
    (r"\btonight\b", "today evening"),
    (r"\bjust now\b", "just-now"),
    (r"\b(?:noon|midday)\b", "12:00"),
    (r"\bmidnight\b", "0:00"),
)


@cache
def _rules() -> tuple[_chinese.Rule, ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in _RULES)


def canonical(text: str) -> str:
    """Lower case, half-width forms, single blanks, Chinese time words as English ones, `1h30m` as `1h 30m`."""
    text = _chinese.rewrite(unicodedata.normalize("NFKC", text).lower())
    text = " ".join(text.split())
    for pattern, replacement in _rules():
        text = pattern.sub(replacement, text)
    return text


def seconds_of(words: str) -> float | None:
    """Seconds of `1h 30m`, `last 15 minutes`, `2 hours ago`, `30m back` in canonical form; None for other text."""
    words = words.removeprefix("-").removeprefix("the ")
    if words == "just-now":
        return JUST_NOW_SECONDS
    if not _DURATIONS.fullmatch(words):
        return None
    return sum(float(value) * _SECONDS[unit] for value, unit in _ONE.findall(words))
