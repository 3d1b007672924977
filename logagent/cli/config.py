"""`logagent config`: what is set and where, change it, check it, trust a project file (ux.md 2.10)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logagent.cli._app import command_app
from logagent.cli._config import changed, kept, listed, looked_at, problems, sensitive
from logagent.cli._console import CURRENT, Console
from logagent.cli._context import make_context, plain_console
from logagent.cli._options import GlobalOptions, takes
from logagent.cli._output import emit_text, plan_output
from logagent.errors import UsageError

if TYPE_CHECKING:
    from logagent.settings import ConfigFile

APP = command_app()
FORMATS = ("text", "json")
_KEY = typer.Argument(help="Dotted name such as es.url, or a section.", metavar="KEY")


@APP.command("show")
@takes(GlobalOptions)
def show_settings(
    key: Annotated[str | None, _KEY] = None,
    *,
    origin: Annotated[bool, typer.Option("--origin", help="Also where each value comes from.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Also what nobody set.")] = False,
    options: GlobalOptions,
) -> int:
    """Print the settings that count here, as TOML; secrets are never shown."""
    context = make_context(options)
    plan = plan_output(options, FORMATS)
    rows = listed(context.settings, key, every=every)
    if plan[0][1] == "json":
        document = {
            "kind": "config",
            "profile": context.settings.profile,
            "settings": {row.name: {"value": row.value, "origin": row.origin} for row in rows},
        }
        emit_text(json.dumps(document, ensure_ascii=False), plan, context.console)
        return 0
    lines = [row.with_origin if origin else row.line for row in rows]
    if not rows:
        context.console.hint(context.console.texts.say("cli.config.nothing"))
    emit_text("\n".join(lines), plan, context.console)
    return 0


@APP.command("path")
@takes(GlobalOptions)
def print_paths(*, options: GlobalOptions) -> int:
    """Print the files that settings are read from, the one that counts most first."""
    console = _console(options)
    plan = plan_output(options, FORMATS)
    found = looked_at()
    if plan[0][1] == "json":
        rows = [{"file": str(one.path), "kind": one.kind, "state": one.state} for one in found]
        emit_text(json.dumps({"kind": "config_files", "files": rows}, ensure_ascii=False), plan, console)
        return 0
    say = console.texts.say
    lines = [f"{one.kind:<7}  {one.path}  ({say(f'cli.config.state.{one.state}')})" for one in found]
    emit_text("\n".join(lines), plan, console)
    return 0


@APP.command("set")
@takes(GlobalOptions)
def set_value(
    key: Annotated[str, typer.Argument(help="Dotted name such as es.ca_cert.", metavar="KEY")],
    value: Annotated[str, typer.Argument(help="The value; a list by comma.", metavar="VALUE")],
    *,
    options: GlobalOptions,
) -> int:
    """Change one setting in your configuration file; a profile's own where -p or default_profile names one."""
    console = _console(options)
    change = changed(key, value, options.profile)
    kept(change.file, change.text)
    console.hint(console.texts.say("cli.config.set", place=change.place, line=change.line))
    if change.overridden:
        console.hint(console.texts.say("cli.config.overridden", place=change.overridden))
    return 0


@APP.command("validate")
@takes(GlobalOptions)
def validate(
    files: Annotated[
        list[str] | None, typer.Argument(help="Files to check; by default all that are read here.", metavar="FILE")
    ] = None,
    *,
    options: GlobalOptions,
) -> int:
    """Check configuration files: names, values, profiles, no secrets; each problem with its line."""
    from logagent.cli._errors import print_error  # noqa: PLC0415

    console = _console(options)
    status = 0
    for path, found in problems(files):
        for error in found:
            status = print_error(error, console)
        if not found:
            console.out(console.texts.say("cli.config.valid", file=path))
    return status


@APP.command("schema")
@takes(GlobalOptions)
def print_schema(*, options: GlobalOptions) -> int:
    """Print the JSON Schema of the configuration file, for editors."""
    from logagent.settings import config_schema  # noqa: PLC0415

    console = _console(options)
    emit_text(json.dumps(config_schema(), indent=2, ensure_ascii=False), plan_output(options, FORMATS), console)
    return 0


@APP.command("trust")
@takes(GlobalOptions)
def trust(
    file: Annotated[
        str | None, typer.Argument(help="A .logagent.toml; by default the one that is read here.", metavar="FILE")
    ] = None,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Trust it no longer.")] = False,
    options: GlobalOptions,
) -> int:
    """Let a project file set URLs, credentials and commands, as it is now; a change of it has to be trusted again."""
    from logagent.settings import RECORD, environment, folders, trusted_files, with_trust  # noqa: PLC0415

    console = _console(options)
    path, parsed = _project(file)
    state = folders(environment()).state
    content = None if remove else parsed.text.encode("utf-8")
    record: dict[str, Any] = with_trust(trusted_files(state), path, content)
    kept(state / RECORD, json.dumps(record, indent=2, ensure_ascii=False))
    if remove:
        console.hint(console.texts.say("cli.config.untrusted", file=path))
        return 0
    names = ", ".join(sensitive(parsed)) or console.texts.say("cli.config.harmless")
    console.hint(console.texts.say("cli.config.trusted", file=path, names=names))
    return 0


def _project(name: str | None) -> "tuple[Path, ConfigFile]":
    from logagent.settings import ConfigFile, config_files, environment  # noqa: PLC0415

    project = next((path for path, own in config_files(environment(), Path.cwd()) if own), None)
    path = Path(name).expanduser() if name else project
    parsed = ConfigFile.read(path) if path else None
    if path is None or parsed is None:
        reason = f"there is no file {name}" if name else "there is no .logagent.toml here or above"
        raise UsageError(reason, code="LA702", values={"reason": reason, "command": "config trust"})
    return path, parsed


def _console(options: GlobalOptions) -> Console:
    """For commands that must work while the settings cannot be read."""
    from logagent.settings import environment  # noqa: PLC0415

    CURRENT.console = console = plain_console(options, environment())
    return console
