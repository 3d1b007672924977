"""Hits -> LogRecords, whatever mixture of schemas the indices hold."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from logagent.fields import instant_of, milliseconds
from logagent.logs import LogRecord, RecordId, Severity, instant
from logagent.stores._es_compile import guessed_severity
from logagent.stores._es_fields import ClusterFields

_MOST_FIELDS = 200
_EMPTY: tuple[object, ...] = (None, "", [])
_DISAGREE_SECONDS = 1.0
_TEXT_ROLES = ("service", "error_type", "error_message", "stack", "host", "pod")
_MORE_TEXT_ROLES = ("namespace", "version", "trace_id", "span_id", "logger")


def record_of(hit: Mapping[str, Any], fields: ClusterFields) -> LogRecord:
    """One hit as a record; roles by the FieldMap, every other value in `fields`."""
    values = values_of(hit)
    used: set[str] = set()

    def role(name: str) -> tuple[str, Any]:
        for choice in fields.map.roles.get(name, ()):
            value = values.get(choice.name)
            if value is not None and value != "":
                used.add(choice.name)
                return choice.name, value
        return "", None

    texts = {name: as_text(role(name)[1]) for name in (*_TEXT_ROLES, *_MORE_TEXT_ROLES)}
    level_name, raw_level = role("severity")
    _, message = role("message")
    _, status = role("status")
    duration_name, duration = role("duration")
    used.add(fields.time)
    code = _status(status)
    text = as_text(message) or texts["error_message"] or texts["error_type"]
    return LogRecord(
        id=RecordId(str(hit.get("_index", "")), str(hit.get("_id", ""))),
        timestamp=_timestamp(hit, values.get(fields.time)),
        message=text,
        severity=_severity(fields, level_name, raw_level)
        if fields.map.roles.get("severity")
        else guessed_severity(code, texts["error_type"], texts["stack"], text),
        level=as_text(raw_level),
        status=code,
        duration_ms=milliseconds(duration_name, duration) if duration is not None else None,
        fields=_rest(values, used),
        **texts,
    )


def values_of(hit: Mapping[str, Any]) -> dict[str, Any]:
    """All values of a hit by dotted name: from its source, and from `fields` what the source does not have."""
    values = dict(flatten(hit.get("_source") or {}))
    for name, found in (hit.get("fields") or {}).items():
        first = found[0] if isinstance(found, list) and found else found
        if isinstance(first, Mapping):
            values.update({key: value for key, value in flatten(first, f"{name}.") if key not in values})
        elif first is not None and name not in values:
            values[name] = found if isinstance(found, list) and len(found) > 1 else first
    return values


def flatten(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names with their values; of a list of objects the first one stands for all."""
    for key, value in document.items():
        name = f"{prefix}{key}"
        item = value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else value
        if isinstance(item, dict):  # what JSON is decoded to; asking for a Mapping takes six times as long
            yield from flatten(item, f"{name}.")
        elif item not in _EMPTY:
            yield name, item


def as_text(value: object) -> str:
    """A value as the log shows it: `200` for 200.0, `true`, lists joined by a comma."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - exact below that
        return str(int(value))
    if isinstance(value, list):
        return ", ".join(as_text(part) for part in value)
    return str(value)


def _timestamp(hit: Mapping[str, Any], stored: object) -> datetime | None:
    """The stored text where it agrees with how the index read it (it may be finer), else the index's reading."""
    first = stored[0] if isinstance(stored, list) and stored else stored
    written = instant_of(first)
    sort = hit.get("sort") or ()
    indexed = sort[0] if sort and isinstance(sort[0], int | float) and not isinstance(sort[0], bool) else None
    if indexed is None or abs(indexed) >= 2**62:  # a document without the field sorts as the largest number
        return written
    at = instant(indexed / 1_000) if indexed < 1e15 else instant(indexed / 1e9)  # noqa: PLR2004 - ns beyond
    if written is not None and abs((written - at).total_seconds()) < _DISAGREE_SECONDS:
        return written
    return at


def _severity(fields: ClusterFields, name: str, raw: object) -> Severity | None:
    text = as_text(raw)
    for severity, values in fields.levels.get(name, fields.map.levels).items():
        if text in values:
            return severity
    return None


def _status(value: object) -> int | None:
    match = re.match(r"[1-5]\d\d(?:\.0)?\Z", as_text(value))
    return int(match[0][:3]) if match else None


def _rest(values: Mapping[str, Any], used: set[str]) -> dict[str, str | float | bool]:
    rest: dict[str, str | float | bool] = {}
    for name, value in values.items():
        if name in used or len(rest) >= _MOST_FIELDS:
            continue
        if isinstance(value, bool | str):
            rest[name] = value
        elif isinstance(value, int | float):
            rest[name] = float(value)
        else:
            rest[name] = as_text(value)
    return rest
