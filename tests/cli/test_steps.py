"""Every step of a run with a model is on record: shown, replayed, and readable after the run was killed."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from logagent.settings import environment
from logagent.testing import ScriptedModel, calls, hangs, http, several, submit
from tests.cli.conftest import Cli

ROOT = Path(__file__).resolve().parents[2]
SECRET = "Tr0ub4dor-and-3"
LOOKS = several(
    calls("search_logs", query="level:error", why="are there errors at all?"),
    calls("get_error_stats", group_by="service", why="whose are they?"),
)
SUBMITS = submit(
    headline="Charges fail",
    what_is_happening="Charges are refused since the database cannot be reached [E1].",
    probable_cause="The database refuses connections [E1].",
    hypotheses=[
        {
            "statement": "The database refuses connections of pay.",
            "mechanism": "net.refused",
            "entity": {"service": "pay"},
            "supporting": ["E1", "E2"],
        }
    ],
    next_step_ideas=["Look whether the database listens"],
    open_questions=["Was the database restarted?"],
)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture(autouse=True)
def _secret_in_the_log(log: Path) -> None:
    line = '{"@timestamp":"2026-11-30T14:25:01Z","log.level":"error","service.name":"pay","message":"login with password=%s failed"}'
    log.write_text(log.read_text(encoding="utf-8") + line % SECRET + "\n", encoding="utf-8")


def transcript(state: Path) -> Path:
    (found,) = state.rglob("transcript.jsonl")
    return found


def records(state: Path) -> Iterator[dict[str, object]]:
    return map(json.loads, transcript(state).read_text(encoding="utf-8").splitlines())


def diagnose(cli: Cli, monkeypatch: pytest.MonkeyPatch, script: list[object]) -> dict[str, object]:
    with ScriptedModel(script) as model:  # type: ignore[arg-type]
        monkeypatch.setenv("LOGAGENT_LLM_URL", model.url)
        monkeypatch.setenv("LOGAGENT_MODEL", "scripted")
        result = cli("diagnose", "app.log", "--json")
    monkeypatch.delenv("LOGAGENT_LLM_URL")
    assert result.code == 0, result.err
    found: dict[str, object] = json.loads(result.out)
    return found


def test_each_call_is_on_record_before_and_after(cli: Cli, monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    diagnose(cli, monkeypatch, [LOOKS, SUBMITS])
    steps = [(one["kind"], one["step"], one["state"]) for one in records(state) if "step" in one]
    assert steps == [
        ("ModelAsked", 1, "running"),
        ("ModelReplied", 1, "done"),
        ("ToolStarted", 2, "running"),
        ("ToolStarted", 3, "running"),
        ("ToolFinished", 2, "done"),
        ("ToolFinished", 3, "done"),
        ("ModelAsked", 4, "running"),
        ("ModelReplied", 4, "done"),
        ("ToolStarted", 5, "running"),
        ("ToolFinished", 5, "done"),
    ]
    assert stat.S_IMODE(transcript(state).stat().st_mode) == 0o600
    assert SECRET not in transcript(state).read_text(encoding="utf-8")


def test_the_timeline_shows_what_was_done_why_and_what_came_of_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    diagnose(cli, monkeypatch, [LOOKS, SUBMITS])
    shown = cli("show", "last", "--steps")
    assert shown.code == 0, shown.err
    assert "search_logs, get_error_stats" in shown.out
    assert "why: whose are they?" in shown.out
    assert "ended: submitted after 2 turns" in shown.out
    assert SECRET not in shown.out
    data = json.loads(cli("show", "last", "--steps", "--json").out)
    assert [step["what"] for step in data["steps"]] == ["model", "tool", "tool", "model", "tool"]
    assert data["ended"]["stop"] == "submitted"
    log = [json.loads(line) for line in cli("show", "last", "--llm-log").out.splitlines()]
    assert {"LoopBegan", "ModelAsked", "ModelReplied", "ToolFinished", "LoopEnded", "Judged"} <= {
        one["kind"] for one in log
    }


def test_the_timeline_shows_each_reason_for_which_a_diagnosis_was_sent_back(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = submit(headline="7 charges fail", what_is_happening="Charges fail.", hypotheses=[])
    diagnose(cli, monkeypatch, [LOOKS, faulty, SUBMITS])
    shown = cli("show", "last", "--steps").out
    assert '- headline: "7" is a figure: leave numbers to code' in shown
    assert "- what_is_happening: sentence 1 has no id" in shown


def test_a_case_without_a_model_has_no_steps(cli: Cli) -> None:
    assert cli("diagnose", "app.log", "--no-llm", "-q").code == 0
    assert "without a model" in cli("show", "last", "--steps").out
    assert cli("show", "last", "--replay").code == 2


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([LOOKS, SUBMITS], id="submitted"),
        pytest.param([LOOKS, LOOKS, LOOKS, SUBMITS], id="repeats"),
        pytest.param([calls("no_such_tool"), SUBMITS], id="unknown tool"),
        pytest.param([LOOKS, http(401)], id="model lost"),
        pytest.param([submit(headline="7 charges fail", what_is_happening="x", hypotheses=[]), SUBMITS], id="mended"),
    ],
)
def test_a_replay_needs_neither_model_nor_logs_and_gives_the_same_diagnosis(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, log: Path, script: list[object]
) -> None:
    first = diagnose(cli, monkeypatch, script)
    log.unlink()
    again = cli("show", "last", "--replay", "--json")
    assert again.code == 0, again.err
    assert "differs" not in again.err
    assert json.loads(again.out) == first


def test_a_replay_follows_the_transcript_and_not_the_saved_report(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    diagnose(cli, monkeypatch, [LOOKS, SUBMITS])
    file = transcript(state)
    file.write_text(
        file.read_text(encoding="utf-8").replace("Was the database restarted?", "Was the disk full?"), encoding="utf-8"
    )
    again = cli("show", "last", "--replay", "--json")
    assert json.loads(again.out)["open_questions"] == ["Was the disk full?"]
    assert "differs from the saved diagnosis in: open_questions" in again.err


def test_a_damaged_transcript_is_an_error_with_its_reason(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    diagnose(cli, monkeypatch, [LOOKS, SUBMITS])
    kept = [line for line in transcript(state).read_text().splitlines() if '"step":3' not in line]
    transcript(state).write_text("\n".join(kept) + "\n")
    result = cli("show", "last", "--replay")
    assert (result.code, result.out) == (2, "")
    assert "cannot be replayed" in result.err


def test_what_a_lost_model_found_stays_in_the_report(cli: Cli, monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    found = diagnose(cli, monkeypatch, [calls("search_logs", query="service:pay AND level:error"), http(401)])
    issued = [
        one
        for record in records(state)
        if record["kind"] == "ToolFinished"
        for one in record["evidence"]  # type: ignore[attr-defined]
    ]
    rows = {row["id"]: row for row in found["evidence"]}  # type: ignore[attr-defined]
    assert issued
    assert set(issued) <= set(rows)
    assert all(rows[one]["verification"]["state"] == "verified" for one in issued)
    supporting = {one for hypothesis in found["hypotheses"] for one in hypothesis["supporting"]}  # type: ignore[attr-defined]
    assert supporting & set(issued)


def test_after_kill_9_the_report_and_the_steps_so_far_are_there(cli: Cli, state: Path) -> None:
    keep = {name: environment()[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TZ")}
    with ScriptedModel([LOOKS, hangs()]) as model:
        env = {**keep, "PYTHONPATH": str(ROOT), "LOGAGENT_LLM_URL": model.url, "LOGAGENT_MODEL": "scripted"}
        process = subprocess.Popen(
            [sys.executable, "-m", "logagent", "diagnose", "app.log"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        late = time.monotonic() + 60
        while len(model.requests) < 2 and time.monotonic() < late:
            os.sched_yield()
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
    kinds = [one["kind"] for one in records(state) if "step" in one]
    assert kinds == [
        "ModelAsked", "ModelReplied", "ToolStarted", "ToolStarted", "ToolFinished", "ToolFinished", "ModelAsked",
    ]  # fmt: skip
    report = cli("show", "last")
    assert report.code == 0, report.err
    assert "pay" in report.out
    assert "interrupted" in cli("show", "last", "--full").out
    steps = cli("show", "last", "--steps").out
    assert "no end on record" in steps
    assert "the run was killed or is still going on" in steps


def test_progress_says_why_a_call_is_made(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModel([LOOKS, SUBMITS]) as model:
        monkeypatch.setenv("LOGAGENT_LLM_URL", model.url)
        monkeypatch.setenv("LOGAGENT_MODEL", "scripted")
        assert "get_error_stats  whose are they?" in cli("diagnose", "app.log", "-v").err
        assert model.unused == 0


def test_a_cost_limit_without_prices_is_said_to_have_no_effect(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModel([LOOKS, SUBMITS]) as model:
        monkeypatch.setenv("LOGAGENT_LLM_URL", model.url)
        monkeypatch.setenv("LOGAGENT_MODEL", "scripted")
        result = cli("diagnose", "app.log", "--json", "--max-cost", "0.5")
    caveats = json.loads(result.out)["data_quality"]["caveats"]
    assert [one for one in caveats if one["code"] == "no_prices" and "price_per_million" in one["text"]]
