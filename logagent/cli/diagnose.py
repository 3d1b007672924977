"""`logagent diagnose`: find out what is wrong in a window."""

from typing import Annotated

import typer

from logagent.cli._app import command_app
from logagent.cli._context import Asked, make_context, make_run_options
from logagent.cli._investigate import investigate
from logagent.cli._options import GlobalOptions, RunLimits, ScopeOptions, takes

APP = command_app()


@APP.command()
@takes(ScopeOptions, RunLimits, GlobalOptions)
def diagnose(
    targets: Annotated[
        list[str] | None, typer.Argument(help="Services or files; - is standard input.", metavar="SERVICE|FILE|-")
    ] = None,
    *,
    scope: ScopeOptions,
    limits: RunLimits,
    options: GlobalOptions,
) -> int:
    """Find out what is wrong in a window."""
    context = make_context(options, limits)
    run = make_run_options(context, Asked(names=tuple(targets or ())), scope, limits)
    return investigate(context, run, exit_code=limits.exit_code)
