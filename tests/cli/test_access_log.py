# ruff: noqa: ARG001 - the fixture `access` makes access.log
"""An access log whose requests begin to fail halfway: since when, and figures that stay true when asked again."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

PATHS = ("/login", "/api/cart", "/api/items", "/", "/checkout")
BEGIN, FAILING = datetime(2026, 11, 30, 0, 5, tzinfo=UTC), 14 * 60


@pytest.fixture
def access() -> Path:
    lines = []
    for second in range(2_400):
        at, path = BEGIN + timedelta(seconds=second), PATHS[second % 5]
        status = 504 if path == "/api/cart" and second >= FAILING and second % 2 else 200
        lines.append(
            f'10.1.0.{second % 7} - - [{at:%d/%b/%Y:%H:%M:%S} +0000] "GET {path} HTTP/1.1" {status} '
            f'{100 + second} "-" "curl/8.0"\n'
        )
    log = Path("access.log")
    log.write_text("".join(lines), "utf-8")
    return log


def test_every_row_is_the_same_when_asked_again(cli: Cli, access: Path) -> None:
    rows = json.loads(cli("diagnose", "access.log", "--no-llm", "-q", "--json").out)["evidence"]
    assert rows
    assert cli("verify", "last").out.strip().startswith(f"{len(rows)} of {len(rows)} verified")


def test_a_pattern_of_all_paths_is_counted_by_words_that_all_its_lines_have(cli: Cli, access: Path) -> None:
    rows = json.loads(cli("diagnose", "access.log", "--no-llm", "-q", "--json").out)["evidence"]
    calm = [row for row in rows if "2xx" in row["statement"]]
    assert calm
    for row in calm:
        assert row["query"]["figure"]["op"] == "count"
        assert "login" not in row["query"]["text"]


def test_the_failures_have_a_beginning(cli: Cli, access: Path) -> None:
    found = json.loads(cli("diagnose", "access.log", "--no-llm", "-q", "--json").out)
    failing = next(one for one in found["patterns"] if "5xx" in one["template"])
    assert (failing["change"], failing["baseline_count"]) == ("new", 0)
    assert failing["first_seen"].startswith("2026-11-30T00:19:01")


def test_a_quoted_line_that_changed_is_told_in_whole_numbers(cli: Cli, access: Path) -> None:
    cli("diagnose", "access.log", "--no-llm", "-q")
    access.write_text(access.read_text("utf-8").replace(" 504 ", " 200 "), "utf-8")
    out = cli("verify", "last").out
    assert "contradicted" in out
    assert "now 0\n" in out + "\n"


def test_quoted_lines_are_found_again_under_the_path_that_the_case_noted(cli: Cli, access: Path) -> None:
    """The report names the file as it was given, the case by its whole path."""
    found = json.loads(cli("diagnose", "access.log", "--no-llm", "-q", "--json").out)
    row = next(one for one in found["evidence"] if one["samples"])
    row["kind"], row["query"]["figure"] = "sample", {"op": "documents"}
    report = Path("report.json")
    report.write_text(json.dumps(found), "utf-8")
    total = len(found["evidence"])
    assert cli("verify", "report.json").out.startswith(f"{total} of {total} verified")
    assert cli("verify", "report.json", str(access.resolve())).out.startswith(f"{total} of {total} verified")


def test_the_path_that_holds_all_failures_is_told(cli: Cli, access: Path) -> None:
    report = json.loads(cli("diagnose", "access.log", "--no-llm", "--format", "json").out)
    (radius,) = [one for one in report["blast_radius"] if one["dimension"] == "url.path"]
    assert (radius["values"][0]["value"], radius["values"][0]["share_in_anomaly"]) == ("/api/cart", 1.0)
    assert "/api/cart" in cli("diagnose", "access.log", "--no-llm").out


def test_path_client_agent_and_size_can_be_filtered_by(cli: Cli, access: Path) -> None:
    for query in (
        'url.path:"/api/cart"',
        'client.ip:"10.1.0.1"',
        'user_agent.original:"curl/8.0"',
        "http.response.body.bytes:101",
    ):
        found = cli("logs", "access.log", "-f", query, "--limit", "1", "--format", "json")
        assert json.loads(found.out)["total"] > 0, query
