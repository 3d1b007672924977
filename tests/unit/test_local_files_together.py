"""Several files in one call: each record takes each role from the fields of its own file."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from logagent.logs import LogRecord, Severity, TimeWindow
from logagent.query import LogQuery, parse
from logagent.stores._base import Measure
from logagent.stores.local import LocalOptions, LocalStore, open_local

START = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
EVER = TimeWindow(datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
EVENTS = 50


def opened(folder: Path, fields: dict[str, str] | None = None, **files: str) -> LocalStore:
    paths = []
    for name, text in files.items():
        path = folder / name.replace("_", ".")
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return open_local(
        LocalOptions(tuple(paths), field_overrides=fields or {}, clock=lambda: START + timedelta(hours=1))
    )


def records(store: LocalStore, query: str = "") -> list[LogRecord]:
    return list(store.search(LogQuery(EVER, parse(query)), limit=500, order="oldest").records)


def at(second: int) -> datetime:
    return START + timedelta(seconds=second)


def json_lines(**names: str) -> str:
    """Records whose fields have these names, role by role."""
    values = {
        "timestamp": lambda n: at(n).isoformat(),
        "severity": lambda n: "ERROR" if n % 10 == 0 else "INFO",
        "service": lambda _: "shop",
        "message": lambda n: f"order {n} placed",
        "status": lambda n: 503 if n % 10 == 0 else 200,
        "duration_ms": lambda n: n,
        "trace_id": lambda n: f"{n:032x}",
        "host": lambda _: "shop-1",
    }
    rows = [{names.get(role, role): value(n + 1) for role, value in values.items()} for n in range(EVENTS)]
    return "".join(json.dumps(row) + "\n" for row in rows)


TEXT = "".join(
    f"{at(n):%Y-%m-%d %H:%M:%S},123 {'ERROR' if n % 10 == 0 else 'INFO'} job {n} done\n" for n in range(1, EVENTS + 1)
)
ACCESS = "".join(
    f'203.0.113.7 - - [{at(n):%d/%b/%Y:%H:%M:%S} +0000] "GET /a HTTP/1.1" {503 if n % 10 == 0 else 200} 12 "-" "curl"\n'
    for n in range(1, EVENTS + 1)
)
SYSLOG = "".join(
    f"<{11 if n % 10 == 0 else 14}>{at(n):%b %d %H:%M:%S} web-1 cron[7]: tick {n}\n" for n in range(1, EVENTS + 1)
)


def test_files_of_four_formats_in_one_call_all_have_times_and_levels(tmp_path: Path) -> None:
    store = opened(tmp_path, a_jsonl=json_lines(), b_log=TEXT, c_log=ACCESS, d_log=SYSLOG)
    described = store.describe()
    assert [source.events for source in described.sources] == [EVENTS] * 4
    assert described.untimed == 0
    assert {source.first for source in described.sources} == {at(1), at(1).replace(microsecond=123_000)}
    failing = [record for record in records(store) if record.severity == Severity.ERROR]
    assert sorted({Path(record.id.source).name for record in failing}) == ["a.jsonl", "b.log", "c.log", "d.log"]
    assert len(failing) == 4 * 5
    assert described.fields.coverage("timestamp") == pytest.approx(1.0)


def test_each_role_is_read_under_the_name_that_its_file_has(tmp_path: Path) -> None:
    other = json_lines(
        timestamp="@timestamp",
        severity="log.level",
        service="service.name",
        message="msg",
        status="http.response.status_code",
        duration_ms="latency_ms",
        trace_id="trace.id",
        host="host.name",
    )
    store = opened(tmp_path, a_jsonl=json_lines(), b_jsonl=other)
    found = records(store)
    assert len(found) == 2 * EVENTS
    for record in found:
        n = round((record.timestamp - START).total_seconds()) if record.timestamp else -1
        assert record.severity == (Severity.ERROR if n % 10 == 0 else Severity.INFO)
        assert (record.service, record.message, record.host) == ("shop", f"order {n} placed", "shop-1")
        assert (record.status, record.duration_ms, record.trace_id) == (503 if n % 10 == 0 else 200, n, f"{n:032x}")
    for query, count in {"service:shop": 100, "status >= 500": 10, "duration > 40": 20, "placed": 100}.items():
        (number,) = store.count([Measure(LogQuery(EVER, parse(query)))]).values
        assert number.value == count, query


def test_names_that_differ_only_in_case_from_file_to_file_are_one_field(tmp_path: Path) -> None:
    store = opened(tmp_path, a_jsonl=json_lines(), b_jsonl=json_lines(message="Message", severity="Severity"))
    assert {record.message.partition(" ")[0] for record in records(store)} == {"order"}
    assert len([record for record in records(store) if record.severity == Severity.ERROR]) == 10


def test_a_name_that_means_another_thing_in_another_file_is_not_taken_for_the_role(tmp_path: Path) -> None:
    named = "".join(
        json.dumps({"time": at(n).isoformat(), "msg": f"n {n}", "name": "billing", "app": "pay", "status": "done"})
        + "\n"
        for n in range(1, 51)
    )
    store = opened(tmp_path, a_jsonl=json_lines(service="name", message="msg"), b_jsonl=named)
    found = {(Path(record.id.source).name, record.service) for record in records(store)}
    assert found == {("a.jsonl", "shop"), ("b.jsonl", "pay")}
    assert len(records(store, "service:pay")) == EVENTS
    assert {record.status for record in records(store, "service:pay")} == {None}


def test_numeric_levels_of_two_scales_are_read_each_by_its_own(tmp_path: Path) -> None:
    def levels(**more: object) -> str:
        return "".join(
            json.dumps({"time": at(n).isoformat(), "msg": f"n {n}", "level": 50 if n % 10 == 0 else 30, **more}) + "\n"
            for n in range(1, 51)
        )

    words = json_lines(severity="level")
    store = opened(tmp_path, a_jsonl=levels(), b_jsonl=words)
    assert len([record for record in records(store) if record.severity == Severity.ERROR]) == 10


def test_a_file_without_levels_has_its_failures_beside_one_with_levels(tmp_path: Path) -> None:
    plain = "".join(f"{at(n):%Y-%m-%d %H:%M:%S} job {n} {'failed' if n % 5 == 0 else 'done'}\n" for n in range(1, 51))
    store = opened(tmp_path, a_jsonl=json_lines(), b_log=plain)
    failing = [record for record in records(store) if record.severity == Severity.ERROR]
    assert len([record for record in failing if record.id.source.endswith("b.log")]) == 10


def test_a_record_takes_its_time_from_the_first_field_that_has_one(tmp_path: Path) -> None:
    mixed = "".join(
        json.dumps({("timestamp" if n % 2 else "time"): at(n).isoformat(), "message": f"n {n}"}) + "\n"
        for n in range(1, 51)
    )
    store = opened(tmp_path, a_jsonl=mixed)
    assert [record.timestamp for record in records(store)] == [at(n) for n in range(1, 51)]
    assert store.describe().untimed == 0


def test_a_field_that_the_user_chose_holds_for_the_files_that_have_it(tmp_path: Path) -> None:
    store = opened(
        tmp_path, {"service": "host"}, a_jsonl=json_lines(), b_jsonl=json_lines(host="node_id", service="app")
    )
    assert {record.service for record in records(store)} == {"shop-1", "shop"}


def test_a_component_in_brackets_is_the_service_where_the_file_has_no_other(tmp_path: Path) -> None:
    text = "".join(f"{at(n):%Y-%m-%d %H:%M:%S} INFO [{'api' if n % 2 else 'mailer'}] job {n}\n" for n in range(1, 51))
    store = opened(tmp_path, a_jsonl=json_lines(), b_log=text)
    assert {record.service for record in records(store)} == {"shop", "api", "mailer"}
    assert len(records(store, "service:mailer")) == 25
