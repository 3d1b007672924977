"""What the package is made of, and what it never does."""

import ast
import json
import re
from pathlib import Path

import pytest

import logagent
from logagent.testing import ScriptedModel, http, raw
from supply.audit import affected
from supply.audit import main as audit
from supply.licences import licence_of, strange
from supply.lock import ROOT, Pin, pins
from supply.sbom import bill
from tests.cli.conftest import Cli

PACKAGE = Path(logagent.__file__).parent
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_s101_every_pin_has_hashes_and_no_lock_names_an_index(lock: Path) -> None:
    found = list(pins(lock))
    assert found
    assert all(pin.hashes for pin in found)
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text


def test_s101_what_is_installed_is_installed_by_hash() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    installs = [line for line in text.splitlines() if "install" in line and "--requirement" in line]
    assert installs
    assert all("--require-hashes" in line for line in installs)


def test_s102_licences_of_what_runs_are_on_the_list() -> None:
    wrong = {pin.name: licence for pin in pins() if (licence := licence_of(pin.name)) and strange(licence)}
    assert not wrong


def test_s102_the_bill_of_materials_is_complete_and_always_the_same() -> None:
    found = list(pins())
    document = bill(found)
    assert document["bomFormat"] == "CycloneDX"
    assert {one["name"] for one in document["components"]} == {pin.name for pin in found}
    assert json.dumps(document) == json.dumps(bill(list(pins())))
    assert all(one["externalReferences"][0]["hashes"] for one in document["components"])


def test_s102_the_audit_finds_a_pin_in_an_advisory_and_needs_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = next(iter(pins()))
    hole = {
        "id": "PYSEC-0",
        "affected": [
            {
                "package": {"ecosystem": "PyPI", "name": first.name.upper()},
                "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}],
            }
        ],
    }
    (tmp_path / "a.json").write_text(json.dumps(hole))
    assert audit([str(tmp_path)]) == 1
    assert first.name in capsys.readouterr().out
    fixed = json.loads(json.dumps(hole).replace('{"introduced": "0"}', '{"introduced": "0"}, {"fixed": "0.0.1"}'))
    assert not list(affected(fixed, [Pin(first.name, "1.0", ())]))
    assert list(affected(fixed, [Pin(first.name, "0.0.0", ())]))
    assert audit([str(tmp_path / "none")]) == 2


def test_s103_nothing_in_the_package_evaluates_unpickles_or_calls_a_shell() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in {
                    "eval",
                    "exec",
                    "os.system",
                    "os.popen",
                    "pickle.loads",
                    "pickle.load",
                    "yaml.load",
                    "marshal.loads",
                    "__import__",
                }:
                    found.append(f"{path.name}: {name}")
                if any(one.arg == "shell" for one in node.keywords):
                    found.append(f"{path.name}: shell=")
    assert not found


def test_s103_only_two_places_start_a_program() -> None:
    """The command that gives a key, and the reader's own pager."""
    users = {path.name for path in PACKAGE.rglob("*.py") if "subprocess.run(" in path.read_text(encoding="utf-8")}
    assert users <= {"_secrets.py", "_output.py"}


def test_s104_the_wheel_holds_the_package_and_no_key() -> None:
    assert 'packages = ["logagent"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = [path.name for path in PACKAGE.rglob("*") if path.is_file()]
    assert not [name for name in names if name.startswith(".env") or name.endswith((".pem", ".key"))]
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*") if path.suffix in {".py", ".toml"})
    text = text.replace("AKIAIOSFODNN7EXAMPLE", "")  # the example of the vendor's own documents, in a bundled incident
    assert not re.search(r"\b(?:ghp_[A-Za-z0-9]{36}|AKIA[A-Z0-9]{16}|xox[bp]-\d{8,}|glpat-[\w-]{20})\b", text)


def test_s105_without_a_model_no_address_is_asked_and_the_head_is_the_same(
    cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGAGENT_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LOGAGENT_MODEL", "none")
    lost = json.loads(cli("diagnose", str(log), "--json").out)
    alone = json.loads(cli("diagnose", str(log), "--no-llm", "--json").out)
    for part in ("outcome", "confidence", "summary", "severity", "impact"):
        assert lost[part] == alone[part]


@pytest.mark.parametrize(
    "fault",
    [http(500), http(404), raw("data: {not json\n\n"), raw("<html>"), raw('data: {"choices"', end="cut")],
    ids=["500", "404", "broken", "html", "cut"],
)
def test_s106_whatever_becomes_of_the_model_the_report_is_there(
    cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch, fault: object
) -> None:
    with ScriptedModel([fault] * 12) as model:  # type: ignore[list-item]
        monkeypatch.setenv("LOGAGENT_LLM_URL", model.url)
        monkeypatch.setenv("LOGAGENT_MODEL", "scripted")
        told = cli("diagnose", str(log), "--json", "--deadline", "3s")
        model._script.clear()
    assert told.code == 0
    assert json.loads(told.out)["outcome"] in {"probable", "confirmed", "inconclusive"}


def test_s099_a_run_leaves_no_file_that_a_later_run_obeys(cli: Cli, log: Path, tmp_path: Path) -> None:
    assert cli("diagnose", str(log), "--no-llm").code == 0
    assert not list((tmp_path / "config").rglob("*"))
    written = {
        path.relative_to(tmp_path / "state").parts[1] for path in (tmp_path / "state").rglob("*") if path.is_file()
    }
    assert written <= {"cases", "endpoints", "sources"}
