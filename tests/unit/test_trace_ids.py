"""Is an id one request, or does each process count its own?"""

import pytest

from logagent.analysis.trace_ids import Line, per_process

A, B, C = ("checkout", "a"), ("fraud", "b"), ("checkout", "c")


def counted(*, start: float, rate: float, place: tuple[str, str], prefix: str = "req-") -> list[Line]:
    """Fifty requests of two lines, numbered from 1 on."""
    return [Line(f"{prefix}{n}", place, start + n * rate + late) for n in range(1, 51) for late in (0.0, 0.2)]


def called(wait: float, name: str = "req-{n}") -> list[Line]:
    """Fifty requests in which one service calls another, and waits."""
    found = []
    for n in range(50):
        trace = name.format(n=n)
        found += [Line(trace, A, n * 9.0), Line(trace, B, n * 9.0 + wait), Line(trace, A, n * 9.0 + wait + 0.1)]
    return found


@pytest.mark.parametrize("prefix", ["req-", "", "trace-00000000", "worker#"])
def test_counters_of_processes_that_began_at_other_times_are_local(prefix: str) -> None:
    lines = counted(start=0, rate=2, place=A, prefix=prefix) + counted(start=200, rate=2, place=C, prefix=prefix)
    assert per_process(lines)


def test_counters_of_two_services_that_count_at_their_own_speed_are_local() -> None:
    assert per_process(counted(start=100, rate=4, place=A) + counted(start=200, rate=0.5, place=B))


def test_counters_that_run_side_by_side_now_ahead_and_now_behind_are_local() -> None:
    lines = counted(start=0, rate=3, place=A)
    lines += [Line(trace, B, at + (6 if int(trace[4:]) % 3 else -6)) for trace, _, at in lines]
    assert per_process(lines)


@pytest.mark.parametrize("wait", [0.01, 5.0, 45.0, 300.0])
def test_a_short_id_that_goes_from_service_to_service_is_one_request(wait: float) -> None:
    assert not per_process(called(wait))


def test_a_random_id_is_one_request_however_late_its_job_runs() -> None:
    lines = [Line(f"{n:08x}7b2f4e1da9", place, n + late) for n in range(50) for place, late in ((A, 0.0), (B, 3_600.0))]
    assert not per_process(lines)


def test_a_chain_of_services_that_wait_in_order_is_one_request() -> None:
    lines = [Line(f"req-{n}", place, n * 9.0 + late) for n in range(50) for place, late in ((A, 0), (B, 5), (C, 11))]
    assert not per_process(lines)


def test_of_few_shared_ids_nothing_is_said() -> None:
    assert not per_process([Line("1", A, 0), Line("1", B, 900), Line("2", A, 1)])
    assert not per_process([])
