"""Questions asked at once: answers keep their order, errors come out, the embedded store is asked one by one."""

import threading
from typing import Any, Literal, cast

import pytest

from logagent.errors import StoreUnavailable
from logagent.fields import FieldMap
from logagent.stores._base import Description, LogStore
from logagent.triage._together import together


class Store:
    def __init__(self, backend: Literal["embedded", "elasticsearch"]) -> None:
        self.backend = backend

    def describe(self) -> Description:
        return Description(self.backend, "any", (), FieldMap(), 0, None, None)


def store(backend: Literal["embedded", "elasticsearch"]) -> LogStore:
    return cast("LogStore", Store(backend))


@pytest.mark.parametrize("backend", ["embedded", "elasticsearch"])
def test_answers_keep_the_order_of_the_questions(backend: Any) -> None:
    assert together(store(backend), [lambda n=n: n * n for n in range(4)]) == [0, 1, 4, 9]  # type: ignore[misc]


def test_a_cluster_is_asked_at_once() -> None:
    barrier = threading.Barrier(3, timeout=10)
    assert sorted(together(store("elasticsearch"), [barrier.wait] * 3)) == [0, 1, 2]


def test_the_embedded_store_is_asked_in_the_thread_of_the_run() -> None:
    assert together(store("embedded"), [threading.get_ident] * 2) == [threading.get_ident()] * 2


def test_the_first_error_comes_out_when_all_have_ended() -> None:
    ended: list[str] = []

    def fails(word: str) -> None:
        raise StoreUnavailable(word)

    with pytest.raises(StoreUnavailable, match="first"):
        together(store("elasticsearch"), [lambda: fails("first"), lambda: fails("second"), lambda: ended.append("x")])
    assert ended == ["x"]


def test_a_bug_comes_out_too() -> None:
    with pytest.raises(ZeroDivisionError):
        together(store("elasticsearch"), [lambda: 1 // 0])
