"""What progress says while a model is waited for."""

import threading

import pytest

from logagent.cli import _progress
from logagent.cli._console import Console
from logagent.cli._progress import Progress
from logagent.events import ModelAsked, StepStarted, ToolFinished
from logagent.tools._registry import SUBMIT


def finished(tool: str, *, ok: bool) -> ToolFinished:
    return ToolFinished(1, "c1", tool, "{}", ok, 0.1, "Not accepted.")


def shown(mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *events: object) -> str:
    """What stands on stderr after some events and a heartbeat."""
    monkeypatch.setattr(_progress, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(_progress, "REDRAW_SECONDS", 0.05)
    console = Console(progress=mode)
    with Progress(console, "app.log") as progress:
        for event in (StepStarted(7, 8, "hypotheses"), *events):
            progress(event)  # type: ignore[arg-type]
        threading.Event().wait(0.3)
    return capsys.readouterr().err


def test_the_name_of_the_last_call_is_that_of_the_registry() -> None:
    assert _progress.SUBMIT == SUBMIT


@pytest.mark.parametrize("mode", ["tty", "plain"])
def test_a_wait_for_the_model_is_named(
    mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ModelAsked(2, 3, 4, 1_000, False, "answer")
    text = shown(mode, monkeypatch, capsys, finished("search_logs", ok=True), asked)
    assert "7/8" in text
    assert "waiting for the model" in text
    assert "sent back" not in text
    back = shown(mode, monkeypatch, capsys, finished(SUBMIT, ok=False), asked)
    assert "sent back, waiting for the model" in back
    assert "fail" not in back
