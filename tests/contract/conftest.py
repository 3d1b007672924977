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

MIXED = ", mixed mappings"
"""Of a node where every second event is in an index that has texts with keyword sub-fields in place of keywords."""
BACKENDS = ("embedded", *(f"{name}{more}" for name in server_names() for more in ("", MIXED)))
_STRINGS = {"strings": {"match_mapping_type": "string", "mapping": {"type": "keyword"}}}
_TEXT = {"type": "text"}
_MAPPING = {
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
        node = server(node_pool, request.param.removesuffix(MIXED))
        context = _on_node(node, every, ("", "-text") if request.param.endswith(MIXED) else ("",))
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
def _on_node(node: Any, every: Sequence[Doc], endings: Sequence[str]) -> Iterator[LogStore]:
    """The events of each schema in one index, or in turn in several with other mappings."""
    prefix = f"c{uuid.uuid4().hex[:8]}"
    names = []
    for schema in SCHEMAS:
        own = [source(doc) for doc in every if doc.schema == schema]
        for place, ending in enumerate(endings):
            names.append(f"{prefix}-{schema}{ending}")
            templates = {} if ending else {"dynamic_templates": [_STRINGS]}
            node.create(names[-1], mappings={**_MAPPING, **templates})
            node.load(names[-1], own[place :: len(endings)])
    clock: Callable[[], Any] = lambda: WINDOW.end  # noqa: E731
    store = ElasticsearchStore(
        ElasticsearchOptions(
            url=node.url, indices=(f"{prefix}-*",), api_key=node.api_key, clock=clock, sleep=lambda _: None
        )
    )
    yield store
    store.close()
    node.delete(*names)
