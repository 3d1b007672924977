"""Words of a text as Lucene's standard analyzer cuts them (UAX #29), in Python and as RE2 patterns.

Letters, digits and `_` make words. `.` `:` and `'` keep letter.letter together, `.` `,` `;` and `'` digit.digit, so
`payment.api`, `a_b`, `1,234` and `10.0.0.1` are one word each. Chinese characters and Hiragana are words of their own.
"""

import re

_CJK = r"\p{Han}\p{Hiragana}"
_LETTER = rf"[^\P{{L}}{_CJK}]"
_NOT_LETTER = rf"[\P{{L}}{_CJK}]"
_WORD = rf"(?:{_LETTER}|[\p{{M}}\p{{Nd}}_])"
_JOINS_LETTERS = r".:'\x{b7}\x{2018}\x{2019}\x{2024}\x{ff07}\x{ff0e}\x{ff1a}"
_JOINS_DIGITS = r".,;'\x{2018}\x{2019}\x{2024}\x{ff07}\x{ff0c}\x{ff0e}\x{ff1b}"
_GAP = r"[^\p{L}\p{M}\p{Nd}_]"

_PY_CJK = r"[\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_PY_LETTER = r"[^\W\d_\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_PY_WORD = rf"(?:{_PY_LETTER}|[\d_])"
_PY_LETTERS = rf"{_PY_LETTER}(?:[.:'\u00b7\u2018\u2019\u2024\uff07\uff0e\uff1a]{_PY_LETTER})+"
_PY_DIGITS = r"\d(?:[.,;'\u2018\u2019\u2024\uff07\uff0c\uff0e\uff1b]\d)+"
_PY_TOKEN = re.compile(rf"{_PY_CJK}|(?:{_PY_WORD}*(?:{_PY_LETTERS}|{_PY_DIGITS}))+{_PY_WORD}*|{_PY_WORD}+")
_IDEOGRAPH = re.compile(_PY_CJK)


def words(text: str) -> list[str]:
    """The words of a text in order, in lower case.

    >>> words("GET /api/v1 payment.api failed: 1,234ms a_b")
    ['get', 'api', 'v1', 'payment.api', 'failed', '1,234ms', 'a_b']
    """
    return [match[0].lower() for match in _PY_TOKEN.finditer(text)]


def token_pattern() -> str:
    """RE2: one word, leftmost and longest."""
    letters = rf"{_LETTER}(?:[{_JOINS_LETTERS}]{_LETTER})+"
    digits = rf"\p{{Nd}}(?:[{_JOINS_DIGITS}]\p{{Nd}})+"
    return rf"[{_CJK}]|(?:{_WORD}*(?:{letters}|{digits}))+{_WORD}*|{_WORD}+"


def phrase_pattern(tokens: list[str]) -> str:
    """RE2: these words one after the other, whole words only, case-blind."""
    parts = [_before(tokens[0][0])]
    for index, token in enumerate(tokens):
        if index:
            parts.append(_between(tokens[index - 1][-1], token[0]))
        parts.append(_literal(token))
    parts.append(_after(tokens[-1][-1]))
    return "(?i)" + "".join(parts)


def _kind(character: str) -> str:
    if _IDEOGRAPH.match(character):
        return "cjk"
    if character == "_":
        return "_"
    return "digit" if character.isdecimal() else "letter"


def _sides(kind: str) -> tuple[str, str]:
    """Characters that join such a neighbour, and the class of neighbours that they join it to (negated)."""
    return (_JOINS_LETTERS, _NOT_LETTER) if kind == "letter" else (_JOINS_DIGITS, r"\P{Nd}")


def _before(first: str) -> str:
    kind = _kind(first)
    if kind == "cjk":
        return ""
    hard = rf"(?:^|{_not_word('')})"
    if kind == "_":
        return hard
    joins, other = _sides(kind)
    return rf"(?:^|{_not_word(joins)}|(?:^|{other})[{joins}])"


def _after(last: str) -> str:
    kind = _kind(last)
    if kind == "cjk":
        return ""
    if kind == "_":
        return rf"(?:$|{_not_word('')})"
    joins, other = _sides(kind)
    return rf"(?:$|{_not_word(joins)}|[{joins}](?:$|{other}))"


def _between(last: str, first: str) -> str:
    left, right = _kind(last), _kind(first)
    if "cjk" in (left, right):
        return rf"{_GAP}*"
    if left == right != "_":
        joins, _ = _sides(left)
        return rf"(?:[^\p{{L}}\p{{M}}\p{{Nd}}_{joins}]|{_GAP}{{2,}})"
    return rf"{_GAP}+"


def _not_word(joins: str) -> str:
    """One character that ends a word: no word character (an ideograph is none) and none of `joins`."""
    return rf"(?:[^\p{{L}}\p{{M}}\p{{Nd}}_{joins}]|[{_CJK}])"


def _literal(token: str) -> str:
    return re.sub(r"([^\w\s])", r"\\\1", token)
