"""`logagent verify`: re-run every evidence query of a case. No model."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from logagent.cli._app import command_app
from logagent.cli._cases import open_cases, with_source
from logagent.cli._console import Console
from logagent.cli._context import Asked, make_context, make_run_options
from logagent.cli._options import NO_SCOPE, GlobalOptions, takes
from logagent.cli._output import emit_text, plan_output

if TYPE_CHECKING:
    from logagent.diagnosis import Diagnosis, EvidenceOut

APP = command_app()
FORMATS = ("text", "json")


@APP.command()
@takes(GlobalOptions)
def verify(
    case: Annotated[str, typer.Argument(help="Case id, last, or a report file (JSON).", metavar="CASE|FILE")] = "last",
    files: Annotated[
        list[str] | None, typer.Argument(help="Where the log files are now, if they moved.", metavar="LOGFILE")
    ] = None,
    *,
    options: GlobalOptions,
) -> int:
    """Ask again for every figure of a report."""
    from logagent.wiring import requery  # noqa: PLC0415

    context = make_context(options)
    plan = plan_output(options, FORMATS)
    diagnosis = open_cases(context.settings).load(case)
    run = make_run_options(context, Asked(names=tuple(files or ())), NO_SCOPE, None)
    run = with_source(context, case, diagnosis, run)
    began = time.monotonic()
    checked = requery(diagnosis, context.settings, run)
    seconds = time.monotonic() - began
    text = checked.to_json() if plan[0][1] == "json" else _summary(diagnosis, checked, seconds, context.console)
    emit_text(text, plan, context.console)
    return 0


def _summary(before: "Diagnosis", after: "Diagnosis", seconds: float, console: Console) -> str:
    say = console.texts.say
    total = len(after.evidence)
    verified = sum(1 for row in after.evidence if row.verification.state == "verified")
    lines = [say("cli.verify.head", verified=verified, total=total, seconds=f"{seconds:.1f}")]
    olds = {row.id: row for row in before.evidence}
    width = max((len(row.id) for row in after.evidence), default=0)
    shown = [row for row in after.evidence if row.verification.state != "verified" or console.verbose]
    lines += [_row(row, olds[row.id], width, console) for row in shown]
    return "\n".join(lines)


def _row(row: "EvidenceOut", old: "EvidenceOut", width: int, console: Console) -> str:
    from logagent.analysis.sanitise import sanitise  # noqa: PLC0415

    say = console.texts.say
    state = f"{say(f'cli.state.{row.verification.state}'):<12}"
    line = say("cli.verify.row", id=f"{row.id:<{width}}", state=state, statement=sanitise(row.statement))
    seen = row.verification.observed_value
    if seen is None or row.verification.state == "verified":
        return line
    quoted = row.verification.method == "document_fetch"
    before = len(old.samples) if quoted else old.value
    return f"{line}; {say('cli.verify.was', before=_plain(before), now=_plain(seen))}"


def _plain(value: object) -> object:
    """A whole number without its `.0`: a report keeps every figure as a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
