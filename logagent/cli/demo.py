"""`logagent demo`: a bundled incident, no network."""

from dataclasses import replace
from typing import Annotated

import typer

from logagent.cli._app import command_app
from logagent.cli._context import Asked, make_context, make_run_options
from logagent.cli._investigate import investigate
from logagent.cli._options import GlobalOptions, RunLimits, ScopeOptions, takes

APP = command_app()


@APP.command()
@takes(ScopeOptions, RunLimits, GlobalOptions)
def demo(
    scenario: Annotated[
        str | None, typer.Argument(help="Which incident; see the examples.", metavar="SCENARIO")
    ] = None,
    *,
    scope: ScopeOptions,
    limits: RunLimits,
    options: GlobalOptions,
) -> int:
    """Diagnose a recorded incident; needs no server, no key and no network."""
    from logagent import demo as recorded  # noqa: PLC0415

    context = make_context(options, limits)
    name = scenario or recorded.DEFAULT
    recorded.logs(name)  # refuses an unknown name before anything starts
    run = make_run_options(context, Asked("demo", scenario=name), scope, limits)
    return investigate(context, replace(run, use_model=limits.require_llm), exit_code=limits.exit_code)
