"""Ctrl-C stops a statement of the embedded database at once, whatever it is doing."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

T = TypeVar("T")
_AGAIN_S = 0.05
"""Seconds between two calls to stop: one that comes between two statements is not heard."""


class Interruptible(Protocol):
    """A connection or cursor of DuckDB."""

    def interrupt(self) -> None:
        """Stop the statement that runs."""


def interruptibly(connection: Interruptible, work: Callable[[], T]) -> T:
    """The result of `work`, which runs statements on `connection`.

    DuckDB looks for signals now and then, and misses them while its own threads are busy; so the main thread only
    waits, which Ctrl-C ends at once, and tells the connection to stop. Other threads get no signals and just work.

    Raises:
        KeyboardInterrupt: Ctrl-C; the statement has ended.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: Future[T] = Future()
    worker = threading.Thread(target=_fulfil, args=(outcome, work), name="duckdb", daemon=True)
    worker.start()
    try:
        return outcome.result()
    except KeyboardInterrupt:
        while worker.is_alive():
            connection.interrupt()
            worker.join(_AGAIN_S)
        raise


def _fulfil(outcome: "Future[T]", work: Callable[[], T]) -> None:
    try:
        outcome.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
        outcome.set_exception(error)
