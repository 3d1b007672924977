"""SQL that reads a stamp or a duration as logs write it: the same rules as `logagent.fields.instant_of`."""

from datetime import timedelta

from logagent.fields import milliseconds

_FORMATS = (
    "%d/%b/%Y:%H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
    "%Y/%m/%d %H:%M:%S",
    "%d %b %Y %H:%M:%S",
)
ABSURD = "ts < TIMESTAMP '1990-01-01' OR ts >= TIMESTAMP '2100-01-01'"
"""Times that are none: the same limits as in `instant_of`."""


def timestamp_sql(ident: str, shift: timedelta = timedelta()) -> str:
    """UTC TIMESTAMP of a text column: ISO 8601, common log format, or epoch s, ms, us, ns by magnitude; else NULL.

    Stamps without a zone are read in the session's zone.
    """
    number = f"TRY_CAST({ident} AS DOUBLE)"
    epoch = (
        f"CASE WHEN {number} < 1e11 THEN make_timestamp(CAST({number} * 1e6 AS BIGINT)) "
        f"WHEN {number} < 1e14 THEN make_timestamp(CAST({number} * 1e3 AS BIGINT)) "
        f"WHEN {number} < 1e17 THEN make_timestamp(CAST({number} AS BIGINT)) "
        f"ELSE make_timestamp(CAST({number} / 1e3 AS BIGINT)) END"
    )
    formats = ", ".join(f"'{text}'" for text in _FORMATS)
    tidy = f"regexp_replace(replace(rtrim({ident}), ',', '.'), ' ?(UTC|GMT)$| ([+-]\\d\\d:?\\d\\d)$', '\\2')"
    other = (
        f"coalesce(timezone('UTC', TRY_CAST({tidy} AS TIMESTAMPTZ)), "
        f"timezone('UTC', CAST(try_strptime({ident}, [{formats}]) AS TIMESTAMPTZ)))"
    )
    at = (
        f"CASE WHEN ends_with({ident}, 'Z') THEN TRY_CAST({ident} AS TIMESTAMP) "
        f"WHEN regexp_full_match({ident}, '\\d{{9,19}}(\\.\\d+)?') THEN {epoch} ELSE {other} END"
    )
    if shift:
        at = f"({at}) + INTERVAL ({round(shift.total_seconds() * 1e6)}) MICROSECONDS"
    return at


def duration_sql(name: str, ident: str) -> str:
    """Milliseconds of a text column; the unit comes from the value (`12ms`), else from the field's name."""
    factor = milliseconds(name, 1.0) or 1.0
    number = f"TRY_CAST({ident} AS DOUBLE)"
    value = f"TRY_CAST(regexp_extract({ident}, '^\\s*(\\d+(\\.\\d+)?)\\s*(ns|us|µs|ms|s|m|h)\\s*$', 1) AS DOUBLE)"
    unit = f"regexp_extract({ident}, '(ns|us|µs|ms|s|m|h)\\s*$', 1)"
    units = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}
    cases = " ".join(f"WHEN '{word}' THEN {scale!r}" for word, scale in units.items())
    return (
        f"CASE WHEN {number} >= 0 AND {number} < 1e18 THEN {number} * {factor!r} "
        f"ELSE {value} * (CASE {unit} {cases} END) END"
    )
