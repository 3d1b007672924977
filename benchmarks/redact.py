"""How fast text is masked and made visible: `python -m benchmarks.redact [FILE ...] [--json]`.

Without files, lines of the bundled scenarios: as they are written, their messages, and messages that are all different.
One core, best of five; sanitising is part of it.
"""

import argparse
import gzip
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import logagent
from logagent import demo
from logagent.analysis.redact import Redactor
from logagent.analysis.sanitise import sanitise

_RUNS = 5
_MOST = 60_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.redact", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    lines = list(_lines(options.files))[:_MOST]
    messages = [text for line in lines if (text := _message(line))]
    sets = {"lines": lines, "messages": messages, "different messages": list(dict.fromkeys(messages))}
    answer: dict[str, Any] = {
        "benchmark": "redact",
        "version": logagent.__version__,
        "cores": os.cpu_count(),
        "metrics": {name: measure(texts) for name, texts in sets.items() if texts},
    }
    if options.json:
        print(json.dumps(answer))
        return 0
    for name, figures in answer["metrics"].items():
        shown = f"{figures['mb_per_second_min']} to {figures['mb_per_second_max']} MB/s"
        print(f"{name:20} {figures['texts']:7,} of {figures['bytes'] // figures['texts']:4} bytes  {shown}")
    return 0


def measure(texts: Sequence[str]) -> dict[str, Any]:
    """Megabytes a second (10^6 bytes of UTF-8): least, median and most of the runs, each with a new redactor."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    rates = sorted(size / _seconds(texts) / 1e6 for _ in range(_RUNS))
    return {
        "texts": len(texts),
        "bytes": size,
        "mb_per_second_min": round(rates[0], 1),
        "mb_per_second_median": round(rates[_RUNS // 2], 1),
        "mb_per_second_max": round(rates[-1], 1),
    }


def _seconds(texts: Sequence[str]) -> float:
    redact = Redactor("k7q2")
    began = time.process_time()
    for text in texts:
        sanitise(redact(text))
    return time.process_time() - began


def _lines(files: Sequence[Path]) -> Iterator[str]:
    for path in files or [Path(str(demo.logs(name))) for name in demo.scenarios()]:
        data = path.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        yield from text.decode("utf-8", "replace").splitlines()


def _message(line: str) -> str:
    try:
        record = json.loads(line)
    except ValueError:
        return line
    return str(record.get("message") or record.get("body") or "") if isinstance(record, dict) else line


if __name__ == "__main__":
    sys.exit(main())
