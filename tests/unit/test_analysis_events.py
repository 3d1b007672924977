"""From records to events: level, status, platform events."""

from datetime import UTC, datetime

import pytest

from logagent.analysis.events import error_fields, from_record, full_text, inline_level
from logagent.analysis.objects import workload
from logagent.logs import LogRecord, RecordId, Severity

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def record(message: str = "hello", **more: object) -> LogRecord:
    return LogRecord(RecordId("f", "1"), NOON, message, **more)  # type: ignore[arg-type]


def test_roles_become_an_event():
    event = from_record(record(service="shop", severity=Severity.WARN, trace_id="t1", logger="Cart#7"), weight=3)
    assert (event.service, event.level, event.trace, event.callsite, event.weight) == ("shop", 3, "t1", "Cart#7", 3)
    assert event.time == NOON.timestamp()
    assert event.record is not None


def test_a_record_without_time_needs_one():
    bare = LogRecord(RecordId("f", "1"), None, "hello")
    assert from_record(bare, at=7.0).time == 7.0
    with pytest.raises(ValueError, match="without a time"):
        from_record(bare)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("ERROR [main] cannot bind", 4),
        ("2026-11-30 12:00:00,123 WARN  pool is low", 3),
        ("[crit] 12#0: out of slots", 5),
        ("level=debug msg=tick", 1),
        ("W mesh-proxy: retry", 3),
        ("errors were seen", None),
        ("ERROR-CODE table loaded", None),
    ],
)
def test_the_level_inside_a_text_is_read(text, level):
    assert inline_level(text) == level


def test_the_field_wins_over_the_text():
    assert from_record(record("ERROR in title of a book", severity=Severity.INFO)).level == 2


@pytest.mark.parametrize(
    "more", [{"status": 503}, {"fields": {"http.status_code": 502.0}}, {"fields": {"status": "500"}}]
)
def test_a_5xx_status_is_a_failure(more):
    assert from_record(record(**more)).failed
    assert not from_record(record(status=404)).failed


def test_a_service_is_found_in_plain_fields_when_no_role_was_chosen():
    assert from_record(record(fields={"kubernetes.labels.app": "cart"})).service == "cart"
    assert from_record(record()).service == "unknown"


def test_error_roles_and_fields_are_read_with_the_message():
    event = from_record(
        record(
            "job failed", error_type="ValueError", error_message="bad size", fields={"reason": "quota", "user": "eve"}
        )
    )
    assert full_text(event) == "job failed | ValueError | bad size | quota"
    assert error_fields(event) == "ValueError | bad size"


def test_many_lines_come_after_the_short_fields():
    assert full_text(from_record(record("boom", stack="Error\n at x", error_type="E"))) == "boom | E\nError\n at x"


def kubernetes(**fields: object) -> LogRecord:
    return record(fields.pop("message", "Back-off restarting failed container"), service="kubelet", fields=fields)  # type: ignore[arg-type]


def test_an_event_moves_to_its_object_with_count_and_first_time():
    event = from_record(
        kubernetes(
            **{
                "involvedObject.kind": "Pod",
                "involvedObject.name": "cart-6d9c7b5f4d-k2p4x",
                "reason": "BackOff",
                "type": "Warning",
                "count": 12.0,
                "firstTimestamp": "2026-11-30T11:40:00Z",
            }
        )
    )
    assert (event.service, event.reporter, event.object) == ("cart", "kubelet", "Pod/cart-6d9c7b5f4d-k2p4x")
    assert (event.event, event.level, event.count) == (True, 3, 12)
    assert event.first == NOON.timestamp() - 1200
    assert event.message == "BackOff: Back-off restarting failed container"


def test_bad_states_are_warnings_even_as_normal_events():
    event = from_record(
        kubernetes(**{"regarding.name": "n1", "kind": "Node", "reason": "NodeNotReady", "type": "Normal"})
    )
    assert (event.service, event.level) == ("n1", 3)


def test_an_event_as_text_is_read():
    event = from_record(record("Warning Unhealthy pod/cart-7c9f8d6b5-x2x9z: Readiness probe failed (x4 over 2m)"))
    assert (event.event, event.service, event.level, event.count) == (True, "cart", 3, 4)
    assert event.first == NOON.timestamp() - 120


def test_a_cloud_event_moves_to_its_resource():
    event = from_record(
        record(
            "storage is full",
            service="aws.rds",
            fields={"event_categories": "low storage", "resources": '["arn:aws:rds:eu:1:db:orders-db"]'},
        )
    )
    assert (event.service, event.reporter, event.event) == ("orders-db", "aws.rds", True)


def test_an_ordinary_record_with_a_count_stays_as_it_is():
    event = from_record(record(service="cart", pod="cart-6d9c7b5f4d-k2p4x", fields={"count": 9.0}))
    assert (event.service, event.count, event.event) == ("cart", 1, False)


@pytest.mark.parametrize("value", ["", "soon", float("nan"), True, "9" * 400])
def test_nonsense_in_event_fields_is_ignored(value):
    event = from_record(kubernetes(object="p-1", reason="Failed", count=value, firstTimestamp=value))
    assert event.count == 1


@pytest.mark.parametrize(
    ("name", "kind", "owner"),
    [
        ("cart-6d9c7b5f4d-k2p4x", "Pod", "cart"),
        ("db-0", "Pod", "db"),
        ("report-28391820-abcde", "Pod", "report"),
        ("cart-6d9c7b5f4d", "ReplicaSet", "cart"),
        ("worker-3", "Node", "worker-3"),
        ("cart", "", "cart"),
    ],
)
def test_the_workload_behind_a_name(name, kind, owner):
    assert workload(name, kind) == owner
