"""Platform events are recognised also where a schema has put reason, type and object into roles."""

import random
from datetime import timedelta

from logagent.analysis.events import from_record
from logagent.analysis.facts import Event
from logagent.analysis.survey import survey
from logagent.logs import LogRecord, RecordId, Severity
from tests.unit.scenarios import START, T0, catalogue, sort, traffic


def back_off(at: float, count: int) -> Event:
    """`reason` is the error type, `type` the level, `involvedObject.name` the service."""
    fields: dict[str, str | float | bool] = {
        "involvedObject.kind": "Pod",
        "count": count,
        "firstTimestamp": (START + timedelta(seconds=600)).isoformat(),
    }
    record = LogRecord(
        RecordId("events", str(at)),
        START + timedelta(seconds=at),
        "Back-off restarting failed container bills in pod bills-7f9dd8b6c4-x7gr9",
        service="bills-7f9dd8b6c4-x7gr9",
        severity=Severity.WARN,
        level="Warning",
        error_type="BackOff",
        fields=fields,
    )
    return from_record(record)


def test_an_event_whose_reason_is_a_role_keeps_its_object_count_and_first_time() -> None:
    event = back_off(900, 7)
    assert event.event
    assert event.object == "Pod/bills-7f9dd8b6c4-x7gr9"
    assert event.count == 7
    assert event.first == T0 + 600


def test_a_crash_loop_is_claimed_from_its_first_occurrence_inside_the_event() -> None:
    rng = random.Random(1)
    found = survey(sort([*traffic(rng, "desk", 0, 1800, 5), back_off(900, 7), back_off(1500, 12)]), catalogue())
    assert found.conclusion.verdict == "cause"
    assert found.conclusion.mechanism == "deploy.crash_loop"
    assert found.conclusion.onset is not None
    assert found.conclusion.onset[1] == T0 + 600


def test_a_warning_with_the_class_of_an_exception_is_no_platform_event() -> None:
    record = LogRecord(
        RecordId("app", "1"),
        START,
        "booking refused",
        service="booking",
        severity=Severity.WARN,
        level="Warning",
        error_type="TimeoutException",
    )
    assert not from_record(record).event
