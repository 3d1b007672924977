"""What the README shows is what the commands print."""

import re
from pathlib import Path

from tests.cli.conftest import Cli

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_report_in_the_readme_is_the_one_of_the_demo(cli: Cli) -> None:
    shown = re.search(r"```\n(ONGOING.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown
    printed = cli("demo", "--tz", "utc").out.splitlines()
    start = next(place for place, line in enumerate(printed) if line.startswith("ONGOING"))
    lines = shown[1].rstrip("\n").split("\n")
    assert [line.rstrip() for line in printed[start : start + len(lines)]] == lines
