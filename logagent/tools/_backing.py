"""What the rows that a sentence cites show: its numbers, times, names and quotes are looked up there.

A row is what the model has read beside its id, and the evidence itself: figure, query, window, lines. A number that
stands beside another id is not backed, so neither a wrong number nor a right one under a wrong id goes through.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import combinations

from logagent.analysis.prose import Clock, Quantity, Stated, stated
from logagent.analysis.sentences import ID_GROUP
from logagent.evidence import Evidence
from logagent.expressions import expression
from logagent.logs import iso
from logagent.tools._base import ToolContext

ID = expression(r"\bE\d{1,6}\b")
_NUMBERED = expression(r"\b[Nn][or]\.\s?\d+\b")
"""`Nr. 5` is the name of a thing."""
_INSTANT = expression(r"(?:(\d{4}-\d\d-\d\d)[T ])?(?<!\d)([0-2]?\d):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?![\d:])")
_NUMBER = expression(
    r"(?<![A-Za-z_\d.:-])(?:x(?=\d))?(\d[\d,]*(?:\.\d+)?)(?![\d.]*\.\d)\s?(ms|s|min|h|%|[KMG]i?B)?(?![A-Za-z_])"
)
_TOTAL = expression(r"(\d[\d,]*) (?:events|matched|failing)\b")
"""How many there are in all, above the rows of an answer."""
_WHOLE = expression(
    r"(?:%|percent|per cent) (?:of )?(?:the |all |our )*"
    r"(host|user|service|pod|node|customer|instance|container|zone)s?\b"
    r"|%\s?的\s?(用户|主机|服务|实例|节点|容器)",
    re.IGNORECASE,
)
"""Of what a share is stated, where it is none of lines or requests."""
_WHOLES = {"用户": "user", "主机": "host", "服务": "service", "实例": "instance", "节点": "node", "容器": "container"}
_SAID = expression(r"\"(?:[^\"\\]|\\.)*\"|\{[^}]*\}")
"""The text of a line and its fields, in a row as a model reads it."""
_OF = expression(r"(\d[\d,]*) (?:of|\|) (\d[\d,]*)")
_VALUE = expression(r"([\w.]+):\"([^\"]{3,80})\"")
_MASK = expression(r"<([a-z_-]{2,20}):[0-9a-z]{2,8}:\d{1,6}>")
_SCALES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "KB": 1e3, "MB": 1e6, "GB": 1e9} | {
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30
}  # fmt: skip
_FEW = 12
"""Counts that are set against each other: a share or a multiple of any two."""
_DAY_S = 86_400.0


@dataclass(slots=True)
class _Numbers:
    """Numbers that may be stated, by what they are of."""

    plain: list[float] = field(default_factory=list)
    percent: list[float] = field(default_factory=list)
    multiple: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    bytes: list[float] = field(default_factory=list)


class Backing:
    """What a set of rows shows.

    Args:
        ids: the rows that are cited; those that were never issued show nothing.
        context: the run, with what the model has read.
    """

    def __init__(self, ids: Iterable[str], context: ToolContext) -> None:
        self._ids = list(dict.fromkeys(ids))
        self._rows = [row for one in self._ids if (row := context.ledger.get(one)) is not None]
        own = [part for row in self._rows for part in _own_texts(row, context)]
        read = list(_read(context, self._ids))
        self._read = len(read)
        self._parts = [*read, *own]
        self._totals = [
            float(hit.replace(",", ""))
            for text in context.shown
            for line in text.split("\n")
            if not ID.search(line)
            for hit in _TOTAL.findall(line)
        ]
        self._context = context

    def unbacked(self, sentence: str) -> list[str]:
        """What the sentence states and these rows do not show: figures, times, quotes and names."""
        cited = ", ".join(row.id for row in self._rows) or "what you cite"
        foreign = self._foreign(_without_ids(sentence))
        return [
            *self.misstated(sentence),
            *(f"{name!r} is not in {cited}: cite a row that shows it" for name in foreign),
        ]

    def misstated(self, sentence: str) -> list[str]:
        """The same without names: a proposal may name a suspect that its rows do not."""
        told = stated(_without_ids(sentence))
        cited = ", ".join(row.id for row in self._rows)
        figure = f" that {cited} does not show" if cited else ""
        cited = cited or "what you cite"
        found = [f'"{one.text}" is a figure{figure}: leave numbers to code' for one in self._wrong(told)]
        found += [
            f'"{one.text}" is no time of {cited}: leave times to code' for one in told.clocks if not self._has_time(one)
        ]
        text = "\n".join(self._parts).lower()
        wholes = [_WHOLES.get(one or other, one or other).lower() for one, other in _WHOLE.findall(sentence)]
        found += [f"no share of {one}s is in {cited}: leave numbers to code" for one in wholes if one not in text]
        return found + [f'"{quote}" is not what {cited} says: quote as it stands' for quote in self._misquoted(told)]

    # -- numbers ---------------------------------------------------------------------------------------------------

    def _wrong(self, told: Stated) -> Iterator[Quantity]:
        for quantity in told.quantities:
            if not any(map(quantity.fits, self._candidates(quantity))):
                yield quantity

    def _candidates(self, quantity: Quantity) -> list[float]:
        numbers = self._numbers
        match quantity.unit:
            case "%":
                return [*numbers.percent, *(100 * one for one in numbers.plain if 0 < one < 1)]
            case "x":
                return [*numbers.multiple, *numbers.plain]
            case "s":  # a field of milliseconds has no unit in its text
                return [*numbers.seconds, *(one * scale for one in numbers.plain for scale in (1e-3, quantity.scale))]
            case "B":
                return [*numbers.bytes, *(one * quantity.scale for one in numbers.plain), *numbers.plain]
            case _ if quantity.counted:
                return self._counts
            case _:
                return [*numbers.plain, *numbers.percent, *map(float, self._cited)]

    @cached_property
    def _counts(self) -> list[float]:
        """Figures of the rows and what stands beside their ids, less what log lines say."""
        numbers = _Numbers(plain=list(self._totals))
        for text in self._parts[: self._read]:
            _take_in(numbers, _SAID.sub(" ", text))
        for row in self._rows:
            _take_in_values(numbers, row)
        return [*numbers.plain, *map(float, self._cited)]

    @cached_property
    def _cited(self) -> set[int]:
        """How many rows, services and lines are cited: `two services`."""
        services = {row.service for row in self._rows if row.service}
        return {len(self._rows), len(services), len(self._names)}

    @cached_property
    def _numbers(self) -> _Numbers:
        numbers = _Numbers()
        numbers.plain += self._totals
        for text in self._parts:
            _take_in(numbers, text)
        for row in self._rows:
            _take_in_values(numbers, row)
        _take_in_pairs(numbers, [row.value for row in self._rows if _is_count(row)])
        for part in self._parts:
            times = sorted({second for second, _ in _instants(part)})[:_FEW]
            numbers.seconds += [(b - a) % _DAY_S for a, b in combinations(times, 2)]
        scope = self._context.scope.window
        numbers.seconds.append((scope.end - scope.start).total_seconds())
        return numbers

    # -- times -----------------------------------------------------------------------------------------------------

    def _has_time(self, clock: Clock) -> bool:
        return any(clock.fits(second / 60, day or clock.day) for second, day in self._times)

    @cached_property
    def _times(self) -> list[tuple[float, str]]:
        window = self._context.scope.window
        ends = [iso(window.start), iso(window.end)]
        return [time for text in [*self._parts, *ends] for time in _instants(text)]

    # -- quotes and names ------------------------------------------------------------------------------------------

    def _misquoted(self, told: Stated) -> Iterator[str]:
        """Quotes of several words, or with a number, that no cited row holds; a word in quotes is only a word."""
        for quote in told.quotes:
            tells = len(quote.split()) > 1 or any(one.isdigit() for one in quote)
            if tells and not self._holds(quote):
                yield quote[:60]

    def _holds(self, quote: str) -> bool:
        """Whether the parts of a quote, between marks of omission, stand in a row; compared as masked."""
        masked = self._context.redact(quote)
        wanted = [flat for part in re.split(r"…|\.\.\.", masked) if (flat := _flat(part))]
        return all(part in self._flat for part in wanted)

    @cached_property
    def _flat(self) -> str:
        return "\n".join(map(_flat, self._parts))

    def _foreign(self, sentence: str) -> Iterator[str]:
        """Names of this run that the sentence has and no cited row."""
        low = sentence.lower()
        text = "\n".join(self._parts).lower()
        for name in self._names_of_run:
            named = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
            if named.search(low) and name not in text:
                yield name

    @cached_property
    def _names(self) -> set[str]:
        return {name for row in self._rows for name in _names(row)}

    @cached_property
    def _names_of_run(self) -> list[str]:
        return sorted({name for row in self._context.ledger for name in _names(row)})


def _without_ids(sentence: str) -> str:
    return ID_GROUP.sub(" ", ID.sub(" ", _NUMBERED.sub(" ", sentence)))


def _read(context: ToolContext, ids: Sequence[str]) -> Iterator[str]:
    """What was shown beside these ids: the line of one, or its part of a line of several."""
    wanted = set(ids)
    for text in context.shown:
        for line in text.split("\n"):
            found = ID.findall(line)
            if not wanted & set(found):
                continue
            if len(set(found)) == 1:
                yield line
            else:
                yield from (part for part in _parts(line) if wanted & set(ID.findall(part)))


def _parts(line: str) -> Iterator[str]:
    """The parts of a line of several ids; what has none goes with the part before."""
    part = ""
    for piece in line.split(" | "):
        if part and ID.search(piece):
            yield part
            part = piece
        else:
            part = f"{part} | {piece}" if part else piece
    yield part


def _own_texts(row: Evidence, context: ToolContext) -> Iterator[str]:
    yield row.statement
    yield row.service
    yield row.query.text
    yield f"{iso(row.query.window.start)} {iso(row.query.window.end)}"
    for record in row.samples:
        yield f"{iso(record.timestamp) if record.timestamp else ''} {record.service}"
        yield context.redact(record.message)
        yield context.redact(record.error_message)
    for value in (row.value, row.baseline_value, row.onset):
        if isinstance(value, datetime):
            yield iso(value)
        elif value is not None:
            yield str(value)


def _names(row: Evidence) -> Iterator[str]:
    """Services that a row is about, and the values that are frequent among the failing."""
    if row.service:
        yield row.service.lower()
    spread = row.kind == "distribution"
    for name, value in _VALUE.findall(f"{row.query.text} {row.query.figure.of}"):
        if spread or name == "service":
            yield value.lower()


def _take_in(numbers: _Numbers, text: str) -> None:
    plain = _INSTANT.sub(" ", text)
    for hit in _NUMBER.finditer(plain):
        value = float(hit[1].replace(",", ""))
        if hit[2] == "%":
            numbers.percent.append(value)
        elif hit[2] is None:
            numbers.plain.append(value)
        else:
            kept = numbers.bytes if hit[2].endswith("B") else numbers.seconds
            kept.append(value * _SCALES[hit[2]])
    for hit in _OF.finditer(plain):
        _take_in_pairs(numbers, [float(hit[1].replace(",", "")), float(hit[2].replace(",", ""))])


def _take_in_values(numbers: _Numbers, row: Evidence) -> None:
    """Figure and baseline; a ratio is also a share, and one in so many."""
    values = [float(one) for one in (row.value, row.baseline_value) if isinstance(one, int | float)]
    numbers.plain += values
    for value in values:
        if 0 < value < 1:
            numbers.percent.append(100 * value)
            numbers.plain.append(1 / value)
    _take_in_pairs(numbers, values)


def _take_in_pairs(numbers: _Numbers, values: Sequence[float | str | None]) -> None:
    counts = [float(one) for one in values if isinstance(one, int | float) and one > 0][:_FEW]
    for one, other in combinations(counts, 2):
        low, high = sorted((one, other))
        numbers.percent.append(100 * low / high)
        numbers.multiple.append(high / low)


def _is_count(row: Evidence) -> bool:
    return row.query.figure.op in {"count", "distinct"}


def _instants(text: str) -> Iterator[tuple[float, str]]:
    """Seconds of the day and, where it is written, the day."""
    for hit in _INSTANT.finditer(text):
        yield int(hit[2]) * 3600 + int(hit[3]) * 60 + float(hit[4] or 0), hit[1] or ""


def _flat(text: str) -> str:
    """White space as single blanks, masks without their numbers."""
    text = _MASK.sub(r"<\1>", text)
    return " ".join(text.replace("\\n", " ").split()).strip(" .,;:").lower()
