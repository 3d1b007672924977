"""What the tool prints as a command can be pasted: it names the files of the run, and it exists."""

import json
import re
import shlex
from pathlib import Path

import pytest

from logagent.settings import with_source
from tests.cli.conftest import Cli


def commands(text: str) -> list[list[str]]:
    """The commands after "try"; each stands at the end of its line."""
    return [shlex.split(found[1]) for found in re.finditer(r"\blogagent ([a-z].*)$", text, re.MULTILINE)]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("-S", "pai"), "LA304"),
        (("-f", "level=error=x("), "LA704"),
        (("-f", "service:nope"), "LA303"),
        ((), "LA501"),
    ],
)
def test_a_remedy_names_the_file_of_the_run(cli: Cli, log: Path, arguments: tuple[str, ...], code: str) -> None:
    found = cli("diagnose", log.name, *arguments)
    assert code in found.err
    asked = [words for words in commands(found.err) if "llm" not in words]
    assert asked
    for words in asked:
        assert words[1] == log.name
        assert "LA705" not in cli(*words).err


def test_a_next_step_of_a_bundled_incident_can_be_run(cli: Cli) -> None:
    report = json.loads(cli("demo", "vanished-heartbeat", "--format", "json").out)
    commands_of = [step.get("command", "") for step in report["next_steps"]]
    (command,) = [shlex.split(one) for one in commands_of if one.startswith("logagent logs")]
    found = cli(*command[1:])
    assert (found.code, found.err.count("LA7")) == (0, 0)
    assert found.out


def test_a_case_from_standard_input_says_what_to_do(cli: Cli, log: Path) -> None:
    cli("diagnose", "-", "--no-llm", stdin=log.read_bytes())
    found = cli("verify", "last")
    assert "standard input" in found.err
    (again, *_) = commands(found.err)
    assert again[0] == "verify"
    again[again.index("FILE")] = log.name
    assert cli(*again).code == 0


def test_a_code_that_does_not_exist_leads_to_one_that_does(cli: Cli) -> None:
    (words,) = commands(cli("explain", "nope").err)
    assert words[0] == "explain"
    assert cli(*words).code == 0


def test_a_subcommand_has_its_own_help(cli: Cli) -> None:
    assert cli("cases", "rm", "--help").out.startswith("Usage: logagent cases rm")
    assert cli("cases", "--help").out.startswith("Usage: logagent cases [")


def test_an_option_of_another_command_is_shown_with_that_command(cli: Cli, log: Path) -> None:
    (words,) = commands(cli("diagnose", "--full").err)
    assert words == ["show", "last", "--full"]
    cli("diagnose", log.name, "--no-llm")
    assert cli(*words).code == 0


@pytest.mark.parametrize(
    ("text", "wished"),
    [
        ("logagent diagnose --no-llm", "logagent diagnose 'a b' --no-llm"),
        ("or: logagent doctor --only es,fields", "or: logagent doctor 'a b' --only es,fields"),
        ("logagent doctor --only llm", "logagent doctor --only llm"),
        ("a file: logagent diagnose FILE", "a file: logagent diagnose FILE"),
        ("sudo cat x | logagent diagnose -", "sudo cat x | logagent diagnose -"),
        ("logagent show last", "logagent show last"),
        ("logagent logs --case last E4", "logagent logs --case last E4"),
    ],
)
def test_only_a_command_that_asks_a_source_gets_one(text: str, wished: str) -> None:
    assert with_source(text, ("a b",)) == wished
    assert with_source(text, ()) == text


def test_what_came_from_standard_input_is_piped_again() -> None:
    assert with_source("logagent logs --limit 5", ("-",)) == "COMMAND | logagent logs - --limit 5"
