"""How well the field resolver reads schemas: `python -m evals.fields FOLDER [--json] [--rows]`.

FOLDER holds `fields.ndjson`: log documents with the field that plays each role. Each document is resolved alone, as if
it were the newest of a source.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from logagent import __version__
from logagent.fields import FieldInfo, FieldMap, classify_levels, error_class_in, instant_of, resolve, severity_of_word

ROLES = {
    "timestamp": "timestamp",
    "level": "severity",
    "service": "service",
    "message": "message",
    "error_class": "error_type",
    "host": "host",
}


def main(arguments: list[str] | None = None) -> int:
    """Score and print; 0 whenever the measurement itself worked."""
    parser = argparse.ArgumentParser(prog="evals.fields", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    cases = [json.loads(line) for line in (options.path / "fields.ndjson").read_text("utf-8").splitlines() if line]
    rows = [row for case in cases for row in score(case)]
    answer = {
        "eval": "fields",
        "cases": len(cases),
        "seconds": round(time.perf_counter() - started, 3),
        "version": __version__,
        "mechanisms": "",
        "metrics": _metrics(rows),
    }
    if options.rows:
        answer["rows"] = rows
    if options.json:
        print(json.dumps(answer, ensure_ascii=False))
    else:
        _show(answer, rows)
    return 0


def score(case: Mapping[str, object]) -> list[dict[str, object]]:
    """One row for each role of one document."""
    document = case["doc"]
    expected = case["expected"]
    if not isinstance(document, dict) or not isinstance(expected, dict):
        raise TypeError(case["id"])
    values = dict(flatten(document))
    try:
        found = resolve([FieldInfo(name, _type(value), 1.0, (str(value),)) for name, value in values.items()])
    except ValueError as error:
        return [_row(case, key, expected[key], "", right=False, why=f"crash: {error}") for key in ROLES]
    return [_judge(case, key, expected[key], found, values) for key in ROLES]


def flatten(document: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names with their values; the first element stands for a list."""
    for key, value in document.items():
        name = f"{prefix}{key}"
        item = value[0] if isinstance(value, list) and value else value
        if isinstance(item, dict):
            yield from flatten(item, f"{name}.")
        elif item is not None and item not in ([], ""):
            yield name, item


def _type(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "double" if isinstance(value, int | float) else "text"


def _judge(
    case: Mapping[str, object],
    key: str,
    expected: Mapping[str, object] | None,
    found: FieldMap,
    values: Mapping[str, object],
) -> dict[str, object]:
    choice = found.first(ROLES[key])
    name = choice.name if choice else ""
    if expected is None:
        return _row(case, key, None, name, right=not name, why="reported, but nothing means that" if name else "")
    if not name:
        if key == "error_class" and expected.get("how") == "regex":
            text = str(values.get(str(expected["path"]), ""))
            return _row(
                case, key, expected, "text", right=error_class_in(text) == expected["value"], why="from the text"
            )
        return _row(case, key, expected, name, right=bool(expected.get("soft")), why="not found")
    accepted = [expected, *_accepted(expected)]
    hits = [item for item in accepted if name == item["path"] or name.startswith(f"{item['path']}.")]
    if not hits:
        return _row(case, key, expected, name, right=False, why="another field")
    why = _norm_error(key, name, values, hits[0].get("norm") or expected.get("norm"))
    return _row(case, key, expected, name, right=not why, why=why)


def _accepted(expected: Mapping[str, object]) -> list[Mapping[str, object]]:
    more = expected.get("accept", [])
    return [item for item in more if isinstance(item, dict)] if isinstance(more, list) else []


def _norm_error(key: str, name: str, values: Mapping[str, object], norm: object) -> str:
    """Why the value would be read wrongly, or ""."""
    if key == "timestamp":
        at = instant_of(values[name])
        wished = instant_of(str(norm).split(" ")[0])
        near = at is not None and wished is not None and abs((at - wished).total_seconds()) < 0.002
        return "" if near else f"read as {at}"
    if key == "level" and norm:
        word = str(values[name])
        known = classify_levels(name, {word: 1}, values)
        severity = next(iter(known), severity_of_word(word))
        return "" if severity is not None and severity.word == norm else f"{word} read as {severity}"
    return ""


def _row(
    case: Mapping[str, object], key: str, expected: Mapping[str, object] | None, found: str, *, right: bool, why: str
) -> dict[str, object]:
    wished = expected["path"] if expected else None
    return {"case": case["id"], "role": key, "expected": wished, "found": found, "right": right, "why": why}


def _metrics(rows: list[dict[str, object]]) -> dict[str, dict[str, int]]:
    shares = {key: _share([row for row in rows if row["role"] == key]) for key in ROLES}
    shares["all"] = _share(rows)
    nulls = [row for row in rows if row["expected"] is None]
    shares["false_positives"] = {"right": sum(not row["right"] for row in nulls), "of": len(nulls)}
    return shares


def _share(rows: list[dict[str, object]]) -> dict[str, int]:
    return {"right": sum(bool(row["right"]) for row in rows), "of": len(rows)}


def _show(answer: Mapping[str, object], rows: list[dict[str, object]]) -> None:
    for row in rows:
        if not row["right"]:
            print(f"{row['case']:<28} {row['role']:<12} wished {row['expected']}, found {row['found']} ({row['why']})")
    metrics = answer["metrics"]
    if isinstance(metrics, dict):
        for name, share in metrics.items():
            print(f"{name:<16} {share['right']:>4} of {share['of']}")


if __name__ == "__main__":
    sys.exit(main())
