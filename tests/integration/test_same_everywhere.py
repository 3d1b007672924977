"""The bundled incidents read from a search node and from a file give the same answer, in few requests."""

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fixtures.load import Target, load
from logagent import demo
from logagent.diagnosis import Diagnosis
from logagent.events import RunEvent, StepFinished
from logagent.settings import RunOptions
from logagent.wiring import open_session
from tests.acceptance.scene import check, head, run, scenario, settings
from tests.nodes.pool import Server

pytestmark = pytest.mark.node
SURVEY_REQUESTS = 25
QUIET_SERVICE = "index-builder"
"""One of the scenario in which nothing happens."""
MASK = re.compile(r"<[a-z_]+:[0-9a-z]+:\d+>")


@dataclass(frozen=True)
class Loaded:
    """One scenario in one index of a node."""

    name: str
    server: Server
    index: str

    def options(self, **more: Any) -> dict[str, Any]:
        window = demo.truth(self.name)["window"]
        return {"indices": (self.index,), "since": window["from"], "until": window["to"], **more}


@pytest.fixture(scope="session", params=demo.scenarios())
def loaded(request: pytest.FixtureRequest, node: Server) -> Iterator[Loaded]:
    """A scenario with the mappings of its schema."""
    name = str(request.param)
    index = f"s{uuid.uuid4().hex[:8]}-{name}"
    schema = str(demo.truth(name)["schema"])
    taken = load(Target(node.url, node.api_key), demo.logs(name), schema=schema, index=index)
    assert taken == demo.truth(name)["events"]
    yield Loaded(name, node, index)
    node.delete(index)
    node.request("DELETE", f"/_index_template/logagent-{index}")


@cache
def _embedded(name: str, home: Path) -> Diagnosis:
    return scenario(home, name).diagnosis


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def made(loaded: Loaded, home: Path) -> Any:
    options: dict[str, object] = {"es__url": loaded.server.url}
    if loaded.server.api_key:
        key = home / "es.key"
        key.write_text(loaded.server.api_key, encoding="utf-8")
        key.chmod(0o600)
        options["es__api_key_file"] = str(key)
    return settings(home, **options)


def counts(diagnosis: Diagnosis) -> Mapping[str, tuple[object, ...]]:
    """Change and counts by template and services; numbers of masks differ from run to run."""
    return {
        f"{MASK.sub('<mask>', one.template)} {one.fields.get('service.name')}": (
            one.change,
            one.count,
            one.baseline_count,
        )
        for one in diagnosis.patterns
    }


def figures(diagnosis: Diagnosis) -> Mapping[str, tuple[object, ...]]:
    return {name: (one.value, one.baseline, one.unit) for name, one in (diagnosis.impact or {}).items()}


def test_a_node_and_a_file_give_the_same_answer(loaded: Loaded, home: Path) -> None:
    found = run(made(loaded, home), **loaded.options())
    expected = _embedded(loaded.name, home)
    assert head(found.diagnosis) == head(expected)
    assert counts(found.diagnosis) == counts(expected)
    assert figures(found.diagnosis) == figures(expected)
    assert [one.label for one in found.diagnosis.changes] == [one.label for one in expected.changes]
    assert found.diagnosis.data_quality.complete
    check(found)


def test_a_survey_costs_few_requests(loaded: Loaded, home: Path) -> None:
    """From the first look at the source to the digest."""
    spent: list[int] = []

    def note(event: RunEvent) -> None:
        if isinstance(event, StepFinished) and event.name == "spread":
            spent.append(session.store.usage.requests)

    options = RunOptions(use_model=False, save=False, effort="quick", **loaded.options())
    with open_session(made(loaded, home), options, note) as session:
        session.run()
        assert session.store.usage.requests <= SURVEY_REQUESTS + 5
    assert len(spent) == 1
    assert spent[0] <= SURVEY_REQUESTS


def test_services_asked_for_narrow_the_impact_alike(loaded: Loaded, home: Path) -> None:
    truth = demo.truth(loaded.name)
    service = truth.get("symptom_service") or truth["root_cause_service"] or QUIET_SERVICE
    found = run(made(loaded, home), **loaded.options(services=(service,)))
    expected = scenario(home, loaded.name, services=(service,)).diagnosis
    assert head(found.diagnosis) == head(expected)
    assert figures(found.diagnosis) == figures(expected)
