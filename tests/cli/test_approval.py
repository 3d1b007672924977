"""A restricted tool runs after a person's yes for exactly its arguments, and never without (security.md S9)."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import logagent.tools
from logagent.cli._console import Console
from logagent.cli._progress import Progress
from logagent.testing import ScriptedModel, calls, several, submit
from tests.cli.conftest import Cli

DROPPED = '''
"""Pages a person: a team's own tool, one file."""
from pydantic import Field
from logagent.tools._base import Answer, Tool, ToolArgs

class Args(ToolArgs):
    """Arguments."""
    who: str = Field(description="Name of a person.")

def page(args, context):
    """Page them."""
    return Answer(f"paged {args.who}", plain=True)

TOOL = Tool(Args, page, "Pages a person.", permission="restricted", parallel=False)
'''
SCRIPT = [
    several(calls("page_someone", who="Kim"), calls("search_logs", query="level:error")),
    submit(headline="Charges fail", what_is_happening="Charges are refused [E1].", hypotheses=[]),
]


@pytest.fixture(autouse=True)
def _dropped_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Path) -> Iterator[None]:  # noqa: ARG001
    """One more file in the folder of the tools, and nothing else."""
    folder = tmp_path / "more_tools"
    folder.mkdir()
    (folder / "page_someone.py").write_text(DROPPED)
    monkeypatch.setattr(logagent.tools, "__path__", [*logagent.tools.__path__, str(folder)])
    yield
    sys.modules.pop("logagent.tools.page_someone", None)


def results(cli: Cli, monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, str]:
    with ScriptedModel(SCRIPT) as model:
        monkeypatch.setenv("LOGAGENT_LLM_URL", model.url)
        monkeypatch.setenv("LOGAGENT_MODEL", "scripted")
        assert cli("diagnose", "app.log", "-q", *options).code == 0
    log = [json.loads(line) for line in cli("show", "last", "--llm-log").out.splitlines()]
    return {one["tool"]: one["result"] for one in log if one["kind"] == "ToolFinished"}


def test_where_nobody_can_be_asked_it_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "permission denied" in results(cli, monkeypatch)["page_someone"]


def test_yes_on_the_command_line_is_a_yes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert results(cli, monkeypatch, "--yes")["page_someone"] == "paged Kim"


@pytest.mark.parametrize(("typed", "allowed"), [("y\n", True), ("是\n", True), ("\n", False), ("no\n", False)])
def test_a_person_is_shown_the_arguments_and_asked(
    typed: str, allowed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    console = Console()
    question = console.texts.say("cli.approve", tool="page_someone", arguments='{"who": "Kim\x1b[2J"}')
    with Progress(console, "") as progress:
        assert progress.ask(question) is allowed
    shown = capsys.readouterr().err
    assert 'page_someone with {"who": "Kim' in shown
    assert "\x1b" not in shown


def test_the_list_of_tools_shows_a_dropped_file_with_its_permission_and_cost(cli: Cli) -> None:
    listed = cli("tools")
    assert listed.code == 0
    (line,) = [line for line in listed.out.splitlines() if line.startswith("page_someone")]
    assert line.split()[2] == "restricted"
    data = json.loads(cli("tools", "--json").out)
    assert data["kind"] == "tools"
    assert sum(row["tokens"] for row in data["tools"]) == data["tokens"]
    assert all(row["result_tokens"] <= 1_500 for row in data["tools"])
    assert len(cli("tools", "--format", "jsonl").out.splitlines()) == len(data["tools"])
