"""Where results go: stdout, or files written whole and for this user only."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from logagent.cli._console import Console
from logagent.cli._options import GlobalOptions
from logagent.errors import UsageError

if TYPE_CHECKING:
    from logagent.diagnosis import Diagnosis

_BY_SUFFIX = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".txt": "text",
    ".log": "text",
    ".md": "md",
    ".html": "html",
    ".csv": "csv",
}


def plan_output(options: GlobalOptions, known: tuple[str, ...]) -> list[tuple[str, str]]:
    """(file or `-`, format) for each output, refused before the run where it cannot work.

    Raises:
        UsageError: LA702, an unknown format or a file that cannot be written.
    """
    asked = "json" if options.json else options.output_format or "text"
    _require_format(asked, known)
    if not options.output:
        return [("-", asked)]
    plan: list[tuple[str, str]] = []
    for name in options.output:
        chosen = asked if name == "-" else _BY_SUFFIX.get(Path(name).suffix.lower(), asked)
        _require_format(chosen, known)
        if name != "-":
            _require_writable(name)
        plan.append((name, chosen))
    return plan


def _require_format(name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        reason = f"there is no format {name!r} here; there are: {', '.join(known)}"
        raise UsageError(reason, code="LA702", values={"reason": reason})


def _require_writable(name: str) -> None:
    path = Path(name)
    try:
        folder, itself = os.access(path.parent, os.W_OK), path.exists()
    except (OSError, ValueError) as error:  # too long, a zero byte
        reason = f"cannot write {name[:40]}: {getattr(error, 'strerror', None) or error}".lower()
        raise UsageError(reason, code="LA702", values={"reason": reason}) from error
    if not name:
        reason = "the name of the output file is empty"
    elif path.is_dir():
        reason = f"cannot write {name}: it is a directory"
    elif not path.parent.is_dir():
        reason = f"cannot write {name}: there is no folder {path.parent}"
    elif not (os.access(path, os.W_OK) if itself and not path.is_file() else folder):
        reason = f"cannot write {name}: permission denied"
    else:
        return
    raise UsageError(reason, code="LA702", values={"reason": reason})


def write_file(name: str, text: str) -> None:
    """Write a file in one piece, UTF-8, mode 0600 because it contains log text.

    Raises:
        UsageError: the disk said no.
    """
    from logagent.cases import write_private  # noqa: PLC0415

    path, whole = Path(name), text.rstrip("\n") + "\n"
    try:
        if path.exists() and not path.is_file():  # a device or a pipe is written to; a rename would replace it
            path.write_text(whole, encoding="utf-8", errors="backslashreplace")
        else:
            write_private(path.resolve(), whole)  # of a link, the file that it leads to
    except OSError as error:
        reason = f"cannot write {name}: {(error.strerror or 'failed').lower()}"
        raise UsageError(reason, code="LA702", values={"reason": reason}) from error


def emit_diagnosis(diagnosis: "Diagnosis", plan: list[tuple[str, str]], console: Console, *, budget: int = 0) -> None:
    """Render a diagnosis into every output of the plan; Markdown in at most `budget` characters, 0 is no limit."""
    from logagent.report import render  # noqa: PLC0415

    for name, chosen in plan:
        to_terminal = name == "-"
        text = render(
            diagnosis,
            chosen,
            language=diagnosis.language,
            zone=console.zone,
            width=console.width,
            unicode=console.unicode or not to_terminal,
            colour=console.colour and to_terminal,
            verbose=console.verbose,
            accessible=console.accessible,
            budget=budget,
        )
        if to_terminal:
            console.out(text)
        else:
            write_file(name, text)


def emit_text(text: str, plan: list[tuple[str, str]], console: Console) -> None:
    """Write a text that is already rendered into every output of the plan."""
    for name, _ in plan:
        if name == "-":
            console.out(text)
        else:
            write_file(name, text)


def page(text: str, console: Console, environ: Mapping[str, str]) -> None:
    """Show a long text through the pager of the reader, where stdout is a terminal; else print it."""
    command = environ.get("LOGAGENT_PAGER") or environ.get("PAGER") or "less -FIRX"
    program = command.split()
    tall = text.count("\n") >= shutil.get_terminal_size().lines
    if not (console.pager and tall and program and shutil.which(program[0])):
        console.out(text)
        return
    subprocess.run(program, input=text + "\n", text=True, encoding="utf-8", check=False)  # noqa: S603 - the reader's own pager
