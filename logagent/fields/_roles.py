"""The roles a field can play, the names people write for them, and the map of a source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from logagent.logs import Severity

Role = Literal[
    "timestamp",
    "severity",
    "service",
    "message",
    "error_type",
    "error_message",
    "stack",
    "host",
    "pod",
    "namespace",
    "container",
    "environment",
    "version",
    "trace_id",
    "span_id",
    "logger",
    "user",
    "status",
    "duration",
    "url",
    "ingested",
]

ALIASES: Mapping[str, Role] = {
    "level": "severity",
    "log.level": "severity",
    "@timestamp": "timestamp",
    "service.name": "service",
    "error.type": "error_type",
    "error_class": "error_type",
    "error.message": "error_message",
    "error.stack_trace": "stack",
    "host.name": "host",
    "kubernetes.pod.name": "pod",
    "kubernetes.namespace": "namespace",
    "container.name": "container",
    "service.environment": "environment",
    "service.version": "version",
    "trace.id": "trace_id",
    "span.id": "span_id",
    "log.logger": "logger",
    "user.id": "user",
    "http.response.status_code": "status",
    "event.duration": "duration",
    "url.path": "url",
    "event.ingested": "ingested",
}
"""Names that people and the model may write for a role, besides the role's own name."""

ECS: Mapping[Role, str] = {
    "timestamp": "@timestamp",
    "severity": "log.level",
    "service": "service.name",
    "message": "message",
    "error_type": "error.type",
    "error_message": "error.message",
    "stack": "error.stack_trace",
    "host": "host.name",
    "pod": "kubernetes.pod.name",
    "namespace": "kubernetes.namespace",
    "container": "container.name",
    "environment": "service.environment",
    "version": "service.version",
    "trace_id": "trace.id",
    "span_id": "span.id",
    "logger": "log.logger",
    "user": "user.id",
    "status": "http.response.status_code",
    "duration": "event.duration",
    "url": "url.path",
    "ingested": "event.ingested",
}
"""The ECS name of each role, for reports and for the JSON diagnosis."""


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """One field that plays a role. `exact`: the name to group and filter exactly by (keyword sub-field), or ""."""

    name: str
    type: str = "keyword"
    exact: str = ""
    coverage: float = 1.0
    """Share of events with a value, 0 to 1."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Which fields play which role in this scope; several per role, best coverage first."""

    roles: Mapping[str, tuple[FieldChoice, ...]] = field(default_factory=dict)
    levels: Mapping[Severity, tuple[str, ...]] = field(default_factory=dict)
    """Observed raw level values of each severity class, as the source writes them."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Every known field name of the source with its type; what a query may name besides roles."""
    schema: str = ""
    """Name of the schema that fits best, e.g. `ecs`."""

    def role_of(self, name: str) -> str:
        """The role a query's field name means, or "" when it is a plain field name."""
        if name in self.roles or name in ECS:
            return name
        return ALIASES.get(name, "")

    def first(self, role: str) -> FieldChoice | None:
        """The best field of a role, if any."""
        choices = self.roles.get(role, ())
        return choices[0] if choices else None

    def coverage(self, role: str) -> float:
        """Share of events that have the role, 0 to 1."""
        return min(1.0, sum(choice.coverage for choice in self.roles.get(role, ())))

    def knows(self, name: str) -> bool:
        """Whether a query may name it: a role that is resolved, an alias of one, or a field of the source."""
        role = self.role_of(name)
        return bool(role and self.roles.get(role)) or name in self.names
