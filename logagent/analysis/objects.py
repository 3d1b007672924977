"""Platform events (Kubernetes, cloud): whose event is it, how bad, how often, since when."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from logagent.analysis.facts import UNNAMED, Event
from logagent.expressions import expression

Fields = Mapping[str, object]

_INFO, _WARN = 2, 3

_REPORTER = expression(
    r"^(?:kubelet|kube-[\w-]+|[\w-]*controller(?:-manager)?|default-scheduler|cluster-autoscaler|"
    r"horizontal-pod-autoscaler|vertical-pod-autoscaler|k8s|kubernetes|k8s-events?|kubernetes-events?|kube-?events?|"
    r"event-?(?:router|exporter)|events?|aws[.:/-]\w+|amazon[ \w-]+|rds(?:-events?)?|ec2(?:-events?)?|"
    r"elasticache(?:-events?)?|cloudwatch|cloudtrail|ecs|eks|gke|aks|azure-monitor|gcp[\w-]*|node-problem-detector|"
    r"containerd|dockerd)$",
    re.IGNORECASE,
)
"""Services that speak of other objects, not of themselves."""

_OBJECT = (
    "involvedObject.name", "involved_object.name", "involved_object", "involvedObject", "regarding.name",
    "object.name", "kubernetes.event.involved_object.name", "object", "kubernetes.pod.name", "pod_name",
)  # fmt: skip
_KIND = (
    "involvedObject.kind", "involved_object.kind", "regarding.kind", "object.kind",
    "kubernetes.event.involved_object.kind", "kind",
)  # fmt: skip
_CLOUD = (
    "SourceIdentifier", "source_identifier", "sourceIdentifier", "detail.SourceIdentifier", "detail.instance-id",
    "detail.instanceId", "db_instance", "db_instance_identifier", "dbInstanceIdentifier", "instance_id", "instanceId",
    "resource_id", "resourceId", "resource", "resources",
)  # fmt: skip
_FIRST = (
    "firstTimestamp", "first_timestamp", "first_time", "firstSeen", "first_seen", "deprecatedFirstTimestamp",
    "eventTime",
)  # fmt: skip
_COUNT = ("count", "series.count", "deprecatedCount", "event_count")
_LABEL = ("kubernetes.labels.app", "labels.app")

_BAD = expression(
    r"^(?:Failed\w*|\w*BackOff|Unhealthy|Evicted|OOM\w*|SystemOOM|NodeNotReady|NodeHasDiskPressure|"
    r"NodeHasMemoryPressure|\w*Pressure|Preempt\w*|ErrImage\w*|InvalidImageName|\w*Exceeded|NetworkNotReady|Err\w*|"
    r"CrashLoop\w*|ImageGCFailed|FreeDiskSpaceFailed|ProvisioningFailed|VolumeResizeFailed|Rebooted|"
    r"HostPortConflict)$",
    re.IGNORECASE,
)
_BAD_STATE = expression(
    r"^(?:NodeNotReady|Evicted|SystemOOM|OOM\w*|NodeHas(?:Disk|Memory|PID)Pressure|Preempt\w*)$", re.IGNORECASE
)
"""Reasons that are bad even as `Normal`."""

_NAMED = (
    ("Pod", r"\bpods?[ /\"'=:]{1,3}\"?(?:[a-z0-9-]{1,60}/)?([a-z0-9][a-z0-9.-]{3,80})"),
    (
        "Deployment",
        (
            r"\b(?:deployment|statefulset|daemonset)s?(?:\.apps)?[ /\"'=:]{1,3}\"?"
            r"(?:[a-z0-9-]{1,60}/)?([a-z0-9][a-z0-9.-]{2,80})"
        ),
    ),
    ("ReplicaSet", r"\breplica ?sets?[ /\"'=:]{1,3}\"?(?:[a-z0-9-]{1,60}/)?([a-z0-9][a-z0-9.-]{3,80})"),
    ("Node", r"\bnode[ /\"'=:]{1,3}\"?([a-z0-9][a-z0-9.-]{3,80})"),
    (
        "Instance",
        (
            r"\b(?:db instance|instance|cache cluster|replication group|db cluster|cluster)[ \"':]{1,3}"
            r"([a-z][a-z0-9]{0,60}-[a-z0-9-]{1,60})"
        ),
    ),
)
_COMMON_WORDS = "is was has not status ready failed condition sandbox with for in name controller completed rollout"
_NOT_NAMES = frozenset(_COMMON_WORDS.split())
_TEXT = expression(r"^(?:\S{1,8}\s+)?(Warning|Normal)\s+(\w{3,40})\s+(\w+)/([a-z0-9][a-z0-9.-]{2,80})[:\s]\s*")
"""An event written as text, as `kubectl get events` and event routers do."""

_HEAD = 40
_TIMES = expression(r"\(?x(\d{1,6})(?: over ([\dhms]+))?\)?\s*$")
_SPAN = expression(r"(\d{1,6})([hms])")
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DIGITS = 20
_TAIL = 40
"""Characters at the end of a text event in which its count is looked for."""

_OWN_KINDS = (
    "deployment statefulset daemonset service horizontalpodautoscaler persistentvolumeclaim instance cronjob ingress "
    "node"
)
_WHOLE_NAMES = frozenset(_OWN_KINDS.split())
"""Kinds of objects whose name has no generated suffix."""

_POD_SUFFIXES = (
    r"-(?=[a-z]*\d)[a-z0-9]{5,10}-[a-z0-9]{4,5}$",
    r"-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$",
    r"-\d{8,11}(?:-[a-z0-9]{4,5})?$",
    r"-(?=[a-z]*\d)[bcdfghjklmnpqrstvwxz2456789]{5}$",
    r"-\d{1,3}$",
)


def workload(name: str, kind: str = "") -> str:
    """The deployment, stateful set or job behind the name of a pod or replica set.

    >>> workload("payment-api-6d9c7b5f4d-k2p4x")
    'payment-api'
    """
    name = name.split("_", 1)[0].rstrip(".,:;")
    low = kind.lower()
    if low in _WHOLE_NAMES:
        return name
    if low == "replicaset":
        return re.sub(r"-(?=[a-z]*\d)[a-z0-9]{5,10}$", "", name)
    for pattern in _POD_SUFFIXES:
        short = re.sub(pattern, "", name)
        if short not in {name, ""}:
            return short
    return name


@dataclass(frozen=True, slots=True)
class _About:
    """What the fields say of an event: its object, reason and type. `is_event` False: an ordinary record."""

    target: str
    kind: str
    reason: str
    type: str
    is_event: bool


_NOTHING = _About("", "", "", "", is_event=False)
_OF_EVENTS = frozenset({"reason", "event_categories", "EventCategories"})
"""Without one of these a record is no platform event."""


def settle(event: Event, fields: Fields) -> None:
    """Move a platform event to its object; set its level, count and first time. `fields` is the flat record."""
    reporter = event.service == UNNAMED or _reports(event.service)
    about = _NOTHING if _OF_EVENTS.isdisjoint(fields) and not reporter else _about(fields)
    if about.is_event:
        _mark(event, about)
    elif hit := _text_event(event.message):
        about = _About(hit[4], hit[3], hit[2], hit[1].lower(), is_event=True)
        _mark_text(event, about)
        reporter = True
    if about.is_event:
        _occurrences(event, about, fields)
    if reporter:
        _move(event, about, fields)


@lru_cache(maxsize=4096)
def _reports(service: str) -> bool:
    return _REPORTER.match(service) is not None


def _text_event(message: str) -> re.Match[str] | None:
    """The head of an event that is written as text. Few messages are one, so a look at their start comes first."""
    head = message[:_HEAD]
    return _TEXT.match(message) if "Warning" in head or "Normal" in head else None


def _first(fields: Fields, names: tuple[str, ...]) -> object | None:
    for name in names:
        value = fields.get(name)
        if value is not None and value != "":
            return value
    return None


def _about(fields: Fields) -> _About:
    target = str(_first(fields, _OBJECT) or "")
    reason, type_ = str(fields.get("reason") or ""), str(fields.get("type") or "").lower()
    is_event = (
        bool(target and reason)
        or (bool(reason) and type_ in {"warning", "normal"})
        or "event_categories" in fields
        or "EventCategories" in fields
    )
    kind = str(_first(fields, _KIND) or "") if target or is_event else ""
    return _About(target, kind, reason, type_, is_event)


def _mark(event: Event, about: _About) -> None:
    event.event = True
    if about.target:
        name = about.target.rsplit("/", 1)[-1]
        event.object = f"{about.kind}/{name}" if about.kind else about.target
    if about.type in {"warning", "normal"}:
        event.level = _WARN if about.type == "warning" else _INFO
    elif (about.reason or about.type) and event.level in {None, _INFO}:
        event.level = _WARN if _BAD.match(about.reason) else _INFO


def _mark_text(event: Event, about: _About) -> None:
    event.event = True
    event.level = _WARN if about.type == "warning" else _INFO
    event.object = f"{about.kind}/{about.target}"
    if many := _TIMES.search(event.message[-_TAIL:]):
        event.count = max(1, int(many[1]))
        event.first = event.time - _length(many[2]) if many[2] else None


def _length(text: str) -> float:
    return float(sum(int(number) * _SECONDS[unit] for number, unit in _SPAN.findall(text)))


def _occurrences(event: Event, about: _About, fields: Fields) -> None:
    if _BAD_STATE.match(about.reason):
        event.level = _WARN
    count = _number(_first(fields, _COUNT))
    if count is not None:
        event.count = max(1, int(count))
    first = _instant(_first(fields, _FIRST))
    if first is not None and event.count > 1:
        event.first = min(event.time, first)
    if about.reason and about.reason.lower() not in event.message.lower():
        event.message = f"{about.reason}: {event.message}"


def _number(value: object | None) -> float | None:
    """A whole number, as a number or as digits."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else None
    text = str(value)
    return float(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else None


def _instant(value: object | None) -> float | None:
    """Seconds since the epoch of an ISO time (no zone means UTC) or of a number (unit by magnitude)."""
    if value is None:
        return None
    if (number := _number(value)) is not None:
        for bound, divisor in ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3)):
            if number > bound:
                return number / divisor
        return number
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _move(event: Event, about: _About, fields: Fields) -> None:
    """From who reports to what the report is about."""
    if about.target:
        kind, _, name = about.target.rpartition("/")
        app = _first(fields, _LABEL)
        owner = str(app) if app else workload(name, about.kind or kind.rsplit("/", 1)[0] or "Pod")
    elif cloud := _first(fields, _CLOUD):
        event.event = True
        owner = _last_part(str(cloud))
    else:
        owner = _named(event)
    if owner:
        event.reporter, event.service = event.service, owner


def _last_part(value: str) -> str:
    """Name at the end of an ARN or path; of a list the first one."""
    first = value.strip("[]\"' ").split(",", 1)[0].strip("\"' ")
    return first.rsplit(":", 1)[-1].rsplit("/", 1)[-1]


def _named(event: Event) -> str:
    """The object that the text names, where no field does."""
    if event.service == UNNAMED:
        return ""
    text = event.message[:2000]
    for kind, pattern in _NAMED:
        for hit in re.finditer(pattern, text, re.IGNORECASE):
            if hit[1].lower() not in _NOT_NAMES:
                return workload(hit[1], kind)
    return ""
