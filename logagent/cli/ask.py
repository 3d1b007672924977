"""`logagent ask`: the same engine, driven by a question."""

from dataclasses import replace
from typing import Annotated

import typer

from logagent.cli._app import command_app
from logagent.cli._cases import open_cases, with_source
from logagent.cli._context import Asked, language_of, make_context, make_run_options
from logagent.cli._investigate import investigate
from logagent.cli._options import GlobalOptions, RunLimits, ScopeOptions, takes
from logagent.errors import UsageError

APP = command_app()


@APP.command()
@takes(ScopeOptions, RunLimits, GlobalOptions)
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know, in your words.", metavar="QUESTION")],
    targets: Annotated[
        list[str] | None, typer.Argument(help="Services or files; - is standard input.", metavar="SERVICE|FILE|-")
    ] = None,
    case: Annotated[str | None, typer.Option("--case", help="Continue a case.", metavar="ID|last")] = None,
    *,
    scope: ScopeOptions,
    limits: RunLimits,
    options: GlobalOptions,
) -> int:
    """Answer a question about the logs, in its language."""
    if not question.strip():
        reason = "the question is empty"
        raise UsageError(reason, code="LA702", values={"reason": reason, "command": "ask"})
    context = make_context(options, limits)
    asked = Asked("ask", tuple(targets or ()), question.strip(), case=case)
    run = make_run_options(context, asked, scope, limits)
    if case is not None:
        run = with_source(context, case, open_cases(context.settings).load(case), run)
    if options.lang in (None, "auto"):
        run = replace(run, language=language_of(question))
    return investigate(context, run, exit_code=limits.exit_code)
