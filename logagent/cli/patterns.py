"""`logagent patterns`: the pattern table of a window. No model, ever."""

import json
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from logagent.cli._app import command_app
from logagent.cli._console import Console
from logagent.cli._context import Asked, make_context, make_run_options, require_choice
from logagent.cli._options import GlobalOptions, ScopeOptions, takes
from logagent.cli._output import emit_text, page, plan_output
from logagent.cli._progress import Progress
from logagent.cli._window import window_title
from logagent.report._keys import pattern_key

if TYPE_CHECKING:
    from logagent.triage import PatternTable

APP = command_app()
FORMATS = ("text", "json", "jsonl", "md", "csv")


@APP.command()
@takes(ScopeOptions, GlobalOptions)
def patterns(
    targets: Annotated[
        list[str] | None, typer.Argument(help="Services or files; - is standard input.", metavar="SERVICE|FILE|-")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", help="new, spiking, rising, steady, falling, vanished; by comma.", metavar="CHANGES"),
    ] = None,
    *,
    scope: ScopeOptions,
    options: GlobalOptions,
) -> int:
    """Show message patterns and how their rate changed."""
    from logagent.diagnosis import Change  # noqa: PLC0415
    from logagent.wiring import open_session  # noqa: PLC0415

    context = make_context(options)
    plan = plan_output(options, FORMATS)
    wanted = tuple(word.strip() for word in only.split(",") if word.strip()) if only else ()
    for word in wanted:
        require_choice("--only", word, get_args(Change))
    run = replace(make_run_options(context, Asked(names=tuple(targets or ())), scope, None), save=False)
    with (
        Progress(context.console, window_title(context, run)) as progress,
        open_session(context.settings, run, progress, context.stdin) as session,
    ):
        found = session.patterns(wanted)
        found = replace(found, keywords=tuple(map(session.clean, found.keywords)))
    texts = {chosen: _rendered(found, chosen, context.console) for _, chosen in plan}
    if plan == [("-", "text")]:
        page(texts["text"], context.console, context.environ)
        return 0
    for name, chosen in plan:
        emit_text(texts[chosen], [(name, chosen)], context.console)
    return 0


def _rendered(found: "PatternTable", chosen: str, console: Console) -> str:
    if chosen in ("json", "jsonl"):
        return _as_json(found, chosen)
    if chosen == "text":
        return _as_table(found, console)
    from logagent.report._patterns import patterns_csv, patterns_markdown  # noqa: PLC0415

    return patterns_csv(found) if chosen == "csv" else patterns_markdown(found, console.texts)


def _as_json(found: "PatternTable", chosen: str) -> str:
    rows = [one.model_dump(by_alias=True, exclude_none=True) | {"key": pattern_key(one)} for one in found.rows]
    others = {"patterns": found.others, "lines": found.lines}
    if chosen == "jsonl":
        last = {"kind": "others", "total": found.total, **others, "keywords": found.keywords}
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in [*rows, last])
    document = {
        "kind": "patterns",
        "total": found.total,
        "patterns": rows,
        "others": others,
        "keywords": found.keywords,
    }
    return json.dumps(document, ensure_ascii=False)


def _as_table(found: "PatternTable", console: Console) -> str:
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    from logagent.analysis.sanitise import sanitise  # noqa: PLC0415

    say, zone = console.texts.say, ZoneInfo(console.zone)
    if not found.rows:
        return say("cli.patterns.none")
    rows = [tuple(say(f"cli.patterns.{name}") for name in ("change", "now", "usual", "first", "service", "text"))]
    for one in found.rows:
        first = f"{datetime.fromisoformat(one.first_seen).astimezone(zone):%H:%M:%S}" if one.first_seen else "-"
        before = one.baseline_count
        usual = "-" if before is None else "<1" if 0 < before < 0.5 else f"{before:,.0f}"  # noqa: PLR2004 - as 0
        service = ", ".join(sanitise(name) for name in one.fields.get("service.name", [])) or "-"
        rows.append((say(f"cli.change.{one.change}"), f"{one.count:,}", usual, first, service, sanitise(one.template)))
    figures = {"patterns": f"{found.others:,}", "lines": f"{found.lines:,}", "total": f"{found.total:,}"}
    rest = [say("cli.patterns.others", **figures)] if found.others or found.lines else []
    if found.keywords:
        rest.append(say("report.compare.words_now", words=", ".join(map(sanitise, found.keywords))))
    return "\n".join([*_aligned(rows), *rest])


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns by display width; counts to the right, the last column as long as it is."""
    from wcwidth import wcswidth  # noqa: PLC0415

    widths = [max(max(0, wcswidth(row[column])) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = []
        for place, width in enumerate(widths):
            pad = " " * (width - max(0, wcswidth(row[place])))
            cells.append(pad + row[place] if place in (1, 2) else row[place] + pad)
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return lines
