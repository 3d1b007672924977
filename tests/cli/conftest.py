import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from logagent.cli._app import run

LINES = (
    '{"@timestamp":"2026-11-30T14:%02d:%02dZ","log.level":"info","service.name":"web","message":"GET /cart 200 %dms"}',
    '{"@timestamp":"2026-11-30T14:%02d:%02dZ","log.level":"info","service.name":"pay","message":"charged order=%d"}',
)
ERROR = '{"@timestamp":"2026-11-30T14:%02d:%02dZ","log.level":"error","service.name":"pay","message":"Connection refused: db:5432 attempt=%d"}'


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty home and working directory, no settings of the developer, a zone that is not UTC."""
    for name in ("config", "state", "work"):
        (tmp_path / name).mkdir()
    for name in (
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "LC_ALL",
        "LC_MESSAGES",
        "PAGER",
        "OPENAI_BASE_URL",
        "ELASTICSEARCH_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in (
        "LOGAGENT_ES_URL",
        "LOGAGENT_LLM_URL",
        "LOGAGENT_LANG",
        "LOGAGENT_PROFILE",
        "LOGAGENT_ES_API_KEY",
        "LOGAGENT_ACCESSIBLE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run one command line in this process."""

    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        monkeypatch.setattr("sys.argv", ["logagent", *arguments])
        capsys.readouterr()
        code = run(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Thirty minutes of two services; `pay` fails from 14:20 on."""
    lines = []
    for minute in range(30):
        for second in range(0, 60, 10):
            lines += [line % (minute, second, second) for line in LINES]
            if minute >= 20:
                lines.append(ERROR % (minute, second, second))
    file = tmp_path / "work" / "app.log"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
