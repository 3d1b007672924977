"""Mutated incidents: `python -m evals.robustness FOLDER [--n 1000] [--seed 1] [--json] [--rows]`.

Each seeded mutation (levels lost, lines shuffled, moved, missing, doubled, a giant noisy service) of a labelled
incident is diagnosed without a model. The outcome must be the one of the whole incident or a less certain one; a
confident cause that is neither that of the whole incident nor the labelled one is a violation, and its row says so.
"""

import argparse
import json
import random
import sys
import time
import traceback
from functools import cache
from pathlib import Path
from typing import Any

from evals._mutations import MUTATIONS
from evals._windows import Line, asked, ranked, read, truth_of
from evals.incidents import CLAIMED
from logagent import __version__
from logagent.diagnosis import Diagnosis

CERTAINTY = {"confirmed": 2, "probable": 1}
"""Of an outcome that claims a cause; the others claim none."""
UNNAMED = "(no service)"


def main(arguments: list[str] | None = None) -> int:
    """Score and print; 0 whenever the measurement itself worked."""
    parser = argparse.ArgumentParser(prog="evals.robustness", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--n", type=int, default=1000, help="mutations in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="mutations and incidents that hold this text")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    folders = [one for one in sorted(options.path.iterdir()) if (one / "truth.json").exists()]
    rng = random.Random(options.seed)
    rows: list[dict[str, Any]] = []
    for _ in range(options.n):
        folder, name, seed = rng.choice(folders), rng.choice(list(MUTATIONS)), rng.randint(0, 10**9)
        if options.only in f"{name} {folder.name}":
            rows.append(score(folder, name, seed))
            print(rows[-1]["case"], rows[-1]["right"], rows[-1]["found"], file=sys.stderr, flush=True)
    answer: dict[str, Any] = {
        "eval": "robustness",
        "cases": len(rows),
        "seconds": round(time.perf_counter() - began, 1),
        "version": __version__,
        "mechanisms": "",
        "metrics": metrics(rows),
    }
    if options.rows:
        answer["rows"] = rows
    print(json.dumps(answer, ensure_ascii=False) if options.json else _table(rows, answer))
    return 0


@cache
def _whole(folder: Path) -> tuple[list[Line], str, Diagnosis]:
    """Lines, service with the fault, and what is said of the incident as it is."""
    lines = read(folder)
    return lines, str(truth_of(folder).get("root_cause_service") or ""), asked(lines)


def score(folder: Path, name: str, seed: int) -> dict[str, Any]:
    """Mutate, diagnose and compare."""
    lines, root, before = _whole(folder)
    row: dict[str, Any] = {
        "case": f"{name} {seed} {folder.name}",
        "mutation": name,
        "expected": f"{before.outcome} {_claim(before)}".strip(),
        "found": "",
        "right": False,
        "why": "",
        "crashed": False,
    }
    try:
        after = asked(MUTATIONS[name](lines, root, random.Random(seed)))
    except Exception:  # noqa: BLE001 - a crash is a result here, counted and shown
        row["why"], row["crashed"] = traceback.format_exc(limit=-3), True
        return row
    row["found"], row["same"] = f"{after.outcome} {_claim(after)}".strip(), after.outcome == before.outcome
    claim = _claim(after)
    row["more_certain"] = CERTAINTY.get(after.outcome, 0) > CERTAINTY.get(before.outcome, 0)
    row["right"] = not claim or claim in {_claim(before), root}
    row["why"] = after.summary.headline
    return row


def _claim(diagnosis: Diagnosis) -> str:
    """Who is accused with confidence, or nothing."""
    if diagnosis.outcome not in CLAIMED:
        return ""
    return next(iter(ranked(diagnosis)), "") or UNNAMED


def metrics(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """`MUTATION`: how many hold no violation; beside it `same_outcome`, and `more_certain` (right, but surer)."""
    out: dict[str, Any] = {}
    for name in MUTATIONS:
        mine = [row for row in rows if row["mutation"] == name]
        if mine:
            out[name] = {"right": sum(row["right"] for row in mine), "of": len(mine)}
    out["same_outcome"] = {"right": sum(bool(row.get("same")) for row in rows), "of": len(rows)}
    out["more_certain"] = sum(bool(row.get("more_certain")) for row in rows)
    out["violations"] = sum(not row["right"] for row in rows)
    out["crashes"] = sum(row["crashed"] for row in rows)
    return out


def _table(rows: list[dict[str, Any]], answer: dict[str, Any]) -> str:
    lines = [
        f"{row['case'][:70]:70} expected {row['expected']!r}, found {row['found']!r}: {row['why'][-200:]}"
        for row in sorted(rows, key=lambda row: not row["crashed"])
        if not row["right"]
    ]
    lines += [f"{name}: {value}" for name, value in answer["metrics"].items()]
    return "\n".join([*lines, f"mutations: {answer['cases']}, seconds: {answer['seconds']}"])


if __name__ == "__main__":
    sys.exit(main())
