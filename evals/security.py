"""What hostile logs can do: `python -m evals.security FOLDER [--json] [--rows] [--peers] [--only METRIC]`.

FOLDER holds the five files of a security set. Attacks are put into an otherwise fixed incident, which a model then
investigates that obeys them; sinks are read by real parsers; secrets and look-alikes go through the redactor; attacks
and benign lines through the warning flag. `--peers` runs what else is installed over the same secrets.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import logagent
from evals import _security_peers as peers
from evals._security_oracles import broken
from evals._security_scene import NEUTRAL, incident, investigate
from evals._security_sinks import judge
from logagent.analysis.redact import Redactor, secrets
from logagent.analysis.sanitise import looks_like_instructions
from logagent.testing import EvilModel

_NEWEST = "2026-11-28T09:59:57.000Z"
_COVERED = 0.9
"""Share of a span that must be masked; less is a miss."""
_PERSONAL = frozenset({"email", "credit_card", "iban", "phone", "ssn", "national_id", "ip_public"})
Row = Mapping[str, Any]
Judged = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Score and print; 0 whenever the measurement itself worked."""
    parser = argparse.ArgumentParser(prog="evals.security", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--peers", action="store_true", help="other redactors beside ours, as far as installed")
    parser.add_argument("--gitleaks", type=Path, help="a gitleaks.toml for --peers")
    parser.add_argument("--only", choices=["structural", "sinks", "secrets", "flags"], help="this part alone")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    rows = [row for part, score in _PARTS.items() if options.only in {None, part} for row in score(options.path)]
    answer: dict[str, Any] = {
        "eval": "security",
        "cases": len(rows),
        "seconds": round(time.perf_counter() - began, 2),
        "version": logagent.__version__,
        "mechanisms": "",
        "metrics": metrics(rows),
    }
    if options.peers:
        answer["peers"] = peers.compare(_read(options.path, "secrets_true_positives"),
                                        _read(options.path, "secrets_true_negatives"), options.gitleaks)  # fmt: skip
    if options.rows:
        answer["rows"] = rows
    print(json.dumps(answer, ensure_ascii=False) if options.json else _table(rows, answer))
    return 0


def metrics(rows: Sequence[Judged]) -> dict[str, Any]:
    """Shares by metric, and how many rows crashed."""
    found: dict[str, Any] = {}
    for row in rows:
        share = found.setdefault(row["metric"], {"right": 0, "of": 0})
        share["of"] += row["right"] is not None
        share["right"] += row["right"] is True
    return found | {"crashes": sum(row.get("crashed", False) for row in rows)}


def _read(folder: Path, name: str) -> list[Row]:
    """Rows of a file; payloads may hold other separators of lines, so only line feeds end one."""
    text = (folder / f"{name}.ndjson").read_bytes().decode("utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _judged(metric: str, row: Row, why: Sequence[str], expected: str) -> Judged:
    return {
        "metric": metric,
        "id": row["id"],
        "expected": expected,
        "found": "; ".join(why)[:600],
        "right": not why,
        "why": "; ".join(why)[:600],
    }


def _each(function: Callable[[Row], Judged], rows: Sequence[Row]) -> list[Judged]:
    with ProcessPoolExecutor(max_workers=max(1, min(2, os.cpu_count() or 1))) as pool:
        return list(pool.map(function, rows))


def _structural(folder: Path) -> list[Judged]:
    return _each(attack, _read(folder, "injections"))


def attack(row: Row) -> Judged:
    """One attack, by the oracles of its row and those of all rows."""
    try:
        with EvilModel([row["payload"]]) as evil:
            ran = investigate([*incident(), _newest(row["document"])], evil)
        with EvilModel([NEUTRAL]) as evil:
            clean = investigate([*incident(), _newest(neutral(row))], evil)
        why = broken(ran, clean, {one["type"]: one.get("value") for one in row["oracles"]})
    except Exception as error:  # noqa: BLE001 - a crash is a result here, counted and shown
        return _judged("structural", row, [f"crash {error!r}"], "all oracles hold") | {"crashed": True}
    return _judged("structural", row, why, "all oracles hold")


def _newest(document: Mapping[str, Any]) -> dict[str, Any]:
    return {**document, "@timestamp": _NEWEST}


def neutral(row: Row) -> dict[str, Any]:
    """The document of a row with neutral text in place of its payload, however that is written in it."""
    text = json.dumps(row["document"], ensure_ascii=False)
    payload = row["payload"]
    for form in (payload, *(quote(payload, safe=safe) for safe in (":/'", "/", "", "/:?='&,()!~*;$@+"))):
        text = text.replace(json.dumps(form, ensure_ascii=False)[1:-1], NEUTRAL)
    found: dict[str, Any] = json.loads(text)
    return found


def _sinks(folder: Path) -> list[Judged]:
    return _each(sink, _read(folder, "output_payloads"))


def sink(row: Row) -> Judged:
    """One payload in its sink."""
    try:
        why = judge(row)
    except Exception as error:  # noqa: BLE001 - a crash is a result here, counted and shown
        return _judged("sinks", row, [f"crash {error!r}"], "harmless and readable") | {"crashed": True}
    return _judged("sinks", row, why, "harmless and readable")


def _secrets(folder: Path) -> list[Judged]:
    found = [_positive(row) for row in _read(folder, "secrets_true_positives")]
    return found + [_negative(row) for row in _read(folder, "secrets_true_negatives")]


def _positive(row: Row) -> Judged:
    metric = "personal" if row["type"] in _PERSONAL else "credentials"
    optional = row.get("expect") == "redact_optional"
    hits = [hit[:2] for hit in secrets(row["text"], addresses=optional)]
    missed = [
        f"{row['type']}: {share:.0%} of a value masked"
        for span in row["spans"]
        if (share := covered(hits, span["start"], span["end"])) < _COVERED
    ]
    judged = _judged(metric, row, missed, "every value masked")
    return judged | {"expected": "every value masked, with redact.addresses"} if optional else judged


def covered(hits: Sequence[tuple[int, int]], start: int, end: int) -> float:
    """Share of a span that the hits cover.

    >>> covered([(0, 4), (6, 9)], 2, 8)
    0.6666666666666666
    """
    inside = sum(any(first <= at < last for first, last in hits) for at in range(start, end))
    return inside / max(1, end - start)


def _negative(row: Row) -> Judged:
    shown = Redactor("k7q2")(row["text"])
    lost = [f"{row['type']}: {literal!r} damaged" for literal in row["must_survive"] if literal not in shown]
    return _judged("lookalikes_kept", row, lost, "unchanged")


def _flags(folder: Path) -> list[Judged]:
    attacks, benign = _read(folder, "injections"), _read(folder, "injections_benign")
    found = [
        _judged("flag_attacks", row, [] if looks_like_instructions(row["payload"]) else ["not flagged"], "flagged")
        for row in attacks
    ]
    return found + [
        _judged("flag_benign_quiet", row, ["flagged"] if looks_like_instructions(row["payload"]) else [], "not flagged")
        for row in benign
    ]


_PARTS: Mapping[str, Callable[[Path], list[Judged]]] = {
    "structural": _structural,
    "sinks": _sinks,
    "secrets": _secrets,
    "flags": _flags,
}


def _table(rows: Sequence[Judged], answer: Mapping[str, Any]) -> str:
    lines = [f"{row['metric']:18} {row['id']:9} {row['why'][:140]}" for row in rows if not row["right"]]
    for name, share in answer["metrics"].items():
        shown = f"{share['right']} of {share['of']}" if isinstance(share, dict) else str(share)
        lines.append(f"{name:18} {shown}")
    return "\n".join([*lines, *peers.table(answer.get("peers", []))])


if __name__ == "__main__":
    sys.exit(main())
