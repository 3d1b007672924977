"""Log formats: recognised on their lines, joined to events, parsed to fields."""

from datetime import UTC, datetime
from typing import Any

import pytest

from logagent.formats import Event, access, read_events, recognise

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def events(text: str) -> list[Event]:
    lines = text.splitlines()
    head = [line for line in lines if line.strip()]
    found = recognise(head, NOW)
    return list(found.read_all(text) if found.read_all else read_events(found, lines, head, NOW))


@pytest.mark.parametrize(
    ("name", "line", "fields"),
    [
        (
            "generic",
            "2026-11-30 06:00:00,123 ERROR [http-nio-1] com.acme.pay.Service - Pool exhausted after 30s",
            {
                "@timestamp": "2026-11-30 06:00:00,123",
                "log.level": "ERROR",
                "process.thread.name": "http-nio-1",
                "log.logger": "com.acme.pay.Service",
                "message": "Pool exhausted after 30s",
            },
        ),
        (
            "generic",
            "2026/11/30 06:00:00 [error] 29#29: *1 connect() failed (111: refused)",
            {
                "@timestamp": "2026-11-30T06:00:00",
                "log.level": "error",
                "message": "29#29: *1 connect() failed (111: refused)",
            },
        ),
        (
            "generic",
            "[2026-11-30 06:00:00.729 +01:00] [INF] started",
            {"log.level": "INF", "message": "started"},
        ),
        (
            "generic",
            "11-30 06:00:00.123 W disk is slow",
            {"@timestamp": "2026-11-30T06:00:00.123", "log.level": "warn", "message": "disk is slow"},
        ),
        (
            "syslog",
            "Nov 29 23:05:01 web-1 sshd[2738]: Failed password for root",
            {
                "@timestamp": "2026-11-29T23:05:01",
                "host.name": "web-1",
                "service.name": "sshd",
                "process.pid": "2738",
                "message": "Failed password for root",
            },
        ),
        ("syslog", "Dec 24 23:05:01 web-1 cron: last year", {"@timestamp": "2025-12-24T23:05:01"}),
        (
            "syslog",
            '<131>1 2026-11-30T06:00:00.003Z host app 12 ID47 [ex@1 iut="3"] it broke',
            {"log.level": "error", "service.name": "app", "syslog.iut": "3", "message": "it broke"},
        ),
        (
            "cri",
            '2026-11-30T06:00:00.1Z stderr F {"level":"error","msg":"boom"}',
            {"@timestamp": "2026-11-30T06:00:00.1Z", "stream": "stderr", "level": "error", "msg": "boom"},
        ),
        (
            "access",
            '10.0.0.1 - - [30/Nov/2026:06:00:00 +0000] "GET /pay?x=1 HTTP/1.1" 503 12 "-" "curl/8"',
            {
                "http.response.status_code": 503,
                "http.request.method": "GET",
                "url.path": "/pay",
                "log.level": "error",
                "message": "GET /pay?x=1 HTTP/1.1 503",
            },
        ),
        (
            "klog",
            "E1130 06:00:00.123456   12345 kubelet.go:123] node not ready",
            {"@timestamp": "2026-11-30T06:00:00.123456", "log.level": "error", "message": "node not ready"},
        ),
        (
            "logfmt",
            'time=2026-11-30T06:00:00Z level=warn msg="slow \\"query\\"" took=3s',
            {"level": "warn", "msg": 'slow "query"', "took": "3s"},
        ),
        (
            "compose",
            "payment-1  | 2026-11-30T06:00:00.1Z ERROR pool closed",
            {"service.name": "payment", "@timestamp": "2026-11-30T06:00:00.1Z", "message": "pool closed"},
        ),
        ("plain", "something happened", {"message": "something happened"}),
    ],
)
def test_a_format_is_recognised_and_read(name: str, line: str, fields: dict[str, Any]) -> None:
    assert recognise([line] * 3, NOW).name == name
    (first, *_) = events("\n".join([line] * 3))
    assert first.fields is not None
    assert {key: first.fields.get(key) for key in fields} == fields


def test_a_stack_trace_joins_its_event_and_names_its_class() -> None:
    text = (
        "2026-11-30 06:00:00,1 ERROR [a] com.acme.A - it broke\n"
        "java.lang.IllegalStateException: pool\n"
        "\tat com.acme.A.b(A.java:1)\n"
        "\n"
        "Caused by: java.io.IOException: x\n"
        "2026-11-30 06:00:01,1 INFO [a] com.acme.A - next\n"
    )
    broken, following = events(text)
    assert broken.fields is not None
    assert broken.fields["message"] == "it broke"
    assert broken.fields["error.type"] == "java.lang.IllegalStateException"
    assert broken.fields["error.stack_trace"].count("\n") == 3
    assert (broken.line, following.line) == (1, 6)


def test_text_that_is_no_stack_stays_in_the_message() -> None:
    (event,) = events("2026-11-30 06:00:00 INFO banner:\n  one\n  two\n")
    assert event.fields is not None
    assert event.fields["message"] == "banner:\n  one\n  two"


def test_lines_before_the_first_event_are_kept() -> None:
    found = events("Welcome\n2026-11-30 06:00:00 INFO a\n2026-11-30 06:00:01 INFO b\n")
    assert [dict(event.fields or {})["message"] for event in found] == ["Welcome", "a", "b"]


def test_parts_of_a_container_line_are_put_together() -> None:
    found = events("2026-11-30T06:00:00Z stdout P half and \n2026-11-30T06:00:00Z stdout F half\n")
    assert [dict(event.fields or {})["message"] for event in found] == ["half and half"]


def test_json_lines_among_text_are_both_read() -> None:
    found = events('2026-11-30 06:00:00 INFO start\n{"msg": "one"}\n{"msg": "two"}\n')
    assert [dict(event.fields or {}).get("msg") for event in found] == [None, "one", "two"]


def test_a_document_that_breaks_off_gives_its_whole_records() -> None:
    found = events('[\n{"msg": "one"},\n{"msg": "two"},\n{"msg": "thr')
    assert [event.fields and event.fields["msg"] for event in found] == ["one", "two", None]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_is_recognised_by_its_header_and_its_times(delimiter: str) -> None:
    rows = [["Log Time", "Severity", "Text"], *[["30.11.2026 06:00:00", "ERROR", "it broke"]] * 3]
    found = events("\n".join(delimiter.join(row) for row in rows))
    fields = {"@timestamp": "2026-11-30T06:00:00", "Severity": "ERROR", "Text": "it broke"}
    assert [(event.line, event.fields) for event in found] == [(2, fields), (3, fields), (4, fields)]


def test_text_with_commas_is_no_table() -> None:
    for line in ("2026-11-30 06:00:00,123 INFO one, two", "date, amount\n12, 5", "time,level\nsoon,ERROR"):
        assert recognise(line.split("\n") * 3, NOW).name != "delimited"


def test_codes_stay_text_and_headers_of_further_files_are_left_out() -> None:
    found = events("time,code,n\n2026-11-30T06:00:00Z,007,1.5\ntime,code,n\n2026-11-30T06:00:01Z,,-3\n")
    assert [dict(event.fields or {}) for event in found] == [
        {"@timestamp": "2026-11-30T06:00:00Z", "code": "007", "n": 1.5},
        {"@timestamp": "2026-11-30T06:00:01Z", "n": -3},
    ]


def test_a_stray_quote_in_a_table_loses_no_row() -> None:
    row = "2026-11-30T06:00:00Z,INFO,{}\n"
    found = events("time,level,message\n" + row.format("a") + row.format('"b') + row.format("c") + row.format("d"))
    assert [dict(event.fields or {})["message"] for event in found] == ["a", "c", "d"]
    assert dict(found[1].fields or {})["log.stray"] == '2026-11-30T06:00:00Z,INFO,"b'


def test_colours_are_taken_off() -> None:
    (event,) = events("\x1b[32m2026-11-30 06:00:00 INFO ok\x1b[0m\n")
    assert event.fields is not None
    assert event.fields["message"] == "ok"


@pytest.mark.parametrize("line", ["x" * 200_000, "a=" * 100_000, "[" * 100_000, "1-" * 100_000, '"' * 100_000])
def test_long_odd_lines_cost_linear_time(line: str) -> None:
    assert len(events(line)) == 1


def test_a_path_is_counted_without_its_ids_and_kept_as_it_was() -> None:
    fields = access.access(
        '2001:db8::1 - - [01/Dec/2026:02:00:00 +0000] "GET /product/479/v2/0b5e2a41-9c1d-4c57-8d0e-d3a1f2b4c6e8?q=1 HTTP/1.1" '
        '200 12 "-" "curl"'
    )
    assert fields is not None
    assert fields["url.path"] == "/product/{id}/v2/{id}"
    assert fields["url.original"].startswith("/product/479/v2/0b5e")
    assert fields["client.ip"] == "2001:db8::1"


def components(*named: str) -> list[str]:
    """What lines with these words in brackets have as component."""
    lines = [f"2026-12-01 02:30:{n:02d} ERROR [{name}] request {n} failed" for n, name in enumerate(named * 4)]
    found = read_events(recognise(lines), lines, lines, datetime(2026, 12, 1, tzinfo=UTC))
    return sorted({str(event.fields["component"]) for event in found if event.fields and "component" in event.fields})


def test_a_word_in_brackets_that_recurs_is_a_component() -> None:
    assert components("mailer", "api", "order-worker") == ["api", "mailer", "order-worker"]


@pytest.mark.parametrize(
    "named",
    [
        ("main",),
        ("main", "worker"),
        ("http-nio-8080-exec-1", "http-nio-8080-exec-2"),
        ("o.a.c.Foo", "o.a.c.Bar"),
        ("pool-1-thread-1", "worker"),
        tuple(f"a{n:x}f" for n in range(30)),
    ],
)
def test_threads_classes_and_ids_in_brackets_are_no_components(named: tuple[str, ...]) -> None:
    assert components(*named) == []
