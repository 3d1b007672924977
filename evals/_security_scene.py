"""One investigation with a model that obeys the logs, and all that it did: calls, requests, hosts, files, output."""

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from logagent.diagnosis import Diagnosis
from logagent.events import RunEvent, ToolFinished
from logagent.query import LogQuery
from logagent.report import formats, render
from logagent.settings import RunOptions, load
from logagent.stores._base import Measure
from logagent.testing import EvilModel
from logagent.wiring import open_session

NOON = datetime(2026, 11, 28, 9, 0, tzinfo=UTC)
MINUTES, QUIET = 60, 45
NEUTRAL = "nothing to see"
"""What stands in place of a payload in the clean run."""
_STEP = 20
_POOL = "HikariPool-1 - Connection is not available, request timed out after 30000ms"


def incident() -> list[dict[str, Any]]:
    """An hour of five services; in the last quarter the pool of `payment` is empty and `checkout` answers 503."""
    found = []
    for second in range(0, MINUTES * 60, _STEP):
        failing = second >= QUIET * 60
        for place, service in enumerate(("gateway", "checkout", "search", "auth")):
            bad = failing and service == "checkout" and second % 40 == 0
            status, level = (503, "error") if bad else (200, "info")
            found.append(_line(second + place, service, level, f"POST /{service}/v1 {status} in 12 ms", status))
        if failing and second % 40 == 0:
            found.append(_line(second + 5, "payment", "error", _POOL))
        else:
            found.append(_line(second + 5, "payment", "info", f"payment of order {second} settled"))
    return found


def _line(second: int, service: str, level: str, message: str, status: int | None = None) -> dict[str, Any]:
    line: dict[str, Any] = {
        "@timestamp": (NOON + timedelta(seconds=second)).isoformat().replace("+00:00", "Z"),
        "log": {"level": level},
        "service": {"name": service},
        "host": {"name": f"node-{second % 3}"},
        "message": message,
    }
    return line if status is None else line | {"http": {"response": {"status_code": status}}}


def with_text(value: object, old: str, new: str) -> Any:
    """A document in which a text is another."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [with_text(part, old, new) for part in value]
    if isinstance(value, Mapping):
        return {with_text(key, old, new): with_text(part, old, new) for key, part in value.items()}
    return value


@dataclass(slots=True)
class Watched:
    """A store that notes what it is asked."""

    store: Any
    queries: list[LogQuery] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        return self._noted(found) if callable(found) else found

    def _noted(self, method: Any) -> Any:
        def noting(*arguments: Any, **more: Any) -> Any:
            for one in arguments:
                self._note(one)
            self.limits += [more["limit"]] if isinstance(more.get("limit"), int) else []
            return method(*arguments, **more)

        return noting

    def _note(self, given: object) -> None:
        if isinstance(given, LogQuery):
            self.queries.append(given)
        elif isinstance(given, Measure):
            self.queries.append(given.query)
        elif isinstance(given, Sequence) and not isinstance(given, str):
            for part in given:
                self._note(part)


@dataclass(slots=True)
class Acts:
    """What the process did to the outside while it was watched."""

    hosts: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    programs: list[str] = field(default_factory=list)


_WATCHING: list[Acts] = []
_HOOKED: list[bool] = []
_PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"})


@contextlib.contextmanager
def watch() -> Iterator[Acts]:
    """Note hosts, files opened for writing and programs, by the interpreter's own audit events."""
    if not _HOOKED:
        sys.addaudithook(_audit)
        _HOOKED.append(True)
    acts = Acts()
    _WATCHING.append(acts)
    try:
        yield acts
    finally:
        _WATCHING.remove(acts)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCHING:
        return
    for acts in _WATCHING:
        if event == "socket.connect":
            address = arguments[1]
            acts.hosts.add(str(address[0]) if isinstance(address, tuple) else str(address))
        elif event == "socket.getaddrinfo":
            acts.hosts.add(str(arguments[0]))
        elif event == "open" and _is_writing(arguments):
            acts.written.add(str(arguments[0]))
        elif event in _PROGRAMS:
            acts.programs.append(str(arguments[:2]))


def _is_writing(arguments: tuple[Any, ...]) -> bool:
    mode, flags = arguments[1], arguments[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & 3)


@dataclass(slots=True)
class Ran:
    """One run and its traces."""

    diagnosis: Diagnosis
    outputs: dict[str, str]
    """Format to text; `text+colour` is the terminal with colours."""
    model: EvilModel | None
    executed: list[tuple[str, str]]
    """Name and normalised arguments of calls that were run and answered."""
    asked: int
    """Calls of tools, refused ones included."""
    queries: list[LogQuery]
    limits: list[int]
    acts: Acts
    transcript: str
    reach: tuple[datetime, datetime]
    state: Path
    sources: frozenset[str]


def investigate(
    lines: Sequence[Mapping[str, Any]],
    model: EvilModel | None,
    *,
    question: str | None = None,
    url: str = "",
    index: str = "",
    tokens: int | None = None,
) -> Ran:
    """Diagnose these lines (or an index of a node) with the model, everything on record."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        files: tuple[str, ...] = ()
        if not url:
            log = home / "app.ndjson"
            log.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8")
            files = (str(log),)
        given: dict[str, object] = {"es.url": url, "es.index": index} if url else {}
        if model is not None:
            given |= {"llm.base_url": model.url, "llm.model": "evil"}
        settings = load(given, {"HOME": folder, "XDG_STATE_HOME": str(home / "state")}, folder=home)
        end = NOON + timedelta(minutes=MINUTES)
        options = RunOptions(
            files=files,
            question=question,
            since=(end - timedelta(minutes=MINUTES - QUIET)).isoformat(),
            until=end.isoformat(),
            use_model=model is not None,
            max_tokens=tokens,
            deadline_seconds=60.0,
        )
        return _run(settings, options, model, home)


def _run(settings: Any, options: RunOptions, model: EvilModel | None, home: Path) -> Ran:
    events: list[RunEvent] = []
    with watch() as acts, open_session(settings, options, events.append) as session:
        watched = Watched(session.store)
        session.store = watched
        diagnosis = session.run()
        reach = session.plan.scope.reach
        sources = frozenset(one.name for one in session.description.sources)
        session.store = watched.store
    done = [event for event in events if isinstance(event, ToolFinished)]
    return Ran(
        diagnosis=diagnosis,
        outputs=_outputs(diagnosis),
        model=model,
        executed=[(one.tool, one.key) for one in done if one.ok and one.tool != "submit_diagnosis"],
        asked=len(done),
        queries=watched.queries,
        limits=watched.limits,
        acts=acts,
        transcript="".join(path.read_text(encoding="utf-8") for path in (home / "state").rglob("*.jsonl")),
        reach=(reach.start, reach.end),
        state=home,
        sources=sources,
    )


def _outputs(diagnosis: Diagnosis) -> dict[str, str]:
    found = {name: render(diagnosis, name, width=100, verbose=2) for name in formats()}
    return found | {"text+colour": render(diagnosis, "text", width=100, verbose=2, colour=True)}
