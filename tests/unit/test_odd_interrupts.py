"""Interrupts and answers that never end."""

import importlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import httpx
import pytest

from logagent.cli._investigate import Interrupts
from logagent.events import RunEvent, StepFinished
from logagent.llm._connection import Connection
from logagent.llm._endpoint import Endpoint
from logagent.stores._local_interrupt import interruptibly

ENDLESS = "SELECT count(*) FROM range(100000000000) t WHERE t.range % 7 = 3"


def press_ctrl_c(seconds: float = 0.2) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_inside_a_statement_stops_it() -> None:
    """The statement would take minutes, so a return at all is the test; the connection works on afterwards."""
    with duckdb.connect(":memory:") as connection:
        for _ in range(3):
            timer = press_ctrl_c()
            with pytest.raises(KeyboardInterrupt):
                interruptibly(connection, lambda: connection.execute(ENDLESS).fetchall())
            timer.join()
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_ctrl_c_between_two_statements_stops_the_next_one() -> None:
    with duckdb.connect(":memory:") as connection:
        reached: list[str] = []

        def work() -> None:
            end = time.monotonic() + 0.4
            while time.monotonic() < end:  # Python between two statements: nothing to stop yet
                pass
            reached.append("second")
            connection.execute(ENDLESS).fetchall()

        timer = press_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            interruptibly(connection, work)
        timer.join()
        assert reached == ["second"]


def test_an_error_of_the_work_stays_what_it_is() -> None:
    with duckdb.connect(":memory:") as connection, pytest.raises(duckdb.Error, match="no_such"):
        interruptibly(connection, lambda: connection.execute("SELECT no_such").fetchall())


def test_work_of_another_thread_is_done_there() -> None:
    names: list[str] = []
    with duckdb.connect(":memory:") as connection:
        worker = threading.Thread(
            target=lambda: names.append(interruptibly(connection, lambda: threading.current_thread().name)), name="own"
        )
        worker.start()
        worker.join()
    assert names == ["own"]


class Trickle(httpx.SyncByteStream):
    """A page that sends a comment again and again and never ends."""

    def __init__(self, clock: "Clock") -> None:
        self.clock = clock

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.clock.now += 1.0
            yield b": keep-alive\n\n"


class Clock:
    """Time that passes with the chunks."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def __call__(self) -> float:
        return self.now


def test_a_page_about_the_model_that_trickles_for_ever_is_given_up() -> None:
    clock = Clock()
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Trickle(clock)))
    connection = Connection(Endpoint("http://127.0.0.1:9/v1", "m"), clock, transport)
    began = clock.now
    assert connection.get("http://127.0.0.1:9/v1/models", {}, 3.0) is None
    assert clock.now - began < 6
    connection.close()


def test_an_interrupt_that_python_has_dropped_is_heard_at_the_next_step() -> None:
    told: list[RunEvent] = []
    interrupts = Interrupts()
    tell = interrupts.watch(told.append)
    tell(StepFinished(1, 8, "scope", "ok", 0.1, ""))
    with suppress(KeyboardInterrupt):
        interrupts(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        tell(StepFinished(2, 8, "volume", "ok", 0.2, ""))
    interrupts.heard = True
    tell(StepFinished(3, 8, "errors", "ok", 0.3, ""))
    assert len(told) == 3


def test_the_end_of_a_loop_that_heard_the_interrupt_itself_is_no_second_one() -> None:
    interrupts = Interrupts()
    tell = interrupts.watch(lambda _: None)
    with suppress(KeyboardInterrupt):
        interrupts(signal.SIGINT, None)
    tell(StepFinished(7, 8, "hypotheses", "ok", 0.2, ""))


def test_an_interrupt_during_an_import_is_heard_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "interrupted_import.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\nwhole = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.signal(signal.SIGINT, Interrupts())
    try:
        whole = importlib.import_module("interrupted_import").whole
        with pytest.raises(KeyboardInterrupt):
            threading.Event().wait(30)
    finally:
        signal.signal(signal.SIGINT, before)
    assert whole
