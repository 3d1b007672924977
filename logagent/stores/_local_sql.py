"""Query tree -> DuckDB conditions, with the meaning that Elasticsearch gives them.

The message is analysed text: words as Lucene's standard analyzer cuts them (UAX #29), case-blind. All other fields
are exact and case-sensitive. Every value is a parameter; field names come only from the loaded columns.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from logagent.analysis.words import phrase_text, words
from logagent.errors import UsageError
from logagent.fields import FieldMap, instant_of
from logagent.logs import TimeWindow
from logagent.query import (
    All,
    And,
    Exists,
    Level,
    LogQuery,
    Node,
    Not,
    Or,
    Phrase,
    Range,
    Term,
    Wildcard,
)
from logagent.stores._local_times import timestamp_sql

NUMBERS = frozenset({"long", "double"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A boolean SQL expression, never NULL, and its parameters in order. `costly`: it reads the words of texts."""

    sql: str
    values: tuple[object, ...] = ()
    costly: bool = False


TRUE = Condition("true")
FALSE = Condition("false")


def literal(value: object) -> str:
    """An SQL string. Patterns are literals, because DuckDB compiles a constant pattern once and a parameter per row."""
    return "'" + str(value).replace("'", "''") + "'"


def quoted(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def naive(at: datetime) -> datetime:
    """UTC without zone, as the `ts` column holds it."""
    return at.astimezone(UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles queries for one loaded table.

    Args:
        fields: roles and types.
        columns: SQL expression (text) of each field by dotted name.
        arrays: fields that hold JSON arrays in some records.
        ranges: row ids of each source, [first, last).
        texts: SQL expression (text) of the roles that differ from file to file.
    """

    fields: FieldMap
    columns: Mapping[str, str]
    arrays: frozenset[str]
    ranges: Mapping[str, tuple[int, int]]
    texts: Mapping[str, str] = field(default_factory=dict)

    def query(self, query: LogQuery) -> Condition:
        """Window, sources and tree of a query."""
        return both(self.window(query.window), self.sources(query.indices), self.node(query.node))

    def window(self, window: TimeWindow) -> Condition:
        """From start on, before end."""
        return Condition("(ts >= ? AND ts < ?)", (naive(window.start), naive(window.end)))

    def sources(self, names: Sequence[str]) -> Condition:
        """Records of these sources; none named: of all."""
        if not names or set(names) >= set(self.ranges):
            return TRUE
        spans = [self.ranges[name] for name in names if name in self.ranges]
        if not spans:
            return FALSE
        sql = " OR ".join("(rowid >= ? AND rowid < ?)" for _ in spans)
        return Condition(f"({sql})", tuple(end for span in spans for end in span))

    def node(self, node: Node) -> Condition:
        """One tree."""
        match node:
            case And(nodes):
                return _cheap_first([self.node(part) for part in nodes])
            case Or(nodes):
                return either(*map(self.node, nodes))
            case Not(inner):
                return _negated(self.node(inner))
            case _:
                return self._leaf(node)

    def text(self, name: str) -> str | None:
        """SQL of a role's or field's value as text: the first of the role's fields that has one. None: unknown."""
        role = self.fields.role_of(name)
        if role in self.texts:
            return self.texts[role]
        chosen = [
            self.columns[choice.name] for choice in self.fields.roles.get(role, ()) if choice.name in self.columns
        ]
        if chosen:
            return chosen[0] if len(chosen) == 1 else f"coalesce({', '.join(chosen)})"
        return self.columns.get(name)

    def _leaf(self, node: All | Term | Phrase | Wildcard | Range | Level | Exists) -> Condition:
        match node:
            case All():
                return TRUE
            case Level(severity, and_worse):
                return Condition(f"coalesce(sev {'>=' if and_worse else '='} ?, false)", (severity,))
            case Exists(field):
                return self._exists(field)
            case Range():
                return self._range(node)
            case Wildcard():
                return self._wildcard(node)
            case Term(field, value) | Phrase(field, value):
                return self._message(value) if self._is_message(field) else self._equal(field, value)

    def _is_message(self, field: str) -> bool:
        return not field or self.fields.role_of(field) == "message" or self._plays(field, "message")

    def _plays(self, field: str, role: str) -> bool:
        return any(choice.name == field for choice in self.fields.roles.get(role, ()))

    def _exists(self, field: str) -> Condition:
        if self.fields.role_of(field) == "timestamp":
            return Condition("(ts IS NOT NULL)")
        sql = self.text(field or "message")
        if sql is None:
            return FALSE
        empty = f" AND {sql} <> '[]'" if self._array(field) else ""
        return Condition(f"({sql} IS NOT NULL{empty})")

    def _message(self, text: str) -> Condition:
        tokens = words(text)
        if not tokens:
            return FALSE
        return Condition(f"coalesce(contains(words, {literal(phrase_text(tokens))}), false)", costly=True)

    def _equal(self, field: str, value: str) -> Condition:
        sql = self.text(field)
        if sql is None:
            return FALSE
        kind = self._type(field)
        if kind in NUMBERS and (number := _number(value)) is not None:
            return Condition(f"coalesce(TRY_CAST({sql} AS DOUBLE) = ?, false)", (number,))
        if self._array(field):
            listed = f"list_contains(TRY_CAST(TRY_CAST({sql} AS JSON) AS VARCHAR[]), ?)"
            return Condition(f"coalesce({sql} = ? OR (starts_with({sql}, '[') AND {listed}), false)", (value, value))
        return Condition(f"coalesce({sql} = ?, false)", (value,))

    def _wildcard(self, node: Wildcard) -> Condition:
        if self._is_message(node.field):
            return _any_word(_like(node.pattern.lower()))
        sql = self.text(node.field)
        if sql is None:
            return FALSE
        like = f"LIKE {literal(_like(node.pattern))} ESCAPE '\\'"
        if self._array(node.field):
            listed = f"TRY_CAST(TRY_CAST({sql} AS JSON) AS VARCHAR[])"
            return Condition(
                f"coalesce({sql} {like} OR (starts_with({sql}, '[') "
                f"AND len(list_filter({listed}, lambda item: item {like})) > 0), false)"
            )
        return Condition(f"coalesce({sql} {like}, false)")

    def _range(self, node: Range) -> Condition:
        if self.fields.role_of(node.field) == "timestamp":
            return _compared(node, "ts", _instant)
        sql = self.text(node.field)
        if sql is None:
            return FALSE
        if node.field == "duration" or (node.field == "status" and self.fields.roles.get("status")):
            # read as numbers when loaded; the duration in ms, whatever the field's unit is
            return _compared(node, node.field, _required_number)
        if self._type(node.field) == "date":
            return _compared(node, timestamp_sql(sql), _instant)
        if self._type(node.field) in NUMBERS:
            return _compared(node, f"TRY_CAST({sql} AS DOUBLE)", _required_number)
        return _compared(node, sql, str)

    def _type(self, field: str) -> str:
        choice = self.fields.first(self.fields.role_of(field))
        return choice.type if choice else self.fields.names.get(field, "")

    def _array(self, field: str) -> bool:
        choice = self.fields.first(self.fields.role_of(field))
        return (choice.name if choice else field) in self.arrays


def _any_word(like: str) -> Condition:
    """One of the words is like this."""
    anywhere = f"words LIKE {literal(f'%{like}%')} ESCAPE '\\'"
    matches = f"len(list_filter(string_split(words, ' '), lambda word: word LIKE {literal(like)} ESCAPE '\\')) > 0"
    return Condition(f"(CASE WHEN {anywhere} THEN {matches} ELSE false END)", costly=True)


def both(*conditions: Condition) -> Condition:
    """AND, cheap ones first as given; DuckDB tests the next only where the ones before hold."""
    return _joined([part for part in conditions if part != TRUE], " AND ", TRUE)


def either(*conditions: Condition) -> Condition:
    """OR."""
    if TRUE in conditions:
        return TRUE
    return _joined(list(conditions), " OR ", FALSE)


def _joined(parts: Sequence[Condition], operator: str, empty: Condition) -> Condition:
    if len(parts) < 2:  # noqa: PLR2004 - an operator needs two sides
        return parts[0] if parts else empty
    sql = operator.join(part.sql for part in parts)
    costly = any(part.costly for part in parts)
    return Condition(f"({sql})", tuple(value for part in parts for value in part.values), costly)


def _negated(condition: Condition) -> Condition:
    return Condition(f"(NOT {condition.sql})", condition.values, condition.costly)


def _cheap_first(parts: Sequence[Condition]) -> Condition:
    """AND in which words are read only of the records that pass everything else: CASE skips, AND need not."""
    whole = both(*(part for part in parts if not part.costly))
    for part in parts:
        if part.costly and whole == TRUE:
            whole = part
        elif part.costly:
            sql = f"(CASE WHEN {whole.sql} THEN {part.sql} ELSE false END)"
            whole = Condition(sql, (*whole.values, *part.values), costly=True)
    return whole


def _compared(node: Range, sql: str, convert: Callable[[str], object]) -> Condition:
    parts, values = [], []
    for bound, operator in (
        (node.low, ">=" if node.include_low else ">"),
        (node.high, "<=" if node.include_high else "<"),
    ):
        if bound is not None:
            parts.append(f"{sql} {operator} ?")
            values.append(convert(bound))
    if not parts:
        return Condition(f"({sql} IS NOT NULL)")
    return Condition(f"coalesce({' AND '.join(parts)}, false)", tuple(values))


def _instant(value: str) -> datetime:
    at = instant_of(value)
    if at is None:
        raise _unusable(value, "a time")
    return naive(at)


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _required_number(value: str) -> float:
    number = _number(value)
    if number is None:
        raise _unusable(value, "a number")
    return number


def _unusable(value: str, wanted: str) -> UsageError:
    return UsageError(
        f'cannot compare with "{value}": {wanted} is needed',
        code="LA704",
        values={"filter": value, "reason": f'"{value}" is not {wanted}', "position": 1},
    )


def _like_literal(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


def _like(pattern: str) -> str:
    """A wildcard pattern as a LIKE pattern: `*` any run, `?` one character, backslash takes the next literally."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    wild = {"*": "%", "?": "_"}
    return "".join(wild.get(part) or _like_literal(part[-1]) for part in parts)
