"""`logagent compare`: two windows, values of a field, or files side by side. No model."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from logagent.cli._app import command_app
from logagent.cli._context import Asked, make_context, make_run_options
from logagent.cli._options import GlobalOptions, ScopeOptions, takes
from logagent.cli._output import emit_text, plan_output
from logagent.cli._progress import Progress
from logagent.cli._window import window_title
from logagent.errors import UsageError

APP = command_app()
FORMATS = ("text", "json", "md")
_PAIR = 2


@APP.command()
@takes(ScopeOptions, GlobalOptions)
def compare(
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="Windows A..B, values with --by, files, services.", metavar="A|B|SERVICE|FILE|-"),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Field whose two values are compared.", metavar="FIELD")
    ] = None,
    before: Annotated[str | None, typer.Option("--before", help="A ends here.", metavar="WHEN")] = None,
    after: Annotated[str | None, typer.Option("--after", help="B begins here.", metavar="WHEN")] = None,
    *,
    scope: ScopeOptions,
    options: GlobalOptions,
) -> int:
    """Show two windows, hosts, versions or files side by side."""
    from logagent.report._comparison import compared_json, compared_markdown, compared_text  # noqa: PLC0415
    from logagent.wiring import open_session  # noqa: PLC0415
    from logagent.wiring._compare import Sides, compare  # noqa: PLC0415

    context = make_context(options)
    plan = plan_output(options, FORMATS)
    spans, values, names = _sorted(targets or [], by or "")
    if not by and not spans and len(names) == _PAIR and not any(map(_is_file, names)):
        by, values, names = "service", names, ()
    run = replace(make_run_options(context, Asked(names=names), scope, None), save=False)
    if run.services:
        run = replace(run, fields={**run.fields, "service": run.services})
    with (
        Progress(context.console, window_title(context, run)) as progress,
        open_session(context.settings, run, progress, context.stdin) as session,
    ):
        found = compare(session, Sides(spans, by or "", values, before or "", after or ""))
        mask = session.redactor
    zone, console = ZoneInfo(context.console.zone), context.console
    for name, chosen in plan:
        text = compared_text(found, console.texts, zone, console.width, mask) if chosen == "text" else ""
        text = text or (
            compared_json(found, mask) if chosen == "json" else compared_markdown(found, console.texts, zone, mask)
        )
        emit_text(text, [(name, chosen)], console)
    return 0


def _sorted(names: list[str], by: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """(windows, values, files and services)."""
    spans = tuple(name for name in names if ".." in name and not _is_file(name) and "/" not in name)
    if len(spans) > _PAIR:
        reason = f"two windows are compared, not {len(spans)}"
        raise UsageError(reason, code="LA702", values={"reason": reason, "command": "compare"})
    rest = tuple(name for name in names if name not in spans)
    values = tuple(name for name in rest if by and not _is_file(name))
    return spans, values, tuple(name for name in rest if name not in values)


def _is_file(name: str) -> bool:
    return name == "-" or Path(name).is_file()
