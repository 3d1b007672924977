"""Progress on stderr: a region that is redrawn, finished lines, NDJSON, or nothing (ux.md 2.6)."""

import dataclasses
import json
import sys
import threading
import time
from typing import Self

from logagent.cli._console import Console
from logagent.cli._errors import local_times, print_notice
from logagent.events import (
    ModelAsked,
    ModelReplied,
    Notice,
    RunEvent,
    StepFinished,
    StepStarted,
    StoreRequest,
    ToolFinished,
    ToolStarted,
)

REDRAW_SECONDS = 0.25
HEARTBEAT_SECONDS = 10.0
SUBMIT = "submit_diagnosis"
"""The call that ends a run (`logagent.tools`, which takes long to import)."""
YES = ("y", "yes", "是", "好")


class Progress:
    """Shows the events of a run. Use as a context manager; an instance is an OnEvent.

    Events may come from several threads. Notices are kept and printed when the region is gone, each once.
    """

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._lines: list[str] = []
        self._current = ""
        self._sent_back = False
        self._drawn = 0
        self._drawn_at = 0.0
        self._began = time.monotonic()
        self._notices: list[Notice] = []
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> Self:
        mode = self._console.progress
        if mode in ("plain", "tty") and self._title:
            self._lines.append(self._title)
            if mode == "plain":
                self._console.say(self._title)
        if mode == "tty":
            self._draw()
        if mode in ("plain", "tty"):
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        return self

    def __exit__(self, *ending: object) -> None:
        self._over.set()
        if self._ticker:
            self._ticker.join(timeout=1)
        with self._lock:
            self._erase()
        for notice in self._notices:
            print_notice(notice, self._console)

    def __call__(self, event: RunEvent) -> None:
        """Show one event."""
        with self._lock:
            if self._console.progress == "json":
                self._console.say(as_json(event))
            elif isinstance(event, Notice):
                if event not in self._notices:
                    self._notices.append(event)
            else:
                self._step(event)

    def ask(self, question: str) -> bool:
        """Put a yes-or-no question to the person at the terminal; progress stands still meanwhile."""
        with self._lock:
            self._erase()
            sys.stderr.write(f"{_plain(question)} ")
            sys.stderr.flush()
            return sys.stdin.readline().strip().lower() in YES

    def _step(self, event: RunEvent) -> None:
        if isinstance(event, StepStarted):
            self._current = self._label(event.number, event.total, event.name)
        elif isinstance(event, StepFinished):
            self._finished(event)
        elif isinstance(event, ModelAsked | ModelReplied):
            self._asked(event)
        elif isinstance(event, ToolStarted):
            self._detail(f"{event.tool}  {event.why}".rstrip())
        elif isinstance(event, ToolFinished):
            self._called(event)
        elif isinstance(event, StoreRequest) and self._console.verbose:
            self._detail(f"{event.what} {event.took_ms} ms {event.detail}".rstrip())
        if self._console.progress == "tty" and time.monotonic() - self._drawn_at >= REDRAW_SECONDS:
            self._draw()

    def _asked(self, event: ModelAsked | ModelReplied) -> None:
        if isinstance(event, ModelReplied):
            self._detail(self._say("turn", turn=event.turn, seconds=f"{event.seconds:.1f}"))
            return
        self._detail(self._say("sent_back" if self._sent_back else "waiting"))
        self._sent_back = False

    def _called(self, event: ToolFinished) -> None:
        """A call is over; a diagnosis that was sent back failed nothing: the model mends it."""
        self._sent_back = event.tool == SUBMIT and not event.ok
        word = self._say("back") if self._sent_back else "ok" if event.ok else "fail"
        self._detail(f"{event.tool} {word} {event.seconds:.1f}s {' '.join(event.evidence)}".rstrip())

    def _say(self, key: str, **values: object) -> str:
        return self._console.texts.say(f"cli.progress.{key}", **values)

    def _finished(self, event: StepFinished) -> None:
        label = self._label(event.number, event.total, event.name)
        line = f"{label} {event.word:<4} {event.seconds:>5.1f}s  {local_times(_plain(event.text), self._console)}"
        self._lines.append(line)
        self._current = ""
        if self._console.progress == "plain":
            self._console.say(line)

    def _detail(self, text: str) -> None:
        line = f"       {_plain(text)}"
        if self._console.progress == "plain" and self._console.verbose:
            self._console.say(line)
        if self._current and self._console.progress in ("plain", "tty"):
            self._current = f"{self._current.split('  | ')[0]}  | {line.strip()}"

    def _label(self, number: int, total: int, name: str) -> str:
        return f" {number}/{total} {self._console.texts.say(f'cli.step.{name}')}"

    def _tick(self) -> None:
        pause = REDRAW_SECONDS if self._console.progress == "tty" else HEARTBEAT_SECONDS
        while not self._over.wait(pause):
            with self._lock:
                if self._console.progress == "tty":
                    self._draw()
                elif self._current:
                    self._console.say(self._running())

    def _draw(self) -> None:
        if self._over.is_set():
            return
        lines = list(self._lines)
        if self._current:
            lines.append(self._running())
        width = max(20, self._console.width - 1)
        self._erase()
        sys.stderr.write("".join(_cut(line, width) + "\n" for line in lines))
        sys.stderr.flush()
        self._drawn, self._drawn_at = len(lines), time.monotonic()

    def _running(self) -> str:
        """The step that goes on, for how long, and what is waited for."""
        head, _, detail = self._current.partition("  | ")
        return f"{head} ...  {time.monotonic() - self._began:>5.1f}s  {detail}".rstrip()

    def _erase(self) -> None:
        if self._drawn:
            sys.stderr.write(f"\x1b[{self._drawn}A\x1b[J")
            sys.stderr.flush()
            self._drawn = 0


def as_json(event: RunEvent) -> str:
    """One event as a line: its kind in snake_case and its fields."""
    name = type(event).__name__
    kind = "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
    return json.dumps({"event": kind, **dataclasses.asdict(event)}, ensure_ascii=False, default=str)


def _plain(text: str) -> str:
    """One line without control characters: names in it come from logs."""
    return "".join(char if char.isprintable() else " " for char in text)


def _cut(line: str, width: int) -> str:
    from wcwidth import wcwidth  # noqa: PLC0415

    used = 0
    for place, char in enumerate(line):
        used += max(0, wcwidth(char))
        if used > width:
            return line[:place]
    return line
