# ruff: noqa: S608 - SQL of tests
"""Bad and odd input of the embedded store: everything readable is read, everything else is counted or named."""

import bz2
import gzip
import io
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from logagent.errors import NoData, StoreUnavailable
from logagent.logs import Severity, TimeWindow
from logagent.query import LogQuery, parse
from logagent.stores._base import Measure
from logagent.stores.local import LocalOptions, LocalStore, open_local

START = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
EVER = TimeWindow(datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


def line(second: int, **more: object) -> str:
    at = (START + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")
    return json.dumps({"@timestamp": at, "level": "INFO", "service": "web", "message": f"hello {second}", **more})


def opened(*paths: Path | str, stdin: bytes = b"", zone: str = "UTC") -> LocalStore:
    return open_local(
        LocalOptions(
            paths=tuple(str(path) for path in paths),
            stdin=io.BytesIO(stdin),
            zone=zone,
            clock=lambda: START + timedelta(hours=1),
        )
    )


def messages(store: LocalStore, query: str = "") -> list[str]:
    found = store.search(LogQuery(EVER, parse(query)), limit=100, order="oldest")
    return [record.message for record in found.records]


@pytest.mark.parametrize(
    ("pack", "note"),
    [(gzip.compress, "gzip"), (bz2.compress, "bzip2"), (bytes, "JSON lines")],
)
def test_compression_is_told_by_content(tmp_path: Path, pack: Callable[[bytes], bytes], note: str) -> None:
    path = tmp_path / "app.log"
    path.write_bytes(pack((line(0) + "\n" + line(1) + "\n").encode()))
    store = opened(path)
    assert messages(store) == ["hello 0", "hello 1"]
    assert note in store.describe().sources[0].note


def test_zstd_is_read(tmp_path: Path) -> None:
    import duckdb  # noqa: PLC0415 - only this test needs it

    duckdb.execute(
        f"COPY (SELECT 'hello ' || i AS message FROM range(3) t(i)) TO '{tmp_path}/x' (FORMAT json, COMPRESSION zstd)"
    )
    assert messages(opened(tmp_path / "x")) == ["hello 0", "hello 1", "hello 2"]


def test_a_gzip_that_breaks_off_gives_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "app.log.gz"
    whole = gzip.compress("".join(line(n, noise=os.urandom(40).hex()) + "\n" for n in range(2_000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    found = opened(path).describe()
    assert 500 < found.events < 1_500
    assert any("breaks off" in note for note in found.notes)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as raised:
        opened(tmp_path / "no.log")
    assert (raised.value.code, raised.value.values["reason"]) == ("LA307", "no such file")


def test_a_folder_is_read_if_it_holds_logs(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(line(0) + "\n")
    (tmp_path / "b.log").write_text(line(1) + "\n")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\x00\x00")
    assert messages(opened(tmp_path)) == ["hello 0", "hello 1"]


def test_a_folder_without_logs_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "c.png").write_bytes(b"\x89PNG\x00\x00")
    with pytest.raises(StoreUnavailable) as raised:
        opened(tmp_path)
    assert raised.value.code == "LA307"
    assert "c.png" in str(raised.value.values["detail"])


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prog"
    path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40)
    with pytest.raises(StoreUnavailable) as raised:
        opened(path)
    assert raised.value.values["reason"] == "a binary file"


def test_an_empty_file_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"")
    with pytest.raises(NoData):
        opened(tmp_path / "a.log")


def test_a_broken_line_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [line(n) for n in range(6_000)]
    lines[4_999] = '{"@timestamp": "2026-11-30T06:00:00Z", "mess'
    (tmp_path / "a.ndjson").write_text("\n".join(lines) + "\n")
    store = opened(tmp_path / "a.ndjson")
    assert (store.describe().events, store.describe().unparsed) == (5_999, 1)
    last = store.search(LogQuery(EVER), limit=1).records[0]
    assert last.id.id == "6000"


def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(line(0, message="x" * 10_000_000 + " needle") + "\n" + line(1) + "\n")
    store = opened(tmp_path / "a.ndjson")
    assert store.search(LogQuery(EVER, parse("needle")), limit=1).total == 1


@pytest.mark.parametrize(("encoding", "note"), [("utf-16", "utf-16"), ("gb18030", "gb18030")])
def test_other_encodings_are_read_with_a_note(tmp_path: Path, encoding: str, note: str) -> None:
    text = "".join(f"2026-11-30 06:00:0{n} ERROR 支付失败，连接池已耗尽 {n}\n" for n in range(5))
    (tmp_path / "a.log").write_bytes(text.encode(encoding))
    store = opened(tmp_path / "a.log")
    assert messages(store, "支付失败")[0] == "支付失败，连接池已耗尽 0"
    assert any(note in one for one in store.describe().notes)


def test_times_in_the_future_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(line(0) + "\n" + line(3_600 * 9) + "\n" + line(10**7) + "\n")
    found = opened(tmp_path / "a.ndjson").describe()
    assert found.future == 2
    assert found.last == START + timedelta(hours=9)


def test_without_any_time_the_order_of_the_lines_is_the_time(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("first\nsecond ERROR broken\n  detail\nthird\n")
    store = opened(tmp_path / "a.log")
    found = store.describe()
    assert messages(store) == ["first", "second ERROR broken\n  detail", "third"]
    assert (found.first, found.events) == (datetime(1970, 1, 1, tzinfo=UTC), 3)
    assert any("LA308" in note for note in found.notes)
    assert store.search(LogQuery(EVER, parse("level:error")), limit=5).total == 1


def test_records_without_a_time_are_counted_apart(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(line(0) + '\n{"message": "no time", "level": "INFO"}\n' + line(1) + "\n")
    assert opened(tmp_path / "a.ndjson").describe().untimed == 1


def test_a_field_that_comes_late_is_found(tmp_path: Path) -> None:
    lines = [line(n, noise="x" * 400) for n in range(5_000)] + [line(5_000, late={"deep": "treasure"}, code="E7")]
    (tmp_path / "a.ndjson").write_text("\n".join(lines) + "\n")
    store = opened(tmp_path / "a.ndjson")
    assert store.search(LogQuery(EVER, parse("code:E7")), limit=5).total == 1
    assert "treasure" in str(dict(store.search(LogQuery(EVER, parse("code:E7")), limit=1).records[0].fields))


def test_values_of_several_types_in_one_field_are_all_kept(tmp_path: Path) -> None:
    values = [{"a": 1}, "text", 7, True, ["x", "y"], None]
    (tmp_path / "a.ndjson").write_text("".join(line(n, odd=value) + "\n" for n, value in enumerate(values)))
    store = opened(tmp_path / "a.ndjson")
    for query, count in (("odd.a:1", 1), ("odd:text", 1), ("odd:7", 1), ("odd:true", 1), ("odd:y", 1)):
        assert store.search(LogQuery(EVER, parse(query)), limit=5).total == count, query


def test_an_object_that_is_a_text_in_one_late_record_is_kept(tmp_path: Path) -> None:
    lines = [line(n, noise="x" * 800, http={"code": "A"}) for n in range(4_000)]
    lines[1_234] = line(1_234, http="odd")
    (tmp_path / "a.ndjson").write_text("\n".join(lines) + "\n")
    store = opened(tmp_path / "a.ndjson")
    assert store.search(LogQuery(EVER, parse("http:odd")), limit=5).total == 1
    assert store.search(LogQuery(EVER, parse("http.code:A")), limit=5).total == 3_999


def test_keys_that_differ_only_in_case_are_both_kept(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(line(0, Code="A", code="b") + "\n" + line(1, Code="C") + "\n")
    store = opened(tmp_path / "a.ndjson")
    assert store.search(LogQuery(EVER, parse("Code:A")), limit=5).total == 1
    assert store.search(LogQuery(EVER, parse("code_2:b")), limit=5).total == 1


def test_blank_lines_do_not_shift_the_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(line(0) + "\n\n\n" + line(1) + "\n")
    ids = [record.id.id for record in opened(tmp_path / "a.ndjson").search(LogQuery(EVER), limit=9).records]
    assert ids == ["4", "1"]


def test_names_with_wildcards_are_names(tmp_path: Path) -> None:
    (tmp_path / "a[1]*.ndjson").write_text(line(0) + "\n")
    (tmp_path / "a1x.ndjson").write_text(line(1) + "\n")
    assert messages(opened(tmp_path / "a[1]*.ndjson")) == ["hello 0"]


def test_standard_input_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(line(1) + "\n")
    store = opened("-", tmp_path / "a.ndjson", stdin=gzip.compress((line(0) + "\n").encode()))
    assert messages(store) == ["hello 0", "hello 1"]
    assert store.describe().sources[0].name == "stdin"


def test_a_json_array_and_a_search_answer_are_read(tmp_path: Path) -> None:
    records = [json.loads(line(n)) for n in range(3)]
    (tmp_path / "a.json").write_text(json.dumps(records, indent=1))
    (tmp_path / "b.json").write_text(json.dumps({"hits": {"hits": [{"_id": "1", "_source": records[0]}]}}))
    assert opened(tmp_path / "a.json").describe().events == 3
    assert messages(opened(tmp_path / "b.json")) == ["hello 0"]


def test_times_without_a_zone_are_read_in_the_zone_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("2026-11-30 14:00:00,250 ERROR [main] com.acme.Pay - broken\n")
    record = opened(tmp_path / "a.log", zone="Asia/Shanghai").search(LogQuery(EVER), limit=1).records[0]
    assert record.timestamp == START + timedelta(milliseconds=250)
    assert (record.severity, record.message, record.logger) == (Severity.ERROR, "broken", "com.acme.Pay")


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-11-30T06:00:00Z",
        "2026-11-30T14:00:00+08:00",
        "2026-11-30T14:00:00.000+0800",
        "2026-11-30 06:00:00",
        "2026-11-30 06:00:00,000",
        "30/Nov/2026:14:00:00 +0800",
        1796018400,
        1796018400.0,
        1796018400000,
        1796018400000000,
        1796018400000000000,
    ],
)
def test_stamps_of_all_shapes_are_the_same_instant(tmp_path: Path, stamp: object) -> None:
    (tmp_path / "a.ndjson").write_text("".join(json.dumps({"time": stamp, "msg": f"m {n}"}) + "\n" for n in range(3)))
    assert opened(tmp_path / "a.ndjson").describe().first == START


def test_the_database_reaches_nothing_after_loading(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text(line(0) + "\n")
    store = opened(tmp_path / "a.ndjson")
    from logagent.errors import StoreQueryError  # noqa: PLC0415

    for sql in (f"SELECT * FROM read_text('{tmp_path}/a.ndjson')", "SET enable_external_access=true"):
        with pytest.raises(StoreQueryError):
            store.run("probe", sql, [])


def test_a_list_of_one_value_is_that_value_and_a_level_too(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    records = [
        line(0, level=["error"], tags=["a"]),
        line(1, level=["info"], tags=["a", "b"]),
        line(2, level="error", tags="[a] no list"),
    ]
    path.write_text("\n".join(records))
    store = opened(path)
    assert messages(store, "level:error") == ["hello 0", "hello 2"]
    assert store.search(LogQuery(EVER), limit=1, order="oldest").records[0].severity is Severity.ERROR
    assert store.search(LogQuery(EVER), limit=1, order="oldest").records[0].level == "error"
    known = store.describe().fields
    found = store.search(LogQuery(EVER, parse("tags:a", known)), limit=9)
    assert found.total == 2
    assert store.search(LogQuery(EVER, parse("tags:b", known)), limit=9).records[0].fields["tags"] == '["a","b"]'


def test_lines_that_end_with_a_carriage_return_alone_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"2026-11-30 06:00:00 INFO one\r2026-11-30 06:00:01 ERROR two\r")
    assert messages(opened(path)) == ["one", "two"]
    path.write_bytes("\r".join([line(0), line(1)]).encode())
    assert messages(opened(path)) == ["hello 0", "hello 1"]


def test_a_table_with_a_header_row_is_read_as_records(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes(
        b"\xef\xbb\xbfTime,Level,Service,Message,Status\r\n"
        b'2026-11-30 06:00:00,INFO,web,"GET ""/cart"", ok",200\r\n'
        b'2026-11-30 06:00:01,ERROR,pay,"refused\r\n  at a.b(C.java:1)",503\r\n'
    )
    store = opened(path)
    assert "CSV" in store.describe().sources[0].note
    assert messages(store) == ['GET "/cart", ok', "refused\n  at a.b(C.java:1)"]
    failed = store.search(LogQuery(EVER, parse("level:error service:pay status:503")), limit=5).records
    assert [(one.timestamp, one.severity) for one in failed] == [(START + timedelta(seconds=1), Severity.ERROR)]


def test_keys_that_differ_only_in_case_from_line_to_line_are_one_field(tmp_path: Path) -> None:
    """Two programs write into one file, each in its own spelling; one line has both."""
    path = tmp_path / "two.log"
    rows: list[dict[str, object]] = []
    for second in range(60):
        at = f"2026-05-01T10:00:{second:02}Z"
        if second % 2:
            rows.append({"timestamp": at, "level": "info", "message": "fine", "http": {"status": 200}})
        else:
            rows.append({"Timestamp": at, "Level": "Error", "Message": "disk full", "http": {"Status": 503}})
    rows.append({"timestamp": "2026-05-01T10:01:00Z", "level": "info", "message": "both", "Message": "kept too"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    store = opened(path)
    counted = [
        store.count([Measure(LogQuery(EVER, parse(text)))]).values[0].value
        for text in ("", "level:error", '"disk full"', "status:503", '"both"')
    ]
    kept = store.search(LogQuery(EVER, parse("both")), limit=1).records[0]
    store.close()
    assert counted == [61, 30, 30, 30, 1]
    assert kept.fields["Message_2"] == "kept too"
    assert kept.id.id == "61"


def test_a_late_key_in_another_spelling_is_found_in_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "late.log"
    line = '{"timestamp":"2026-05-01T10:00:00Z","level":"info","message":"fine and as it should be, number %d"}\n'
    with path.open("w", encoding="utf-8") as file:
        file.writelines(line % number for number in range(30_000))
        file.write('{"timestamp":"2026-05-01T10:00:01Z","Level":"Error","Message":"needle"}\n')
    store = opened(path)
    found = store.search(LogQuery(EVER, parse("level:error")), limit=5)
    store.close()
    assert [(one.message, one.id.id) for one in found.records] == [("needle", "30001")]


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_a_zstd_that_breaks_off_gives_what_came_before_and_says_so(tmp_path: Path, share: float) -> None:
    import duckdb  # noqa: PLC0415 - only to write it

    duckdb.execute(
        "COPY (SELECT '2026-11-30T06:00:00Z' AS timestamp, 'hello ' || hash(i) AS message FROM range(60000) t(i)) "
        f"TO '{tmp_path}/x' (FORMAT json, COMPRESSION zstd)"
    )
    whole = (tmp_path / "x").read_bytes()
    path = tmp_path / "app.log.zst"
    path.write_bytes(whole[: int(len(whole) * share)])
    store = opened(path)
    found = store.search(LogQuery(EVER, parse("")), limit=1, exact_total=True)
    notes = store.describe().completeness
    store.close()
    assert (found.total == 60_000) == (share == 1.0)
    assert notes.complete == (share == 1.0)


def test_three_spellings_in_one_record_are_three_fields(tmp_path: Path) -> None:
    path = tmp_path / "three.log"
    path.write_text(line(0, Code="a", code="b", CODE="c") + "\n", encoding="utf-8")
    store = opened(path)
    kept = store.search(LogQuery(EVER, parse("")), limit=1).records[0]
    store.close()
    assert sorted(str(value) for name, value in kept.fields.items() if name.lower().startswith("code")) == [
        "a",
        "b",
        "c",
    ]
