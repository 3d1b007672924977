"""What a person sees: the region on a real terminal, driven through a pseudo-terminal and read by an emulator."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pyte
import pytest

from logagent.settings import environment

ROOT = Path(__file__).resolve().parents[2]
COLUMNS, ROWS = 100, 60


def on_terminal(*arguments: str, **more: str) -> tuple[int, list[str], bytes]:
    """Run with all three streams on a terminal: exit status, the screen at the end, and all bytes written."""
    keep = {name: environment()[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TZ")}
    env = {**keep, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "TERM": "xterm", "COLUMNS": str(COLUMNS), **more}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "logagent", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    written = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 60)
        assert ready, written
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        written += chunk
    os.close(ours)
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.ByteStream(screen).feed(written)
    return process.wait(timeout=60), [line.rstrip() for line in screen.display], written


@pytest.mark.usefixtures("log")
def test_the_progress_region_is_drawn_and_leaves_no_residue() -> None:
    status, screen, written = on_terminal("diagnose", "app.log", "--no-llm", "--no-save")
    assert status == 0
    assert b"1/8" in written
    assert not any("/8 " in line for line in screen)
    assert any("pay" in line for line in screen)
    assert screen[0] != "app.log"


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("choice", [{"TERM": "dumb"}, {"LOGAGENT_ACCESSIBLE": "1"}])
def test_a_terminal_that_cannot_or_should_not_move_gets_finished_lines(choice: dict[str, str]) -> None:
    status, screen, written = on_terminal("diagnose", "app.log", "--no-llm", "--no-save", "--color", "never", **choice)
    assert status == 0
    assert b"\x1b" not in written
    assert any(line.startswith(" 1/8 scope") for line in screen)


def test_standard_input_that_is_a_terminal_is_refused_at_once() -> None:
    status, screen, _ = on_terminal("diagnose", "-")
    assert status == 3
    assert "standard input is a terminal" in screen[0]
