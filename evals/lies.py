"""Lies put into submitted diagnoses, and true wordings beside them: `python -m evals.lies [FOLDER] [--json] [--rows]`.

A sentence about a row of evidence is submitted through the tool, as a model would. Caught: it is sent back, and sent
again it is left out. Kept: a true one, in any wording, is accepted at once. The rows come from real surveys and tool
calls on the bundled incidents, or on those of FOLDER (`logs.ndjson[.gz]`, `truth.json`). `--seed`, `--n` of each.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evals._lies_made import LIES, Made, Stated, lie, statements, truth
from logagent import __version__
from logagent.analysis.sanitise import sanitise_block
from logagent.llm import ToolCall
from logagent.settings import RunOptions, load
from logagent.tools import ToolContext, ToolRegistry
from logagent.triage import render_digest
from logagent.wiring import Session, open_session

_DRAWS = 400
"""Attempts to bend one statement before a scene is said to have none of a kind."""
_BUNDLED = ("order-outage", "vanished-heartbeat", "all-quiet", "injected")


@dataclass(slots=True)
class Scene:
    """One incident, surveyed and looked at with three tools."""

    name: str
    context: ToolContext
    statements: list[Stated]


def main(arguments: list[str] | None = None) -> int:
    """Submit, print a table, and with `--json` one object as the last line."""
    parser = argparse.ArgumentParser(prog="python -m evals.lies", description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", help="folder of incident folders; default: the bundled ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=500, help="lies, and as many truths")
    parser.add_argument("--only", default="", help="incidents whose name contains this")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    rows: list[dict[str, Any]] = []
    logs = list(_logs(options.path, options.only))
    for place, (name, log) in enumerate(logs):
        share = options.n // len(logs) + (place < options.n % len(logs))
        with _scene(name, log) as scene:
            rows += _score(scene, share, random.Random(f"{options.seed} {name}"))
    _print(rows)
    if options.json:
        answer: dict[str, Any] = {
            "eval": "lies",
            "cases": len(rows),
            "seconds": round(time.perf_counter() - began, 1),
            "version": __version__,
            "metrics": {"caught": _share(rows, lies=True), "truths_kept": _share(rows, lies=False)},
        }
        print(json.dumps(answer | ({"rows": rows} if options.rows else {}), ensure_ascii=False))
    return 0


def _logs(folder: Path | None, only: str) -> Iterator[tuple[str, Path]]:
    if folder is None:
        bundled = Path(__file__).parent.parent / "logagent" / "demo"
        yield from ((name, bundled / name / "logs.ndjson.gz") for name in _BUNDLED if only in name)
        return
    for case in sorted(one for one in folder.iterdir() if only in one.name and (one / "truth.json").is_file()):
        found = [path for name in ("logs.ndjson", "logs.ndjson.gz") if (path := case / name).is_file()]
        yield from ((case.name, path) for path in found[:1])


@contextmanager
def _scene(name: str, log: Path) -> Iterator[Scene]:
    settings = load({}, {})
    with open_session(settings, RunOptions(files=(str(log),), save=False), lambda _: None) as session:
        context = _context(session)
        registry = ToolRegistry()
        for tool, given in (
            ("get_log_patterns", {}),
            ("search_logs", {"query": "level>=warn", "size": 20}),
            ("get_error_stats", {"group_by": "service"}),
        ):
            registry.call(ToolCall("c1", tool, json.dumps(given)), context)
        yield Scene(name, context, statements(context.ledger))


def _context(session: Session) -> ToolContext:
    """What the tools of a run with a model see."""
    findings = session.survey()
    context = ToolContext(
        store=session.store,
        fields=session.description.fields,
        scope=replace(session.plan.scope, window=findings.bad, baselines=findings.good),
        ledger=session.ledger,
        redact=session.redactor,
        catalogue=session.catalogue,
        nonce=session.nonce,
    )
    context.shown.append(sanitise_block(context.redact(render_digest(findings, clean=session.clean))))
    return context


def _score(scene: Scene, share: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    if not scene.statements:
        return
    for place in range(share):
        yield _row(scene, truth(chance.choice(scene.statements), chance))
        made = _lie(scene, place, chance)
        if made is not None:
            yield _row(scene, made)


def _lie(scene: Scene, place: int, chance: random.Random) -> Made | None:
    """A lie of the kind whose turn it is, or of the next one that this scene has."""
    for turn in range(len(LIES)):
        kind = LIES[(place + turn) % len(LIES)]
        for _ in range(_DRAWS):
            if (made := lie(kind, scene.statements, chance)) is not None:
                return made
    return None


def _row(scene: Scene, made: Made) -> dict[str, Any]:
    """Submit twice; what happened to the sentence."""
    context = replace(scene.context, faults=0, submission=None, draft=None)
    said = {
        "headline": "Something is wrong",
        "what_is_happening": made.text,
        "hypotheses": [
            {"statement": "Something broke.", "mechanism": "other", "supporting": [next(iter(context.ledger)).id]}
        ],
    }
    answers = [ToolRegistry().call(ToolCall("c1", "submit_diagnosis", json.dumps(said)), context).text for _ in (1, 2)]
    kept = context.submission.what_is_happening if context.submission else ""
    at_once = answers[0] == "Accepted."
    right = (not at_once and not kept) if made.lie else at_once
    return {
        "case": scene.name,
        "kind": made.kind,
        "lie": made.lie,
        "text": made.text,
        "right": right,
        "why": "" if right else answers[0][:300] if not made.lie else "accepted",
    }


def _share(rows: Sequence[dict[str, Any]], *, lies: bool) -> dict[str, int]:
    chosen = [row for row in rows if bool(row["lie"]) is lies]
    return {"right": sum(row["right"] for row in chosen), "of": len(chosen)}


def _print(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        if not row["right"]:
            print(f"{row['case']:<28} {row['lie'] or 'TRUE':<8} {row['text']}\n    {row['why']}")
    total = Counter((row["lie"] or "true", row["kind"]) for row in rows)
    good = Counter((row["lie"] or "true", row["kind"]) for row in rows if row["right"])
    for (name, kind), of in sorted(total.items()):
        print(f"{name:<8} {kind:<9} {good[name, kind]:>4} of {of}")
    for name, lies in (("caught", True), ("truths kept", False)):
        share = _share(rows, lies=lies)
        print(f"{name}: {share['right']} of {share['of']}")


if __name__ == "__main__":
    sys.exit(main())
