"""`compare` and `trace` say the same of a real node as of the file that was loaded into it."""

import gzip
import json
import uuid

import pytest

from logagent import demo
from tests.cli.conftest import Cli, _own_home, cli
from tests.nodes.pool import Server

__all__ = ["_own_home", "cli"]

pytestmark = pytest.mark.node

FILE = str(demo.logs("order-outage"))
FAILED = "ccfba756c265addb4411f5e8436f29e2"
WINDOWS = ("2026-11-24T05:35:00Z..2026-11-24T06:05:00Z", "2026-11-24T06:05:00Z..2026-11-24T06:30:00Z")


@pytest.fixture
def source(node: Server, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Options that read the scenario from the node."""
    index = f"t{uuid.uuid4().hex[:10]}-commands"
    node.create(index)
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        node.load(index, (json.loads(line) for line in lines))
    if node.api_key:
        monkeypatch.setenv("LOGAGENT_ES_API_KEY", node.api_key)
    return ("--es-url", node.url, "-i", index)


def test_the_sides_of_a_comparison_and_the_lines_of_a_trace_are_the_same(cli: Cli, source: tuple[str, ...]) -> None:
    def figures(text: str) -> dict[str, tuple[int, int]]:
        return {row["name"]: (row["a"], row["b"]) for row in json.loads(text)["rows"] if row["kind"] != "value"}

    node, file = (cli("compare", *more, *WINDOWS, "--json", "-q") for more in (source, (FILE,)))
    assert node.code == file.code == 0, node.err
    here, there = figures(node.out), figures(file.out)
    assert here["events"] == there["events"]
    assert here["failing"] == there["failing"]
    common = here.keys() & there.keys()
    assert len(common) >= 0.8 * len(there)
    assert {name: here[name] for name in common} == {name: there[name] for name in common}
    window = ("--since", "2026-11-24T06:00:00Z", "--until", "2026-11-24T06:30:00Z")
    lines = [
        [
            stop["message"]
            for stop in json.loads(cli("trace", FAILED, *more, *window, "--json", "-q").out)["journeys"][0]["stops"]
        ]
        for more in (source, (FILE,))
    ]
    assert lines[0] == lines[1]
