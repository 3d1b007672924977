"""How well the list of mechanisms keeps its own examples, and what it costs.

`python -m evals.mechanisms [--json] [--rows]`

`--write` makes `logagent/analysis/mechanisms.json` from `mechanisms.toml` anew; a test holds the two equal.
"""

import argparse
import json
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import logagent
from logagent.analysis.cue_plan import index
from logagent.analysis.mechanisms import Catalogue

_FOLDER = resources.files("logagent.analysis")


def source() -> dict[str, Any]:
    """The list as it is written by hand."""
    return tomllib.loads(_FOLDER.joinpath("mechanisms.toml").read_text("utf-8"))


def compact(spec: Mapping[str, Any]) -> str:
    """Text of `mechanisms.json`: one entry a line."""
    data = index(spec)
    lines = [json.dumps(entry, ensure_ascii=False) for entry in data.pop("entries")]
    head = json.dumps(data, ensure_ascii=False).removesuffix("}")
    return head + ', "entries": [\n' + ",\n".join(lines) + "\n]}\n"


def judge(spec: Mapping[str, Any], catalogue: Catalogue) -> list[dict[str, Any]]:
    """One row for each example and counter-example of the list."""
    rows = []
    for entry in [*spec["mechanism"], *spec["change"]]:
        change = entry in spec["change"]
        for kind in ("examples", "counter_examples"):
            for text in entry[kind]:
                found = list(catalogue.change(text)) if change else [hit.id for hit in catalogue.mechanisms(text)]
                asked = found if change or kind == "counter_examples" else found[:1]
                right = (entry["id"] in asked) == (kind == "examples")
                rows.append({"id": entry["id"], "kind": kind, "text": text, "found": found, "right": right})
    return rows


def measure(spec: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Share of examples right, and what loading and reading cost."""
    began = time.perf_counter()
    catalogue = Catalogue.from_index(json.loads(text))
    loaded = time.perf_counter() - began
    rows = judge(spec, catalogue)
    lines = [row["text"] for row in rows] * 20
    warm = time.perf_counter()
    for line in lines:
        catalogue.mechanisms(line)
    seconds = time.perf_counter() - warm
    metrics: dict[str, Any] = {
        kind: {"right": sum(r["right"] for r in rows if r["kind"] == kind), "of": sum(r["kind"] == kind for r in rows)}
        for kind in ("examples", "counter_examples")
    }
    metrics["load_ms"] = round(1000 * loaded, 1)
    metrics["lines_per_second"] = round(len(lines) / seconds)
    return {
        "eval": "mechanisms",
        "cases": len(rows),
        "seconds": round(time.perf_counter() - began, 3),
        "version": logagent.__version__,
        "mechanisms": catalogue.version,
        "metrics": metrics,
        "rows": sorted(rows, key=lambda row: row["right"]),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on the last line")
    parser.add_argument("--rows", action="store_true", help="with a row for each example")
    parser.add_argument("--write", action="store_true", help="make mechanisms.json anew")
    args = parser.parse_args(argv)
    spec = source()
    text = compact(spec)
    if args.write:
        Path(str(_FOLDER.joinpath("mechanisms.json"))).write_text(text, "utf-8")
    result = measure(spec, text)
    rows = result["rows"] if args.rows else result.pop("rows")
    if args.json:
        sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
        return 0
    for row in rows:
        if not row["right"]:
            print(f"wrong: {row['id']} {row['kind']}: {row['text'][:100]!r} -> {row['found']}")
    for name, value in result["metrics"].items():
        print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
