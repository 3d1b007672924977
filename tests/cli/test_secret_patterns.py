"""No command prints a secret that pattern mining has cut into pieces."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

_JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmZHNlX21pY3Jvc2VydmljZSIsInJvbGVzIjpbIlJPTEVf{n}VNFUiJdfQ.DBYyLmQ9qzZ0Y5nVw"
_PIECES = ("eyJhbGci", "DBYyLmQ", "eyJzdWIi", "Zk9", "xTrWm", "jane", "corp.example", "hunter", "mF9B", "4eC3")
_TEXTS = (
    f"[getToken][USER TOKEN: {_JWT} USER ID: {{n}}]",
    "cannot connect with api_key=Zk9fQ{n}xTrWmN8vB4 at try {n}",
    "mail to jane.doe{n}x@corp.example7.com bounced {n} times",
    "login with password=hunter{n}Qq;x9 was refused {n} times",
    "upstream said no to Authorization: Bearer mF9B5f41JqM{n}rTtVx at try {n}",
    "sk_live_4eC39HqLyjWD{n}arjtT1zdp7dc rejected at try {n}",
)


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    """Twenty quiet minutes, then ten in which every line that holds a secret is an error."""
    lines = []
    for minute in range(30):
        for at in range(12):
            stamp = f"2026-11-30T14:{minute:02d}:{at * 5:02d}Z"
            bad = minute >= 20 or at == 0
            text = _TEXTS[at % len(_TEXTS)].format(n=minute * 12 + at) if bad else f"request {minute * 12 + at} served"
            level = "error" if minute >= 20 else "info"
            lines.append(json.dumps({"@timestamp": stamp, "log.level": level, "service.name": "seat", "message": text}))
    path = tmp_path / "leaky.ndjson"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("patterns",), ("patterns", "--format", "json"), ("patterns", "--format", "jsonl"),
        ("diagnose", "--no-llm"), ("diagnose", "--no-llm", "--format", "json"), ("diagnose", "--no-llm", "--format", "md"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_command_prints_a_piece_of_a_secret(cli: Cli, leaky: Path, command: tuple[str, ...]) -> None:
    window = ("--since", "2026-11-30T14:00:00Z", "--until", "2026-11-30T14:30:00Z")
    found = cli(*command, str(leaky), *window)
    said = found.out + found.err
    assert "USER" in found.out or "rejected" in found.out or "bounced" in found.out, said
    assert not [piece for piece in _PIECES if piece.lower() in said.lower()]
