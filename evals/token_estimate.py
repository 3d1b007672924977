"""How near token estimates come to real tokenizers: `python -m evals.token_estimate FOLDER [NAME=FILE ...]`.

FOLDER holds incidents as for `evals.incidents`. A scripted model with the counts of a real tokenizer makes typical
calls on each; compared is what the client estimated before a request with what the endpoint then counted, from the
second request of a run on (`first` is shown beside it: a guess by bytes, on the safe side). FILE is a vocabulary:
`tokenizer.json` (needs `pip install tokenizers`) or `*.tiktoken` (needs `pip install tiktoken`). Without any the
built-in `words` counts words, digits and signs, to try the script out. Prompts are counted as
texts and declarations in JSON, with four tokens a message, as most chat templates do.
"""

import argparse
import base64
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evals.prompt_tokens import script
from logagent.events import ModelAsked, ModelReplied, RunEvent
from logagent.llm import ChatClient, Endpoint
from logagent.settings import RunOptions, load
from logagent.testing import Answer, ScriptedModel
from logagent.wiring import open_session

Count = Callable[[str], int]
LIMIT = 0.15
PER_MESSAGE = 4
_WORDS = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z\d]")
_LETTERS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
_SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@dataclass(slots=True)
class Errors:
    """(estimate - count) / count of the requests of all runs."""

    first: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 where a later estimate of any tokenizer is off by more than 15 %."""
    parser = argparse.ArgumentParser(prog="evals.token_estimate", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("tokenizers", nargs="*", metavar="NAME=FILE")
    parser.add_argument("--only", default="", help="incidents whose name contains this")
    options = parser.parse_intermixed_args(arguments)
    began = time.perf_counter()
    counters = dict(_counter(one) for one in options.tokenizers) or {"words": _words}
    folders = sorted(p for p in options.path.iterdir() if options.only in p.name and (p / "truth.json").is_file())
    found = {name: Errors() for name in counters}
    for name, count in counters.items():
        for folder in folders:
            measure(folder, count, found[name])
    worst = max((abs(one) for errors in found.values() for one in errors.later), default=0.0)
    answer = {
        "eval": "token_estimate",
        "cases": len(folders),
        "seconds": round(time.perf_counter() - began, 1),
        "worst": round(worst, 4),
        "tokenizers": {name: {"first": _spread(e.first), "later": _spread(e.later)} for name, e in found.items()},
    }
    print(json.dumps(answer, indent=1))
    return 0 if worst <= LIMIT else 1


def _counter(argument: str) -> tuple[str, Count]:
    name, _, file = argument.partition("=")
    path = Path(file)
    if not file or not path.is_file():
        sys.exit(f"evals.token_estimate: {argument!r} is not NAME=FILE of a file that is there")
    return name, _tiktoken(name, path) if path.suffix != ".json" else _tokenizers(path)


def _tokenizers(path: Path) -> Count:
    from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - only where asked

    tokenizer = Tokenizer.from_file(str(path))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _tiktoken(name: str, path: Path) -> Count:
    import tiktoken  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - only where asked

    ranks = {base64.b64decode(token): int(rank) for token, rank in map(str.split, path.read_text().splitlines())}
    encoding = tiktoken.Encoding(name, pat_str=f"{_LETTERS}|{_SIGNS}", mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _words(text: str) -> int:
    return len(_WORDS.findall(text))


def measure(folder: Path, count: Count, errors: Errors) -> None:
    """One run on one incident."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    window = truth.get("window") or {}
    log = next(path for name in ("logs.ndjson", "logs.ndjson.gz") if (path := folder / name).is_file())
    options = RunOptions(
        files=(str(log),), since=window.get("from"), until=window.get("to"), save=False, deadline_seconds=300.0
    )
    asked: list[int] = []
    counted: list[int] = []

    def note(event: RunEvent) -> None:
        if isinstance(event, ModelAsked):
            asked.append(event.tokens)
        elif isinstance(event, ModelReplied):
            counted.append(event.input_tokens)

    settings = load({"llm.base_url": "http://127.0.0.1:9/v1", "llm.model": "scripted"}, {})
    with open_session(settings, options, note) as session:
        findings = session.survey()
        with ScriptedModel(_counted(script(findings), count)) as model:
            client = ChatClient(Endpoint(model.url, "scripted", context_window=128_000))
            session.model = client
            session.conclude(findings)
            client.close()
    off = [(guess - real) / real for guess, real in zip(asked, counted, strict=True)]
    errors.first += off[:1]
    errors.later += off[1:]


def _counted(steps: Sequence[Answer], count: Count) -> list[Callable[[Mapping[str, Any]], Answer]]:
    def one(step: Answer) -> Callable[[Mapping[str, Any]], Answer]:
        return lambda body: replace(step, prompt_tokens=prompt_tokens(body, count))

    return [one(step) for step in steps]


def prompt_tokens(body: Mapping[str, Any], count: Count) -> int:
    """Tokens of a request: declarations, texts, calls, and what a chat template puts around each message."""
    tokens = count(json.dumps(body["tools"], ensure_ascii=False, separators=(",", ":"))) if body.get("tools") else 0
    for message in body["messages"]:
        tokens += PER_MESSAGE + count(str(message.get("content") or ""))
        for call in message.get("tool_calls", ()):
            tokens += PER_MESSAGE + count(call["function"]["name"] + call["function"]["arguments"])
    return tokens


def _spread(values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    return {
        "lowest": round(min(values), 3),
        "median": round(statistics.median(values), 3),
        "highest": round(max(values), 3),
        "within_15_percent": round(sum(abs(one) <= LIMIT for one in values) / len(values), 3),
    }


if __name__ == "__main__":
    sys.exit(main())
