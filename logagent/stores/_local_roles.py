"""Which field plays which role in which file, and the columns of the table that are computed from the roles.

Each file is resolved alone: one writes `timestamp` and the next `@timestamp`, and what one means by `status` need not
be what the next one means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from logagent.fields import FieldChoice, FieldMap
from logagent.logs import Severity
from logagent.stores._local_sql import literal
from logagent.stores._local_times import duration_sql, timestamp_sql
from logagent.stores._local_words import words_sql

ALONE: frozenset[str] = frozenset({"ingested"})
"""Roles of one field only; here a record may take its time from any of several fields."""
_DEPENDS = ("timestamp", "severity", "status", "duration", "error_type", "stack", "message", "error_message")
_FAILURE = r"(?i)\b(?:error|exception|failed|failure|fatal|panic)\b"
"""The words that the cluster store takes too, where a source has no levels."""
_NO_WORDS = "''"
_FULL = 0.995


@dataclass(frozen=True, slots=True)
class Part:
    """One file: its row ids from `start` on, before `end`, its roles, and which fields have a value in it."""

    start: int
    end: int
    fields: FieldMap
    present: frozenset[str] = frozenset()


def computed(idents: Mapping[str, str], fields: FieldMap, shift: timedelta) -> dict[str, str]:
    """SQL of ts, sev, status, duration and words: those of the message, then of the text of the error.

    Each is the first usable value of the fields that play the role.
    """

    def chosen(role: str) -> list[tuple[str, str]]:
        choices: Iterable[FieldChoice] = fields.roles.get(role, ())
        return [(choice.name, idents[choice.name]) for choice in choices if choice.name in idents]

    times = [timestamp_sql(ident, shift) for _, ident in chosen("timestamp")]
    levels = [_severity_sql(ident, fields.levels) for _, ident in chosen("severity")]
    if not levels:
        levels = [_guessed_sql({role: chosen(role) for role in ("status", "error_type", "stack", "message")})]
    statuses = [f"TRY_CAST(TRY_CAST({ident} AS DOUBLE) AS SMALLINT)" for _, ident in chosen("status")]
    durations = [duration_sql(name, ident) for name, ident in chosen("duration")]
    messages = [ident for _, ident in chosen("message")]
    errors = [ident for _, ident in chosen("error_message") if ident not in messages]
    texts = [words_sql(first_of(one, "VARCHAR")) for one in (messages, errors) if one]
    return {
        "ts": first_of(times, "TIMESTAMP"),
        "sev": first_of(levels, "TINYINT"),
        "status": first_of(statuses, "SMALLINT"),
        "duration": first_of(durations, "DOUBLE"),
        "words": " || ".join(f"coalesce({one}, {_NO_WORDS})" for one in texts) or "NULL",
    }


def alike(one: FieldMap, other: FieldMap) -> bool:
    """Whether the computed columns come from the same fields."""
    return all(_names(one, role) == _names(other, role) for role in _DEPENDS)


def extends(levels: Mapping[Severity, Sequence[str]], known: Mapping[Severity, Sequence[str]]) -> bool:
    """Whether all known values keep their class."""
    return all(set(values) <= set(levels.get(severity, ())) for severity, values in known.items())


def by_file(parts: Sequence[Part], expressions: Sequence[str]) -> str:
    """One expression for all rows, from that of each file."""
    runs: list[tuple[int, str]] = []
    for part, expression in zip(parts, expressions, strict=True):
        if runs and runs[-1][1] == expression:
            runs.pop()
        runs.append((part.end, expression))
    if len(runs) == 1:
        return runs[0][1]
    cases = " ".join(f"WHEN rowid < {end} THEN {expression}" for end, expression in runs)
    return f"CASE {cases} END"


def merged(parts: Sequence[Part], whole: FieldMap) -> FieldMap:
    """The roles of all files together, fields of one role by the share of all events that take it from them."""
    total = max((part.end for part in parts), default=0) or 1
    roles: dict[str, tuple[FieldChoice, ...]] = {}
    for role in dict.fromkeys(role for part in parts for role in part.fields.roles):
        shares: dict[str, float] = {}
        for part in parts:
            for choice in part.fields.roles.get(role, ()):
                share = choice.coverage * (part.end - part.start) / total
                shares[choice.name] = shares.get(choice.name, 0.0) + share
        order = sorted(shares, key=lambda name: -shares[name])
        roles[role] = tuple(FieldChoice(name, whole.names.get(name, ""), name, shares[name]) for name in order)
    levels: dict[Severity, dict[str, None]] = {}
    for part in parts:
        for severity, values in part.fields.levels.items():
            levels.setdefault(severity, {}).update(dict.fromkeys(values))
    return replace(whole, roles=roles, levels={severity: tuple(levels[severity]) for severity in sorted(levels)})


def told_apart(parts: Sequence[Part], fields: FieldMap, idents: Mapping[str, str]) -> dict[str, str]:
    """SQL of the roles for which the first of all their fields would be wrong in some file."""
    found: dict[str, str] = {}
    for role in fields.roles:
        if role not in {"timestamp", "duration"} and any(_misread(part, role, fields) for part in parts):
            texts = [
                first_of([idents[name] for name in _names(part.fields, role) if name in idents], "VARCHAR")
                for part in parts
            ]
            found[role] = by_file(parts, texts)
    return found


def _misread(part: Part, role: str, fields: FieldMap) -> bool:
    """Whether this file means something else by one of the fields that play the role in others."""
    own = _names(part.fields, role)
    seen = [name for name in _names(fields, role) if name in part.present]
    return seen[: len(own)] != own or (len(seen) > len(own) and part.fields.coverage(role) < _FULL)


def _names(fields: FieldMap, role: str) -> list[str]:
    choices: Sequence[FieldChoice] = fields.roles.get(role, ())
    return [choice.name for choice in choices]


def _severity_sql(ident: str, levels: Mapping[Severity, Sequence[str]]) -> str:
    cases = "".join(
        f" WHEN {ident} IN ({', '.join(map(literal, values))}) THEN {severity.value}"
        for severity, values in levels.items()
        if values
    )
    return f"CASE{cases} END::TINYINT" if cases else "NULL::TINYINT"


def _guessed_sql(chosen: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """No level anywhere: status 5xx, an error class, a stack, or a word of failure count as error."""
    tests = [f"TRY_CAST({ident} AS DOUBLE) >= 500" for _, ident in chosen["status"]]
    tests += [f"{ident} IS NOT NULL" for role in ("error_type", "stack") for _, ident in chosen[role]]
    tests += [f"regexp_matches({ident}, '{_FAILURE}')" for _, ident in chosen["message"]]
    return f"CASE WHEN {' OR '.join(tests)} THEN {Severity.ERROR.value} END::TINYINT" if tests else "NULL::TINYINT"


def first_of(expressions: Sequence[str], kind: str) -> str:
    """The first that is not NULL."""
    if not expressions:
        return f"NULL::{kind}"
    return expressions[0] if len(expressions) == 1 else f"coalesce({', '.join(expressions)})"
