"""Patterns kept apart: each is asked for by words that all its lines hold and no line of another pattern does.

What no word tells apart is one pattern: its text has a slot where the two differ.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

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
    words: str
    logger: str = ""
    error_type: str = ""


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
        "".join(phrase_text(words(text)) for text in texts),
        record.logger if record is not None else "",
        record.error_type if record is not None else "",
    )


@dataclass(slots=True)
class Kind:
    """One pattern as far as its query goes."""

    text: str
    service: str
    levels: set[int]
    codes: frozenset[str]
    """HTTP status codes that its lines state."""
    lines: tuple[Line, ...]


def kind_of(text: str, service: str, events: Sequence[Event]) -> Kind:
    """A pattern with what is needed to ask for it."""
    levels = {event.level for event in events if event.level is not None}
    codes = frozenset(code for event in events for code in status_codes(event.message))
    return Kind(text, service, levels, codes, lines_of(events))


def merged(one: Kind, other: Kind) -> Kind:
    """Both as one pattern: a slot wherever their texts differ."""
    levels, codes = one.levels | other.levels, one.codes | other.codes
    service = one.service if one.service == other.service else ""
    return Kind(_common(one.text, other.text), service, levels, codes, (*one.lines, *other.lines))


def _common(one: str, other: str) -> str:
    """The text that two templates share."""
    (first, gaps), (second, _) = split_words(one), split_words(other)
    if len(first) != len(second):
        shared = sorted((run for run in literals(one) if run in other), key=one.find)
        return f" {SLOT} ".join(shared) or SLOT
    return join_words([a if a == b else SLOT for a, b in zip_longest(first, second, fillvalue="")], gaps)


def apart(one: Kind, others: Iterable[Kind]) -> tuple[Node, list[Kind]]:
    """The query for a pattern, and the others that it cannot be told from."""
    node = conjunction(pattern_node(one.text, service=one.service, levels=sorted(one.levels)), *_class(one))
    return set_apart(node, one, others)


def set_apart(node: Node, one: Kind, others: Iterable[Kind]) -> tuple[Node, list[Kind]]:
    """The same from a query that finds all lines of the one."""
    alike: list[Kind] = []
    most = _EXCLUDED if literals(one.text) else WORDLESS
    excluded = 0
    for other in others:
        hits = [line for line in other.lines if holds(node, line)]
        if not hits:
            continue
        part = _telling(one, other, hits) if excluded < most else None
        if part is None:
            alike.append(other)
        else:
            node = conjunction(node, part)
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
        if all(holds(node, line) for line in one.lines) and not any(holds(node, line) for line in hits):
            return node
    for run in literals(other.text):
        node = literal_node(run)
        if all(holds(node, line) for line in hits) and not any(holds(node, line) for line in one.lines):
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
    sides = [{holds(failing, line) for line in side.lines} for side in (one, other)]
    if sides == [{True}, {False}]:
        return failing
    if sides == [{False}, {True}]:
        return Not(failing)
    told = one.codes and other.codes and not one.codes & other.codes
    if told and len(one.codes) <= _CODES:
        codes = [Term("", code) for code in sorted(one.codes)]
        return codes[0] if len(codes) == 1 else Or(tuple(codes))
    return None


def holds(node: Node, line: Line) -> bool:
    """Whether a line matches the query of a pattern."""
    match node:
        case And(nodes):
            return all(holds(part, line) for part in nodes)
        case Or(nodes):
            return any(holds(part, line) for part in nodes)
        case Not(inner):
            return not holds(inner, line)
        case _:
            return _leaf_holds(node, line)


def _leaf_holds(node: Node, line: Line) -> bool:
    match node:
        case Level(severity):
            return line.level == severity
        case Range(_, low, high):
            return line.status is not None and int(low or 0) <= line.status <= int(high or 0)
        case Term(field, value) | Phrase(field, value):
            return _value_of(line, field) == value if field else phrase_text(words(value)) in line.words
        case _:
            return True


def _value_of(line: Line, field: str) -> str:
    return {"logger": line.logger, "error_type": line.error_type}.get(field, line.service)
