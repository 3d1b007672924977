"""`diagnose FILE --no-llm` end to end over sizes of file, beside what people use instead.

    python -m benchmarks.analysis [--json] [--lines 10000 ...] [--drain3-lines 100000]

In one run with ours: `drain3` over the messages of the same lines (where it is installed, up to a number of lines),
`grep -c ERROR`, and `sort | uniq -c` over the message column. Default sizes are 10 k, 100 k and 1 M lines of about 390
bytes; 10 M (`--lines 10000000`) need 4 GB in the folder for temporary files. Peak memory is that of the process itself,
of a pipe that of its largest part.
"""

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cli import Measured, measure, shown
from benchmarks.data import write

SIZES = (10_000, 100_000, 1_000_000)
SEED = 1
DRAIN3_LINES = 100_000
_DRAIN3 = """
import sys
from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig
miner = TemplateMiner(config=TemplateMinerConfig())
for line in open(sys.argv[1], encoding="utf-8"):
    miner.add_log_message(line.rstrip())
"""


def commands(logs: Path, messages: Path, drain3: Path | None) -> Iterator[tuple[str, Sequence[str]]]:
    """What is measured over one file: ours first."""
    yield "logagent", [sys.executable, "-m", "logagent", "diagnose", str(logs), "--no-llm", "--no-save", "-q"]
    if drain3 is not None:
        yield "drain3", [sys.executable, str(drain3), str(messages)]
    yield "grep -c ERROR", ["grep", "-c", "ERROR", str(logs)]
    yield "sort | uniq -c", ["sh", "-c", 'sort "$0" | uniq -c', str(messages)]


def measured(folder: Path, lines: int, most: int) -> list[tuple[str, Measured]]:
    """All rows for one size of file; the files are gone afterwards."""
    logs, messages = folder / f"{lines}.ndjson", folder / f"{lines}.txt"
    write(logs, lines, SEED)
    drain3 = folder / "drain3_run.py"
    drain3.write_text(_DRAIN3, encoding="utf-8")
    try:
        with logs.open(encoding="utf-8") as lines_in, messages.open("w", encoding="utf-8") as out:
            out.writelines(json.loads(line)["message"].replace("\n", " ") + "\n" for line in lines_in)
        wanted = drain3 if importlib.util.find_spec("drain3") is not None and lines <= most else None
        return [
            (name, measure(f"{name}, {lines:,} lines", command)) for name, command in commands(logs, messages, wanted)
        ]
    finally:
        logs.unlink()
        messages.unlink()


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and with `--json` one object as the last line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analysis", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--lines", type=int, action="append", help=f"sizes of file (default: {SIZES})")
    parser.add_argument("--drain3-lines", type=int, default=DRAIN3_LINES, help="most lines that drain3 gets")
    chosen = parser.parse_args(arguments)
    began = time.perf_counter()
    rows: list[dict[str, Any]] = []
    for lines in chosen.lines or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            for kind, one in measured(Path(folder), lines, chosen.drain3_lines):
                rows.append({**one.row(), "kind": kind, "lines": lines})
                sys.stdout.write(shown(rows[-1]) + "\n")
                sys.stdout.flush()
    ours = {row["lines"]: row["median_s"] for row in rows if row["kind"] == "logagent"}
    ratios = {
        f"{row['kind']} at {row['lines']}": round(ours[row["lines"]] / row["median_s"], 2)
        for row in rows
        if row["kind"] != "logagent" and row["median_s"]
    }
    for name, ratio in ratios.items():
        sys.stdout.write(f"logagent takes {ratio} times {name} lines\n")
    if chosen.json:
        metrics = {
            "ratios": ratios,
            "microseconds_a_line": {str(lines): round(took / lines * 1e6, 2) for lines, took in ours.items()},
            "crashes": sum(bool(row["status"]) for row in rows),
            "cores": os.cpu_count(),
        }
        seconds = round(time.perf_counter() - began, 1)
        result = {"eval": "analysis", "cases": len(rows), "seconds": seconds, "metrics": metrics, "rows": rows}
        sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
