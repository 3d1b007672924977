# ruff: noqa: ARG001 - the fixture `log` makes app.log
"""What the commands print when all is well: the stdout contract, formats, files, streams, exit statuses."""

import gzip
import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def test_diagnose_prints_the_report_on_stdout_and_progress_on_stderr(cli: Cli, log: Path) -> None:
    result = cli("diagnose", "app.log", "--no-llm")
    assert result.code == 0
    assert "pay" in result.out
    assert "1/8 scope" not in result.out
    assert result.err.startswith("app.log\n")
    assert " 1/8 scope      ok " in result.err
    assert "\x1b" not in result.out + result.err


def test_quiet_leaves_stderr_empty(cli: Cli, log: Path) -> None:
    result = cli("diagnose", "app.log", "--no-llm", "-q")
    assert result.code == 0
    assert result.err == ""


def test_json_is_one_document_in_one_line(cli: Cli, log: Path) -> None:
    result = cli("diagnose", "app.log", "--no-llm", "--json", "-q")
    document = json.loads(result.out)
    assert document["kind"] == "diagnosis"
    assert document["window"]["display_time_zone"] == "Asia/Shanghai"
    assert result.out.endswith("}\n")


def test_progress_json_is_events_as_lines(cli: Cli, log: Path) -> None:
    result = cli("diagnose", "app.log", "--no-llm", "--progress", "json")
    events = [json.loads(line) for line in result.err.splitlines()]
    assert {"step_started", "step_finished"} <= {event["event"] for event in events}


def test_files_are_written_whole_for_this_user_only_and_stdout_stays_empty(cli: Cli, log: Path) -> None:
    result = cli("diagnose", "app.log", "--no-llm", "-q", "-o", "r.json", "-o", "r.txt")
    assert (result.code, result.out) == (0, "")
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["kind"] == "diagnosis"
    assert "pay" in Path("r.txt").read_text(encoding="utf-8")
    assert stat.S_IMODE(Path("r.json").stat().st_mode) == 0o600
    assert sorted(path.name for path in Path().iterdir()) == ["app.log", "r.json", "r.txt"]


def test_standard_input_and_gzip_and_a_pipe_are_sources(cli: Cli, log: Path) -> None:
    content = log.read_bytes()
    Path("app.log.gz").write_bytes(gzip.compress(content))
    counts = [
        json.loads(result.out)["total"]
        for result in (
            cli("logs", "-", "--json", "-q", stdin=content),
            cli("logs", "app.log.gz", "--json", "-q"),
            cli("logs", "app.log", "--json", "-q"),
        )
    ]
    assert counts == [420, 420, 420]


def test_exit_code_says_whether_an_anomaly_was_found(cli: Cli, log: Path) -> None:
    assert cli("diagnose", "app.log", "--no-llm", "-q", "--exit-code").code == 10
    quiet = "\n".join(line for line in log.read_text(encoding="utf-8").splitlines() if "error" not in line)
    Path("quiet.log").write_text(quiet + "\n", encoding="utf-8")
    assert cli("diagnose", "quiet.log", "--no-llm", "-q", "--exit-code").code == 0


def test_options_stand_before_or_after_the_command(cli: Cli, log: Path) -> None:
    before = cli("--tz", "utc", "-q", "--lang=zh-CN", "logs", "app.log", "-n", "1")
    after = cli("logs", "app.log", "-n", "1", "--tz", "utc", "-q", "--lang", "zh-CN")
    assert before == after
    assert before.out.startswith("2026-11-30 14:29:50")


def test_logs_are_in_time_order_in_the_display_zone(cli: Cli, log: Path) -> None:
    newest = cli("logs", "app.log", "-n", "3", "-q").out.splitlines()
    oldest = cli("logs", "app.log", "-n", "3", "-q", "--order", "oldest").out.splitlines()
    assert newest[-1].startswith("2026-11-30 22:29:50")
    assert oldest[0].startswith("2026-11-30 22:00:00")
    times = [line[:23] for line in newest]
    assert times == sorted(times)


def test_logs_obey_window_service_and_filter(cli: Cli, log: Path) -> None:
    lines = cli("logs", "app.log", "-q", "-S", "pay", "--since", "22:28", "-f", "level>=error").out.splitlines()
    assert len(lines) == 12
    assert all("ERROR  pay" in line for line in lines)


def test_logs_mask_secrets_and_controls(cli: Cli) -> None:
    row = {
        "@timestamp": "2026-11-30T14:00:00Z",
        "message": "login password=hunter2 \x1b]52;c;x\x07 for bob@example.com",
    }
    Path("a.ndjson").write_text(json.dumps(row) + "\n", encoding="utf-8")
    shown = cli("logs", "a.ndjson", "-q").out
    assert "hunter2" not in shown
    assert "bob@example.com" not in shown
    assert "\x1b" not in shown


def test_logs_as_json_lines(cli: Cli, log: Path) -> None:
    rows = [json.loads(line) for line in cli("logs", "app.log", "-q", "-F", "jsonl", "-n", "2").out.splitlines()]
    assert {row["service.name"] for row in rows} <= {"pay", "web"}


def test_patterns_show_what_is_new(cli: Cli, log: Path) -> None:
    table = cli("patterns", "app.log", "-q", "--only", "new").out.splitlines()
    assert table[0].split() == ["change", "now", "usual", "first", "service", "text"]
    assert table[1].startswith("NEW")
    assert "Connection refused" in table[1]
    found = json.loads(cli("patterns", "app.log", "-q", "--json", "--only", "new,spiking").out)["patterns"]
    assert all(one["change"] in ("new", "spiking") for one in found)


def test_a_case_is_shown_verified_listed_and_removed(
    cli: Cli, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = json.loads(cli("diagnose", "app.log", "--no-llm", "-q", "--json").out)
    monkeypatch.chdir(tmp_path)  # the case knows where its logs are
    assert json.loads(cli("show", "last", "--json").out)["id"] == first["id"]
    item = first["evidence"][0]["id"]
    assert item in cli("show", "last", item).out
    total = len(first["evidence"])
    assert cli("verify", "last").out.startswith(f"{total} of {total} verified")
    assert "已核实" in cli("verify", first["id"], "--lang", "zh-CN").out
    assert cli("cases", "list").out.startswith(first["id"])
    assert cli("logs", "--case", "last", item, "-q").code in (0, 5)
    assert cli("logs", "--case", "last", "E999", "-q").code == 2
    assert cli("cases", "rm", first["id"]).code == 0
    assert cli("cases", "list").out == ""


def test_no_save_leaves_no_case(cli: Cli, log: Path) -> None:
    assert cli("diagnose", "app.log", "--no-llm", "-q", "--no-save").code == 0
    assert json.loads(cli("cases", "list", "--json").out)["cases"] == []


def test_a_run_that_is_saved_deletes_the_cases_that_are_too_old(cli: Cli, log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "logagent" / "cases"
    for _ in range(2):
        (folder / "20200101-0000-abcd").mkdir(parents=True)
        assert cli("diagnose", "app.log", "--no-llm", "-q").code == 0
        assert not (folder / "20200101-0000-abcd").exists()
    assert len(json.loads(cli("cases", "list", "--json").out)["cases"]) == 2


def test_dry_run_opens_nothing(cli: Cli) -> None:
    plan = json.loads(cli("diagnose", "--es-url", "http://127.0.0.1:9", "--dry-run", "--json", "--since", "2h").out)
    assert plan["kind"] == "plan"
    assert plan["source"] == "http://127.0.0.1:9"
    assert plan["since"] == "2h"


def test_dry_run_tells_the_plan_in_words(cli: Cli, log: Path) -> None:
    shown = cli("diagnose", "app.log", "--dry-run", "--no-llm", "--since", "10m").out
    assert "window         10m to the newest event" in shown
    assert "services       all" in shown
    assert "each cited figure again" in shown
    assert "True" not in shown
    cluster = cli("diagnose", "--es-url", "http://127.0.0.1:9", "--dry-run", "--since", "2026-11-30T10:00Z").out
    assert "window         2026-11-30 18:00:00 to " in cluster


def test_debug_writes_the_events_to_a_file(cli: Cli, log: Path) -> None:
    result = cli("diagnose", "app.log", "--no-llm", "--debug")
    named = next(line for line in result.err.splitlines() if line.startswith("debug log: "))
    file = Path(named.removeprefix("debug log: "))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text(encoding="utf-8").splitlines()[0])["event"]


def test_the_demo_finds_the_exhausted_pool_and_says_how_to_go_on(cli: Cli) -> None:
    result = cli("demo")
    assert result.code == 0
    assert "payment-api" in result.out
    assert "pool" in result.out.lower()
    assert result.err.splitlines()[0].startswith("demo: order-outage")
    assert "logagent verify last" in result.err


def test_the_answer_has_the_language_of_the_question(cli: Cli, log: Path) -> None:
    chinese = json.loads(cli("ask", "pay 最近怎么了", "app.log", "--no-llm", "-q", "--json").out)
    english = json.loads(cli("ask", 'what is "超时" in pay', "app.log", "--no-llm", "-q", "--json", "--tz", "utc").out)
    forced = json.loads(cli("ask", "what broke", "app.log", "--no-llm", "-q", "--json", "--lang", "zh-CN").out)
    assert [one["language"] for one in (chinese, english, forced)] == ["zh-CN", "en", "zh-CN"]
    assert chinese["request"]["command"] == "ask"


def test_doctor_checks_a_file_and_the_terminal(cli: Cli, log: Path) -> None:
    result = cli("doctor", "app.log", "--only", "config,es,terminal")
    assert "terminal" in result.out
    assert " ok " in result.out
    checks = json.loads(cli("doctor", "app.log", "--json").out)["checks"]
    assert {check["word"] for check in checks} <= {"ok", "warn", "fail", "skip"}


def test_doctor_exits_with_the_status_of_the_first_failure(cli: Cli) -> None:
    result = cli("doctor", "--only", "es", "--es-url", "http://127.0.0.1:9")
    assert result.code == 3
    assert "fail" in result.out
    assert "LA101" in result.out


def test_doctor_prints_the_role_to_ask_for(cli: Cli) -> None:
    role = json.loads(cli("doctor", "--print-role", "logs-pay-*").out)
    assert role["role_descriptors"]["logagent_ro"]["indices"][0]["names"] == ["logs-pay-*"]


def test_colour_follows_option_then_environment(cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cli("diagnose", "nope.log").err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in cli("diagnose", "nope.log").err
    assert "\x1b[" in cli("diagnose", "nope.log", "--color", "always").err
    assert "\x1b[" not in cli("diagnose", "nope.log", "--color", "always", "--no-color").err


BROKEN = {
    "binary": (bytes(range(256)) * 40, 3, "LA307"),
    "empty": (b"", 5, ""),
    "blank": (b"\n\n\n", 5, ""),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_file_without_logs_is_an_error_with_a_way_on(cli: Cli, kind: str) -> None:
    content, status, code = BROKEN[kind]
    Path("bad.log").write_bytes(content)
    result = cli("diagnose", "bad.log", "--no-llm", "-q")
    assert (result.code, result.out) == (status, "")
    assert result.err.startswith(code)
    assert "Traceback" not in result.err


def test_a_truncated_gzip_is_read_as_far_as_it_goes(cli: Cli, log: Path) -> None:
    whole = gzip.compress(log.read_bytes() * 40)
    Path("cut.log.gz").write_bytes(whole[: len(whole) // 2])
    result = cli("diagnose", "cut.log.gz", "--no-llm", "-q", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["data_quality"]["caveats"]


def test_broken_lines_and_very_long_lines_do_not_hide_the_rest(cli: Cli, log: Path) -> None:
    lines = log.read_text(encoding="utf-8").splitlines()
    lines.insert(100, '{"@timestamp": "2026-11-30T14:0')
    lines.insert(200, json.dumps({"@timestamp": "2026-11-30T14:15:00Z", "message": "x" * 10_000_000}))
    Path("bad.ndjson").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = cli("diagnose", "bad.ndjson", "--no-llm", "-q", "--json")
    assert result.code == 0, result.err
    assert "Connection refused" in result.out
    assert len(result.out) < 1_000_000


def test_lines_without_any_time_are_read_in_their_order(cli: Cli) -> None:
    Path("plain.log").write_text(
        "".join(f"step {n} done\n" for n in range(200)) + "ERROR disk full\n", encoding="utf-8"
    )
    result = cli("diagnose", "plain.log", "--no-llm", "-q", "--json")
    assert result.code == 0, result.err
    json.loads(result.out)
