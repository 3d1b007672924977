"""Runs that several tests look at, made once."""

from collections.abc import Iterator

import pytest

from evals._security_scene import NOON, Ran, incident, investigate
from logagent.testing import EvilModel
from tests.cli.conftest import _own_home, cli, log
from tests.security.attacks import ALL_CLEAR, document

__all__ = ["_own_home", "cli", "log"]
_NEWEST = NOON.isoformat().replace("09:00:00+00:00", "09:59:57Z")


@pytest.fixture(scope="session")
def clean() -> Ran:
    """The incident without an attack, read by a model that finds nothing to obey."""
    with EvilModel(["nothing to see"]) as model:
        return investigate([*incident(), document("message", "nothing to see")], model)


@pytest.fixture(scope="session")
def obeyed() -> Iterator[Ran]:
    """The incident with a line that wants the report green, read by a model that obeys it."""
    with EvilModel([ALL_CLEAR]) as model:
        yield investigate([*incident(), document("message", ALL_CLEAR)], model)
