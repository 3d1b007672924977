"""The command as a process: interrupts, broken pipes, encodings, crashes."""

import gzip
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from logagent.settings import environment

ROOT = Path(__file__).resolve().parents[2]
LINE = b'{"@timestamp":"2026-11-30T14:00:00Z","log.level":"error","service.name":"pay","message":"boom"}\n'


def environ(**more: str) -> dict[str, str]:
    keep = {name: environment()[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TZ")}
    return {**keep, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **more}


def start(*arguments: str, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "logagent", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ(**more),
    )


def read_until(process: subprocess.Popen[bytes], marker: bytes) -> bytes:
    """Read stderr until the marker shows that the run has begun."""
    assert process.stderr
    seen = b""
    while marker not in seen:
        ready, _, _ = select.select([process.stderr], [], [], 30)
        assert ready, seen
        chunk = os.read(process.stderr.fileno(), 4096)
        assert chunk, seen
        seen += chunk
    return seen


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_before_the_first_finding_leaves_stdout_empty(sent: signal.Signals, status: int) -> None:
    process = start("diagnose", "-", "--no-llm")
    read_until(process, b"-\n")  # the title; the run now waits for the pipe
    process.send_signal(sent)
    out, err = process.communicate(timeout=30)
    assert process.returncode == status
    assert out == b""
    assert b"Traceback" not in err


def test_a_reader_that_goes_away_is_no_error(log: Path) -> None:
    process = start("logs", str(log), "-n", "400", "-q", "--no-pager")
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    err = process.stderr.read()
    assert process.wait(timeout=30) == 0
    assert err == b""
    process.stderr.close()
    assert process.stdin
    process.stdin.close()


@pytest.mark.parametrize("encoding", ["gbk", "cp1252", "ascii", "utf-8"])
def test_no_encoding_of_the_terminal_ends_a_run(log: Path, encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "logagent", "diagnose", str(log), "--no-llm", "--lang", "zh-CN"],
        capture_output=True,
        check=False,
        env=environ(PYTHONIOENCODING=encoding),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    text = done.stdout.decode(encoding)
    assert "pay" in text
    if encoding in ("gbk", "utf-8"):
        assert re.search(r"[\u4e00-\u9fff]", text)


def test_a_bug_becomes_la801_and_a_crash_file_without_log_text(log: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    (broken / "orjson").mkdir(parents=True)
    (broken / "orjson" / "__init__.py").write_text("raise RuntimeError('secret log text')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "logagent", "diagnose", str(log), "--no-llm", "-q"],
        capture_output=True,
        check=False,
        env=environ(PYTHONPATH=f"{broken}{os.pathsep}{ROOT}"),
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"LA801 error: ")
    assert b"Traceback" not in done.stderr
    (crash,) = (tmp_path / "state" / "logagent").glob("crash-*.log")
    text = crash.read_text(encoding="utf-8")
    assert "RuntimeError" in text
    assert "secret log text" not in text
    assert str(tmp_path) not in text


def test_the_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom logagent.cli._app import run\nrun(['--help'])\n"
        "print(sorted(set(sys.modules) & {'pydantic', 'duckdb', 'httpx', 'rich', 'elastic_transport', 'orjson'}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=environ(), timeout=60
    )
    assert done.stderr.strip() == "[]"


def test_a_line_from_a_pipe_is_diagnosed() -> None:
    process = start("diagnose", "-", "--no-llm", "-q", "--json")
    out, err = process.communicate(LINE * 30, timeout=60)
    assert process.returncode == 0, err
    assert out.startswith(b"{")


@pytest.mark.parametrize("command", ["patterns", "logs", "doctor"])
def test_a_terminated_command_leaves_no_unpacked_log_behind(command: str, tmp_path: Path) -> None:
    log = tmp_path / "big.log.gz"
    with gzip.open(log, "wb", compresslevel=1) as file:
        file.writelines(LINE for _ in range(400_000))
    folder = tmp_path / "scratch"
    folder.mkdir()
    process = start(command, str(log), TMPDIR=str(folder))
    end = time.monotonic() + 30
    while not any(folder.glob("logagent-*/*")) and time.monotonic() < end:
        threading.Event().wait(0.01)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert list(folder.iterdir()) == []
