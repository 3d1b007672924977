"""From log records to the events the signals read: level inside the text, error fields, status, platform events."""

from collections.abc import Callable, Mapping
from operator import attrgetter

from logagent.analysis.facts import UNNAMED, Event
from logagent.analysis.objects import settle
from logagent.expressions import expression
from logagent.logs import LogRecord

_SERVICE = (
    "service", "service.name", "app", "component", "kubernetes.labels.app", "container", "source.component",
    "reportingComponent", "reportingController", "source",
)  # fmt: skip
"""Where a service may stand when no field of the scope was chosen for it."""

_MESSAGE = ("note", "event.original", "Message", "detail.Message", "detail", "reason")
_TRACE = ("request_id", "correlation_id", "requestId", "correlationId")
_STATUS = ("http.response.status_code", "status_code", "statusCode", "res.statusCode", "http.status_code", "status")
_FAILED = expression(r"5\d\d(?:\.0)?")
_SERVER_ERROR = 5
_NOT_EXTRA = frozenset({"@timestamp", "timestamp", "message", "msg", "stream", "source", "time", "ts"})

_ROLES = {
    "error.type": "error_type",
    "error.message": "error_message",
    "error.stack_trace": "stack",
    "host.name": "host",
    "kubernetes.pod.name": "pod",
    "kubernetes.namespace": "namespace",
    "service.version": "version",
}
"""Roles that become fields, under their ECS names."""

_role_values: Callable[[LogRecord], tuple[str, ...]] = attrgetter(*_ROLES.values())

_LEVELS = {
    "trace": 0, "debug": 1, "info": 2, "information": 2, "notice": 2, "normal": 2, "warn": 3, "warning": 3, "w": 3,
    "error": 4, "err": 4, "severe": 4, "e": 4, "critical": 5, "crit": 5, "fatal": 5, "f": 5, "alert": 5,
    "emergency": 5, "emerg": 5, "panic": 5,
}  # fmt: skip
_INLINE = expression(
    r"^\W{0,3}(?:[\d:.,TZ/ +-]{6,32}\W{0,3})?(?:[\w.-]{1,30}[:|] ?)?"
    r"(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|SEVERE|CRIT(?:ICAL)?|FATAL|PANIC|EMERG)\b(?![-_.])|"
    r"\blevel=\"?(\w+)|^\W{0,2}\[(error|warn|warning|crit|info|notice|debug)\]|^([EWF]) [\w.-]{1,60}: "
)
_HEAD = 200
"""Characters in which a level inside the text is looked for."""

_ERROR_KEYS = "error err exception reason error_code detail details cause type errmsg stack_trace stacktrace stack"
_ERRORISH = frozenset(_ERROR_KEYS.split())
_INSIDE = frozenset({"error", "err", "exception", "cause"})
_PART = 4000
_SHORT = 200

_EVENT_TYPES = frozenset({"Warning", "Normal"})
_OBJECTS = ("involvedObject", "involved_object", "regarding.")
_OBJECT_NAMES = ("involvedObject", "involvedObject.name", "involved_object", "involved_object.name", "regarding.name")
_REASON = expression(r"(?!\w{0,60}(?:Error|Exception)$)[A-Z][A-Za-z]{2,40}")
"""A reason of a platform event; never the class of an exception."""


def from_record(record: LogRecord, weight: float = 1.0, *, at: float | None = None) -> Event:
    """One record (or a group of alike ones, `weight` of them) as an event.

    Args:
        record: as a store answers it.
        weight: records it stands for.
        at: time to use for a record without one (seconds; only the order matters).

    Raises:
        ValueError: neither the record nor `at` has a time.
    """
    time = record.timestamp.timestamp() if record.timestamp is not None else at
    if time is None:
        msg = "a record without a time needs `at`"
        raise ValueError(msg)
    fields = dict(record.fields.items())  # a store may answer a lazy mapping
    event = Event(
        time=time,
        service=record.service or _text(fields, _SERVICE) or UNNAMED,
        level=None if record.severity is None else int(record.severity),
        message=record.message or record.error_message or _text(fields, _MESSAGE),
        trace=record.trace_id or _text(fields, _TRACE) or None,
        span=record.span_id or None,
        callsite=record.logger,
        extra=_extra(record, fields),
        failed=_failed(record, fields),
        weight=weight,
        record=record,
    )
    platform = _platform(record, fields)
    settle(event, {**event.extra, **platform} if platform else event.extra)
    if event.level is None and not event.event:
        event.level = inline_level(event.message)
    return event


def inline_level(message: str) -> int | None:
    """Severity class written inside a text (`ERROR [main]`, `[warn]`, `level=info`), None without one.

    >>> inline_level("2026-11-30 06:00:00 ERROR [main] cannot bind")
    4
    """
    hit = _INLINE.search(message[:_HEAD])
    return _LEVELS.get(next(group for group in hit.groups() if group).lower()) if hit else None


def full_text(event: Event) -> str:
    """Message and error fields: the short ones in one line, then the multi-line ones."""
    parts = [event.message, *(value for key, value in event.extra.items() if isinstance(value, str) and _errorish(key))]
    kept = list(dict.fromkeys(part[:_PART] for part in parts if part))
    line = " | ".join(part for part in kept if "\n" not in part)
    return "\n".join([line, *(part for part in kept if "\n" in part)]).strip("\n")


def error_fields(event: Event) -> str:
    """First lines of the error fields, for the template of a bland message."""
    return " | ".join(
        value.split("\n", 1)[0][:_SHORT]
        for key, value in event.extra.items()
        if isinstance(value, str)
        and (key.split(".", 1)[0].lower() in _INSIDE or key.lower() in {"errmsg", "error_code"})
        and "stack" not in key.lower()
    )


def _errorish(key: str) -> bool:
    return key.rsplit(".", 1)[-1].lower() in _ERRORISH or key.split(".", 1)[0].lower() in _INSIDE


def _text(fields: Mapping[str, object], names: tuple[str, ...]) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _failed(record: LogRecord, fields: Mapping[str, object]) -> bool:
    if record.status is not None:
        return record.status // 100 == _SERVER_ERROR
    for name in _STATUS:
        if name in fields:
            return _FAILED.fullmatch(str(fields[name])) is not None
    return False


def _platform(record: LogRecord, fields: Mapping[str, object]) -> dict[str, object]:
    """What roles took from a platform event, under its own names: reason, type, object; empty for any other record."""
    if not record.error_type:
        return {}
    typed = record.level in _EVENT_TYPES
    about = any(name.startswith(_OBJECTS) for name in fields)
    if not (about or (typed and _REASON.fullmatch(record.error_type))):
        return {}
    found: dict[str, object] = {"reason": fields.get("reason", record.error_type)}
    if typed:
        found["type"] = fields.get("type", record.level)
    if about and not any(name in fields for name in _OBJECT_NAMES):
        found["involvedObject.name"] = record.service
    return found


def _extra(record: LogRecord, fields: Mapping[str, object]) -> dict[str, object]:
    """Flat fields, roles among them under their ECS names, so that the signals find them whatever the source says."""
    roles = zip(_ROLES, _role_values(record), strict=True)
    extra: dict[str, object] = {name: value for name, value in roles if value}
    if record.status is not None:
        extra["http.response.status_code"] = record.status
    if record.duration_ms is not None:
        extra["duration_ms"] = record.duration_ms
    if _NOT_EXTRA.isdisjoint(fields):
        extra.update(fields)
    else:
        extra.update((name, value) for name, value in fields.items() if name not in _NOT_EXTRA)
    return extra
