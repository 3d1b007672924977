"""Fixtures: `node`, a real search server, once for each server of the session."""

import uuid
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.nodes.nodes import NotStarted
from tests.nodes.pool import Pool, Server, is_ci, server_names


@pytest.fixture(scope="session")
def node_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """The servers that the collected tests name in their parameters, and no others."""
    wanted: set[str] = set()
    for item in request.session.items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            wanted.update(value for value in item.callspec.params.values() if isinstance(value, str))
    pool = Pool([name for name in server_names() if name in wanted])
    yield pool
    pool.stop()


def server(pool: Pool, name: str) -> Server:
    """The server, else a skip that says what to install (a failure where CI is set)."""
    try:
        return pool.get(name)
    except NotStarted as error:
        not_tested(name, error)


def not_tested(name: str, error: NotStarted) -> NoReturn:
    """A node that did not come up: a failure where CI is set, a loud skip elsewhere."""
    if is_ci():
        pytest.fail(f"search node {name}: {error}")
    pytest.skip(f"search node {name} is NOT tested: {error}")


@pytest.fixture(scope="session", params=server_names())
def node(request: pytest.FixtureRequest, node_pool: Pool) -> Server:
    """One server; tests that use it run against each."""
    return server(node_pool, request.param)


@pytest.fixture
def prefix(node: Server) -> Iterator[str]:
    """A prefix for the indices of one test; they are deleted afterwards."""
    name = f"t{uuid.uuid4().hex[:10]}-"
    yield name
    _, found = node.request("GET", f"/_resolve/index/{name}*?expand_wildcards=all")
    node.delete(*(entry["name"] for entry in found.get("indices", ()) if not entry["name"].startswith(".ds-")))
    for stream in found.get("data_streams", ()):
        node.request("DELETE", f"/_data_stream/{stream['name']}")
