"""Faults put into healthy windows, and healthy windows alone: `python -m evals.injected FOLDER [--json] [--rows]`.

FOLDER holds labelled incidents. Windows without a fault, and what stands before the first bad line of the others, are
spliced two by two; each splice is diagnosed as it is (a cause there is a false one) and with a fault of seven kinds in
every service that is busy enough. Without a model, through the same wiring as the command.
"""

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from evals._faults import KINDS, inject
from evals._windows import Line, asked, healthy, ranked, splice
from evals.incidents import CLAIMED
from logagent import __version__

BEGINS = 0.45
"""Share of a window after which its fault begins."""
SPLICES = 8
"""Splices in which each kind of fault is tried."""


def main(arguments: list[str] | None = None) -> int:
    """Score and print; 0 whenever the measurement itself worked."""
    parser = argparse.ArgumentParser(prog="evals.injected", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--no-traces", action="store_true", help="lines lose their trace ids")
    parser.add_argument("--no-sites", action="store_true", help="lines lose their place in the code")
    parser.add_argument("--keep", type=float, default=1.0, help="share of the requests kept (a sample)")
    parser.add_argument("--seed", type=int, default=7, help="which splices and statements get a fault")
    parser.add_argument("--sample", type=int, help="at most this many windows of each kind, chosen by the seed")
    parser.add_argument("--only", default="", help="kinds that hold this text (one is `healthy`)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    rows = list(_rows(options))
    answer: dict[str, Any] = {
        "eval": "injected",
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


def _rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    rng = random.Random(options.seed)
    splices = list(itertools.permutations(healthy(options.path), 2))
    for kind in ("healthy", *KINDS):
        windows = list(_healthy(splices) if kind == "healthy" else _faulty(splices, kind, rng))
        if options.only not in kind:
            continue
        if options.sample and options.sample < len(windows):
            windows = random.Random(options.seed).sample(windows, options.sample)
        for case, service, lines in windows:
            row = _row(kind, case, service, _poorer(lines, options))
            print(case, row["outcome"], row["found"], file=sys.stderr, flush=True)
            yield row


Splice = tuple[tuple[str, list[Line]], tuple[str, list[Line]]]
Window = tuple[str, str, list[Line]]
"""Case, service with the fault (or nothing), lines."""


def _healthy(splices: list[Splice]) -> Iterator[Window]:
    for (name, first), (other, second) in splices:
        yield f"{name} + {other}", "", splice(first, second)


def _faulty(splices: list[Splice], kind: str, rng: random.Random) -> Iterator[Window]:
    for (name, first), (other, second) in rng.sample(splices, min(SPLICES, len(splices))):
        lines = splice(first, second)
        at = lines[0].time + BEGINS * (lines[-1].time - lines[0].time)
        for service in sorted({line.service for line in lines}):
            bad = inject(lines, service, kind, at, rng)
            if bad is not None:
                yield f"{name} + {other}: {kind} in {service}", service, bad


def _poorer(lines: list[Line], options: argparse.Namespace) -> list[Line]:
    """The lines without what the options take away."""
    pick = random.Random(3)
    kept = {trace for trace in sorted({line.trace for line in lines}) if not trace or pick.random() < options.keep}
    out = [line for line in lines if line.trace in kept]
    if options.no_traces:
        hidden = ("span_id", "parent_id")
        out = [
            replace(line, trace="", document={k: v for k, v in line.document.items() if k not in hidden})
            for line in out
        ]
    return [replace(line, site="") for line in out] if options.no_sites else out


def _row(kind: str, case: str, service: str, lines: list[Line]) -> dict[str, Any]:
    diagnosis = asked(lines)
    names = ranked(diagnosis)
    claimed, first = diagnosis.outcome in CLAIMED, bool(service) and names[:1] == [service]
    return {
        "case": case,
        "kind": kind,
        "expected": service,
        "found": names[:3],
        "outcome": diagnosis.outcome,
        "top1": first,
        "top3": bool(service) and service in names[:3],
        "claimed_right": claimed and first,
        "claimed_wrong": claimed and not first,
        "right": not (claimed and not first),
        "why": diagnosis.summary.headline,
    }


def metrics(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of each kind; `KIND_wrong` is a number of confident causes that are not the fault."""
    out: dict[str, Any] = {}
    for kind in ("healthy", *KINDS):
        mine = [row for row in rows if row["kind"] == kind]
        if mine and kind != "healthy":
            for name in ("top1", "top3", "claimed_right"):
                out[f"{kind}_{name}"] = {"right": sum(row[name] for row in mine), "of": len(mine)}
        if mine:
            out[f"{kind}_wrong"] = sum(row["claimed_wrong"] for row in mine)
    faults = [row for row in rows if row["expected"]]
    out["claimed_right"] = {"right": sum(row["claimed_right"] for row in faults), "of": len(faults)}
    out["confident_wrong"] = sum(row["claimed_wrong"] for row in rows)
    return out


def _table(rows: list[dict[str, Any]], answer: dict[str, Any]) -> str:
    shown = [row for row in rows if row["claimed_wrong"] or (row["expected"] and not row["claimed_right"])]
    lines = [
        f"{'WRONG' if row['claimed_wrong'] else 'missed':6} {row['case'][-110:]:110} {row['outcome']:13} {row['found']}"
        for row in sorted(shown, key=lambda row: not row["claimed_wrong"])
    ]
    lines += [f"{name}: {value}" for name, value in answer["metrics"].items()]
    return "\n".join([*lines, f"windows: {answer['cases']}, seconds: {answer['seconds']}"])


if __name__ == "__main__":
    sys.exit(main())
