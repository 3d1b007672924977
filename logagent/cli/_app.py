"""The application: finds the command by file, lets options stand before or after it, prints what goes wrong."""

import difflib
import errno
import functools
import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from logagent import cli, plugins
from logagent.cli._console import CURRENT, Console, prepare_streams, quiet_broken_pipe
from logagent.cli._options import global_names
from logagent.errors import LogAgentError, UsageError
from logagent.texts import Catalogue

HELP = ("-h", "--help")
_TERMINATED = 143
_NO_RICH: dict[str, Any] = {
    "rich_markup_mode": None,  # rich costs 0.1 s, and our pages are laid out by `_help`
    "pretty_exceptions_enable": False,
    "pretty_exceptions_show_locals": False,
    "add_completion": False,
    "context_settings": {"help_option_names": list(HELP), "max_content_width": 100},
}
_ClickError: type[Exception] = typer.BadParameter.__mro__[2]
"""ClickException of the click that typer uses, its own or the real one."""


class _HelpfulCommand(TyperCommand):
    """A command with our help page, which types the options that were given and no others."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        for parameter in self.params:
            if not parameter.required:  # typer would build a pydantic adapter for each of sixty options: 0.1 s
                parameter.process_value = functools.partial(_typed, parameter.process_value)  # type: ignore[method-assign]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from logagent.cli._help import format_command  # noqa: PLC0415

        format_command(self, ctx, formatter, interface_texts())


def _typed(process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    return None if value is None else process(context, value)


class _HelpfulGroup(TyperGroup):
    """A command with subcommands (`cases list`) with our help page."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from logagent.cli._help import format_command  # noqa: PLC0415

        format_command(self, ctx, formatter, interface_texts())


class _CommandApp(typer.Typer):
    """A typer app whose commands have our help page."""

    def command(self, name: str | None = None, **more: Any) -> Any:
        return super().command(name, cls=_HelpfulCommand, context_settings=_NO_RICH["context_settings"], **more)


def command_app() -> typer.Typer:
    """What a command module exports as `APP`."""
    return _CommandApp(cls=_HelpfulGroup, **_NO_RICH)


class _CommandsByFile(TyperGroup):
    """Imports the module of the command that is called, and no other."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(plugins.names(cli))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in plugins.names(cli):
            return None
        return _command(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        from logagent.cli._help import overview  # noqa: PLC0415

        formatter.write(overview(interface_texts()) + "\n")


app = typer.Typer(cls=_CommandsByFile, **_NO_RICH)


@app.callback()
def _root() -> None:
    """Find out what broke, from logs."""


def interface_texts(arguments: Sequence[str] = ()) -> Catalogue:
    """Texts in the language of the interface, before any settings are read: --lang, then the environment."""
    from logagent.settings import environment, resolve_language  # noqa: PLC0415

    environ = environment()
    choice = _value_of("--lang", arguments or sys.argv[1:]) or environ.get("LOGAGENT_LANG") or "auto"
    return Catalogue(resolve_language(choice, environ))


def _value_of(option: str, arguments: Sequence[str]) -> str:
    for place, argument in enumerate(arguments):
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
        if argument == option and place + 1 < len(arguments):
            return arguments[place + 1]
    return ""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give the exit status. What is not a LogAgentError passes through: it is a bug."""
    from logagent.settings import environment, forgo_plugins  # noqa: PLC0415

    forgo_plugins()
    prepare_streams(environment())
    CURRENT.console = None
    try:
        if not arguments or arguments == ["--version"]:
            return _without_command(arguments)
        given = _arranged(arguments)
        _require_command(given[0], arguments)
        with _termination():
            status = typer.main.get_command(app).main(args=given, prog_name="logagent", standalone_mode=False)
    except _ClickError as error:
        return _print(_usage(error), arguments)
    except LogAgentError as error:
        return _print(error, arguments)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return _print(_disk_full(error), arguments)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    return status if isinstance(status, int) else 0


@contextmanager
def _termination() -> Iterator[None]:
    """SIGTERM leaves by the way out, so that no unpacked log stays in the folder for temporary files."""

    def leave(_number: int, _frame: object) -> None:
        raise SystemExit(_TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _disk_full(error: OSError) -> UsageError:
    """Help that goes into a full file, or a copy of compressed logs that the folder for temporary files cannot take."""
    quiet_broken_pipe()  # what is left in the buffer would fail again at the end
    reason = f"no space left on device{f' for {error.filename}' if error.filename else ''}"
    return UsageError(reason, code="LA702", values={"reason": reason})


def _without_command(arguments: Sequence[str]) -> int:
    from logagent import __version__  # noqa: PLC0415
    from logagent.cli._help import short_overview  # noqa: PLC0415

    Console().out(f"logagent {__version__}" if arguments else short_overview(interface_texts()))
    return 0


def _arranged(arguments: Sequence[str]) -> list[str]:
    """The command first, then the global options that stood before it, then the rest; help wins over all."""
    names = global_names()
    before: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] not in HELP:
        name, equals, _ = rest[0].partition("=")
        if name not in names and rest[0][:2] not in names:
            break
        size = 2 if names.get(rest[0]) and not equals else 1
        before += rest[:size]
        rest = rest[size:]
    if any(argument in HELP for argument in _until_double_dash(arguments)):
        return [*_commands(rest), "--help"]
    return [*rest[:1], *before, *rest[1:]]


def _commands(arguments: Sequence[str]) -> list[str]:
    """The command that is named, and its subcommand (`cases rm`)."""
    name = arguments[0] if arguments and arguments[0] in plugins.names(cli) else ""
    if not name:
        return [one for one in arguments[:1] if not one.startswith("-")]
    return [name, *(one for one in arguments[1:2] if one in getattr(_command(name), "commands", {}))]


def _command(name: str) -> Any:
    return typer.main.get_command(importlib.import_module(f"{cli.__name__}.{name}").APP)


def _until_double_dash(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: list(arguments).index("--")] if "--" in arguments else arguments


def _require_command(name: str, arguments: Sequence[str]) -> None:
    known = plugins.names(cli)
    if name in known or name in HELP:
        return
    shown = "".join(char if char.isprintable() else "?" for char in name[:40])
    texts = interface_texts(arguments)
    key = "cli.no_option" if name.startswith("-") else "cli.no_command"
    closest = difflib.get_close_matches(name, [*known, *global_names()], 1)
    reason = texts.say(key, name=shown)
    nearest = closest[0] if closest else None
    command = nearest if nearest in known else None
    raise UsageError(reason, code="LA702", values={"reason": reason, "closest": nearest, "command": command})


def _usage(error: Any) -> UsageError:
    """A refusal of the option parser in our words: LA702, with one suggestion."""
    context = getattr(error, "ctx", None)
    closest: list[str] = []
    example: tuple[str, ...] = ()
    name = getattr(error, "option_name", None)
    if isinstance(name, str) and context is not None:
        known = [option for parameter in context.command.params for option in (*parameter.opts, *HELP)]
        example = _elsewhere(name)
        closest = [] if example else difflib.get_close_matches(name, known, 1)
    reason = str(getattr(error, "message", "")) if closest or example else str(error.format_message())
    reason = " ".join("".join(char if char.isprintable() else "?" for char in reason).split()).rstrip(".")
    command = context.command_path.removeprefix("logagent").strip() if context is not None else ""
    values = {"reason": reason, "closest": closest[0] if closest else None, "command": command, "example": example}
    return UsageError(reason, code="LA702", values=values)


def _elsewhere(option: str) -> tuple[str, ...]:
    """The command that has this option, where only one has it: `show last --full`."""
    found = []
    for name in plugins.names(cli):
        parameters = getattr(_command(name), "params", ())
        if any(option in parameter.opts for parameter in parameters):
            found.append((name, *(str(one.default) for one in parameters if one.default == "last"), option))
    return found[0] if len(found) == 1 else ()


def _print(error: LogAgentError, arguments: Sequence[str]) -> int:
    from logagent.cli._errors import print_error  # noqa: PLC0415

    console = CURRENT.console
    if console is None:
        wants_json = "--json" in arguments or _value_of("--format", arguments) == "json"
        console = Console(texts=interface_texts(arguments), json=wants_json or _value_of("-F", arguments) == "json")
    return print_error(error, console)
