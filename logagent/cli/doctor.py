"""`logagent doctor`: what works and what does not, in order of dependence (ux.md 2.11)."""

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from logagent.cli._app import command_app
from logagent.cli._console import Console
from logagent.cli._context import Asked, Context, make_context, make_run_options, require_choice
from logagent.cli._options import NO_SCOPE, GlobalOptions, takes
from logagent.cli._output import emit_text, plan_output

if TYPE_CHECKING:
    from logagent.wiring._doctor import DoctorCheck

APP = command_app()
AREAS = ("config", "es", "fields", "llm", "terminal")
FORMATS = ("text", "json")
_COLOURS = {"ok": "32", "warn": "33", "fail": "31", "skip": "2"}


@APP.command()
@takes(GlobalOptions)
def doctor(
    targets: Annotated[list[str] | None, typer.Argument(help="Files to check as a source.", metavar="FILE")] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="Areas by comma: config, es, fields, llm, terminal.", metavar="AREAS")
    ] = None,
    *,
    print_role: Annotated[
        bool, typer.Option("--print-role", help="Print the role that logagent needs; give patterns as arguments.")
    ] = False,
    show_fingerprint: Annotated[
        bool, typer.Option("--show-fingerprint", help="Print the SHA-256 of the server's certificate.")
    ] = False,
    options: GlobalOptions,
) -> int:
    """Check configuration, connection, rights, fields, time and model."""
    from logagent.cli._setup import fingerprint, role  # noqa: PLC0415

    context = make_context(options)
    plan = plan_output(options, FORMATS)
    if print_role:
        emit_text(role(tuple(targets or ()) or context.settings.es.index), plan, context.console)
        return 0
    if show_fingerprint:
        emit_text(fingerprint(context.settings.es.url), plan, context.console)
        return 0
    areas = tuple(word.strip() for word in only.split(",") if word.strip()) if only else AREAS
    for word in areas:
        require_choice("--only", word, AREAS)
    checks = _checks(context, tuple(targets or ()), areas)
    text = _as_json(checks) if plan[0][1] == "json" else _as_text(checks, context.console)
    emit_text(text, plan, context.console)
    return next((check.exit_code for check in checks if check.word == "fail"), 0)


def _checks(context: Context, names: tuple[str, ...], areas: tuple[str, ...]) -> "list[DoctorCheck]":
    from logagent import wiring  # noqa: PLC0415

    run = make_run_options(context, Asked(names=names), NO_SCOPE, None)
    wanted = tuple(area for area in areas if area != "terminal")
    checks = wiring.doctor(context.settings, run, wanted) if wanted else []
    if "terminal" in areas:
        checks.append(wiring.DoctorCheck("terminal", "ok", _terminal(context.console)))
    return checks


def _terminal(console: Console) -> str:
    colour = "colour 16" if console.colour else "no colour"
    glyphs = "" if console.unicode else ", ASCII only"
    encoding = (sys.stdout.encoding or "ascii").upper()
    return f"{encoding}, {console.width} columns, {colour}{glyphs}, language {console.texts.language}, {console.zone}"


def _as_json(checks: "list[DoctorCheck]") -> str:
    rows: list[dict[str, Any]] = [asdict(check) for check in checks]
    return json.dumps({"kind": "doctor", "checks": rows}, ensure_ascii=False)


def _as_text(checks: "list[DoctorCheck]", console: Console) -> str:
    from logagent.analysis.sanitise import sanitise  # noqa: PLC0415

    width = max((len(check.name) for check in checks), default=0)
    lines = []
    for check in checks:
        word = f"{check.word:<4}"
        shown = f"\x1b[{_COLOURS[check.word]}m{word}\x1b[0m" if console.colour else word
        lines.append(f"{check.name:<{width}}  {shown}  {sanitise(check.finding)}")
        if check.remedy:
            remedy = console.texts.say("cli.doctor.try", remedy=sanitise(check.remedy))
            lines.append(f"{'':<{width}}        {remedy}")
    return "\n".join(lines)
