"""`logagent watch`: only what changed, until it is over; nothing here waits."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from logagent.cli._context import Asked, make_context, make_run_options
from logagent.cli._options import NO_SCOPE, GlobalOptions
from logagent.cli.watch import follow
from tests.cli.conftest import Cli

Watch = Callable[..., tuple[int, list[dict[str, object]], "Growth"]]
OPTIONS = GlobalOptions(**dict.fromkeys(GlobalOptions.__dataclass_fields__) | {"verbose": 0})

GONE = "the file is moved away"


def line(minute: int, second: int, level: str, text: str) -> str:
    at = f"2026-11-30T14:{minute:02d}:{second:02d}Z"
    return json.dumps({"@timestamp": at, "log.level": level, "service.name": "pay", "message": text}) + "\n"


def minutes(first: int, last: int, *, failing: bool) -> str:
    found = ""
    for minute in range(first, last):
        for second in range(0, 60, 6):
            found += line(minute, second, "info", f"charged order {minute * 100 + second}")
            if failing and second % 12 == 0:
                found += line(minute, second + 1, "error", f"Connection refused: db:5432 attempt {second}")
    return found


class Growth:
    """What happens to a file while a watcher sleeps: one step a nap, then Ctrl-C."""

    def __init__(self, file: Path, *steps: str) -> None:
        self.file, self.steps, self.slept = file, list(steps), []  # type: ignore[var-annotated]

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        if not self.steps:
            raise KeyboardInterrupt
        step = self.steps.pop(0)
        if step == GONE:
            self.file.rename(self.file.with_suffix(".away"))
        else:
            with self.file.open("a") as out:
                out.write(step)


@pytest.fixture
def watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Watch:
    """(status, lines, naps) of a watch over a file that begins with `start` and grows by each of `steps`."""

    def call(
        start: str, *steps: str, exit_code: bool = False, most: int | None = None
    ) -> tuple[int, list[dict[str, object]], Growth]:
        file = tmp_path / "app.log"
        file.write_text(start)
        context, growth = make_context(OPTIONS), Growth(file, *steps)
        run = make_run_options(context, Asked(names=(str(file),)), NO_SCOPE, None)
        capsys.readouterr()
        status = follow(context, run, (60.0, most, growth), jsonl=True, exit_code=exit_code)
        return status, [json.loads(row) for row in capsys.readouterr().out.splitlines()], growth

    return call


def test_a_failure_that_begins_is_told_once_and_its_end_ends_the_watch(watched: Watch) -> None:
    status, rows, growth = watched(
        minutes(0, 20, failing=False),
        minutes(20, 28, failing=True),
        minutes(28, 29, failing=True),
        minutes(29, 45, failing=False),
        minutes(45, 50, failing=False),
    )
    kinds = [row["kind"] for row in rows]
    assert status == 0
    assert kinds[0] == "start"
    assert sum(row["kind"] == "pattern" and "Connection refused" in str(row["text"]) for row in rows) == 1
    assert kinds[-2:] == ["recovered", "end"]
    assert rows[-1] == {"kind": "end", "looks": 4, "failed": 0, "state": "recovered"}
    assert growth.slept == [60.0] * 3


def test_nothing_is_printed_while_nothing_changes(watched: Watch) -> None:
    status, rows, _ = watched(minutes(0, 20, failing=False), minutes(20, 21, failing=False), "", most=3)
    assert status == 0
    assert [row["kind"] for row in rows] == ["start", "end"]
    assert rows[-1]["state"] == "quiet"


def test_an_interrupt_ends_with_a_summary_and_130(watched: Watch) -> None:
    status, rows, _ = watched(minutes(0, 20, failing=False))
    assert (status, rows[-1]["kind"], rows[-1]["looks"]) == (130, "end", 1)


def test_trouble_that_is_not_over_at_the_last_look_is_ten_where_asked(watched: Watch) -> None:
    failing = minutes(0, 20, failing=False) + minutes(20, 28, failing=True)
    assert watched(failing, exit_code=True, most=1)[0] == 10
    assert watched(failing, most=1)[0] == 0


def test_a_file_that_cannot_be_read_at_first_is_an_error_and_later_is_asked_again(watched: Watch, cli: Cli) -> None:
    assert cli("watch", "./nowhere.log").code == 3
    _, rows, _ = watched(minutes(0, 20, failing=False), GONE, minutes(0, 20, failing=False), most=3)
    assert (rows[-1]["looks"], rows[-1]["failed"]) == (3, 1)


@pytest.mark.parametrize("arguments", [("-",), ("--interval", "10ms"), ("-o", "x.jsonl"), ("--interval", "soon")])
def test_what_cannot_be_watched_is_refused(cli: Cli, log: Path, arguments: tuple[str, ...]) -> None:
    found = cli("watch", *(() if arguments == ("-",) else (str(log),)), *arguments)
    assert (found.code, found.out) == (2, "")


def test_a_terminal_gets_lines_of_its_width(cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = cli("watch", str(log), "--rounds", "1", "-q")
    assert found.code == 0
    assert "WATCHING" in found.out
    assert max(map(len, found.out.splitlines())) <= 80
