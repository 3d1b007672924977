"""What a format is, which one fits, and how its lines become events."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from logagent import plugins
from logagent.expressions import expression

Parse = Callable[[str], dict[str, Any] | None]
"""One line -> fields by ECS name, None when no event starts on it, HOLD when it waits for the next line."""

HOLD: dict[str, Any] = {}
"""What a parser answers for a line that it will answer together with a later one."""

_ANSI = expression(r"\x1b\[[0-9;?]*[A-Za-z]")
_MOST_CONTINUATION = 5_000
"""Lines joined to one event; the rest is dropped from it and counted in its text."""
_STACK = expression(
    r"^\s+at |^Traceback \(most recent call last\)|^\s+File \"|^Caused by: |^\s*\.\.\. \d+ more"
    r"|^goroutine \d+ \[|^panic: "
    r"|^\s*[\w.$]+(?:Exception|Error)(?::|$)|^\t\S+\.go:\d+"
)
_ERROR_CLASS = expression(
    r"^(?:Caused by: |Exception in thread \"[^\"]*\" )?((?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error|Throwable))\b"
)
_ENOUGH = 0.9
"""A format that recognises this share of what the best one recognises is taken before it, if it is more specific."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What a format may look at before it reads: the first lines of the file, without blank ones, and the present."""

    lines: Sequence[str]
    now: datetime
    """For stamps without a year."""


@dataclass(frozen=True, slots=True)
class Format:
    """What a format module exports as `FORMAT`.

    Attributes:
        name: the module's name.
        title: for people: `access log`.
        rank: specific formats first; 0 to 100.
        reader: makes the parser for one file.
        read_all: reads a whole file at once, for formats that are not made of lines.
        joins: whether lines that start no event belong to the event before.
        trust: what its share of recognised lines is worth; little for one that takes every line.
    """

    name: str
    title: str
    rank: int
    reader: Callable[[Sample], Parse]
    read_all: Callable[[str], "Iterator[Event]"] | None = None
    joins: bool = True
    trust: float = 1.0


@dataclass(frozen=True, slots=True)
class Event:
    """One event: number of its first line, from 1, and its fields; None: the line is no record."""

    line: int
    fields: Mapping[str, Any] | None


def formats() -> list[Format]:
    """All formats, the most specific first."""
    from logagent import formats as package  # noqa: PLC0415 - the package imports this module

    found: list[Format] = [module.FORMAT for _, module in plugins.modules(package)]
    return sorted(found, key=lambda one: one.rank)


def recognise(lines: Sequence[str], now: datetime | None = None) -> Format:
    """The format that reads these lines best: the most specific of those that read nearly as many as the best."""
    sample = Sample([without_colours(line) for line in lines], now or datetime(2026, 1, 1).astimezone())
    shares: list[tuple[float, Format]] = [(_share(one, sample), one) for one in formats()]
    best = max(share for share, _ in shares)
    return next(one for share, one in shares if share >= best * _ENOUGH)


def _share(one: Format, sample: Sample) -> float:
    parse = one.reader(sample)
    read = sum(parse(line) is not None for line in sample.lines)
    return one.trust * read / len(sample.lines) if sample.lines else 0.0


def without_colours(line: str) -> str:
    """The line without terminal escapes."""
    return _ANSI.sub("", line) if "\x1b" in line else line


def read_events(one: Format, lines: Iterable[str], head: Sequence[str], now: datetime) -> Iterator[Event]:
    """Events of a file: lines that start none are joined to the event before them.

    Lines before the first event become an event of their own, so nothing is lost.
    """
    parse = one.reader(Sample([without_colours(line) for line in head], now))
    current: dict[str, Any] | None = None
    start = 0
    more: list[str] = []
    for number, raw in enumerate(lines, 1):
        line = without_colours(raw)
        fields = parse(line)
        if fields is HOLD:
            continue
        if fields is None and (not line.strip() or (one.joins and current is not None)):
            more.append(line)
            continue
        if current is not None:
            yield Event(start, joined(current, more))
        current, start, more = fields if fields is not None else {"message": line}, number, []
    if current is not None:
        yield Event(start, joined(current, more))


def joined(fields: dict[str, Any], more: list[str]) -> dict[str, Any]:
    """The event with its further lines: a stack trace in its own field, other text in the message."""
    while more and not more[-1].strip():
        more.pop()
    if not more:
        return fields
    text = "\n".join(more[:_MOST_CONTINUATION])
    if len(more) > _MOST_CONTINUATION:
        text += f"\n(+{len(more) - _MOST_CONTINUATION} lines)"
    if any(_STACK.match(line) for line in more[:20]):
        fields["error.stack_trace"] = text
        named = next((found for line in [*more[:3], *more[-1:]] if (found := _ERROR_CLASS.match(line))), None)
        if named and "error.type" not in fields:
            fields["error.type"] = named[1]
    else:
        fields["message"] = f"{fields.get('message', '')}\n{text}"
    return fields
