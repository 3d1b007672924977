"""A small seeded day of logs: the same kind of events in four schemas, and what a query must find among them."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from logagent.logs import Severity, TimeWindow
from logagent.query import All, And, Exists, Level, Node, Not, Or, Phrase, Range, Term, Wildcard

START = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
WINDOW = TimeWindow(START, START + timedelta(hours=1))
SCHEMAS = ("ecs", "otel", "filebeat", "plain")
_EACH = 150
_SERVICES = ("checkout", "payment-api", "order-api", "Gateway")
_TEXTS = (
    "Connection pool exhausted after {n}ms, 0 of 20 available",
    "GET /api/v1/cart completed in {n}ms status=200",
    "payment.gateway answered 503: upstream connect error",
    "Retry 2/5 calling http://payment-api:8080/pay",
    "user_id=u-{n} logged in from 10.0.0.{n}",
    "cache hit ratio 0.{n}",
    "Commit log sync failed: disk full",
    "connection reset by peer",
)
_LEVELS = ("DEBUG", "INFO", "INFO", "WARN", "ERROR", "FATAL")
_ERRORS = ("java.net.SocketTimeoutException", "PoolExhausted", "")


@dataclass(frozen=True)
class Doc:
    """One event, whatever its schema."""

    schema: str
    at: datetime
    level: str
    service: str
    message: str
    error_type: str = ""
    trace: str = ""
    status: int | None = None
    region: str = ""

    @property
    def severity(self) -> Severity:
        return Severity[self.level]


def docs() -> list[Doc]:
    """All events, oldest first; no two at the same time."""
    dice = random.Random(11)
    found = []
    for index in range(_EACH * len(SCHEMAS)):
        level = dice.choice(_LEVELS)
        failed = level in {"ERROR", "FATAL"}
        found.append(
            Doc(
                schema=SCHEMAS[index % len(SCHEMAS)],
                at=START + timedelta(seconds=index * 6, milliseconds=dice.randrange(1_000)),
                level=level,
                service=dice.choice(_SERVICES),
                message=dice.choice(_TEXTS).format(n=dice.randrange(1, 250)),
                error_type=dice.choice(_ERRORS) if failed else "",
                trace=f"{SCHEMAS[index % len(SCHEMAS)]}-{dice.randrange(15):04}" if dice.random() < 0.8 else "",
                status=dice.choice((500, 503)) if failed else dice.choice((200, 404, None)),
                region=dice.choice(("eu-west", "us-east", "")),
            )
        )
    return found


def source(doc: Doc) -> dict[str, Any]:
    """The event as its schema writes it."""
    return {key: value for key, value in _WRITERS[doc.schema](doc).items() if value not in ("", None)}


def _iso(doc: Doc) -> str:
    return doc.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _ecs(doc: Doc) -> dict[str, Any]:
    return {
        "@timestamp": _iso(doc),
        "log.level": doc.level.lower(),
        "service.name": doc.service,
        "message": doc.message,
        "error.type": doc.error_type,
        "trace.id": doc.trace,
        "http.response.status_code": doc.status,
        "region": doc.region,
    }


def _otel(doc: Doc) -> dict[str, Any]:
    return {
        "@timestamp": _iso(doc),
        "severity_text": doc.level,
        "resource": {"attributes": {"service.name": doc.service}},
        "body": {"text": doc.message},
        "attributes": {
            name: value
            for name, value in (("exception.type", doc.error_type), ("http.response.status_code", doc.status))
            if value
        },
        "trace_id": doc.trace,
        "region": doc.region,
    }


def _filebeat(doc: Doc) -> dict[str, Any]:
    return {
        "@timestamp": _iso(doc),
        "level": doc.level.title(),
        "app": doc.service,
        "message": doc.message,
        "exception_class": doc.error_type,
        "traceId": doc.trace,
        "status_code": doc.status,
        "region": doc.region,
    }


def _plain(doc: Doc) -> dict[str, Any]:
    return {
        "@timestamp": _iso(doc),
        "level": doc.level,
        "service_name": doc.service,
        "message": doc.message,
        "error_class": doc.error_type,
        "trace_id": doc.trace,
        "status": doc.status,
        "region": doc.region,
    }


_WRITERS: Mapping[str, Callable[[Doc], dict[str, Any]]] = {
    "ecs": _ecs,
    "otel": _otel,
    "filebeat": _filebeat,
    "plain": _plain,
}

_FIELDS: Mapping[str, Callable[[Doc], str]] = {
    "service": lambda doc: doc.service,
    "error_type": lambda doc: doc.error_type,
    "trace_id": lambda doc: doc.trace,
    "status": lambda doc: "" if doc.status is None else str(doc.status),
    "region": lambda doc: doc.region,
}


def value(doc: Doc, field: str) -> str:
    """What a role or field of the event holds; "": nothing."""
    return _FIELDS[field](doc)


def words(text: str) -> list[str]:
    """Words as UAX #29 cuts ASCII text, written independently of the store."""
    cut = re.sub(r"(?<=[a-z])[.:'](?=[a-z])|(?<=\d)[.,;'](?=\d)", lambda match: f"\x00{match[0]}\x00", text.lower())
    tokens = re.split(r"(?:(?<!\x00)[^\w\x00](?!\x00))+|\s+", cut)
    return [token.replace("\x00", "") for token in tokens if re.search(r"\w", token)]


def matches(node: Node, doc: Doc) -> bool:
    """What the query language means, spelled out."""
    match node:
        case All():
            return True
        case And(nodes) | Or(nodes):
            answers = [matches(part, doc) for part in nodes]
            return all(answers) if isinstance(node, And) else any(answers)
        case Not(inner):
            return not matches(inner, doc)
        case Level(severity, and_worse):
            return doc.severity >= severity if and_worse else doc.severity == severity
        case Exists(field):
            return bool(value(doc, field))
        case _:
            return _leaf(node, doc)


def _leaf(node: Term | Phrase | Wildcard | Range, doc: Doc) -> bool:
    if isinstance(node, Range):
        held = value(doc, node.field)
        low, high = float(node.low or "-inf"), float(node.high or "inf")
        above = held and (float(held) >= low if node.include_low else float(held) > low)
        return bool(above and (float(held) <= high if node.include_high else float(held) < high))
    if isinstance(node, Wildcard):
        pattern = re.escape(node.pattern).replace(r"\*", ".*").replace(r"\?", ".")
        if not node.field:
            return any(re.fullmatch(pattern, word, re.IGNORECASE) for word in words(doc.message))
        return re.fullmatch(pattern, value(doc, node.field)) is not None
    if node.field:
        return value(doc, node.field) == node.value
    return _runs(words(node.value), words(doc.message))


def _runs(wanted: Sequence[str], held: Sequence[str]) -> bool:
    size = len(wanted)
    return bool(size) and any(held[at : at + size] == wanted for at in range(len(held) - size + 1))


def random_node(dice: random.Random, depth: int = 0) -> Node:
    """A query that the four schemas can answer."""
    if depth < 3 and dice.random() < 0.45:
        parts = tuple(random_node(dice, depth + 1) for _ in range(dice.randrange(2, 4)))
        return dice.choice((And(parts), Or(parts), Not(parts[0])))
    return dice.choice(_LEAVES)


_LEAVES: tuple[Node, ...] = (
    All(),
    Term("", "connection"),
    Term("", "Connection"),
    Term("", "payment"),
    Term("", "payment.gateway"),
    Term("", "payment-api"),
    Term("", "u-17"),
    Term("", "10.0.0.17"),
    Term("", "200"),
    Term("", "user_id"),
    Term("", "nowhere"),
    Phrase("", "connection reset"),
    Phrase("", "of 20"),
    Phrase("", "log sync failed disk"),
    Phrase("", "api v1"),
    Phrase("", "status 200"),
    Phrase("", "reset connection"),
    Wildcard("", "conn*"),
    Wildcard("", "Exhaust?d"),
    Wildcard("", "payment.g*"),
    Wildcard("", "ex*ed"),
    Term("service", "checkout"),
    Term("service", "gateway"),
    Phrase("service", "Gateway"),
    Wildcard("service", "check*t"),
    Wildcard("service", "payment*"),
    Wildcard("service", "G?teway"),
    Term("error_type", "PoolExhausted"),
    Wildcard("error_type", "java.net.*"),
    Exists("error_type"),
    Exists("trace_id"),
    Exists("region"),
    Term("region", "eu-west"),
    Term("trace_id", "ecs-0007"),
    Term("status", "503"),
    Range("status", "500", "599"),
    Range("status", "200", None, include_low=False),
    Range("status", None, "404", include_high=False),
    Level(Severity.ERROR),
    Level(Severity.WARN, and_worse=True),
    Level(Severity.INFO),
    Level(Severity.TRACE),
)
