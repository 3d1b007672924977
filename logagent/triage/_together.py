"""Questions that do not need each other's answers, asked of a cluster at once."""

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, TypeVar

from logagent.stores._base import LogStore

_T = TypeVar("_T")


def together(store: LogStore, jobs: Sequence[Callable[[], _T]]) -> list[_T]:
    """The results of all jobs, in their order; the error of the first that failed, when all have ended.

    The embedded store uses every core by itself: there jobs run one after the other. A job must not change what another
    reads. An interrupt waits for none of them.
    """
    if store.describe().backend == "embedded":
        return [job() for job in jobs]
    running = [_Running(job) for job in jobs]
    for one in running:
        one.start()
    for one in running:
        one.join()
    return [one.result() for one in running]


class _Running(threading.Thread, Generic[_T]):
    """One job in a thread of its own; as a context it keeps what was raised for whoever asks for the result."""

    def __init__(self, job: Callable[[], _T]) -> None:
        super().__init__(daemon=True, name="survey")
        self._job = job
        self._found: list[_T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        with self:
            self._found.append(self._job())

    def result(self) -> _T:
        """What the job gave, once it has ended."""
        if self._error is not None:
            raise self._error
        return self._found[0]

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._error = error
        return error is not None
