"""Cases that go to other people and other machines: updates, handovers, timelines, export and import."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def saved(cli: Cli) -> str:
    """The case of the bundled incident."""
    assert cli("demo", "-q").code == 0
    return json.loads(cli("cases", "list", "--json").out)["cases"][0]["id"]


@pytest.mark.parametrize(("language", "most"), [("en", 400), ("zh-CN", 120)])
def test_an_update_is_short_names_no_host_and_holds_no_id(cli: Cli, language: str, most: int) -> None:
    assert cli("demo", "-q", "--lang", language).code == 0
    text = cli("show", "last", "--as", "update", "--tz", "utc").out.strip()
    assert len(text) <= most
    assert "payment-api" in text
    assert not re.search(r"\[?\bE\d+\b|node-|5d4c8b7f9", text)


def test_an_update_of_a_quiet_window_promises_nothing(cli: Cli) -> None:
    cli("demo", "all-quiet", "-q")
    text = cli("show", "last", "--as", "update").out
    assert "as usual" in text
    assert "Next:" not in text


def test_a_handover_has_the_commands_in_full(cli: Cli, saved: str) -> None:
    text = cli("show", saved, "--as", "handover").out
    steps = json.loads(cli("show", saved, "--json").out)["next_steps"]
    assert steps
    for step in steps:
        assert (step["command"] or "") in text
    assert f"logagent verify {saved}" in text


def test_a_timeline_is_a_table_in_order_with_its_evidence(cli: Cli, saved: str) -> None:
    lines = cli("show", saved, "--as", "timeline").out.strip().split("\n")
    times = [line.split("|")[1] for line in lines[2:]]
    assert times == sorted(times)
    assert any("3.4.1" in line and re.search(r"\bE\d+\b", line) for line in lines)


def test_an_unknown_kind_names_those_that_there_are(cli: Cli, saved: str) -> None:
    done = cli("show", saved, "--as", "poem")
    assert done.code == 2
    assert "update, handover, timeline" in done.err


def test_an_exported_case_comes_back_whole(cli: Cli, saved: str, tmp_path: Path) -> None:
    assert cli("cases", "export", saved, str(tmp_path / "out")).code == 0
    folder = tmp_path / "out" / saved
    before = json.loads(cli("show", saved, "--json").out)
    assert {one.name for one in folder.iterdir()} >= {"diagnosis.json", "logs.ndjson", "truth.json"}
    assert all(one.stat().st_mode & 0o077 == 0 for one in folder.iterdir())
    assert cli("cases", "import", str(folder)).code == 2
    cli("cases", "rm", saved)
    assert cli("cases", "import", str(folder)).code == 0
    assert json.loads(cli("show", saved, "--json").out) == before


def test_an_exported_case_is_an_incident_that_can_be_diagnosed(cli: Cli, saved: str, tmp_path: Path) -> None:
    cli("cases", "export", saved, str(tmp_path))
    done = cli("diagnose", str(tmp_path / saved / "logs.ndjson"), "--no-llm", "--json")
    assert done.code == 0
    truth = json.loads((tmp_path / saved / "truth.json").read_text(encoding="utf-8"))
    assert set(truth) >= {"window", "root_cause_service", "start", "end"}


def test_what_is_no_case_is_refused_with_a_reason(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "diagnosis.json").write_text('{"schema": 1}', encoding="utf-8")
    for source in (tmp_path, tmp_path / "missing"):
        done = cli("cases", "import", str(source))
        assert done.code == 2
        assert "LA707" in done.err
