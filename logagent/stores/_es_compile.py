"""Query tree -> Query DSL, within the subset of security.md 8: no query_string, no scripts, no leading wildcard.

What a query means is the same as in the embedded store: the message is analysed text (standard analyzer), other
fields are exact and case-sensitive, NOT also matches records without the field.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from logagent.errors import UsageError
from logagent.fields import FieldChoice, instant_of, milliseconds
from logagent.logs import Severity, TimeWindow
from logagent.query import All, And, Exists, Level, LogQuery, Node, Not, Or, Phrase, Range, Term, Wildcard
from logagent.stores._es_fields import DATES, NUMBERS, TEXTS, ClusterFields, Form

Clause = dict[str, Any]
NOTHING: Clause = {"ids": {"values": []}}
_MOST_TERMS = 64
_LONGEST_INTEGER = 18
_ERROR_WORDS = ("error", "exception", "failed", "failure", "fatal", "panic")
_FAILED_STATUS = 500


def stamp(at: datetime) -> str:
    """An instant as range bounds carry it: absolute UTC with microseconds."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def in_window(name: str, window: TimeWindow) -> Clause:
    """Start <= field < end."""
    return {
        "range": {name: {"gte": stamp(window.start), "lt": stamp(window.end), "format": "strict_date_optional_time"}}
    }


def within(indices: Sequence[str], clause: Clause) -> Clause:
    """The clause in these indices only; everywhere for none."""
    return all_of([{"terms": {"_index": list(indices)}}, clause]) if indices else clause


class Compiler:
    """Compiles for the fields of one cluster.

    Args:
        fields: of the scope.
        may_scan: whether a word may be looked for by reading all values of a keyword-only message in this window.
    """

    def __init__(self, fields: ClusterFields, may_scan: Callable[[], bool] = lambda: True) -> None:
        self._fields = fields
        self._may_scan = may_scan

    def query(self, query: LogQuery) -> Clause:
        """Window AND tree, all in filter context."""
        return all_of([in_window(self._fields.time, query.window), self.node(query.node)])

    def node(self, node: Node) -> Clause:
        """One node of the tree.

        Raises:
            UsageError: a search that no field of the source can answer (LA704).
        """
        match node:
            case All():
                return {"bool": {}}
            case And(nodes):
                return all_of([self.node(part) for part in nodes])
            case Or(nodes):
                return any_of([self.node(part) for part in nodes])
            case Not(inner):
                return {"bool": {"must_not": [self.node(inner)]}}
            case Level(severity, and_worse):
                return self._level(severity, and_worse=and_worse)
            case _:
                return self._leaf(node)

    def _leaf(self, node: Term | Phrase | Wildcard | Range | Exists) -> Clause:
        choices = self._searched(node)
        if isinstance(node, Exists):
            return any_of([self._nested(choice.name, {"exists": {"field": choice.name}}) for choice in choices])
        return any_of(
            [
                within(form.indices, self._nested(choice.name, self._one(node, choice, form)))
                for choice in choices
                for form in self._fields.forms_of(choice)
            ]
        )

    def _searched(self, node: Term | Phrase | Wildcard | Range | Exists) -> tuple[FieldChoice, ...]:
        """The fields that a leaf asks: for words of the message also the text of the error, where it is analysed."""
        choices = self._fields.choices(node.field)
        if isinstance(node, Range | Exists) or not self._is_message(node):
            return choices
        names = {choice.name for choice in choices}
        errors = (one for one in self._fields.choices("error_message") if one.name not in names)
        return (*choices, *(one for one in errors if one.type in TEXTS))

    def _nested(self, name: str, clause: Clause) -> Clause:
        parent = self._fields.parent(name)
        return {"nested": {"path": parent, "query": clause}} if parent else clause

    def _one(self, node: Term | Phrase | Wildcard | Range, choice: FieldChoice, form: Form) -> Clause:
        match node:
            case Range():
                return self._range(node, choice, form)
            case Wildcard():
                return self._wildcard(node, choice, form)
            case _:
                return self._value(node, choice, form)

    def _is_message(self, node: Term | Phrase | Wildcard) -> bool:
        found = self._fields.map
        plays = any(choice.name == node.field for choice in found.roles.get("message", ()))
        return not node.field or plays or found.role_of(node.field) == "message"

    def _value(self, node: Term | Phrase, choice: FieldChoice, form: Form) -> Clause:
        if self._is_message(node) and not form.kinds & TEXTS:
            return self._contains(node.value, choice, form)
        if self._is_message(node):
            return _phrase(choice.name, node.value)
        if not form.exact:
            return self._by_words(node.value, choice)
        value = _value(node.value, form.kinds)
        return NOTHING if value is None else {"term": {form.exact: {"value": value}}}

    def _by_words(self, value: str, choice: FieldChoice) -> Clause:
        """A value of a text without a keyword: its words, but none of the longer values known to hold them."""
        words = _words(value)
        longer = [
            one for one in self._fields.shown.get(choice.name, ()) if words != _words(one) and words in _words(one)
        ]
        phrases = [_phrase(choice.name, one) for one in longer[:_MOST_TERMS]]
        found = _phrase(choice.name, value)
        return {"bool": {"filter": [found], "must_not": phrases}} if phrases else found

    def _contains(self, value: str, choice: FieldChoice, form: Form) -> Clause:
        """A word in a message that is only a keyword: read all its values, where there are not too many."""
        if form.kinds != {"wildcard"} and not self._may_scan():
            raise UsageError(
                f"Cannot search words in {choice.name}: it is only a keyword, and over 1,000,000 events are asked for.",
                code="LA704",
                hint=f"Use a shorter window, or give {choice.name} a text, match_only_text or wildcard sub-field.",
                values={"query": value, "field": choice.name},
            )
        escaped = re.sub(r"([*?\\])", r"\\\1", value)
        return {"wildcard": {choice.name: {"value": f"*{escaped}*", "case_insensitive": True}}}

    def _wildcard(self, node: Wildcard, choice: FieldChoice, form: Form) -> Clause:
        if form.kinds <= NUMBERS:
            return _digits(form.exact, node.pattern)
        if form.kinds & TEXTS and (self._is_message(node) or not form.exact):
            return {"wildcard": {choice.name: {"value": node.pattern.lower()}}}  # terms of the index are lower-case
        if self._is_message(node):
            return {"wildcard": {form.exact: {"value": f"*{node.pattern}*", "case_insensitive": True}}}
        return {"wildcard": {form.exact: {"value": node.pattern}}}

    def _range(self, node: Range, choice: FieldChoice, form: Form) -> Clause:
        bounds: dict[str, object] = {}
        for text, op in (
            (node.low, "gte" if node.include_low else "gt"),
            (node.high, "lte" if node.include_high else "lt"),
        ):
            if text is not None:
                bounds[op] = self._bound(text, node, choice, form.kinds)
        if not bounds:
            return {"exists": {"field": choice.name}}
        if form.kinds <= DATES:
            bounds["format"] = "strict_date_optional_time"
        return {"range": {form.exact or choice.name: bounds}}

    def _bound(self, text: str, node: Range, choice: FieldChoice, kinds: frozenset[str]) -> object:
        if kinds <= DATES:
            at = instant_of(text)
            if at is None:
                raise _unusable(text, "a time")
            return stamp(at)
        if not kinds & NUMBERS:
            return text
        number = _number(text)
        if number is None:
            raise _unusable(text, "a number")
        if node.field == "duration":  # the role counts in ms, whatever the field does
            return number / (milliseconds(choice.name, 1.0) or 1.0)
        return number

    def _level(self, severity: int, *, and_worse: bool) -> Clause:
        wanted = [one for one in Severity if one == severity or (and_worse and one > severity)]
        choices = self._fields.choices("severity")
        if not choices:
            return self._without_levels(wanted)
        clauses: list[Clause] = []
        for choice in choices:
            known = self._fields.levels.get(choice.name, self._fields.map.levels)
            values = [value for one in wanted for value in known.get(one, ())][:_MOST_TERMS]
            for form in self._fields.forms_of(choice):
                found = self._level_values(values, choice, form)
                clauses += [within(form.indices, self._nested(choice.name, clause)) for clause in found]
        return any_of(clauses)

    def _level_values(self, values: list[str], choice: FieldChoice, form: Form) -> list[Clause]:
        if not form.exact:
            return [_phrase(choice.name, value) for value in values]
        return [one_of(values, form)] if values else []

    def _without_levels(self, wanted: list[Severity]) -> Clause:
        """No level anywhere: status 5xx, an error class, a stack, or a word of failure count as error."""
        if Severity.ERROR not in wanted:
            return NOTHING
        clauses: list[Clause] = [
            within(form.indices, {"range": {choice.name: {"gte": _FAILED_STATUS}}})
            for choice in self._fields.choices("status")
            for form in self._fields.forms_of(choice)
            if form.kinds <= NUMBERS
        ]
        for role in ("error_type", "stack"):
            clauses += [{"exists": {"field": choice.name}} for choice in self._fields.choices(role)]
        clauses += [
            {"match": {choice.name: {"query": " ".join(_ERROR_WORDS)}}}
            for choice in self._fields.choices("message")
            if choice.type in TEXTS
        ]
        return any_of(clauses)


def guessed_severity(status: int | None, error_type: str, stack: str, message: str) -> Severity | None:
    """The severity of a record of a source without levels, by the rule that `Level` is compiled to there."""
    words = set(re.findall(r"[a-z]+", message.lower())) if message else set()
    failed = (status or 0) >= _FAILED_STATUS or bool(error_type or stack) or bool(words & set(_ERROR_WORDS))
    return Severity.ERROR if failed else None


def all_of(clauses: list[Clause]) -> Clause:
    """All must match; no scoring."""
    needed = [clause for clause in clauses if clause != {"bool": {}}]
    if not needed:
        return {"bool": {}}
    return needed[0] if len(needed) == 1 else {"bool": {"filter": needed}}


def one_of(values: Iterable[str], form: Form) -> Clause:
    """Exactly one of the values, of those that can occur in this form of a field."""
    usable = [found for value in values if (found := _value(value, form.kinds)) is not None]
    return {"terms": {form.exact: usable}} if usable else NOTHING


def any_of(clauses: list[Clause]) -> Clause:
    """At least one must match; nothing matches none."""
    if not clauses:
        return NOTHING
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def _phrase(name: str, text: str) -> Clause:
    return {"match_phrase": {name: {"query": text}}}


def _words(text: str) -> str:
    """The words of a value, so that one value may be looked for in another."""
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def _value(text: str, kinds: frozenset[str]) -> object:
    """The value as a term query may carry it, or None where it can occur in no document."""
    if kinds <= DATES:
        at = instant_of(text)
        return stamp(at) if at else None
    if "boolean" in kinds:
        return {"true": True, "false": False}.get(text.lower())
    if "ip" in kinds:
        with suppress(ValueError):
            ipaddress.ip_network(text, strict=False)
            return text
        return None
    return _number(text) if kinds & NUMBERS else text


def _number(text: str) -> int | float | None:
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        number = float(text)
        return number if number == number and abs(number) != float("inf") else None  # noqa: PLR0124 - NaN
    return None


def _unusable(text: str, needed: str) -> UsageError:
    values = {"filter": text, "reason": f'"{text}" is not {needed}', "position": 1}
    return UsageError(f'{needed} is needed in the filter, not "{text}"', code="LA704", values=values)


def _digits(name: str, pattern: str) -> Clause:
    """A wildcard on a number, as ranges: `5*` is 5, 50 to 59, 500 to 599 and so on."""
    match = re.fullmatch(r"(\d+)(\?*)(\*?)", pattern)
    if match is None or len(match[1]) > _LONGEST_INTEGER:
        return NOTHING
    least = len(match[2])
    most = _LONGEST_INTEGER - len(match[1]) if match[3] else least
    first = int(match[1])
    return any_of(
        [
            {"range": {name: {"gte": first * 10**more, "lte": (first + 1) * 10**more - 1}}}
            for more in range(least, most + 1)
        ]
    )
