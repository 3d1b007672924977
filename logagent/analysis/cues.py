"""The matcher: literal prefilter, then the cue, then the look-alikes around it.

Expressions are compiled when they are first needed: a run needs a few dozen of more than a thousand.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from logagent.analysis.cue_plan import FLAGS, LONGEST

_WORD = re.compile("[a-z]{3,}|[\u4e00-\u9fff]{2,}")
_MATCHED = 80
_REMEMBERED = 50_000
"""Distinct words whose candidates are kept; then the memory starts anew."""
_LINES, _KEPT_CHARS = 20_000, 300
"""Physical lines whose hits are kept, and their length: frames of stack traces come again in many records."""

_HEAD, _TAIL = 12_288, 4_096
"""Characters of a line that are read; a cue further inside a longer one is missed."""


class CueHit(NamedTuple):
    """One mechanism that a line states. Sorted: strong before weak, then the order of the list."""

    weak: bool
    rank: int
    id: str
    start: int
    matched: str


class Pattern:
    """A regular expression that is compiled when it is first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.text, FLAGS)


@dataclass(frozen=True, slots=True, eq=False)
class Cue:
    """One cue of an entry with its prefilter (cue_plan.CuePlan)."""

    entry: str
    rank: int
    pattern: Pattern
    weak: bool
    words: tuple[str, ...]
    plain: tuple[str, ...]
    must: tuple[tuple[str, ...], ...]

    def possible(self, low: str) -> bool:
        """Whether a line (in lower case) holds what every match holds."""
        for group in self.must:  # plain loops: this is asked for every cue that a word of a line calls
            for literal in group:
                if literal in low:
                    break
            else:
                return False
        return True


def cues_of(entry: Mapping[str, Any], rank: int) -> list[Cue]:
    """Cues of one entry of the index."""
    return [
        Cue(entry["id"], rank, Pattern(text), weak, tuple(words), tuple(plain), tuple(map(tuple, must)))
        for text, weak, words, plain, must in entry["cues"]
    ]


class Matcher:
    """All cues of mechanisms, or of change events, over physical lines."""

    def __init__(
        self, entries: Sequence[Mapping[str, Any]], anywhere_not: Iterable[str], context: int, first_rank: int = 0
    ) -> None:
        self._context = context
        self._not = [Pattern(text) for text in anywhere_not]
        self._entry_not = {entry["id"]: [Pattern(text) for text in entry["not"]] for entry in entries}
        self._by_word: dict[str, list[Cue]] = defaultdict(list)
        self._by_plain: dict[str, list[Cue]] = defaultdict(list)
        self._unanchored: list[Cue] = []
        self._seen: dict[str, tuple[Cue, ...]] = {}
        self._read: dict[str, list[CueHit]] = {}
        for rank, entry in enumerate(entries, first_rank):
            for cue in cues_of(entry, rank):
                self._add(cue)
        self._shortest = min(map(len, self._by_word), default=1)
        self._plain_ascii = [row for row in self._by_plain.items() if row[0].isascii()]
        self._plain_other = [row for row in self._by_plain.items() if not row[0].isascii()]

    def _add(self, cue: Cue) -> None:
        for word in cue.words:
            self._by_word[word].append(cue)
        for literal in cue.plain:
            self._by_plain[literal].append(cue)
        if not cue.words and not cue.plain:
            self._unanchored.append(cue)

    def text(self, text: str) -> list[CueHit]:
        """Hits of a record of several physical lines, in order of precedence."""
        best: dict[str, CueHit] = {}
        for line in text.split("\n"):
            for hit in self._known(line):
                if hit.id not in best or hit < best[hit.id]:
                    best[hit.id] = hit
        return sorted(best.values())

    def _known(self, line: str) -> list[CueHit]:
        if len(line) > _KEPT_CHARS:
            return self.line(line)
        found = self._read.get(line)
        if found is None:
            if len(self._read) >= _LINES:
                self._read = {}
            found = self._read[line] = self.line(line)
        return found

    def line(self, line: str) -> list[CueHit]:
        """Hits of one physical line, in order of precedence; of a very long one its beginning and its end are read."""
        if len(line) > _HEAD + _TAIL:
            line = f"{line[:_HEAD]} {line[-_TAIL:]}"
        low = line.lower()
        candidates = self._candidates(low)
        hits: dict[str, CueHit] = {}
        for cue in candidates:
            got = hits.get(cue.entry)
            if (got and (not got.weak or cue.weak)) or not cue.possible(low):
                continue
            if (match := cue.pattern.regex.search(line)) and not self._excused(cue, line, match):
                hits[cue.entry] = CueHit(cue.weak, cue.rank, cue.entry, match.start(), match[0][:_MATCHED])
        return sorted(hits.values())

    def _excused(self, cue: Cue, line: str, match: re.Match[str]) -> bool:
        around = line[max(0, match.start() - self._context) : match.end() + self._context]
        return any(p.regex.search(around) for p in self._not) or any(
            p.regex.search(around) for p in self._entry_not[cue.entry]
        )

    def _candidates(self, low: str) -> list[Cue]:
        """Cues whose literals stand in the line, in the order of the list where that is what the words give."""
        found: dict[Cue, None] = {}
        seen = self._seen
        for word in _WORD.findall(low):
            cues = seen.get(word)
            if cues is None:
                cues = self._learn(word)
            if cues:
                found.update(dict.fromkeys(cues))
        for literal, several in self._plain_ascii:
            if literal in low:
                found.update(dict.fromkeys(several))
        for literal, several in () if low.isascii() else self._plain_other:
            if literal in low:
                found.update(dict.fromkeys(several))
        found.update(dict.fromkeys(self._unanchored))
        return list(found)

    def _learn(self, word: str) -> tuple[Cue, ...]:
        """Cues whose fragment is inside this word; every substring is looked up once per distinct word."""
        found: dict[Cue, None] = {}
        for start in range(len(word)):
            for end in range(start + self._shortest, min(len(word), start + LONGEST) + 1):
                if cues := self._by_word.get(word[start:end]):
                    found.update(dict.fromkeys(cues))
        if len(self._seen) >= _REMEMBERED:
            self._seen = {}
        cues_found = self._seen[word] = tuple(found)
        return cues_found
