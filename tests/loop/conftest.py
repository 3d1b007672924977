"""Runs over lines in files, by the embedded store."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from logagent.logs import TimeWindow, iso
from logagent.query import Scope
from logagent.stores import local
from logagent.stores._base import LogStore
from logagent.tools import ToolContext
from tests.loop.scene import context
from tests.loop.stores import NOON

WINDOW = TimeWindow(NOON, NOON + timedelta(minutes=10))
Run = Callable[[list[dict[str, object]]], ToolContext]


@pytest.fixture
def over(tmp_path: Path) -> Iterator[Run]:
    """A run over these lines, ten minutes from noon on, in files as they are."""
    opened: list[LogStore] = []

    def make(lines: list[dict[str, object]]) -> ToolContext:
        path = tmp_path / f"{len(opened)}.ndjson"
        step = 590 / max(1, len(lines))
        stamped = [{"time": iso(NOON + timedelta(seconds=at * step)), **line} for at, line in enumerate(lines)]
        path.write_text("\n".join(map(json.dumps, stamped)) + "\n")
        opened.append(local.BACKEND.open(local.LocalOptions((str(path),))))
        scope = Scope(WINDOW, WINDOW, WINDOW.end)
        return context(opened[-1], scope=scope)  # type: ignore[arg-type]

    yield make
    for store in opened:
        store.close()


def line(message: str, level: str = "info", service: str = "seat", **more: object) -> dict[str, object]:
    return {"service": service, "level": level, "message": message, **more}
