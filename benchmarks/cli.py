"""Start-up and file speed, beside a bare interpreter and a bare typer script: `python -m benchmarks.cli [--json]`.

Each command is run 5 times, or 3 where the first takes more than 30 s. Ratios are the result; absolute times are
context for the machine they were taken on. Peak memory is never below that of this script, about 20 MB.
`--lines 10000` (repeatable) chooses the file sizes. Nothing is saved.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data import write

RUNS, RUNS_LONG, LONG_SECONDS = 5, 3, 30.0
SIZES = (10_000, 1_000_000)
SEED = 1
KILOBYTE = 1024
TYPER_SCRIPT = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str = "you") -> None:
    "Greet somebody."
    print(name)
app()
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """Wall-clock seconds of all runs, peak memory of the largest, and the worst exit status."""

    name: str
    seconds: tuple[float, ...]
    peak_bytes: int
    status: int

    def row(self) -> dict[str, Any]:
        """One row of the result."""
        return {
            "name": self.name,
            "runs": len(self.seconds),
            "min_s": round(min(self.seconds), 3),
            "median_s": round(statistics.median(self.seconds), 3),
            "max_s": round(max(self.seconds), 3),
            "peak_mb": round(self.peak_bytes / 1e6, 1),
            "status": self.status,
        }


def run_once(command: Sequence[str]) -> tuple[float, int, int]:
    """Seconds, peak memory in bytes and exit status of one run; its output goes nowhere."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else KILOBYTE
    return time.perf_counter() - began, usage.ru_maxrss * unit, process.returncode


def measure(name: str, command: Sequence[str]) -> Measured:
    """Run a command as often as its length allows."""
    results = [run_once(command)]
    runs = RUNS_LONG if results[0][0] > LONG_SECONDS else RUNS
    results += [run_once(command) for _ in range(runs - 1)]
    seconds, peaks, statuses = zip(*results, strict=True)
    return Measured(name, seconds, max(peaks), max(statuses, key=abs))


def shown(row: dict[str, Any]) -> str:
    """One row as a line of the table."""
    failed = f"  exit {row['status']}" if row["status"] else ""
    times = f"{row['min_s']:8.3f} {row['median_s']:8.3f} {row['max_s']:8.3f} s"
    return f"{row['name']:<40} {times}  {row['peak_mb']:8.1f} MB{failed}"


def commands(folder: Path, sizes: Sequence[int]) -> list[tuple[str, list[str]]]:
    """What is measured: the yardsticks first."""
    script = folder / "bare.py"
    script.write_text(TYPER_SCRIPT, encoding="utf-8")
    ours = [sys.executable, "-m", "logagent"]
    found = [
        ("bare interpreter", [sys.executable, "-c", "pass"]),
        ("bare typer script --help", [sys.executable, str(script), "--help"]),
        ("logagent --help", [*ours, "--help"]),
        ("logagent demo", [*ours, "demo", "--no-save", "-q"]),
    ]
    for lines in sizes:
        path = folder / f"{lines}.ndjson"
        write(path, lines, SEED)
        mega = path.stat().st_size / 1e6
        found.append(
            (f"diagnose {lines:,} lines ({mega:.0f} MB)", [*ours, "diagnose", str(path), "--no-llm", "--no-save", "-q"])
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and with `--json` one object as the last line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cli", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--lines", type=int, action="append", help=f"file sizes (default: {SIZES})")
    chosen = parser.parse_args(arguments)
    began = time.perf_counter()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(Path(folder), chosen.lines or SIZES):
            rows.append(measure(name, command).row())
            row = rows[-1]
            failed = f": {shlex.join(command)}" if row["status"] else ""
            sys.stdout.write(f"{shown(row)}{failed}\n")
            sys.stdout.flush()
    by_name = {row["name"]: row["median_s"] for row in rows}
    ratio = round(by_name["logagent --help"] / by_name["bare typer script --help"], 2)
    sys.stdout.write(f"logagent --help takes {ratio} times a bare typer script; {os.cpu_count()} cores\n")
    if chosen.json:
        metrics = {"help_to_typer": ratio, "crashes": sum(bool(row["status"]) for row in rows), "cores": os.cpu_count()}
        seconds = round(time.perf_counter() - began, 1)
        result = {"eval": "cli", "cases": len(rows), "seconds": seconds, "metrics": metrics, "rows": rows}
        sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
