"""Speed of the reports, beside plain JSON: `python -m benchmarks.render PATH [--json]`.

PATH is a folder of JSON reports (`logagent diagnose ... -o NAME.json`), or one of them; without it the four demo
scenarios are diagnosed first. Each report is rendered 7 times in each format in a fresh interpreter: the first time
pays for imports, texts and compiled patterns, as it does for a user; the median of the others is what a server pays.
"""

import argparse
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RUNS = 7
FORMATS = ("json", "text", "md", "html")
SCRIPT = """
import json, resource, sys, time
from logagent.diagnosis import Diagnosis
diagnosis = Diagnosis.model_validate_json(open(sys.argv[1], "rb").read())
taken, size = [], 0
for _ in range(int(sys.argv[3])):
    began = time.perf_counter()
    from logagent.report import render
    size = len(render(diagnosis, sys.argv[2]).encode())
    taken.append(time.perf_counter() - began)
print(json.dumps({"seconds": taken, "bytes": size, "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def demos(folder: Path) -> None:
    """Diagnose the bundled scenarios into `folder`."""
    from logagent.cli._app import run  # noqa: PLC0415
    from logagent.demo import scenarios  # noqa: PLC0415

    for name in scenarios():
        with contextlib.redirect_stdout(io.StringIO()):
            run(["demo", name, "-q", "--no-save", "-o", str(folder / f"{name}.json")])


def measure(report: Path, output: str) -> dict[str, Any]:
    """One row: the first rendering, and minimum, median and maximum of the others, in milliseconds."""
    command = [sys.executable, "-c", SCRIPT, str(report), output, str(RUNS)]
    found = subprocess.run(command, capture_output=True, check=False, text=True)
    if found.returncode:
        return {"name": report.stem, "format": output, "status": found.returncode}
    told = json.loads(found.stdout)
    first, *others = (1000 * one for one in told["seconds"])
    return {
        "name": report.stem,
        "format": output,
        "status": 0,
        "first_ms": round(first, 1),
        "min_ms": round(min(others), 1),
        "median_ms": round(statistics.median(others), 1),
        "max_ms": round(max(others), 1),
        "kilobytes": round(told["bytes"] / 1000, 1),
        "peak_mb": round(told["peak_kb"] / 1000, 1),
    }


def metrics(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The slowest first rendering of each format, and how much slower a page is than plain JSON."""
    right = [row for row in rows if not row["status"]]
    slowest = {
        f"{name}_ms_max": max((row["first_ms"] for row in right if row["format"] == name), default=0)
        for name in FORMATS
    }
    medians = {
        name: statistics.median([row["median_ms"] for row in right if row["format"] == name] or [0]) for name in FORMATS
    }
    ratio = round(medians["html"] / medians["json"], 1) if medians["json"] else 0
    largest = max((row["kilobytes"] for row in right if row["format"] == "html"), default=0)
    crashes = len(rows) - len(right)
    return {
        **slowest,
        "html_to_json": ratio,
        "html_kilobytes_max": largest,
        "crashes": crashes,
        "cores": os.cpu_count(),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, slowest first, and with `--json` one object as the last line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.render", description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="a folder of JSON reports, or one (default: the demos)")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    chosen = parser.parse_args(arguments)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.path is None:
            demos(Path(folder))
        path = chosen.path or Path(folder)
        reports = sorted(path.glob("*.json")) if path.is_dir() else [path]
        rows = [measure(report, output) for report in reports for output in FORMATS]
    rows.sort(key=lambda row: -row.get("first_ms", 0))
    for row in rows:
        if row["status"]:
            print(f"{row['name']:<34} {row['format']:<5} failed, exit {row['status']}")
            continue
        print(
            f"{row['name']:<34} {row['format']:<5} first {row['first_ms']:7.1f} ms, then {row['median_ms']:6.1f}"
            f" ({row['min_ms']:.1f}-{row['max_ms']:.1f}) ms  {row['kilobytes']:8.1f} kB  {row['peak_mb']:6.1f} MB"
        )
    found = metrics(rows)
    print(", ".join(f"{name} {value}" for name, value in found.items()))
    if chosen.json:
        seconds = round(time.perf_counter() - began, 1)
        result = {"eval": "render", "cases": len(reports), "seconds": seconds, "metrics": found, "rows": rows}
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
