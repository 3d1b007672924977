"""`logagent trace`: all lines of a trace or correlation id, in order, across services. No model."""

from dataclasses import replace
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from logagent.cli._app import command_app
from logagent.cli._context import Asked, make_context, make_run_options
from logagent.cli._options import GlobalOptions, ScopeOptions, takes
from logagent.cli._output import emit_text, page, plan_output
from logagent.cli._progress import Progress
from logagent.cli._window import window_title
from logagent.errors import UsageError

APP = command_app()
FORMATS = ("text", "json", "md")


@APP.command()
@takes(ScopeOptions, GlobalOptions)
def trace(
    wanted: Annotated[str, typer.Argument(help="Trace, request or correlation id.", metavar="ID")],
    targets: Annotated[
        list[str] | None, typer.Argument(help="Services or files; - is standard input.", metavar="SERVICE|FILE|-")
    ] = None,
    *,
    scope: ScopeOptions,
    options: GlobalOptions,
) -> int:
    """Show all lines of one id in order, with the gap to the line before."""
    from logagent.report._journey import traced_json, traced_markdown, traced_text  # noqa: PLC0415
    from logagent.wiring import open_session  # noqa: PLC0415
    from logagent.wiring._trace import trace as follow  # noqa: PLC0415

    context = make_context(options)
    plan = plan_output(options, FORMATS)
    if not wanted.strip():
        reason = context.console.texts.say("cli.trace.empty")
        raise UsageError(reason, code="LA702", values={"reason": reason, "command": "trace"})
    run = replace(make_run_options(context, Asked(names=tuple(targets or ())), scope, None), save=False)
    if run.services:
        run = replace(run, fields={**run.fields, "service": run.services})
    with (
        Progress(context.console, window_title(context, run)) as progress,
        open_session(context.settings, run, progress, context.stdin) as session,
    ):
        found = follow(session, wanted.strip())
        mask = session.redactor
    zone, console = ZoneInfo(context.console.zone), context.console
    for name, chosen in plan:
        if chosen == "text":
            text = traced_text(found, console.texts, zone, console.width, mask)
        else:
            text = traced_json(found, mask) if chosen == "json" else traced_markdown(found, console.texts, zone, mask)
        if plan == [("-", "text")]:
            page(text, console, context.environ)
        else:
            emit_text(text, [(name, chosen)], console)
    return 0
