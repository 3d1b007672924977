"""Which rules a text needs, told in a few microseconds by its words: nearly every word of a log has been seen before.

A text is split at C speed, digits made equal. A word is looked at once: whether a key may be in it, which rules may
start from it. A text of harmless words needs no rule but those that go by digits and signs, which are tested on it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from logagent.analysis import _redact_keys, _redact_patterns, _redact_personal
from logagent.expressions import expression

_SEPARATORS = b" \t\r\n\x0b\x0c\"'`,;(){}[]<>|&?=:/\\!*#"
_TABLE = bytes.maketrans(b"123456789" + _SEPARATORS, b"0" * 9 + b" " * len(_SEPARATORS))
_MOST_WORDS = 1 << 16
_HEX = b"0abcdef-."
_LONGEST_HEX = 72
"""Digests end here; no secret that is known by its own shape is a run of hexadecimal digits."""
_NUMBERS = expression(rb"0000000000000|0000[ -]0000|000[- ]00[- ]0000")
"""Runs of digits, one of which stands in every card, resident id or phone number without a word that announces it."""
_NINE_DIGITS = expression(rb"0(?:[ .()-]{0,2}0){8}")
"""What a word can announce is a number of at least nine digits, or an account."""
_ACCOUNT = expression(r"[a-z]{2}00", re.IGNORECASE)
_LONG_WORD = 15
KEYS, PERSONAL, BLOCK = -1, -2, -3
"""What a word may call for beside rules, which are named by their place."""


@dataclass(frozen=True, slots=True)
class Called:
    """What has to be asked about a text."""

    keys: bool
    personal: bool
    announced: bool
    """A word announces personal data; else only its own digits and signs tell it."""
    block: bool
    rules: tuple[int, ...]
    """Places in `_redact_patterns.RULES`."""


NOTHING = Called(keys=False, personal=False, announced=False, block=False, rules=())


def trie(words: Iterable[str]) -> str:
    """One expression for many words that tries few branches at each character.

    >>> trie(["key", "kit", "no"])
    '(?:k(?:ey|it)|no)'
    """
    heads: dict[str, set[str]] = {}
    for word in words:
        heads.setdefault(word[:1], set()).add(word[1:])
    if "" in heads:  # a shorter word is enough
        return ""
    parts = [re.escape(head) + trie(rests) for head, rests in sorted(heads.items())]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def plain(clue: str) -> str:
    """The longest part of a clue that stands inside one word, digits made equal.

    >>> plain("hooks.slack.com/"), plain("sq0")
    ('hooks.slack.com', 'sq0')
    """
    words = clue.encode().translate(_TABLE).decode().split()
    return max(words, key=len, default="")


def _has_at(text: str) -> bool:
    """Whether an @ stands behind something, as in an address and in a URL; not as in `"@timestamp"`."""
    at = text.find("@")
    while at >= 0:
        if at and text[at - 1] not in " \t\n\"'`,;([{<|":
            return True
        at = text.find("@", at + 1)
    return False


class Screen:
    """Words and what they call for. Shared by all runs and threads: that is the same whoever asks."""

    def __init__(self) -> None:
        self._harmless: set[bytes] = set()
        self._known: dict[bytes, tuple[int, ...]] = {}
        self._clues: re.Pattern[str] | None = None
        self._by_clue: dict[str, list[int]] = {}

    def called(self, text: str) -> Called:
        """What has to be asked about `text`; nothing for most lines."""
        raw = text.encode("utf-8", "surrogatepass").translate(_TABLE)
        words = raw.split()
        at = _has_at(text)
        is_personal = at or "+" in text or (b"0000" in raw and _NUMBERS.search(raw) is not None)
        if not is_personal and self._harmless.issuperset(words):
            return NOTHING
        calls: set[int] = set()
        for word in set(words).difference(self._harmless):
            calls.update(self._calls(word))
        if not calls and not is_personal:
            return NOTHING
        if at:
            calls.update(_redact_patterns.AT)
        if "1//0" in text:
            calls.update(self._by_clue.get("ya00.", ()))
        rules = tuple(sorted(place for place in calls if place >= 0))
        announced = PERSONAL in calls and (_NINE_DIGITS.search(raw) is not None or b"iban" in raw.lower())
        return Called(KEYS in calls, announced or is_personal, announced, BLOCK in calls, rules)

    def _calls(self, word: bytes) -> tuple[int, ...]:
        found = self._known.get(word)
        if found is None:
            found = tuple(self._looked_at(word))
            if len(self._harmless) + len(self._known) > _MOST_WORDS:
                self._harmless.clear()
                self._known.clear()
            if found:
                self._known[word] = found
            else:
                self._harmless.add(word)
        return found

    def _looked_at(self, word: bytes) -> set[int]:
        if len(word) <= _LONGEST_HEX and not word.translate(None, _HEX):
            return set()
        shown = word.decode("utf-8", "surrogatepass")
        lower = shown.lower()
        calls: set[int] = {PERSONAL} if _ACCOUNT.match(shown) else set()
        if len(word) >= _LONG_WORD and _redact_patterns.UNKNOWN.pattern.search(shown):
            calls.add(_redact_patterns.UNKNOWN_PLACE)
        if self._pattern().search(lower):
            calls |= self._by_words(shown, lower)
        return calls

    def _by_words(self, shown: str, lower: str) -> set[int]:
        calls = {KEYS} if _redact_keys.may_be_key(shown) else set()
        if _redact_personal.announces(lower):
            calls.add(PERSONAL)
        if lower.startswith("-----begin"):
            calls.add(BLOCK)
        for clue, places in self._by_clue.items():
            if clue in lower:
                calls.update(place for place in places if _redact_patterns.starts_from(place, clue, shown, lower))
        return calls

    def _pattern(self) -> re.Pattern[str]:
        """All clues as one expression, made when first needed."""
        if self._clues is None:
            for place, rule in enumerate(_redact_patterns.RULES):
                for clue in filter(None, map(plain, rule.clues)):
                    if clue != "0":  # of `1//0`, which is looked for as it is
                        self._by_clue.setdefault(clue, []).append(place)
            keys = [plain(clue) for clue in (*_redact_keys.CLUES, *_redact_personal.CLUES, "-----begin", "string")]
            self._clues = re.compile(trie([*self._by_clue, *keys]))
        return self._clues


SCREEN = Screen()
