"""Every backend opens the same events: the embedded store from files, the search nodes from indices."""

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from logagent.stores._base import LogStore
from logagent.stores.elasticsearch import ElasticsearchOptions, ElasticsearchStore
from logagent.stores.local import LocalOptions, open_local
from tests.contract.docs import SCHEMAS, WINDOW, Doc, docs, source
from tests.nodes.plugin import server
from tests.nodes.pool import Pool, server_names

BACKENDS = ("embedded", *server_names())
_STRINGS = {"strings": {"match_mapping_type": "string", "mapping": {"type": "keyword"}}}
_TEXT = {"type": "text"}
_MAPPING = {
    "dynamic_templates": [_STRINGS],
    "properties": {
        "@timestamp": {"type": "date"},
        "message": _TEXT,
        "body": {"properties": {"text": _TEXT}},
    },
}


@dataclass(frozen=True)
class Opened:
    """A store over the events of `tests.contract.docs`."""

    backend: str
    store: LogStore
    docs: Sequence[Doc]


@pytest.fixture(scope="session", params=BACKENDS)
def opened(
    request: pytest.FixtureRequest, node_pool: Pool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    """One backend with all events in it."""
    every = docs()
    if request.param == "embedded":
        context = _embedded(every, tmp_path_factory.mktemp("contract"))
    else:
        context = _on_node(server(node_pool, request.param), every)
    with context as store:
        yield Opened(request.param, store, every)


@pytest.fixture
def store(opened: Opened) -> LogStore:
    """The store alone."""
    return opened.store


@contextmanager
def _embedded(every: Sequence[Doc], folder: Path) -> Iterator[LogStore]:
    paths = []
    for schema in SCHEMAS:
        path = folder / f"logs-{schema}.ndjson"
        path.write_text("".join(json.dumps(source(doc)) + "\n" for doc in every if doc.schema == schema))
        paths.append(str(path))
    store = open_local(LocalOptions(paths=tuple(paths), clock=lambda: WINDOW.end))
    yield store
    store.close()


@contextmanager
def _on_node(node: Any, every: Sequence[Doc]) -> Iterator[LogStore]:
    prefix = f"c{uuid.uuid4().hex[:8]}"
    names = [f"{prefix}-{schema}" for schema in SCHEMAS]
    for schema, name in zip(SCHEMAS, names, strict=True):
        node.create(name, mappings=_MAPPING)
        node.load(name, [source(doc) for doc in every if doc.schema == schema])
    clock: Callable[[], Any] = lambda: WINDOW.end  # noqa: E731
    store = ElasticsearchStore(
        ElasticsearchOptions(
            url=node.url, indices=(f"{prefix}-*",), api_key=node.api_key, clock=clock, sleep=lambda _: None
        )
    )
    yield store
    store.close()
    node.delete(*names)
