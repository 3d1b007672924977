"""What a whole investigation with a model costs: `python -m evals.prompt_tokens FOLDER [--greedy] [--only NAME]`.

FOLDER holds incidents as for `evals.incidents`. A scripted model makes three typical calls, one a turn, then submits
(with `--greedy` the calls ask for all there is); the real client, loop, tools and store do the rest. Counted are the
prompt tokens of all requests of a run together (texts and declarations as sent, four bytes a token), and the size of
each tool result.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from logagent.analysis.trim import tokens_in
from logagent.errors import LogAgentError
from logagent.events import LoopEnded, RunEvent, ToolFinished
from logagent.llm import ChatClient, Endpoint
from logagent.settings import RunOptions, load
from logagent.testing import Answer, ScriptedModel, calls, submit
from logagent.triage import Findings
from logagent.wiring import open_session

MOST_PROMPT, MOST_RESULT = 20_000, 1_500
_SUBMISSION = {
    "headline": "Requests fail",
    "what_is_happening": "Requests fail [E1].",
    "hypotheses": [{"statement": "The service fails.", "mechanism": "other", "supporting": ["E1"]}],
}


@dataclass(slots=True)
class Row:
    """One run."""

    case: str
    prompt: int = 0
    first: int = 0
    """Prompt tokens of the first request: declarations, instructions, digest."""
    output: int = 0
    turns: int = 0
    results: list[int] = field(default_factory=list)
    stop: str = ""
    seconds: float = 0.0
    error: str = ""


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 where a limit is passed."""
    parser = argparse.ArgumentParser(prog="evals.prompt_tokens", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--greedy", action="store_true", help="no query, fifty lines")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args(arguments)
    folders = sorted(p for p in options.path.iterdir() if options.only in p.name and (p / "truth.json").is_file())
    rows = [measure(folder, greedy=options.greedy) for folder in folders]
    good = [row for row in rows if not row.error]
    prompts = sorted(row.prompt for row in good)
    results = [size for row in good for size in row.results]
    answer: dict[str, Any] = {
        "eval": "prompt_tokens",
        "cases": len(rows),
        "failed": [f"{row.case}: {row.error}" for row in rows if row.error],
        "stops": sorted({row.stop for row in good}),
        "prompt_tokens": _spread(prompts),
        "first_request": _spread([row.first for row in good]),
        "result_tokens": _spread(results),
    }
    if options.rows:
        answer["rows"] = [{name: getattr(row, name) for name in Row.__slots__} for row in rows]
    print(json.dumps(answer, indent=1))
    holds = prompts and statistics.median(prompts) <= MOST_PROMPT and max(results, default=0) <= MOST_RESULT
    return 0 if holds else 1


def measure(folder: Path, *, greedy: bool = False) -> Row:
    """One run on one incident."""
    row = Row(folder.name)
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    began = time.perf_counter()
    try:
        _run(folder, truth.get("window") or {}, row, greedy=greedy)
    except (LogAgentError, AssertionError) as error:
        row.error = str(error)[:200]
    row.seconds = round(time.perf_counter() - began, 2)
    return row


def _run(folder: Path, window: Mapping[str, str], row: Row, *, greedy: bool) -> None:
    log = next(path for name in ("logs.ndjson", "logs.ndjson.gz") if (path := folder / name).is_file())
    options = RunOptions(
        files=(str(log),), since=window.get("from"), until=window.get("to"), save=False, deadline_seconds=300.0
    )
    settings = load({"llm.base_url": "http://127.0.0.1:9/v1", "llm.model": "scripted"}, {})

    def note(event: RunEvent) -> None:
        if isinstance(event, ToolFinished) and event.tool != "submit_diagnosis":
            row.results.append(tokens_in(event.result))
        elif isinstance(event, LoopEnded):
            row.output = event.output_tokens
            row.turns, row.stop = event.turns, event.stop

    with open_session(settings, options, note) as session:
        findings = session.survey()
        with ScriptedModel(script(findings, greedy=greedy)) as model:
            client = ChatClient(Endpoint(model.url, "scripted", context_window=128_000))
            session.model = client
            session.conclude(findings)
            client.close()
        sizes = [_tokens(body) for body in model.requests]
        row.prompt, row.first = sum(sizes), sizes[0]


def script(findings: Findings, *, greedy: bool = False) -> list[Answer]:
    """Three typical calls about the first suspect, one a turn, and the submission."""
    ranking = findings.conclusion.ranking
    service = ranking[0].service if ranking else ""
    suspect = f'service:"{service}"' if service else "level>=warn"
    looks = [
        calls("get_log_patterns", query=suspect, why="what is new or gone in the suspect"),
        calls("search_logs", query=f"{suspect} AND level>=warn", why="its own words"),
        calls("get_error_stats", group_by="service", why="whose errors are there"),
    ]
    if greedy:
        looks = [
            calls("get_log_patterns", why="what is new or gone"),
            calls("search_logs", query=suspect, size=50, why="the suspect's own words"),
            calls("get_error_stats", group_by="message", why="which errors are there"),
        ]
    return [*looks, submit(_SUBMISSION)]


def _tokens(body: Mapping[str, Any]) -> int:
    """What a model reads of a request."""
    texts = [json.dumps(body["tools"], ensure_ascii=False, separators=(",", ":"))]
    for message in body["messages"]:
        texts.append(str(message.get("content") or ""))
        texts += [call["function"]["name"] + call["function"]["arguments"] for call in message.get("tool_calls", ())]
    return sum(tokens_in(text) for text in texts)


def _spread(values: list[int]) -> dict[str, float]:
    if not values:
        return {}
    ordered = sorted(values)
    return {
        "median": statistics.median(ordered),
        "p90": ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))],
        "max": ordered[-1],
    }


if __name__ == "__main__":
    sys.exit(main())
