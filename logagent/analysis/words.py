r"""Words of a text as Lucene's standard analyzer cuts them (UAX #29), in Python and as RE2 patterns.

Letters, digits and `_` make words. `.` `:` and `'` keep letter.letter together, `.` `,` `;` and `'` digit.digit, so
`payment.api`, `a_b`, `1,234` and `10.0.0.1` are one word each. Chinese characters and Hiragana are words of their own.

The classes are written as few coarse ranges: RE2 needs 60 ms to compile a pattern with `\p{L}` in ten places, and
these need 1 ms.
"""

import functools
import re
from collections.abc import Callable, Sequence

_RANGES = (
    (0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xB5, 0xB5), (0xBA, 0xBA), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x1FFF),
    (0x2071, 0x2071), (0x207F, 0x207F), (0x2C00, 0x2DFF), (0x30A1, 0x30FF), (0x3105, 0x318F), (0xA000, 0xD7A3),
    (0xFB00, 0xFDFF), (0xFE70, 0xFEFC), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A), (0xFF66, 0xFFDC), (0x10000, 0x1EFFF),
)  # fmt: skip
_CJK_RANGES = ((0x3041, 0x309F), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_LETTER_JOINS = (0x2E, 0x3A, 0x27, 0xB7, 0x2018, 0x2019, 0x2024, 0xFF07, 0xFF0E, 0xFF1A)
_DIGIT_JOINS = (0x2E, 0x2C, 0x3B, 0x27, 0x2018, 0x2019, 0x2024, 0xFF07, 0xFF0C, 0xFF0E, 0xFF1B)


def _re2(point: int) -> str:
    return rf"\x{{{point:x}}}"


def _python(point: int) -> str:
    return re.escape(chr(point))


class _Classes:
    """Insides of character classes in one of the two spellings."""

    def __init__(self, write: Callable[[int], str], highest: int = 0x10FFFF) -> None:
        self.letter = "".join(f"{write(low)}-{write(high)}" for low, high in _RANGES if low <= highest)
        self.cjk = "".join(f"{write(low)}-{write(high)}" for low, high in _CJK_RANGES if low <= highest)
        self.letter_joins = "".join(write(point) for point in _LETTER_JOINS if point <= highest)
        self.digit_joins = "".join(write(point) for point in _DIGIT_JOINS if point <= highest)
        self.word = f"{self.letter}0-9_"

    def token(self) -> str:
        """Pattern of one word, leftmost and longest."""
        letters = f"[{self.letter}](?:[{self.letter_joins}][{self.letter}])+"
        digits = f"[0-9](?:[{self.digit_joins}][0-9])+"
        alone = f"[{self.cjk}]|" if self.cjk else ""
        return f"{alone}(?:[{self.word}]*(?:{letters}|{digits}))+[{self.word}]*|[{self.word}]+"


@functools.cache
def _classes(*, re2: bool) -> _Classes:
    return _Classes(_re2 if re2 else _python)


@functools.cache
def _token(*, ascii_only: bool) -> re.Pattern[str]:
    """The pattern for Python; with all letters of Unicode it takes 10 ms to compile, and few phrases need it."""
    classes = _Classes(_python, highest=0x7F) if ascii_only else _classes(re2=False)
    return re.compile(classes.token())


def words(text: str) -> list[str]:
    """The words of a text in order, in lower case.

    >>> words("GET /api/v1 payment.api failed: 1,234ms a_b")
    ['get', 'api', 'v1', 'payment.api', 'failed', '1,234ms', 'a_b']
    """
    return [match[0].lower() for match in _token(ascii_only=text.isascii()).finditer(text)]


def token_pattern() -> str:
    """RE2: one word, leftmost and longest."""
    return _classes(re2=True).token()


def phrase_text(tokens: Sequence[str]) -> str:
    """These words one after the other, as they stand in a text of words between blanks."""
    return f" {' '.join(tokens)} "
