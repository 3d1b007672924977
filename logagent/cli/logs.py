"""`logagent logs`: raw lines of a window, or the lines behind a piece of evidence. Secrets are masked."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, Literal
from zoneinfo import ZoneInfo

import typer

from logagent.analysis.sanitise import sanitise
from logagent.cli._app import command_app
from logagent.cli._cases import open_cases, with_source
from logagent.cli._context import Asked, Context, make_context, make_run_options, require_choice
from logagent.cli._options import GlobalOptions, ScopeOptions, takes
from logagent.cli._output import emit_text, page, plan_output
from logagent.cli._progress import Progress
from logagent.cli._window import window_title
from logagent.errors import UsageError
from logagent.logs import LogRecord, iso

if TYPE_CHECKING:
    from logagent.settings import RunOptions

APP = command_app()
FORMATS = ("text", "json", "jsonl", "csv")
MOST = 1_000
_COLUMNS = (
    "@timestamp",
    "log.level",
    "service.name",
    "message",
    "error.type",
    "error.message",
    "host.name",
    "service.version",
    "trace.id",
    "http.response.status_code",
    "_index",
    "_id",
)


@dataclass(frozen=True, slots=True)
class _Lines:
    """What to print, oldest first."""

    records: tuple[LogRecord, ...]
    total: int
    mask: Callable[[str], str]
    """Takes secrets out of a text."""


@APP.command()
@takes(ScopeOptions, GlobalOptions)
def logs(
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="Services or files; - is standard input; with --case an item.", metavar="SERVICE|FILE|-"),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Most lines.", min=1, max=MOST, metavar="N")] = 100,
    order: Annotated[
        str | None, typer.Option("--order", help="Which lines, where there are more: newest or oldest.")
    ] = None,
    case: Annotated[
        str | None, typer.Option("--case", help="Lines behind evidence of a case.", metavar="ID|last")
    ] = None,
    *,
    scope: ScopeOptions,
    options: GlobalOptions,
) -> int:
    """Print raw lines, in time order."""
    context = make_context(options)
    plan = plan_output(options, FORMATS)
    require_choice("--order", order, ("newest", "oldest"))
    end: Literal["newest", "oldest"] = "oldest" if order == "oldest" else "newest"
    names = tuple(targets or ())
    if case is not None:
        run = _behind(context, case, names, make_run_options(context, Asked(), scope, None))
    else:
        run = make_run_options(context, Asked(names=names), scope, None)
    found = _read(context, run, limit, end)
    text = _rendered(found, plan[0][1], ZoneInfo(context.console.zone))
    if plan == [("-", "text")]:
        page(text, context.console, context.environ)
    else:
        emit_text(text, plan, context.console)
    if found.total > len(found.records):
        shown = context.console.texts.say("cli.logs.more", shown=len(found.records), total=f"{found.total:,}")
        context.console.hint(shown)
    return 0


def _behind(context: Context, case: str, items: Sequence[str], options: "RunOptions") -> "RunOptions":
    """Options that look at the lines which a piece of evidence counted."""
    diagnosis = open_cases(context.settings).load(case)
    wanted = items[0].upper() if items else ""
    row = next((one for one in diagnosis.evidence if one.id == wanted), None)
    if row is None:
        known = ", ".join(one.id for one in diagnosis.evidence[:20])
        reason = context.console.texts.say("cli.logs.no_evidence", item=wanted or "-", known=known)
        raise UsageError(reason, code="LA702", values={"reason": reason, "command": "logs"})
    query = row.query
    options = replace(
        options,
        since=options.since or query.from_ or diagnosis.window.from_,
        until=options.until or query.to or diagnosis.window.to,
        filters=(*options.filters, *((query.text,) if query.text not in ("", "*") else ())),
        services=(),
    )
    return with_source(context, case, diagnosis, options)


def _read(context: Context, options: "RunOptions", limit: int, order: Literal["newest", "oldest"]) -> _Lines:
    from logagent.wiring import open_session  # noqa: PLC0415

    quiet = replace(options, question=None, save=False)
    if options.services:  # here a service is a filter, not a focus
        fields = {**options.fields, "service": options.services}
        quiet = replace(quiet, fields=fields)
    with (
        Progress(context.console, window_title(context, options)) as progress,
        open_session(context.settings, quiet, progress, context.stdin) as session,
    ):
        found = session.search(limit, order)
    records = tuple(reversed(found.records)) if order == "newest" else found.records
    return _Lines(records, found.total, session.redactor)


def _rendered(found: _Lines, chosen: str, zone: tzinfo) -> str:
    if chosen == "text":
        return "\n".join(_line(record, found.mask, zone) for record in found.records)
    rows = [_as_row(record, lambda text: sanitise(found.mask(text))) for record in found.records]
    if chosen == "csv":
        from logagent.report._csv import csv_text  # noqa: PLC0415

        return csv_text(_COLUMNS, [[row.get(name) for name in _COLUMNS] for row in rows])
    if chosen == "jsonl":
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return json.dumps({"kind": "logs", "total": found.total, "records": rows}, ensure_ascii=False)


def _line(record: LogRecord, mask: Callable[[str], str], zone: tzinfo) -> str:
    at = f"{record.timestamp.astimezone(zone):%Y-%m-%d %H:%M:%S.%f}"[:-3] if record.timestamp else "-"
    level = record.severity.word.upper() if record.severity is not None else record.level or "-"
    text = mask(record.message + _tail(record))  # as a whole: a key goes over several lines
    first, *rest = [sanitise(line) for line in text.splitlines()] or [""]
    head = f"{at}  {sanitise(mask(level)):<5}  {sanitise(mask(record.service)) or '-'}  {first}"
    return "\n".join([head, *(f"    {line}" for line in rest)])


def _tail(record: LogRecord) -> str:
    """The exception of a record where its message does not tell it."""
    named = ": ".join(part for part in (record.error_type, record.error_message) if part)
    parts = [part for part in (named, record.stack) if part and part not in record.message]
    if record.stack and named and record.stack.startswith(record.error_type):
        parts = [part for part in parts if part != named]
    return "".join(f"\n{part}" for part in parts)


def _as_row(record: LogRecord, clean: Callable[[str], str]) -> dict[str, object]:
    row: dict[str, object] = {
        "_index": record.id.source,
        "_id": record.id.id,
        "@timestamp": iso(record.timestamp) if record.timestamp else None,
        "log.level": clean(record.level or (record.severity.word if record.severity is not None else "")),
        "service.name": clean(record.service or ""),
        "message": clean(record.message),
        "error.type": clean(record.error_type or ""),
        "error.message": clean(record.error_message),
        "host.name": clean(record.host or ""),
        "service.version": clean(record.version or ""),
        "trace.id": clean(record.trace_id or ""),
        "http.response.status_code": record.status,
    }
    return {name: value for name, value in row.items() if value not in (None, "")}
