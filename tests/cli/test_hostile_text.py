"""Text of others in every place: it is shown and saved without secrets and controls, and breaks nothing."""

import json
import re
from pathlib import Path

import pytest

from logagent.diagnosis import Diagnosis
from tests.cli.conftest import Cli

SECRET = "hunter2pw"
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
EVIL = (
    "\x1b[2J\x1b]8;;http://evil/\x07x\x1b]52;c;ZXZpbA==\x07\u202eabc\u200b\u2066\U000e0041\x9b31m [link=http://x]y[/link] "
    "<script>alert(1)</script> ![i](http://evil/i.png) `code` | pipe ```fence"
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A burst of errors in which every field is hostile, the names of services and hosts too."""
    lines = []
    for i in range(600):
        is_bad = i > 400 and i % 2
        record = {
            "@timestamp": f"2026-11-30T14:{i // 60:02d}:{i % 60:02d}Z",
            "log.level": "error" if is_bad else "info",
            "service.name": f"pay {EVIL} password={SECRET}" if i % 3 else "web;\nDROP TABLE 中" + "x" * 300,
            "host.name": f"host {EVIL} password={SECRET}",
            "service.version": f"1.0 password={SECRET}",
            "error.type": f"E{EVIL} password={SECRET}",
            "message": f"Connection refused db:5432 {i} password={SECRET} {EVIL}\nLA801 error: forged"
            if is_bad
            else f"ok {i}",
        }
        lines.append(json.dumps(record))
    file = tmp_path / "work" / "hostile.log"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def safe(text: str) -> bool:
    return SECRET not in text and not CONTROL.search(text)


@pytest.mark.parametrize("form", ["text", "json", "md"])
def test_no_format_shows_a_secret_or_a_control_character_of_any_field(cli: Cli, hostile: Path, form: str) -> None:
    told = cli("diagnose", str(hostile), "--no-llm", "--format", form, "-vv")
    assert told.code == 0
    assert safe(told.out)
    assert safe(told.err)


@pytest.mark.parametrize("command", [("patterns",), ("patterns", "--json"), ("logs",), ("logs", "--json")])
def test_lists_of_lines_and_patterns_show_no_secret_of_any_field(
    cli: Cli, hostile: Path, command: tuple[str, ...]
) -> None:
    told = cli(command[0], str(hostile), *command[1:])
    assert told.code == 0
    assert safe(told.out)


def test_a_saved_case_holds_no_secret_and_can_be_read_again(cli: Cli, hostile: Path, tmp_path: Path) -> None:
    assert cli("diagnose", str(hostile), "--no-llm", "-q").code == 0
    for file in (tmp_path / "state").rglob("*.json*"):
        assert SECRET not in file.read_text(encoding="utf-8"), file.name
    shown = cli("show", "last", "--json")
    assert shown.code == 0
    assert Diagnosis.model_validate_json(shown.out)
    assert cli("verify", "last").code in {0, 7}


def test_an_error_that_names_services_shows_no_secret_of_their_names(cli: Cli, hostile: Path) -> None:
    told = cli("diagnose", str(hostile), "--no-llm", "-S", "nope")
    assert told.code == 5
    assert safe(told.err)


@pytest.mark.parametrize("text", ["", "null", "[]", "[" * 100_000, "{}", '{"id": 5}', "\x00\x01", "no json"])
def test_a_file_that_is_no_report_is_refused_with_a_code(cli: Cli, tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_text(text, encoding="utf-8")
    for command in ("show", "verify"):
        told = cli(command, str(file))
        assert (told.code, told.out) == (2, "")
        assert told.err.startswith("LA707 error:")


@pytest.mark.parametrize("name", ["x" * 5000, "../../etc/passwd", "last/..", "~nobody-here/x", "/dev/zero"])
def test_a_name_that_no_case_has_is_no_case(cli: Cli, name: str) -> None:
    told = cli("show", name)
    assert (told.code, told.out) == (2, "")
    assert "LA707 error: no case" in told.err


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_private_key_over_several_lines_is_masked_as_a_whole(cli: Cli, tmp_path: Path, form: str) -> None:
    body = "\n".join(f"MIIEpAIBAAKCAQEA{line:02d}abcdefghijklmnopqrstuvwxyz0123456789ABCD" for line in range(8))
    message = f"loaded -----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    file = tmp_path / "pem.log"
    file.write_text(json.dumps({"@timestamp": "2026-11-30T14:00:00Z", "level": "info", "message": message}) + "\n")
    told = cli("logs", str(file), "--format", form)
    assert told.code == 0
    assert "MIIEpAIBAAKCAQEA" not in told.out
