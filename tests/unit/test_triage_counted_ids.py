"""Ids that each process counts for itself join nothing across services in the survey, random ids do."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from logagent.analysis.events import from_record
from logagent.analysis.facts import Event
from logagent.analysis.trace_ids import part_requests
from logagent.logs import LogRecord, RecordId

START = datetime(2026, 3, 4, 9, tzinfo=UTC)


def written(at: float, service: str, trace: str) -> Event:
    record = LogRecord(
        RecordId("t", f"{service} {at}"), START + timedelta(seconds=at), "done", service=service, trace_id=trace
    )
    return from_record(record)


def counted() -> list[Event]:
    """Two services that both call their requests req-1, req-2, ..., minutes apart."""
    return [
        written(200 * (service == "pay") + number + step / 10, service, f"req-{number}")
        for service in ("cart", "pay")
        for number in range(1, 30)
        for step in range(2)
    ]


def called() -> list[Event]:
    """Cart calls pay within each request."""
    return [
        written(number + step / 10, ("cart", "pay", "cart")[step], f"req-{number}")
        for number in range(1, 30)
        for step in range(3)
    ]


def groups(events: list[Event]) -> set[frozenset[str]]:
    """Which services each request of the events has."""
    names: dict[str, set[str]] = {}
    for event in events:
        names.setdefault(event.trace or "", set()).add(event.service)
    return {frozenset(one) for one in names.values()}


def test_the_same_counter_in_two_services_is_two_requests() -> None:
    events = counted()
    part_requests(events)
    assert groups(events) == {frozenset({"cart"}), frozenset({"pay"})}
    assert len({event.trace for event in events}) == 58


def test_lines_of_one_request_in_one_process_stay_together() -> None:
    events = counted()
    part_requests(events)
    assert all(events[place].trace == events[place + 1].trace for place in range(0, len(events), 2))


def test_a_counter_that_a_caller_hands_on_is_one_request() -> None:
    events = called()
    part_requests(events)
    assert groups(events) == {frozenset({"cart", "pay"})}


@pytest.mark.parametrize("digits", [16, 32, 64])
def test_random_ids_are_the_same_request_everywhere(digits: int) -> None:
    rng = random.Random(digits)
    ids = [f"{rng.getrandbits(4 * digits):0{digits}x}" for _ in range(30)]
    events = [
        written(100 * place + 90 * (name == "pay"), name, one)
        for place, one in enumerate(ids)
        for name in ("cart", "pay")
    ]
    part_requests(events)
    assert {event.trace for event in events} == set(ids)
