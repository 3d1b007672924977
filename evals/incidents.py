"""Score whole diagnoses on labelled incidents: `python -m evals.incidents FOLDER [--store URL] [--json] [--rows]`.

FOLDER holds one folder an incident: `logs.ndjson[.gz]` and `truth.json`. Each is diagnosed as a user would, with
`--since` and `--until` of the truth's `window`, without a model. The answer itself is never used but for scoring.
With a URL for `--store`, the logs are loaded into that search node and asked for there. Beside our figures stand
those of the floor: the newest lines and drain3, which anybody can write in an hour.
"""

import argparse
import json
import re
import statistics
import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema

from evals._floor import floor, missing
from fixtures.load import Target, documents
from fixtures.load import load as load_logs
from logagent import __version__
from logagent.diagnosis import Diagnosis
from logagent.errors import LogAgentError
from logagent.events import ignore
from logagent.settings import RunOptions, load
from logagent.triage import render_digest
from logagent.wiring import open_session

CLAIMED = {"confirmed", "probable"}
CODE_FAULTS = {"return", "exception"}
ONSET_SECONDS = 60.0
SCHEMA = Path(__file__).parent / "diagnosis.schema.json"


@dataclass(slots=True)
class Row:
    """What came of one incident; None: the mark does not apply to it."""

    case: str
    family: str
    evidence_class: str
    expected: str
    found: str = ""
    outcome: str = ""
    ranked: list[str] = field(default_factory=list)
    marks: dict[str, bool | None] = field(default_factory=dict)
    why: str = ""
    tokens: int = 0
    requests: int = 0
    seconds: float = 0.0
    onset_error: float | None = None
    floor_tokens: int | None = None
    crashed: bool = False
    schema_valid: bool = True


def main(arguments: list[str] | None = None) -> int:
    """Score and print; 0 whenever the measurement itself worked."""
    parser = argparse.ArgumentParser(prog="evals.incidents", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--decisive", type=Path)
    parser.add_argument("--only", default="", help="incidents whose name contains this")
    parser.add_argument("--store", default="local", help="`local` (the files are read) or the URL of a search node")
    parser.add_argument("--at", action="store_true", help="give the alert time of the truth (marked so)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    decisive = _decisive(options.decisive or options.path.parent / "decisive.json")
    folders = sorted(p for p in options.path.iterdir() if options.only in p.name and _logs(p) is not None)
    store = "" if options.store == "local" else options.store
    rows = [score(folder, decisive.get(folder.name, {}), store) for folder in folders]
    answer: dict[str, Any] = {
        "eval": "incidents",
        "cases": len(rows),
        "seconds": round(time.perf_counter() - began, 2),
        "version": __version__,
        "mechanisms": "",
        "metrics": metrics(rows),
    }
    if options.rows:
        answer["rows"] = [_as_dict(row) for row in rows]
    print(json.dumps(answer, ensure_ascii=False) if options.json else _table(rows, answer))
    return 0


def _logs(folder: Path) -> Path | None:
    found = [folder / name for name in ("logs.ndjson", "logs.ndjson.gz") if (folder / name).exists()]
    return found[0] if found else None


def _decisive(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    incidents: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))["incidents"]
    return incidents


def score(folder: Path, decisive: Mapping[str, Any], store: str = "") -> Row:
    """Diagnose one incident and mark the result."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    row = Row(
        case=folder.name,
        family=folder.name.split("-", 1)[0],
        evidence_class=str((truth.get("log_evidence") or {}).get("class", "")),
        expected=str(truth.get("root_cause_service") or ""),
    )
    began = time.perf_counter()
    try:
        diagnosis, digest = diagnose(folder, truth, store)
    except LogAgentError as error:
        row.why, row.crashed = f"{error.code} {error.message}", True
    except Exception:  # noqa: BLE001 - a crash is a result here, counted and shown
        row.why, row.crashed = traceback.format_exc(limit=-3), True
    else:
        row.seconds = round(time.perf_counter() - began, 3)
        _mark(row, truth, decisive, diagnosis, digest)
    if decisive.get("all_of") and not missing():
        _mark_floor(row, decisive, floor(_logs(folder) or folder))
    return row


def _mark_floor(row: Row, decisive: Mapping[str, Any], text: str) -> None:
    row.floor_tokens = len(text) // 4
    row.marks["floor_decisive"] = holds(text, decisive["all_of"], row.case)
    row.marks |= {f"floor_{name}": mark for name, mark in _evidence(text, decisive, row.case).items()}


def _evidence(text: str, decisive: Mapping[str, Any], case: str) -> dict[str, bool | None]:
    """Marks of a text by what kind of evidence the incident has."""
    kind, groups = decisive.get("kind"), decisive.get("all_of") or []
    contrast = decisive.get("contrast_any_of")
    return {
        "said_new": holds(text, [{"any_of": contrast}], case) if contrast else None,
        "vanished": holds(text, groups, case) if kind == "statement-vanished" else None,
        "latency": holds(text, groups, case) if kind == "latency" else None,
    }


def diagnose(folder: Path, truth: Mapping[str, Any], store: str = "") -> tuple[Diagnosis, str]:
    """The diagnosis of an incident and the digest that a model would read.

    Args:
        folder: Where the logs are.
        truth: What is known; only its `window` is read.
        store: URL of a search node that takes the logs, or empty to read the file.
    """
    window = truth.get("window") or {}
    index = f"eval-{folder.name.lower()}"
    if store:
        load_logs(Target(store), _logs(folder) or folder, schema="", index=index)
        window = window or _extent(_logs(folder) or folder)
    options = RunOptions(
        files=() if store else (str(_logs(folder)),),
        indices=(index,) if store else (),
        since=window.get("from"),
        until=window.get("to"),
        use_model=False,
        save=False,
    )
    settings = load({"es.url": store} if store else {}, {})
    with open_session(settings, options, ignore) as session:
        diagnosis = session.run()
        digest = render_digest(session.findings) if session.findings else ""
    return diagnosis, digest


def _extent(path: Path) -> dict[str, str]:
    """First and last time of a file: a node asked without a window answers for the last half hour."""
    times = [str(one["@timestamp"]) for one in documents(path) if one.get("@timestamp")]
    return {"from": min(times), "to": max(times)} if times else {}


def _mark(row: Row, truth: Mapping[str, Any], decisive: Mapping[str, Any], diagnosis: Diagnosis, digest: str) -> None:
    row.outcome = diagnosis.outcome
    row.tokens = len(digest) // 4
    row.requests = diagnosis.usage.store.requests
    row.ranked = [one.entity.get("service.name", "") for one in diagnosis.hypotheses if one.state != "ruled_out"][:3]
    row.found = row.ranked[0] if row.ranked else ""
    text = diagnosis.to_json()
    row.schema_valid, row.why = _valid(text)
    names = {row.expected, str(truth.get("root_cause_pod") or row.expected)}
    top1, top3 = bool(row.found) and row.found in names, bool(names & set(row.ranked))
    claimed = diagnosis.outcome in CLAIMED
    control = not row.expected and bool(
        re.search("healthy|fault-free|control", f"{truth.get('fault_type')} {row.case}")
    )
    code = row.family == "nezha" and truth.get("fault_type") in CODE_FAULTS
    groups = decisive.get("all_of") or []
    row.marks = {
        "code_top1": top1 if code else None,
        "code_top3": top3 if code else None,
        "weak_ok": (not claimed or top1) if row.evidence_class == "weak" else None,
        "latency_ok": top1 if row.evidence_class == "latency" else None,
        "controls_ok": not claimed if control else None,
        "text_ok": _text_ok(row, truth, groups, diagnosis),
        "decisive_in_digest": holds(digest, groups, row.case) if groups else None,
        "decisive_in_report": holds(text, groups, row.case) if groups else None,
        "confident_wrong": claimed and ((bool(row.expected) and not top1) or control),
        "onset_60s": _onset(row, truth, diagnosis),
        **_evidence(digest, decisive, row.case),
    }


def _valid(text: str) -> tuple[bool, str]:
    try:
        jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text(encoding="utf-8")))
    except jsonschema.ValidationError as error:
        return False, f"schema: {error.message[:160]}"
    return True, ""


def _text_ok(row: Row, truth: Mapping[str, Any], groups: list[Any], diagnosis: Diagnosis) -> bool | None:
    """Decisive evidence or all required keywords within head and hypotheses."""
    if row.family == "nezha" or not row.expected:
        return None
    parts = [diagnosis.summary.model_dump_json(), *(one.model_dump_json() for one in diagnosis.hypotheses)]
    text = "\n".join(parts)
    words = truth.get("required_keywords") or []
    return (bool(groups) and holds(text, groups, row.case)) or (
        bool(words) and all(str(word).lower() in text.lower() for word in words)
    )


def _onset(row: Row, truth: Mapping[str, Any], diagnosis: Diagnosis) -> bool | None:
    seen = truth.get("observed_onset") or {}
    label = seen.get("first_bad") if seen.get("in_window") == "yes" else truth.get("start") if not seen else None
    if not label or not row.expected:
        return None
    if diagnosis.onset is None:
        return False
    found = datetime.fromisoformat(diagnosis.onset.started_at)
    at = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", str(label)))
    row.onset_error = round((found - at).total_seconds(), 1)
    return abs(row.onset_error) <= ONSET_SECONDS


def holds(text: str, groups: Iterable[Mapping[str, Any]], name: str) -> bool:
    """Whether every group of decisive evidence stands in the text (matching rule of the data's `how`)."""
    flat = text.replace(name, "CASE").replace("<em>", "").replace("</em>", "").replace("\\\\", "\\")
    for old, new in (('\\"', '"'), ('""', '"'), ("\\n", "\n"), ("\\t", " "), ("\\r", "")):
        flat = flat.replace(old, new)
    flat = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), flat)
    flat = re.sub(r"[ \t]+", " ", flat)
    return all(any(re.search(one, flat, re.IGNORECASE) for one in group["any_of"]) for group in groups)


def metrics(rows: list[Row]) -> dict[str, Any]:
    """Shares and figures of the whole set (evals.md)."""
    names = (
        "decisive_in_digest", "decisive_in_report", "code_top1", "code_top3", "weak_ok", "latency_ok", "text_ok",
        "controls_ok", "onset_60s", "said_new", "vanished", "latency",
        "floor_decisive", "floor_said_new", "floor_vanished", "floor_latency",
    )  # fmt: skip
    out: dict[str, Any] = {name: _share(rows, name) for name in names}
    done = [row for row in rows if not row.crashed]
    out["confident_wrong"] = sum(bool(row.marks.get("confident_wrong")) for row in done)
    out["crashes"] = sum(row.crashed for row in rows)
    out["schema_invalid"] = sum(not row.schema_valid for row in done)
    out["digest_tokens_max"] = max((row.tokens for row in done), default=0)
    out["digest_tokens_median"] = _median(row.tokens for row in done)
    out["floor_tokens_median"] = _median(row.floor_tokens for row in rows if row.floor_tokens is not None)
    out["floor_missing"] = missing()
    out["requests_max"] = max((row.requests for row in done), default=0)
    out["seconds_median"] = round(statistics.median(row.seconds for row in done), 3) if done else 0
    return out


def _median(figures: Iterable[int]) -> int:
    known = list(figures)
    return round(statistics.median(known)) if known else 0


def _share(rows: list[Row], name: str) -> dict[str, int]:
    marked = [row.marks[name] for row in rows if row.marks.get(name) is not None]
    crashed = sum(row.crashed for row in rows) if name == "decisive_in_report" else 0
    return {"right": sum(bool(mark) for mark in marked), "of": len(marked) + crashed}


def _as_dict(row: Row) -> dict[str, Any]:
    return {
        "case": row.case,
        "expected": row.expected,
        "found": row.found,
        "right": not row.crashed and not row.marks.get("confident_wrong", False),
        "why": row.why,
        "outcome": row.outcome,
        "ranked": row.ranked,
        "marks": row.marks,
        "tokens": row.tokens,
        "requests": row.requests,
        "seconds": row.seconds,
        "onset_error": row.onset_error,
    }


def _beside(name: str) -> bool:
    """Whether a mark that is not set is no miss of ours."""
    return name == "confident_wrong" or name.startswith("floor_")


def _table(rows: list[Row], answer: Mapping[str, Any]) -> str:
    lines = []
    for row in sorted(rows, key=lambda r: (not r.crashed, not r.marks.get("confident_wrong"), r.case)):
        bad = " ".join(name for name, mark in row.marks.items() if mark is False and not _beside(name))
        wrong = " WRONG" if row.marks.get("confident_wrong") else ""
        cost = f"{row.seconds:6.2f}s tok={row.tokens:5} req={row.requests:3}"
        lines.append(
            f"{row.case[:48]:48} {row.outcome or 'CRASH':14} {row.found[:28]:28} {cost} "
            f"onset={row.onset_error}{wrong} missed: {bad or '-'} {row.why[-250:]}"
        )
    lines += [f"{name}: {value}" for name, value in answer["metrics"].items()]
    lines.append(f"seconds: {answer['seconds']}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
