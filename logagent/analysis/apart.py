"""Patterns kept apart: each is asked for by words that all its lines hold and no line of another pattern does.

What no word tells apart is one pattern: its text has a slot where the two differ.
"""

import functools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest

from logagent.analysis.facts import Event
from logagent.analysis.pattern_query import literal_node, literals, pattern_node
from logagent.analysis.templates import SLOT, join_words, split_words, status_codes
from logagent.analysis.words import phrase_text, words
from logagent.query import And, Level, Node, Not, Or, Phrase, Range, Term, conjunction

_LINES = 8
"""Lines of a pattern that stand for all: they differ in their slots only."""
_EXCLUDED = 12
"""Most other patterns that one query sets itself apart from, so that it can still be read."""
WORDLESS = 48
"""The same of a pattern without any word: only what the others say tells it apart."""
_CODES = 8
_FAILED_FROM, _FAILED_TO = 500, 599


@dataclass(frozen=True, slots=True)
class Line:
    """What a query sees of a line."""

    service: str
    level: int | None
    status: int | None
    texts: tuple[str, ...]
    logger: str = ""
    error_type: str = ""

    @property
    def words(self) -> str:
        """The words of each text, one after the other."""
        return _words_of(self.texts)


@functools.lru_cache(maxsize=50_000)
def _words_of(texts: tuple[str, ...]) -> str:
    return "".join(phrase_text(words(text)) for text in texts)


def lines_of(events: Sequence[Event]) -> tuple[Line, ...]:
    """A few lines, evenly taken."""
    step = max(1, len(events) // _LINES)
    return tuple(_line(event) for event in events[::step][:_LINES])


def _line(event: Event) -> Line:
    record = event.record
    texts = [event.message] if record is None else [record.message, record.error_message]
    service = record.service if record is not None else event.service
    return Line(
        service,
        event.level,
        record.status if record is not None else None,
        tuple(text for text in texts if text),
        record.logger if record is not None else "",
        record.error_type if record is not None else "",
    )


@dataclass(slots=True)
class Kind:
    """One pattern as far as its query goes."""

    text: str
    service: str
    levels: set[int]
    messages: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def codes(self) -> frozenset[str]:
        """HTTP status codes that its lines state."""
        return _codes_of(self.messages)


@functools.lru_cache(maxsize=1_000)
def _codes_of(messages: tuple[str, ...]) -> frozenset[str]:
    return frozenset(code for message in messages for code in status_codes(message))


def kind_of(text: str, service: str, events: Sequence[Event]) -> Kind:
    """A pattern with what is needed to ask for it."""
    levels = {event.level for event in events if event.level is not None}
    return Kind(text, service, levels, tuple(event.message for event in events), lines_of(events))


def merged(one: Kind, other: Kind) -> Kind:
    """Both as one pattern: a slot wherever their texts differ."""
    levels, messages = one.levels | other.levels, (*one.messages, *other.messages)
    service = one.service if one.service == other.service else ""
    return Kind(_common(one.text, other.text), service, levels, messages, (*one.lines, *other.lines))


def _common(one: str, other: str) -> str:
    """The text that two templates share."""
    (first, gaps), (second, _) = split_words(one), split_words(other)
    if len(first) != len(second):
        shared = sorted((run for run in literals(one) if run in other), key=one.find)
        return f" {SLOT} ".join(shared) or SLOT
    return join_words([a if a == b else SLOT for a, b in zip_longest(first, second, fillvalue="")], gaps)


class Kinds:
    """Many patterns, of which few come into question for a query: one search of all their lines finds these."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._kinds = list(kinds)
        texts = ["\n".join(text.lower() for line in kind.lines for text in line.texts) for kind in self._kinds]
        self._text = "\n".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

    def that_may_match(self, node: Node) -> Iterator[Kind]:
        """Those with a line that holds the longest word of the query, in order; all where it has no word."""
        word = _required(node)
        at = self._text.find(word)
        while 0 <= at < len(self._text):
            index = bisect_right(self._starts, at) - 1
            yield self._kinds[index]
            at = self._text.find(word, self._starts[index + 1])


def _required(node: Node) -> str:
    """The longest word that all lines of the query hold."""
    match node:
        case And(nodes):
            return max(map(_required, nodes), key=len)
        case Term("", value) | Phrase("", value):
            return max(words(value), key=len, default="")
        case _:
            return ""


def apart(one: Kind, others: Iterable[Kind]) -> tuple[Node, list[Kind]]:
    """The query for a pattern, and the others that it cannot be told from."""
    node = conjunction(pattern_node(one.text, service=one.service, levels=sorted(one.levels)), *_class(one))
    return set_apart(node, one, others)


def set_apart(node: Node, one: Kind, others: Iterable[Kind]) -> tuple[Node, list[Kind]]:
    """The same from a query that finds all lines of the one."""
    alike: list[Kind] = []
    most = _EXCLUDED if literals(one.text) else WORDLESS
    excluded = 0
    holds = matcher(node)
    for other in others:
        hits = [line for line in other.lines if holds(line)]
        if not hits:
            continue
        part = _telling(one, other, hits) if excluded < most else None
        if part is None:
            alike.append(other)
        else:
            node = conjunction(node, part)
            holds = matcher(node)
            excluded += 1
    return node, alike


def _class(one: Kind) -> Iterator[Node]:
    """The class of HTTP status that all lines have, where the text keeps it apart and a field holds it."""
    classes = {line.status // 100 if line.status is not None else None for line in one.lines}
    if "status-" in one.text and len(classes) == 1 and (found := classes.pop()) is not None:
        yield Range("status", f"{found}00", f"{found}99")


def _telling(one: Kind, other: Kind, hits: Sequence[Line]) -> Node | None:
    """What all lines of the one hold and none of these of the other do; None where there is nothing."""
    if not one.service and other.service:
        return Not(Phrase("service", other.service))
    for run in literals(one.text):
        node = literal_node(run)
        holds = matcher(node)
        if all(map(holds, one.lines)) and not any(map(holds, hits)):
            return node
    for run in literals(other.text):
        node = literal_node(run)
        holds = matcher(node)
        if all(map(holds, hits)) and not any(map(holds, one.lines)):
            return Not(node)
    return _by_status(one, other) or _by_level(one, hits)


def _by_level(one: Kind, hits: Sequence[Line]) -> Node | None:
    """Lines that no line of the other is as severe as."""
    own = {line.level for line in one.lines}
    if None in own or own & {line.level for line in hits}:
        return None
    classes: list[Node] = [Level(level) for level in sorted(level for level in own if level is not None)]
    return classes[0] if len(classes) == 1 else Or(tuple(classes))


def _by_status(one: Kind, other: Kind) -> Node | None:
    """Failed apart from not failed: by the field, else by the codes in the text."""
    failing = Range("status", str(_FAILED_FROM), str(_FAILED_TO))
    sides = [set(map(matcher(failing), side.lines)) for side in (one, other)]
    if sides == [{True}, {False}]:
        return failing
    if sides == [{False}, {True}]:
        return Not(failing)
    told = one.codes and other.codes and not one.codes & other.codes
    if told and len(one.codes) <= _CODES:
        codes = [Term("", code) for code in sorted(one.codes)]
        return codes[0] if len(codes) == 1 else Or(tuple(codes))
    return None


def matcher(node: Node) -> Callable[[Line], bool]:
    """A test of whether a line matches the query of a pattern: one is asked of thousands of lines."""
    match node:
        case And(nodes):
            return _every(sorted(map(matcher, nodes), key=_cost))
        case Or(nodes):
            parts = tuple(map(matcher, nodes))
            return lambda line: any(part(line) for part in parts)
        case Not(inner):
            holds = matcher(inner)
            return lambda line: not holds(line)
        case Term("", value) | Phrase("", value):
            return _Words(value)
        case _:
            return functools.partial(_leaf_holds, node)


def _every(parts: Sequence[Callable[[Line], bool]]) -> Callable[[Line], bool]:
    """All of them; the first alone says no to nearly all lines."""
    first, *rest = parts
    return lambda line: first(line) and all(part(line) for part in rest)


def _cost(part: Callable[[Line], bool]) -> int:
    """Words first, as most lines do not have them, and of those the longest."""
    return -len(part.phrase) if isinstance(part, _Words) else 0


class _Words:
    """Whether a text of a line holds these words, one after the other."""

    def __init__(self, value: str) -> None:
        found = words(value)
        self.phrase = phrase_text(found)
        self._rarest = max(found, key=len, default="")

    def __call__(self, line: Line) -> bool:
        """Looks for the longest word first: most lines are then told without being cut into words."""
        return any(self._rarest in text.lower() for text in line.texts) and self.phrase in line.words


def _leaf_holds(node: Node, line: Line) -> bool:
    match node:
        case Level(severity):
            return line.level == severity
        case Range(_, low, high):
            return line.status is not None and int(low or 0) <= line.status <= int(high or 0)
        case Term(field, value) | Phrase(field, value):
            return _value_of(line, field) == value
        case _:
            return True


def _value_of(line: Line, field: str) -> str:
    return {"logger": line.logger, "error_type": line.error_type}.get(field, line.service)
