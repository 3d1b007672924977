"""Interrupts and answers that never end."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import duckdb
import httpx
import pytest

from logagent.llm._connection import Connection
from logagent.llm._endpoint import Endpoint
from logagent.stores._local_sql import interruptible


def test_ctrl_c_inside_a_statement_of_duckdb_is_an_interrupt_and_no_bug() -> None:
    with duckdb.connect(":memory:") as connection:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt), interruptible():
            connection.execute("SELECT count(*) FROM range(1000000000) t WHERE t.range % 7 = 3").fetchall()
        timer.join()


def test_an_error_that_is_no_interrupt_stays_what_it_is() -> None:
    with pytest.raises(RuntimeError, match="another"), interruptible():
        raise RuntimeError("another")


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
