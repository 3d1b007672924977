"""`logagent watch`: the same look again and again, until it is over; prints only what changed. No model."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from logagent.analysis.sanitise import sanitise
from logagent.cli._app import command_app
from logagent.cli._console import Console
from logagent.cli._context import Asked, Context, make_context, make_run_options
from logagent.cli._options import GlobalOptions, ScopeOptions, takes
from logagent.cli._output import plan_output
from logagent.errors import UsageError
from logagent.logs import iso

if TYPE_CHECKING:
    from logagent.settings import RunOptions
    from logagent.triage._rounds import Novelty

APP = command_app()
FORMATS = ("text", "jsonl")
FOUND, INTERRUPTED = 10, 130
_SHORTEST_S = 1.0
SLEEP = time.sleep  # noqa: TID251 - the one place where it enters; `follow` takes it as an argument


@APP.command()
@takes(ScopeOptions, GlobalOptions)
def watch(
    targets: Annotated[list[str] | None, typer.Argument(help="Services or files.", metavar="SERVICE|FILE")] = None,
    interval: Annotated[
        str, typer.Option("--interval", help="Time between two looks; default 60s.", metavar="DURATION")
    ] = "60s",
    rounds: Annotated[
        int | None, typer.Option("--rounds", help="Most looks; default until it is over.", min=1, metavar="N")
    ] = None,
    exit_code: Annotated[  # noqa: FBT002 - typer reads the signature
        bool, typer.Option("--exit-code", help="Exit 10 when trouble was found and is not over.")
    ] = False,
    *,
    scope: ScopeOptions,
    options: GlobalOptions,
) -> int:
    """Look again and again until it is over; print only what changed."""
    from logagent.times import parse_duration  # noqa: PLC0415

    context = make_context(options)
    plan = plan_output(options, FORMATS)
    if plan[0][0] != "-":
        raise _refused(context, "cli.watch.stdout")
    run = make_run_options(context, Asked(names=tuple(targets or ())), scope, None)
    if "-" in run.files:
        raise _refused(context, "cli.watch.stdin")
    seconds = parse_duration(interval).total_seconds()
    if seconds < _SHORTEST_S:
        raise _refused(context, "cli.watch.interval")
    return follow(context, run, (seconds, rounds, SLEEP), jsonl=plan[0][1] == "jsonl", exit_code=exit_code)


def follow(
    context: Context,
    run: "RunOptions",
    pace: tuple[float, int | None, Callable[[float], None]],
    *,
    jsonl: bool,
    exit_code: bool = False,
) -> int:
    """Look until it is over; `pace` is (seconds between looks, most looks, what sleeps). Gives the exit status."""
    from logagent.wiring._watch import Pace, Watched, watch  # noqa: PLC0415

    console, watched = context.console, Watched()

    def tell(at: datetime, found: "list[Novelty]") -> None:
        for one in found:
            console.out(_as_json(at, one) if jsonl else _as_line(at, one, console))

    status = 0
    try:
        watch(context.settings, replace(run, save=False), Pace(pace[0], pace[2], pace[1]), tell, watched)
    except KeyboardInterrupt:
        status = INTERRUPTED
    state = "recovered" if watched.recovered else "troubled" if watched.troubled else "quiet"
    if jsonl:
        console.out(json.dumps({"kind": "end", "looks": watched.looks, "failed": watched.failed, "state": state}))
    else:
        console.say(console.texts.say(f"cli.watch.{state}", n=watched.looks, failed=watched.failed))
    if status:
        return status
    return FOUND if exit_code and state == "troubled" else 0


def _refused(context: Context, key: str) -> UsageError:
    reason = context.console.texts.say(key)
    return UsageError(reason, code="LA702", values={"reason": reason, "command": "watch"})


def _as_json(at: datetime, one: "Novelty") -> str:
    row = {name: value for name, value in asdict(one).items() if value not in ("", 0, None)}
    return json.dumps({"at": iso(at), **row}, ensure_ascii=False)


def _as_line(at: datetime, one: "Novelty", console: Console) -> str:
    from logagent.report._text import fit  # noqa: PLC0415

    say = console.texts.say
    if one.kind == "pattern":
        who = f"{sanitise(one.service)}  " if one.service else ""
        text = f"{say(f'cli.change.{one.change}'):<9}{one.count:>7,}  {who}{sanitise(one.text)}"
    elif one.kind == "rate":
        text = say("cli.watch.rate", before=f"{one.before or 0:.1%}", now=f"{one.now or 0:.1%}")
    elif one.kind == "status":
        text = f"{say(f'report.status.{one.change}')}  {sanitise(one.text)}"
    else:
        text = f"{say(f'cli.watch.{one.kind}')}  {sanitise(one.text)}"
    return fit(f"{at.astimezone(ZoneInfo(console.zone)):%H:%M:%S}  {text}", console.width, "...")
