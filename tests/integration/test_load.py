"""fixtures.load puts the bundled scenarios into a server, and the store reads them back."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fixtures.load import DEMO, Target, documents, load, main, moved, newest, scenarios
from logagent.stores.elasticsearch import ElasticsearchOptions, ElasticsearchStore
from tests.nodes.pool import Server


def test_times_move_and_nothing_else() -> None:
    document = {"@timestamp": "2026-11-24T06:00:00.5Z", "message": "at 2026-11-24T06:00:00Z", "ts": 1_700_000_000_000}
    found = moved(document, timedelta(hours=1))
    assert found == {
        "@timestamp": "2026-11-24T07:00:00.500000Z",
        "message": document["message"],
        "ts": 1_700_003_600_000,
    }


def test_plain_and_packed_files_are_read(tmp_path: Path) -> None:
    lines = '{"timestamp":"2026-11-24T06:00:00Z"}\n\n{"timestamp":"2026-11-24T06:00:09Z"}\n'
    (tmp_path / "a.ndjson").write_text(lines)
    with gzip.open(tmp_path / "a.ndjson.gz", "wt") as out:
        out.write(lines)
    for name in ("a.ndjson", "a.ndjson.gz"):
        assert len(list(documents(tmp_path / name))) == 2
        assert newest(tmp_path / name) == datetime(2026, 11, 24, 6, 0, 9, tzinfo=UTC)


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_text('{"a":1}\nnot json\n')
    with pytest.raises(SystemExit, match="line 2"):
        list(documents(tmp_path / "a.ndjson"))


@pytest.mark.node
def test_a_scenario_is_loaded_with_the_mappings_of_its_schema(node: Server, prefix: str) -> None:
    name = scenarios()[0]
    truth = json.loads((DEMO / name / "truth.json").read_text())
    path = DEMO / name / "logs.ndjson.gz"
    index = f"{prefix}{name}"
    assert load(Target(node.url, node.api_key), path, schema=truth["schema"], index=index) == truth["events"]
    store = ElasticsearchStore(ElasticsearchOptions(url=node.url, indices=[index], api_key=node.api_key))
    try:
        found = store.describe()
    finally:
        store.close()
        node.request("DELETE", f"/_index_template/logagent-{index}")
    assert found.events == truth["events"]
    assert found.fields.schema == truth["schema"]
    assert found.fields.coverage("service") == pytest.approx(1.0)


@pytest.mark.node
def test_a_file_is_loaded_so_that_its_newest_event_is_now(node: Server, prefix: str, tmp_path: Path) -> None:
    file = tmp_path / "app.ndjson"
    file.write_text('{"@timestamp":"2020-01-01T00:00:00Z","message":"old"}\n')
    assert main([node.url, "--file", str(file), "--index", f"{prefix}app", "--now"]) == 0
    _, answer = node.request("POST", f"/{prefix}app/_search", {"size": 1})
    stored = datetime.fromisoformat(answer["hits"]["hits"][0]["_source"]["@timestamp"])
    node.request("DELETE", f"/_index_template/logagent-{prefix}app")
    assert abs((datetime.now(UTC) - stored).total_seconds()) < 60
