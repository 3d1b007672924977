"""`logagent show`: a saved case or report again, or one item of it. No queries."""

from typing import Annotated

import typer

from logagent.cli._app import command_app
from logagent.cli._cases import open_cases
from logagent.cli._context import make_context
from logagent.cli._options import GlobalOptions, takes
from logagent.cli._output import emit_diagnosis, page, plan_output

APP = command_app()
EVERYTHING = 2


@APP.command()
@takes(GlobalOptions)
def show(
    case: Annotated[str, typer.Argument(help="Case id, last, or a report file (JSON).", metavar="CASE|FILE")] = "last",
    item: Annotated[
        str | None, typer.Argument(help="Evidence E4, hypothesis H1 or pattern P2.", metavar="ITEM")
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Everything, with all queries.")] = False,
    options: GlobalOptions,
) -> int:
    """Show a report or one item of it again."""
    from logagent.report import formats, render, render_item  # noqa: PLC0415

    context = make_context(options)
    console = context.console
    plan = plan_output(options, formats())
    diagnosis = open_cases(context.settings).load(case)
    if full:
        console.verbose = max(console.verbose, EVERYTHING)
    if item is not None:
        choices = {"zone": console.zone, "width": console.width, "unicode": console.unicode, "colour": console.colour}
        console.out(render_item(diagnosis, item, **choices))  # type: ignore[arg-type]
    elif plan == [("-", "text")]:
        text = render(
            diagnosis,
            zone=console.zone,
            width=console.width,
            unicode=console.unicode,
            colour=console.colour,
            verbose=console.verbose,
        )
        page(text, console, context.environ)
    else:
        emit_diagnosis(diagnosis, plan, console)
    return 0
