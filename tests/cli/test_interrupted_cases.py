"""A run that was killed before it had a result is listed as such."""

import json
from datetime import UTC, datetime

import pytest

from logagent.cases import CaseStore
from logagent.settings import environment, load
from tests.cli.conftest import Cli


@pytest.fixture
def killed() -> str:
    """A case with a transcript and no diagnosis, as a killed run leaves it, beside one that never began."""
    store = CaseStore(load({}, environment()).paths.cases)
    store.new_id(datetime(2026, 11, 30, 14, 30, tzinfo=UTC))
    case = store.new_id(datetime(2026, 11, 30, 14, 31, tzinfo=UTC))
    store.append(case, {"kind": "ModelAsked", "step": 1})
    return case


def test_it_is_listed_as_interrupted_in_every_format_and_can_be_removed(cli: Cli, killed: str) -> None:
    assert json.loads(cli("cases", "list", "--json").out) == {"kind": "cases", "cases": [], "interrupted": [killed]}
    assert json.loads(cli("cases", "list", "-F", "jsonl").out) == {"id": killed, "outcome": "interrupted"}
    assert killed in cli("cases", "list").out
    assert cli("cases", "rm", killed).code == 0
    assert cli("cases", "list", "-F", "jsonl").out.strip() == ""
