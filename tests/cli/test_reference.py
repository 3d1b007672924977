"""The reference is what the program says."""

from pathlib import Path

import pytest

from logagent import cli, plugins
from logagent.cli._help import ORDER
from tests.cli.reference import reference


def test_the_command_line_reference_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    document = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
    assert document.read_text(encoding="utf-8") == reference()


def test_the_help_lists_every_command() -> None:
    assert set(ORDER) == set(plugins.names(cli))
