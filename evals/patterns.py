"""How well messages fall into their templates: `python -m evals.patterns FOLDER [--json] [--rows]`.

FOLDER holds `<System>.ndjson` of loghub: messages with the true template of each. Grouping accuracy (GA) is the share
of lines whose group is exactly the true one, FGA the F1 score over groups (Jiang et al., ISSTA 2024). Drain3 with the
same kind of masks runs beside it where it is installed.
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import logagent
from evals._floor import drain3_miner, missing
from logagent.analysis.facts import Event
from logagent.analysis.templates import mine

_INDEX = resources.files("logagent.analysis").joinpath("mechanisms.json")

Miner = Callable[[Sequence[str]], list[Hashable]]


def main(argv: Sequence[str] | None = None) -> int:
    """Score and print; 0 whenever the measurement itself worked."""
    parser = argparse.ArgumentParser(prog="evals.patterns", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument("--rows", action="store_true", help="with the groups that are wrong")
    args = parser.parse_args(argv)
    began = time.perf_counter()
    results = [score(path) for path in sorted(args.path.glob("*.ndjson"))]
    answer = {
        "eval": "patterns",
        "cases": len(results),
        "seconds": round(time.perf_counter() - began, 3),
        "version": logagent.__version__,
        "mechanisms": json.loads(_INDEX.read_bytes())["version"],
        "metrics": _means(results),
        "rows": sorted(results, key=lambda row: row["ga"]),
    }
    if args.json:
        shown = answer if args.rows else {key: value for key, value in answer.items() if key != "rows"}
        sys.stdout.write(json.dumps(shown, ensure_ascii=False) + "\n")
        return 0
    _table(answer, wrong=args.rows)
    return 0


def score(path: Path) -> dict[str, Any]:
    """Figures of one system."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    messages = [line["message"] for line in lines]
    truth, corrected = ([line[key] for line in lines] for key in ("event_id", "event_template_corrected"))
    row: dict[str, Any] = {"id": path.stem, "lines": len(lines)}
    found = _timed(row, "", _ours, messages)
    row["ga"], row["fga"] = accuracy(truth, found)
    row["ga_corrected"], row["fga_corrected"] = accuracy(corrected, found)
    if (drain3 := _drain3()) is not None:
        row["drain3_ga"], row["drain3_fga"] = accuracy(truth, _timed(row, "drain3_", drain3, messages))
    row["wrong"] = _wrong(lines, truth, found)
    return row


def _timed(row: dict[str, Any], prefix: str, miner: Miner, messages: Sequence[str]) -> list[Hashable]:
    began = time.perf_counter()
    found = miner(messages)
    row[f"{prefix}lines_per_second"] = round(len(messages) / (time.perf_counter() - began))
    return found


def _ours(messages: Sequence[str]) -> list[Hashable]:
    events = [Event(float(place), "system", None, message) for place, message in enumerate(messages)]
    mine(events)
    return [event.template for event in events]


def _drain3() -> Miner | None:
    """Drain3 as in the floor, or None where it is not installed."""
    if missing():
        return None

    def run(messages: Sequence[str]) -> list[Hashable]:
        miner = drain3_miner()
        return [miner.add_log_message(message)["cluster_id"] for message in messages]

    return run


def accuracy(truth: Sequence[Hashable], found: Sequence[Hashable]) -> tuple[float, float]:
    """(GA, FGA) of a grouping.

    >>> accuracy(["a", "a", "b", "c"], [1, 1, 2, 2])
    (0.5, 0.4)
    """
    right = [group for group in _groups(found) if group in _groups(truth)]
    lines = sum(map(len, right))
    precision, recall = len(right) / max(1, len(_groups(found))), len(right) / max(1, len(_groups(truth)))
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return round(lines / max(1, len(truth)), 4), round(f1, 4)


def _groups(labels: Sequence[Hashable]) -> set[frozenset[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, label in enumerate(labels):
        groups[label].append(place)
    return {frozenset(places) for places in groups.values()}


def _wrong(
    lines: Sequence[dict[str, Any]], truth: Sequence[Hashable], found: Sequence[Hashable]
) -> list[dict[str, Any]]:
    """True groups that were not found, largest first: into how many groups their lines fell."""
    right = _groups(found)
    rows = []
    for group in sorted(_groups(truth) - right, key=len, reverse=True):
        first = lines[min(group)]
        parts = len({found[place] for place in group})
        rows.append(
            {"lines": len(group), "parts": parts, "template": first["event_template"], "line": first["message"]}
        )
    return rows[:8]


def _means(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = ["ga", "fga", "ga_corrected", "fga_corrected", "lines_per_second"]
    names += ["drain3_ga", "drain3_fga", "drain3_lines_per_second"]
    metrics: dict[str, Any] = {}
    for name in names:
        values = [row[name] for row in results if name in row]
        metrics[name] = round(sum(values) / len(values), 4) if values else "drain3 is not installed"
    return metrics


def _table(answer: dict[str, Any], *, wrong: bool) -> None:
    for row in answer["rows"]:
        drain3 = f"  drain3 {row['drain3_ga']:.3f}" if "drain3_ga" in row else ""
        print(f"{row['id']:12} GA {row['ga']:.3f} FGA {row['fga']:.3f}  corrected {row['ga_corrected']:.3f}{drain3}")
        for one in row["wrong"] if wrong else ():
            print(
                f"    {one['lines']:5} lines in {one['parts']} parts: {one['template'][:90]!r}, {one['line'][:110]!r}"
            )
    for name, value in answer["metrics"].items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    sys.exit(main())
