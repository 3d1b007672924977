"""One investigation on the terminal: progress, interrupts, output, exit status. Shared by diagnose, ask and demo."""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import typer

from logagent.cli._cases import remember_source
from logagent.cli._context import Context
from logagent.cli._debug import debug_log
from logagent.cli._output import emit_diagnosis, plan_output
from logagent.cli._progress import Progress
from logagent.cli._window import confirm_long_window, planned_window, window_title
from logagent.errors import SourceError, UsageError
from logagent.events import OnEvent, RunEvent, StepFinished

if TYPE_CHECKING:
    from logagent.diagnosis import Diagnosis
    from logagent.settings import RunOptions
    from logagent.tools import Approve

INTERRUPTED, TERMINATED = 130, 143
FOUND = 10
PARTIAL = 7
_CONCLUDING = 7
"""The first step behind the survey; from there on the loop hears interrupts itself."""
_AGAIN_S = 0.02
"""Seconds until an interrupt that came while a module was imported is sent again."""
_ANOMALIES = ("confirmed", "probable", "inconclusive")


class Interrupts:
    """What SIGINT and SIGTERM asked for. The loop ends at an interrupt and keeps it to itself, so it is noted here.

    Attributes:
        status: exit status asked for; 0 while nobody interrupted.
        heard: whether somebody caught the interrupt. Python drops one that comes inside a callback of its own.
    """

    def __init__(self) -> None:
        self.status = 0
        self.heard = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the signal and raise KeyboardInterrupt in the main thread; after an import that runs, not inside it.

        Inside one Python may drop it (a lock's callback), turn it into another error (an extension module), or end
        the process by the signal although it was caught (source that a module executes, as dataclasses do).
        """
        self.status = TERMINATED if number == signal.SIGTERM else INTERRUPTED
        if _importing(frame):
            threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number)).start()
            return
        raise KeyboardInterrupt

    def watch(self, on_event: OnEvent) -> OnEvent:
        """`on_event`, and after each step of the survey the interrupt once more that nobody has caught."""

        def tell(event: RunEvent) -> None:
            on_event(event)
            if self.status and not self.heard and isinstance(event, StepFinished) and event.number < _CONCLUDING:
                raise KeyboardInterrupt

        return tell


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def investigate(context: Context, options: "RunOptions", *, exit_code: bool = False) -> int:
    """Run, print, and give the exit status (ux.md 2.4).

    Raises:
        LogAgentError: nothing usable could be collected; stdout is still empty.
    """
    from logagent.report import formats  # noqa: PLC0415

    console = context.console
    plan = plan_output(context.options, formats())
    _require_other_files(plan, options.files)
    if options.dry_run:
        return _dry_run(context, options)
    if not confirm_long_window(context, options):
        return 2
    title = window_title(context, options)
    with _signals() as interrupts, debug_log(context) as log, Progress(console, title) as progress:
        diagnosis = _run(context, options, (interrupts, _both(progress, log)), _approval(context, progress))
    status = interrupts.status
    if diagnosis is None:
        console.say(console.texts.say("cli.interrupted_empty"))
        return status or INTERRUPTED
    if options.strict and not diagnosis.data_quality.complete:
        raise _partial(diagnosis)
    if options.save:
        remember_source(context, options, diagnosis)
    emit_diagnosis(diagnosis, plan, console)
    _hints(context, options, diagnosis)
    if status:
        return status
    return FOUND if exit_code and diagnosis.outcome in _ANOMALIES else 0


def _both(first: OnEvent, second: OnEvent | None) -> OnEvent:
    if second is None:
        return first
    log = second

    def tell(event: RunEvent) -> None:
        first(event)
        log(event)

    return tell


def _approval(context: Context, progress: Progress) -> "Approve":
    """Who says yes to a restricted tool: --yes, else the person at the terminal, else nobody (security.md S9)."""

    def approve(tool: str, arguments: str) -> bool:
        if context.options.yes:
            return True
        console = context.console
        return console.can_ask and progress.ask(console.texts.say("cli.approve", tool=tool, arguments=arguments))

    return approve


def _run(
    context: Context, options: "RunOptions", told: tuple[Interrupts, OnEvent], approve: "Approve"
) -> "Diagnosis | None":
    """The diagnosis; after an interrupt what is known by then, or None. `told`: who hears signals, and events."""
    interrupts, on_event = told
    try:
        from logagent.wiring import open_session  # noqa: PLC0415

        session = open_session(context.settings, options, interrupts.watch(on_event), context.stdin, approve)
    except KeyboardInterrupt:
        return None
    with session:
        try:
            return session.run()
        except KeyboardInterrupt:
            interrupts.heard = True
        try:
            return session.partial()
        except KeyboardInterrupt:  # twice: leave now
            return None


@contextmanager
def _signals() -> Iterator[Interrupts]:
    """SIGTERM ends a run like Ctrl-C does, with what is known; outside of the run itself it only ends the command."""
    interrupts = Interrupts()
    before = [(number, signal.signal(number, interrupts)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield interrupts
    except KeyboardInterrupt:
        raise typer.Exit(interrupts.status or INTERRUPTED) from None
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _require_other_files(plan: list[tuple[str, str]], files: Sequence[str]) -> None:
    """A report never replaces the log that it is made from."""
    for name, _ in plan:
        same = next((file for file in files if "-" not in (name, file) and _same(name, file)), None)
        if same is not None:
            reason = f"-o {name} would replace the log file {same}"
            raise UsageError(reason, code="LA702", values={"reason": reason})


def _same(one: str, other: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(one).is_file() and Path(one).samefile(other)
    return False


def _partial(diagnosis: "Diagnosis") -> SourceError:
    quality = diagnosis.data_quality
    values: dict[str, object] = {"reason": next((one.text for one in quality.caveats), None)}
    if quality.shards and quality.shards.failed:
        share = 100 * quality.shards.failed / max(1, quality.shards.total)
        values |= {"failed": quality.shards.failed, "total": quality.shards.total, "percent": f"{share:.0f}"}
    error = SourceError(f"the data is not complete; the report is saved as {diagnosis.id}", code="LA401", values=values)
    error.exit_code = PARTIAL  # type: ignore[misc]  # this one instance: --strict makes a warning an error
    return error


def _hints(context: Context, options: "RunOptions", diagnosis: "Diagnosis") -> None:
    """The three lines after a demo: evidence, verification, page (ux.md 6)."""
    if options.command != "demo" or not options.save:
        return
    first = diagnosis.evidence[0].id if diagnosis.evidence else ""
    console = context.console
    if first and sys.stdout.isatty():
        console.hint("")
    for key in ("evidence", "verify", "own"):
        if first or key == "own":
            console.hint(console.texts.say(f"cli.after.{key}", evidence=first))


def _dry_run(context: Context, options: "RunOptions") -> int:
    """What would be asked of whom; nothing is opened."""
    settings, console = context.settings, context.console
    use_model = options.use_model and bool(settings.llm.base_url and settings.llm.model)
    plan = {
        "source": list(options.files) or options.scenario or settings.es.url,
        "window": window_title(context, options),
        "model": f"{settings.llm.model} at {settings.llm.base_url}" if use_model else None,
        **{name: value for name, value in asdict(options).items() if value not in (None, (), {}, "", False)},
    }
    if console.json:
        console.out(json.dumps({"kind": "plan", **plan}, ensure_ascii=False, default=str))
    else:
        console.out("\n".join(_in_words(context, options, plan)))
    return 0


def _in_words(context: Context, options: "RunOptions", plan: Mapping[str, object]) -> list[str]:
    """The plan for people: what would be read, over which time, and what would be asked."""
    from logagent.report._text import cells, pad  # noqa: PLC0415

    texts = context.console.texts
    filters = [*options.filters, *(f"NOT ({one})" for one in options.excludes)]
    filters += [f"{role}:{value}" for role, values in options.fields.items() for value in values]
    rows = {
        "source": _shown(plan["source"]) if plan["source"] else "",
        "indices": _shown(options.indices),
        "window": planned_window(context, options),
        "baseline": options.baseline,
        "services": _shown(options.services) or texts.say("cli.plan.all"),
        "filter": " AND ".join(filters),
        "question": options.question or "",
        "model": _shown(plan["model"]) if plan["model"] else texts.say("cli.plan.no_model"),
        "queries": texts.say("cli.plan.queries_rule" if plan["model"] is None else "cli.plan.queries_model"),
        "effort": options.effort,
    }
    labels = {key: texts.say(f"cli.plan.{key}") for key, value in rows.items() if value}
    width = max(cells(label) for label in labels.values())
    return [f"{pad(label, width)}  {rows[key]}" for key, label in labels.items()]


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return "-" if value is None else str(value)
