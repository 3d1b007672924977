"""Files of different formats in one call, on the command line."""

import json
from pathlib import Path

from tests.cli.conftest import Cli


def shop(folder: Path) -> Path:
    path = folder / "shop.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {
                    "timestamp": f"2026-11-30T14:{n // 60:02d}:{n % 60:02d}Z",
                    "level": "INFO",
                    "service": "shop",
                    "message": f"order {n} placed",
                }
            )
            + "\n"
            for n in range(0, 1800, 5)
        )
    )
    return path


def test_an_outage_in_the_second_file_is_found(cli: Cli, tmp_path: Path) -> None:
    signup = tmp_path / "signup.log"
    signup.write_text(
        "".join(
            f"2026-11-30 14:{n // 60:02d}:{n % 60:02d},127 "
            + (
                f"ERROR job {n}: cannot send mail: certificate has expired\n"
                if n >= 900
                else f"INFO  job {n}: mail sent\n"
            )
            for n in range(0, 1800, 5)
        )
    )
    found = cli("diagnose", str(shop(tmp_path)), str(signup), "--no-llm", "--format", "json", "--tz", "UTC")
    report = json.loads(found.out)
    assert report["data_quality"]["complete"]
    assert "untimed" not in {one["code"] for one in report["data_quality"]["caveats"]}
    assert "certificate" in found.out


def test_a_file_without_times_is_named_in_the_banner(cli: Cli, tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("something failed\nsomething else\n" * 100)
    found = cli("diagnose", str(shop(tmp_path)), str(plain), "--no-llm")
    banner = " ".join(found.out.partition("\n\n")[0].split())
    assert banner.startswith("PARTIAL DATA")
    assert "plain.txt" in banner
