"""`logagent show`: a saved case or report again, or one item of it. No queries."""

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated

import typer

from logagent.cli._app import command_app
from logagent.cli._cases import open_cases
from logagent.cli._context import Context, make_context
from logagent.cli._options import GlobalOptions, takes
from logagent.cli._output import emit_diagnosis, emit_text, page, plan_output
from logagent.errors import UsageError

if TYPE_CHECKING:
    from logagent.diagnosis import Diagnosis

APP = command_app()
EVERYTHING = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Views:
    """What of a case is shown."""

    full: Annotated[bool, typer.Option("--full", help="Everything, with all queries.")]
    steps: Annotated[bool, typer.Option("--steps", help="What the model did, step by step.")]
    llm_log: Annotated[bool, typer.Option("--llm-log", help="The whole transcript, one record a line.")]
    brief: Annotated[
        int,
        typer.Option("--brief", help="Markdown of at most N characters, for a chat or a ticket.", metavar="N", min=0),
    ]
    replay: Annotated[bool, typer.Option("--replay", help="The run again, from its transcript alone.")]


@APP.command()
@takes(Views, GlobalOptions)
def show(
    case: Annotated[str, typer.Argument(help="Case id, last, or a report file (JSON).", metavar="CASE|FILE")] = "last",
    item: Annotated[
        str | None, typer.Argument(help="Evidence E4, hypothesis H1 or pattern P2.", metavar="ITEM")
    ] = None,
    *,
    views: Views,
    options: GlobalOptions,
) -> int:
    """Show a report or one item of it again."""
    from logagent.report import formats, render, render_item  # noqa: PLC0415

    context = make_context(options)
    console = context.console
    if views.steps or views.llm_log:
        return _transcript(context, case, whole=views.llm_log)
    plan = plan_output(options, formats())
    if views.brief:
        plan = _brief_plan(plan)
    diagnosis = open_cases(context.settings).load(case)
    if views.replay:
        diagnosis = _replayed(context, diagnosis)
    if views.full:
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
            accessible=console.accessible,
        )
        page(text, console, context.environ)
    else:
        emit_diagnosis(diagnosis, plan, console, budget=views.brief or 0)
    return 0


def _brief_plan(plan: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Text is Markdown where a budget is given; any other format has none.

    Raises:
        UsageError: LA702, a format that cannot be cut.
    """
    asked = [(name, "md" if chosen == "text" else chosen) for name, chosen in plan]
    other = next((chosen for _, chosen in asked if chosen not in {"md", "markdown"}), "")
    if other:
        reason = f"--brief is for Markdown, not for {other}"
        raise UsageError(reason, code="LA702", values={"reason": reason})
    return asked


def _transcript(context: Context, case: str, *, whole: bool) -> int:
    """The steps of a case, read line by line from what was written as they happened."""
    from logagent.analysis.sanitise import sanitise_block  # noqa: PLC0415
    from logagent.cli._steps import as_lines, as_text, ending_of, steps_of  # noqa: PLC0415

    console = context.console
    plan = plan_output(context.options, ("text", "json", "jsonl"))
    records = list(open_cases(context.settings).transcript(case))
    chosen = plan[0][1]
    if whole:
        text = as_lines(records)
    elif chosen == "json":
        found = {"kind": "steps", "steps": steps_of(records), "ended": ending_of(records)}
        text = json.dumps(found, ensure_ascii=False)
    else:
        text = as_lines(steps_of(records)) if chosen == "jsonl" else as_text(records, console.texts)
    emit_text(sanitise_block(text), plan, console)
    return 0


def _replayed(context: Context, saved: "Diagnosis") -> "Diagnosis":
    """The diagnosis once more, from the transcript; says on stderr whether it is the saved one."""
    from logagent.wiring._replay import differences, replay  # noqa: PLC0415

    say, hint = context.console.texts.say, context.console.hint
    again = replay(saved.id, list(open_cases(context.settings).transcript(saved.id)))
    found = differences(saved, again)
    hint(say("cli.steps.replayed", case=saved.id))
    if found:
        context.console.say(say("cli.steps.differs", case=saved.id, fields=", ".join(found)))
    return again
