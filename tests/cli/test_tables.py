"""Patterns and logs as tables: CSV, Markdown, JSON lines; and options that are empty."""

import csv
import io
import json
from pathlib import Path

import pytest

from logagent import demo
from logagent.report._csv import csv_text
from tests.cli.conftest import Cli

OUTAGE = str(demo.logs("order-outage"))


def test_a_cell_of_a_log_is_never_a_formula(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "app.jsonl"
    texts = ["=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(A1)", 'plain, with "quotes"']
    lines = [json.dumps({"@timestamp": f"2026-11-30T14:00:{i:02d}Z", "message": one}) for i, one in enumerate(texts)]
    file.write_text("\n".join(lines))
    found = cli("logs", str(file), "-F", "csv", "-q")
    rows = list(csv.DictReader(io.StringIO(found.out)))
    assert [row["message"] for row in rows] == [*(f"'{one}" for one in texts[:4]), texts[4]]


def test_numbers_of_ours_stay_numbers() -> None:
    assert csv_text(("n",), [(-3,), (None,), (" =1",)]) == 'n\n-3\n""\n\' =1\n'


def test_patterns_are_the_same_rows_in_every_format_with_keys_that_survive(cli: Cli) -> None:
    document = json.loads(cli("patterns", OUTAGE, "--json", "-q").out)
    keys = [row["key"] for row in document["patterns"]]
    assert len(set(keys)) == len(keys) > 10
    assert "hikaripool" in document["keywords"]
    lines = [json.loads(row) for row in cli("patterns", OUTAGE, "-F", "jsonl", "-q").out.splitlines()]
    assert [row["key"] for row in lines[:-1]] == keys
    assert lines[-1] == {
        "kind": "others",
        "total": document["total"],
        **document["others"],
        "keywords": document["keywords"],
    }
    table = list(csv.DictReader(io.StringIO(cli("patterns", OUTAGE, "-F", "csv", "-q").out)))
    assert [row["key"] for row in table if row["change"] != "others"] == keys
    markdown = cli("patterns", OUTAGE, "-F", "md", "-q").out
    assert all(key in markdown for key in keys)
    assert "more patterns" in markdown
    assert "hikaripool" in markdown


def test_keys_are_the_same_whatever_the_window(cli: Cli) -> None:
    every = {row["key"] for row in json.loads(cli("patterns", OUTAGE, "--json", "-q").out)["patterns"]}
    short = json.loads(cli("patterns", OUTAGE, "--since", "20m", "--json", "-q").out)["patterns"]
    common = [row["key"] for row in short if row["key"] in every]
    assert len(common) >= 0.8 * len(short)


@pytest.mark.parametrize("option", ["-x", "-S", "--trace-id", "-f", "--host", "--env", "--namespace", "--version-of"])
def test_an_option_that_is_empty_is_refused(cli: Cli, log: Path, option: str) -> None:
    found = cli("logs", str(log), option, " ", "-q")
    assert (found.code, found.out) == (2, "")
    assert "LA702" in found.err
