"""Commands that the action catalogue prints must exist."""

import importlib
import shlex
import tomllib
from importlib import resources

import pytest
import typer

from logagent.analysis.actions import ActionCatalogue

SPEC = tomllib.loads(resources.files("logagent.analysis").joinpath("actions.toml").read_text("utf-8"))
VALUES = {
    "recent": "10m",
    "service": "cart",
    "host": "node-3",
    "trace_id": "4bf92f3577b34da6",
    "index": "logs-*",
    "before": "2026-11-30T05:56:00Z",
    "since": "2026-11-30T06:01:00Z",
    "until": "2026-11-30T06:31:00Z",
    "query": 'service:"cart" AND level>=error',
}
COMMANDS = {row["id"]: row for row in SPEC["action"] if row["kind"] == "logagent"}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_command_line_knows_what_the_catalogue_prints(name):
    row = COMMANDS[name]
    one = ActionCatalogue.from_toml({**SPEC, "action": [{**row, "fits": []}]}).choose("", [], VALUES, "")[0]
    program, command, *arguments = shlex.split(one.command)
    assert program == "logagent"
    parser = typer.main.get_command(importlib.import_module(f"logagent.cli.{command}").APP)
    context = parser.make_context(command, arguments)
    assert context.params["since"]
