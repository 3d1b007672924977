"""`logagent cases`: list, remove, export or import saved investigations."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from logagent.cli._app import command_app
from logagent.cli._cases import open_cases
from logagent.cli._context import make_context
from logagent.cli._options import GlobalOptions, takes
from logagent.cli._output import emit_text, plan_output

APP = command_app()
FORMATS = ("text", "json", "jsonl")


@APP.command("list")
@takes(GlobalOptions)
def list_cases(*, options: GlobalOptions) -> int:
    """List saved cases, newest first."""
    from logagent.analysis.sanitise import sanitise  # noqa: PLC0415

    context = make_context(options)
    console, zone = context.console, ZoneInfo(context.console.zone)
    plan = plan_output(options, FORMATS)
    store = open_cases(context.settings)
    found, killed = store.list(), store.interrupted()
    if plan[0][1] == "jsonl":
        rows = [*(asdict(one) for one in found), *({"id": one, "outcome": "interrupted"} for one in killed)]
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    elif plan[0][1] == "json":
        cases = [asdict(one) for one in found]
        text = json.dumps({"kind": "cases", "cases": cases, "interrupted": killed}, ensure_ascii=False)
    else:
        text = "\n".join(
            f"{one.id}  {datetime.fromisoformat(one.created_at).astimezone(zone):%Y-%m-%d %H:%M}  "
            f"{one.outcome:<17}  {sanitise(one.headline)}"
            for one in found
        )
        rest = [f"{one}  {console.texts.say('cli.cases.interrupted')}" for one in killed]
        text = "\n".join(part for part in (text, *rest) if part)
    if not found and not killed and plan[0][1] == "text":
        console.hint(console.texts.say("cli.cases.none"))
    emit_text(text, plan, console)
    return 0


@APP.command("rm")
@takes(GlobalOptions)
def remove_cases(
    cases: Annotated[list[str], typer.Argument(help="Case ids, or last.", metavar="CASE")], *, options: GlobalOptions
) -> int:
    """Remove cases with their transcripts."""
    context = make_context(options)
    store = open_cases(context.settings)
    for case in cases:
        store.remove(case)
        context.console.hint(context.console.texts.say("cli.cases.removed", case=case))
    return 0


@APP.command("export")
@takes(GlobalOptions)
def export_case(
    case: Annotated[str, typer.Argument(help="Case id, or last.", metavar="CASE")] = "last",
    folder: Annotated[str, typer.Argument(help="Where to: a folder.", metavar="DIR")] = ".",
    *,
    options: GlobalOptions,
) -> int:
    """Write a case as a folder: for another machine, or as an incident for evals."""
    context = make_context(options)
    name, target = open_cases(context.settings).export(case, Path(folder))
    context.console.hint(context.console.texts.say("cli.cases.exported", case=name, file=target))
    return 0


@APP.command("import")
@takes(GlobalOptions)
def import_case(
    folder: Annotated[str, typer.Argument(help="An exported folder, or a report (JSON, HTML).", metavar="DIR|FILE")],
    *,
    options: GlobalOptions,
) -> int:
    """Take in a case that another machine exported."""
    context = make_context(options)
    name = open_cases(context.settings).take_in(Path(folder))
    context.console.hint(context.console.texts.say("cli.cases.imported", case=name))
    return 0
