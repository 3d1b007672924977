"""What the command line refuses, how it says so, and that stdout stays empty."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Result


def refused(result: Result, code: str, status: int) -> None:
    assert result.code == status, result
    assert result.out == ""
    assert result.err.startswith(f"{code} error: "), result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "status", "told"),
    [
        (["explan"], "LA702", 2, "did you mean explain?"),
        (["frobnicate"], "LA702", 2, "there is no command frobnicate"),
        (["--snice", "30m", "diagnose"], "LA702", 2, "there is no option --snice"),
        (["diagnose", "--snice", "30m"], "LA702", 2, "did you mean --since?"),
        (["diagnose", "--effort", "huge", "x.log"], "LA702", 2, "quick"),
        (["diagnose", "--max-requests", "0"], "LA702", 2, "0"),
        (["diagnose", "--lang", "tlh"], "LA702", 2, "one of auto, en, zh-CN"),
        (["diagnose", "--color", "blue"], "LA702", 2, "one of auto, always, never"),
        (["diagnose", "--tz", "Mars/Base"], "LA702", 2, "no time zone Mars/Base"),
        (["diagnose", "--since"], "LA702", 2, "--since"),
        (["diagnose", "--since", ""], "LA702", 2, "--since is empty"),
        (["logs", "--until", " "], "LA702", 2, "--until is empty"),
        (["patterns", "--time-shift", ""], "LA702", 2, "--time-shift is empty"),
        (["ask"], "LA702", 2, "QUESTION"),
        (["ask", "  "], "LA702", 2, "empty"),
        (["explain", "LA999"], "LA702", 2, "there is no code LA999"),
        (["diagnose"], "LA705", 2, "logagent demo"),
        (["ask", "what broke?"], "LA705", 2, "logagent demo"),
        (["patterns"], "LA705", 2, "logagent demo"),
        (["diagnose", "--es-url", "es1:9200"], "LA702", 2, "http"),
        (["diagnose", "--es-url", "https://me:secret@es1:9200"], "LA706", 2, "holds a secret"),
        (["diagnose", "--api-key-file", "none.key", "--es-url", "https://es1"], "LA702", 2, "no such file"),
        (["diagnose", "--profile", "prod"], "LA702", 2, "no such profile"),
        (["show"], "LA707", 2, "no case last"),
        (["show", "20261130-1431-7f3b"], "LA707", 2, "no case 20261130-1431-7f3b"),
        (["verify", "nope"], "LA707", 2, "no case nope"),
        (["cases", "rm", "20261130-1431-7f3b"], "LA707", 2, "no case"),
        (["ask", "why?", "--case", "last"], "LA707", 2, "no case last"),
        (["cases", "rm", "../../etc"], "LA707", 2, "no case"),
        (["patterns", "--only", "odd", "x"], "LA702", 2, "vanished"),
        (["doctor", "--only", "everything"], "LA702", 2, "config"),
        (["doctor", "--show-fingerprint"], "LA705", 2, ""),
    ],
)
def test_wrong_usage_is_refused_with_its_code_and_a_way_on(
    cli: Cli, arguments: list[str], code: str, status: int, told: str
) -> None:
    result = cli(*arguments)
    refused(result, code, status)
    assert told in result.err
    assert "logagent " in result.err.splitlines()[-1]
    assert "secret@" not in result.err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nope.log", "no such file"),
        ("./nope", "no such file"),
        ("/no/such/app.ndjson", "no such file"),
        (".", "is a directory"),
        ("a\x1b[31m/b.log", "no such file"),
        ("x" * 300 + ".log", "file name too long"),
        ("nul\x00.log", "not a file name"),
    ],
)
def test_a_file_that_cannot_be_read_is_la307(cli: Cli, name: str, told: str) -> None:
    result = cli("diagnose", name)
    refused(result, "LA307", 3)
    assert told in result.err
    assert "\x1b" not in result.err
    assert "logagent diagnose FILE" in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_told_with_its_mode(cli: Cli, log: Path) -> None:
    log.chmod(0)
    result = cli("diagnose", str(log))
    refused(result, "LA307", 3)
    assert "mode 0000" in result.err
    assert f"sudo cat {log}" in result.err


def test_standard_input_can_be_read_once_only(cli: Cli, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    result = cli("diagnose", "-", str(pipe), stdin=b"x\n")
    refused(result, "LA307", 3)
    assert "only one stream" in result.err


@pytest.mark.parametrize(
    "arguments",
    [["--since", "14.05"], ["--until", "soon"], ["--at", "25:61"], ["--baseline", "14:00..13"], ["--time-shift", "8"]],
)
def test_a_time_that_cannot_be_read_is_la701(cli: Cli, log: Path, arguments: list[str]) -> None:
    result = cli("diagnose", str(log), "-q", *arguments)
    refused(result, "LA701", 2)
    assert "昨晚10点" in result.err


def test_a_filter_that_cannot_be_read_is_la704_with_its_position(cli: Cli, log: Path) -> None:
    result = cli("diagnose", str(log), "-q", "-f", "message:timeot~2")
    refused(result, "LA704", 2)
    assert "~" in result.err


def test_an_error_is_one_json_line_with_json(cli: Cli) -> None:
    for arguments in (
        ["diagnose", "nope.log", "--json"],
        ["--json", "diagnose", "nope.log"],
        ["diagnose", "nope.log", "-F", "json"],
    ):
        result = cli(*arguments)
        assert (result.code, result.out) == (3, "")
        document = json.loads(result.err)
        assert document["kind"] == "error"
        assert document["code"] == "LA307"
        assert document["exit_code"] == 3
        assert document["remedies"]
    usage = json.loads(cli("diagnose", "--json", "--snice").err)
    assert usage["code"] == "LA702"
    assert json.loads(cli("explan", "--json").err)["code"] == "LA702"


def test_json_and_another_format_exclude_each_other(cli: Cli, log: Path) -> None:
    for command in ("diagnose", "logs"):
        result = cli(command, log.name, "--json", "--format", "md")
        assert (result.code, result.out) == (2, "")
        assert json.loads(result.err)["title"] == "--json and --format md exclude each other"
    assert cli("diagnose", log.name, "--no-llm", "-q", "--json", "--format", "json").code == 0


def test_an_empty_window_of_several_files_names_each_file_as_a_word_of_the_remedy(cli: Cli, log: Path) -> None:
    Path("my other.log").write_text(log.read_text())
    window = ("--since", "2026-11-29T14:00:00Z", "--until", "2026-11-29T15:00:00Z")
    result = cli("diagnose", "app.log", "my other.log", "--no-llm", "-q", *window)
    refused(result, "LA303", 5)
    assert "logagent diagnose app.log 'my other.log' --since 2h" in result.err


def test_a_model_that_is_required_and_not_configured_promises_no_report(cli: Cli, log: Path) -> None:
    result = cli("diagnose", log.name, "--require-llm", "-q")
    refused(result, "LA501", 6)
    assert "no model configured, and --require-llm asks for one" in result.err
    assert "showing" not in result.err
    assert "要求有模型" in cli("diagnose", log.name, "--require-llm", "-q", "--lang", "zh-CN").err


def test_errors_speak_chinese_with_the_same_code_and_commands(cli: Cli) -> None:
    english, chinese = cli("diagnose", "nope.log"), cli("--lang", "zh-CN", "diagnose", "nope.log")
    assert chinese.err.startswith("LA307 错误：无法读取 nope.log")
    assert "  建议  " in chinese.err
    assert english.err.splitlines()[-1].strip() == chinese.err.splitlines()[-1].strip()
    assert cli("diagnose", "--snice", "--lang=zh-CN").err.startswith("LA702 错误：")


def test_the_locale_chooses_the_language(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert cli("diagnose", "nope.log").err.startswith("LA307 错误：")
    monkeypatch.setenv("LOGAGENT_LANG", "en")
    assert cli("diagnose", "nope.log").err.startswith("LA307 error:")


def test_a_broken_configuration_is_told_before_anything_is_opened(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "logagent"
    folder.mkdir()
    (folder / "config.toml").write_text('[es]\nurls = "https://a"\n', encoding="utf-8")
    result = cli("diagnose", "nope.log")
    refused(result, "LA702", 2)
    assert "config.toml line 2: es.urls is not a setting" in result.err
    assert "did you mean es.url?" in result.err


def test_a_project_file_from_a_checkout_is_not_trusted_with_urls(cli: Cli) -> None:
    Path(".logagent.toml").write_text('[es]\nurl = "https://evil.example"\n', encoding="utf-8")
    refused(cli("diagnose"), "LA703", 2)


def test_a_key_is_not_sent_over_plain_http_to_another_host(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGAGENT_ES_API_KEY", "c2VjcmV0")
    result = cli("diagnose", "-q", "--es-url", "http://es.example:9200")
    refused(result, "LA107", 2)
    assert "c2VjcmV0" not in result.err


def test_a_server_that_is_not_there_is_la101(cli: Cli) -> None:
    result = cli("diagnose", "-q", "--es-url", "http://127.0.0.1:9")
    refused(result, "LA101", 3)
    assert "curl -sS -m 5 http://127.0.0.1:9" in result.err


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (["-o", "none/r.json"], "there is no folder none"),
        (["-o", "."], "is a directory"),
        (["-F", "docx"], "there is no format"),
        (["-o", "r.csv"], "there is no format"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_run(
    cli: Cli, log: Path, output: list[str], told: str
) -> None:
    result = cli("diagnose", str(log), *output)
    refused(result, "LA702", 2)
    assert told in result.err
    assert "1/8" not in result.err


def test_logagent_alone_is_a_short_help_with_two_examples(cli: Cli) -> None:
    result = cli()
    assert result.code == 0
    assert "logagent demo" in result.out
    assert "kubectl logs" in result.out
    assert len(result.out.splitlines()) == 12
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments", [["diagnose", "--snice", "-h"], ["--help", "diagnose"], ["-q", "diagnose", "nope.log", "--help"]]
)
def test_help_wins_over_everything_else(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert result.code == 0
    assert "Usage: logagent diagnose" in result.out or "Examples" in result.out


@pytest.mark.parametrize(
    "command", ["demo", "diagnose", "ask", "patterns", "logs", "show", "verify", "cases", "doctor", "explain"]
)
def test_every_command_has_a_help_page_with_examples_first(cli: Cli, command: str) -> None:
    result = cli(command, "--help")
    assert result.code == 0
    assert result.out.index("Examples:") < result.out.index("--help")
    assert f"logagent {command}" in result.out
    assert cli(command, "--help", "--lang", "zh-CN").out.startswith("用法")


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version").out.startswith("logagent ")


@pytest.mark.parametrize("code", ["LA303", "la107"])
def test_a_code_is_explained_in_both_languages(cli: Cli, code: str) -> None:
    english, chinese = cli("explain", code), cli("explain", code, "--lang", "zh-CN")
    assert english.out.startswith(code.upper())
    assert "Exit status" in english.out
    assert "退出码" in chinese.out


def test_a_window_of_more_than_seven_days_is_said_where_nobody_can_be_asked(cli: Cli) -> None:
    told = cli("diagnose", "--es-url", "http://127.0.0.1:9", "--since", "9d")
    assert "this window spans 9 days" in told.err
    assert told.code == 3
    assert "spans" not in cli("diagnose", "--es-url", "http://127.0.0.1:9", "--since", "9d", "--yes").err
