"""The rules of the house that no other tool holds. What is a plugin is found, never listed."""

import ast
import importlib
import io
import pkgutil
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

import logagent

ROOT = Path(__file__).parents[2]
PACKAGE = Path(logagent.__file__).parent
MODULE_LINES = 330
"""Lines of code, without docstrings, comments and blanks: what is longer has two nouns (decision 0008)."""
LARGER = {"query.py": 450, "_es_describe.py": 420}
"""Modules that would read worse in two, and how far they may go."""
EXPORTS = {
    "logagent.tools": "TOOL",
    "logagent.stores": "BACKEND",
    "logagent.formats": "FORMAT",
    "logagent.report": "render",
    "logagent.llm.profiles": "PROFILE",
    "logagent.cli": "APP",
}


def tracked() -> list[Path]:
    """Text files of the repository; outside a checkout (an sdist) everything but environments and caches."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        names = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        names = [path for path in ROOT.rglob("*") if not any(part.startswith(".") for part in path.parts)]
    return [path for path in names if path.is_file() and path.suffix not in {".gz", ".png", ".zip"}]


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def code_lines(path: Path) -> int:
    """Lines that hold code."""
    source = path.read_text(encoding="utf-8")
    words = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    used = {line for token in tokens if token.type not in blank for line in range(token.start[0], token.end[0] + 1)}
    return len(used - words)


def test_no_module_has_grown_beyond_what_one_reads_in_one_go() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in modules()
        if (lines := code_lines(path)) > LARGER.get(path.name, MODULE_LINES)
    }
    assert not long


@pytest.mark.parametrize("package", EXPORTS)
def test_every_public_module_of_a_plugin_package_exports_its_plugin(package: str) -> None:
    folder = importlib.import_module(package)
    names = [info.name for info in pkgutil.iter_modules(folder.__path__) if not info.name.startswith("_")]
    assert names
    for name in names:
        assert hasattr(importlib.import_module(f"{package}.{name}"), EXPORTS[package]), f"{package}.{name}"


def test_every_module_says_what_it_is() -> None:
    silent = [str(path.relative_to(ROOT)) for path in modules() if not ast.get_docstring(ast.parse(path.read_bytes()))]
    assert not silent


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        path.relative_to(PACKAGE).parts[0]
        for path in modules()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv", "environb"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    }
    assert readers <= {"settings"}


def test_no_module_catches_everything_but_main() -> None:
    greedy = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception"))
    ]
    assert all("__main__" in place or "/cli/" in place for place in greedy), greedy
    assert len(greedy) <= 1, greedy


@pytest.mark.parametrize(("name", "most"), [("README.md", 150), ("ARCHITECTURE.md", 120)])
def test_documents_stay_short(name: str, most: int) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= most


def test_what_the_documents_link_to_is_there() -> None:
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (ROOT / target).exists(), f"{name} -> {target}"


def test_every_command_of_the_readme_exists() -> None:
    from logagent import cli  # noqa: PLC0415

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\s*(?:kubectl .*\| )?logagent ([a-z]+)\b", text, re.MULTILINE))
    known = {info.name for info in pkgutil.iter_modules(cli.__path__) if not info.name.startswith("_")}
    assert named
    assert named <= known


def test_every_target_that_the_documents_name_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"(?:^\s*|`)make ([a-z]+)", text, re.MULTILINE)) <= targets


def test_requirements_are_locked_with_hashes_and_name_no_host() -> None:
    for file in (ROOT / "requirements").glob("*.txt"):
        text = file.read_text(encoding="utf-8")
        assert "://" not in text
        assert set(re.findall(r"(?:^|\s)(-{1,2}[a-z][\w-]*)", text)) == {"--hash"}
        pins = re.findall(r"^[\w.\-\[\]]+==\S+", text, re.MULTILINE)
        assert pins
        assert len(
            re.findall(r"^[\w.\-\[\]]+==.*\\\n(?:    --hash=sha256:[0-9a-f]{64}.*\n?)+", text, re.MULTILINE)
        ) == len(pins)


def test_nothing_names_a_machine_of_its_makers() -> None:
    # Put together here, so that this file does not match itself.
    own = re.compile(
        "|".join(
            [
                "/wo" + "rk/",
                "/ro" + r"ot/(?!\.)",
                "/ho" + r"me/(?!user|alice|runner|ci/)\w",
                "shared/" + "(?:data|design|tools)",
            ]
        )
    )
    found = []
    for path in tracked():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if own.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert not found


def test_the_decision_records_have_numbers_of_their_own() -> None:
    numbers = [path.name[:4] for path in (ROOT / "docs" / "decisions").glob("*.md")]
    assert numbers
    assert all(number.isdigit() for number in numbers)
    assert len(set(numbers)) == len(numbers)
