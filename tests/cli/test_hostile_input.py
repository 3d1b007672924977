"""Input that no example shows: what breaks off, what is half text, what is no usable setting or output."""

import gzip
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import logagent
from tests.cli.conftest import Cli

RULE = ("--no-llm", "-q")


def records(count: int = 200) -> list[str]:
    return [
        json.dumps(
            {
                "@timestamp": f"2026-11-30T14:{i // 60:02d}:{i % 60:02d}Z",
                "log.level": "error" if i > count * 0.7 else "info",
                "service.name": "pay",
                "message": f"Connection refused: db:5432 attempt={i}" if i > count * 0.7 else f"charged order={i}",
            }
        )
        for i in range(count)
    ]


def test_a_gzip_stream_that_breaks_off_is_partial_data_and_an_error_where_it_must_not_be(
    cli: Cli, tmp_path: Path
) -> None:
    whole = gzip.compress("\n".join(records(4000)).encode())
    file = tmp_path / "cut.gz"
    file.write_bytes(whole[: len(whole) // 2])
    told = cli("diagnose", str(file), *RULE, "--json")
    assert told.code == 0
    assert json.loads(told.out)["data_quality"]["complete"] is False
    refused = cli("diagnose", str(file), *RULE, "--strict")
    assert (refused.code, refused.out) == (7, "")
    assert "LA401" in refused.err


@pytest.mark.parametrize("at", [0, 50, 199])
def test_a_hole_of_zero_bytes_does_not_make_a_log_binary(cli: Cli, tmp_path: Path, at: int) -> None:
    lines = records()
    file = tmp_path / "hole.log"
    file.write_bytes(("\n".join(lines[:at]) + "\n").encode() + bytes(5000) + "\n".join(lines[at:]).encode() + b"\n")
    told = cli("logs", str(file), "-n", "500", "--json")
    assert told.code == 0
    assert told.out.count("charged order") + told.out.count("Connection refused") >= len(lines) - 1


def test_lines_of_another_format_behind_the_first_records_are_read(cli: Cli, tmp_path: Path) -> None:
    trace = "\njava.lang.IllegalStateException: no\n\tat a.B.c(B.java:1)"
    text = [f"2026-11-30 14:10:{i % 60:02d},{i:03d} ERROR [main] pool exhausted {i}{trace}" for i in range(100)]
    file = tmp_path / "mixed.log"
    file.write_text("\n".join([*records(500), *text]) + "\n", encoding="utf-8")
    told = cli("logs", str(file), "-n", "1000", "-f", "exhausted", "--json")
    assert told.code == 0
    assert told.out.count("pool exhausted") >= len(text)


@pytest.mark.parametrize("whole", [False, True])
def test_half_a_surrogate_pair_costs_one_character_and_not_the_record(cli: Cli, tmp_path: Path, whole: bool) -> None:
    lines = [line.replace("charged", "charged \\ud83d").replace("refused", "\\udc00 refused") for line in records()]
    file = tmp_path / "half.log"
    file.write_text("[" + ",\n".join(lines) + "]" if whole else "\n".join(lines), encoding="utf-8")
    told = cli("diagnose", str(file), *RULE, "--json")
    assert told.code == 0
    assert json.loads(told.out)["outcome"] in {"confirmed", "probable"}


def test_a_field_without_a_name_is_no_obstacle(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "nameless.log"
    file.write_text("\n".join(line[:-1] + ', "": 1, "a": {"": 2}}' for line in records()), encoding="utf-8")
    assert cli("diagnose", str(file), *RULE).code == 0


@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_an_output_that_is_no_plain_file_is_written_to_and_stays_what_it_is(
    cli: Cli, log: Path, tmp_path: Path, kind: str
) -> None:
    target, real = tmp_path / "out.json", tmp_path / "real.json"
    if kind == "link":
        real.write_text("old", encoding="utf-8")
        target.symlink_to(real)
        assert cli("diagnose", str(log), *RULE, "-o", str(target)).code == 0
        assert target.is_symlink()
        assert json.loads(real.read_text(encoding="utf-8"))
        return
    os.mkfifo(target)
    reader = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert cli("diagnose", str(log), *RULE, "-o", str(target)).code == 0
        assert stat.S_ISFIFO(target.stat().st_mode)
        assert json.loads(os.read(reader, 1 << 20))
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--es-url", "http://[::1"), "http:// or https:// URL"),
        (("--es-url", "http://a b:9200"), "http:// or https:// URL"),
        (("--es-url", "http://host:99999"), "http:// or https:// URL"),
        (("--llm-url", "http://[bad"), "http:// or https:// URL"),
        (("--baseline", "banana"), "there is no baseline 'banana'"),
        (("--since", "2026-11-30T15:00Z", "--until", "2026-11-30T14:00Z"), "the window ends before it starts"),
        (("--at", "9999-12-31T23:59:59Z"), "LA701"),
        (("--since", "0001-01-01", "--until", "0001-01-02"), "LA701"),
        (("-o", "x" * 300 + ".json"), "file name too long"),
        (("-o", ""), "name of the output file is empty"),
    ],
)
def test_what_cannot_work_is_refused_with_its_reason(cli: Cli, log: Path, options: tuple[str, ...], said: str) -> None:
    told = cli("diagnose", str(log), *RULE, *options)
    assert (told.code, told.out) == (2, "")
    assert said in told.err


@pytest.mark.parametrize("key", ["abc\n\x01d", "abc\u00e9", "abc def"])
def test_a_key_that_cannot_travel_is_refused_and_not_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("LOGAGENT_ES_API_KEY", key)
    told = cli("diagnose", *RULE, "--es-url", "http://127.0.0.1:9")
    assert (told.code, told.out) == (2, "")
    assert "character 4 cannot be part of a key" in told.err
    assert "abc" not in told.err


def test_a_filter_that_leaves_nothing_is_named_as_the_reason(cli: Cli, log: Path) -> None:
    told = cli("diagnose", str(log), *RULE, "-x", "_exists_:message")
    assert told.code == 5
    assert "none of them matches NOT _exists_:message" in told.err
    assert "logagent logs" in told.err


def test_a_state_folder_that_cannot_be_written_costs_the_case_and_not_the_answer(
    cli: Cli, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    told = cli("diagnose", str(log), "--no-llm")
    assert told.code == 0
    assert "Connection refused" in told.out
    assert "not kept as a case" in told.err


@pytest.mark.parametrize("columns", ["0", "1", "99999999", "9" * 5000, "\u00b2", "-5", "x"])
def test_no_value_of_columns_breaks_the_report(
    cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    told = cli("diagnose", str(log), *RULE)
    assert told.code == 0
    assert len(told.out) < 40_000


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process finds the package where this one did."""
    monkeypatch.setenv("PYTHONPATH", str(Path(logagent.__file__).parents[1]))


@pytest.mark.usefixtures("importable")
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no full device here")
@pytest.mark.parametrize(
    "command", [("--version",), ("diagnose", "--help"), ("explain", "LA303"), ("diagnose", "FILE")]
)
def test_a_disk_that_is_full_is_told_as_such(log: Path, command: tuple[str, ...]) -> None:
    given = [str(log) if one == "FILE" else one for one in command] + (["--no-llm", "-q"] if "FILE" in command else [])
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "logagent", *given], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "LA702 error:" in done.stderr
    assert "no space left on device" in done.stderr


@pytest.mark.usefixtures("importable")
def test_streams_that_are_closed_before_the_start_are_no_bug(log: Path) -> None:
    command = f'"{sys.executable}" -m logagent diagnose "{log}" --no-llm >&- 2>&- <&-'
    assert subprocess.run(["/bin/sh", "-c", command], check=False).returncode == 0


def test_a_report_never_replaces_the_log_it_is_made_from(cli: Cli, log: Path) -> None:
    before = log.read_bytes()
    told = cli("diagnose", str(log), *RULE, "-o", str(log.parent / "." / log.name))
    assert (told.code, told.out) == (2, "")
    assert "would replace the log file" in told.err
    assert log.read_bytes() == before


def test_one_file_under_two_names_is_counted_once(cli: Cli, log: Path) -> None:
    link = log.with_name("again.log")
    link.symlink_to(log)
    once, twice = cli("logs", str(log), "--json"), cli("logs", str(log), str(link), "--json")
    assert json.loads(once.out)["total"] == json.loads(twice.out)["total"]


def test_options_that_exclude_each_other_are_refused(cli: Cli, log: Path) -> None:
    told = cli("diagnose", str(log), "--no-llm", "--require-llm")
    assert (told.code, told.out) == (2, "")
    assert "exclude each other" in told.err
