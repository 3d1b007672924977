"""Whole runs over small files, and what holds for every diagnosis (acceptance.md, assertions for all)."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from wcwidth import wcswidth

from logagent import demo
from logagent.analysis.sanitise import sanitise
from logagent.diagnosis import Diagnosis, ImpactMeasure
from logagent.events import RunEvent
from logagent.evidence import Ledger
from logagent.logs import iso
from logagent.query import parse
from logagent.report import render
from logagent.settings import RunOptions, Settings, load
from logagent.stores._base import StoreUsage
from logagent.triage import Findings
from logagent.wiring import open_session, requery

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SCHEMA = Path(__file__).resolve().parents[2] / "evals" / "diagnosis.schema.json"
REQUESTS = {"quick": 25, "standard": 60, "deep": 120}
Line = Mapping[str, object]


@dataclass(frozen=True)
class Ran:
    """One finished run."""

    diagnosis: Diagnosis
    findings: Findings
    ledger: Ledger
    usage: StoreUsage
    settings: Settings
    options: RunOptions
    events: tuple[RunEvent, ...]
    redacted: int


def at(seconds: float) -> str:
    """Time of a line, in seconds from NOON."""
    return iso(NOON + timedelta(seconds=seconds))


def line(seconds: float, message: str, level: str = "info", service: str = "cart", **more: Any) -> dict[str, object]:
    """One ECS line."""
    return {"@timestamp": at(seconds), "message": message, "log.level": level, "service.name": service, **more}


def write(folder: Path, lines: Iterable[Line | str], name: str = "app.ndjson") -> str:
    """An NDJSON file; texts are written as they are."""
    path = folder / name
    rows = (one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in lines)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return str(path)


def settings(folder: Path, **given: object) -> Settings:
    """Settings of a user with an empty home; dots of names as double underscores."""
    options = {name.replace("__", "."): value for name, value in given.items()}
    return load(options, {"HOME": str(folder)}, folder=folder)


def run(made: Settings, **options: Any) -> Ran:
    """Diagnose; without a model unless `use_model` says so."""
    asked = RunOptions(**{"use_model": False, "save": False, **options})
    events: list[RunEvent] = []
    with open_session(made, asked, events.append) as session:
        diagnosis = session.run()
        assert session.findings is not None
        redacted = sum(session.redactor.counts.values())
        return Ran(
            diagnosis, session.findings, session.ledger, session.store.usage, made, asked, tuple(events), redacted
        )


def scenario(folder: Path, name: str, **options: Any) -> Ran:
    """Diagnose a bundled scenario in its own window, as a file of the user's: clock words count from its newest event."""
    window = demo.truth(name)["window"]
    asked = {"since": window["from"], "until": window["to"], **options}
    return run(settings(folder), files=(str(demo.logs(name)),), **asked)


@cache
def _validator() -> Any:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def impact(ran: Ran, name: str) -> ImpactMeasure:
    """One figure of the impact."""
    assert ran.diagnosis.impact is not None
    return ran.diagnosis.impact[name]


def cited(text: str) -> set[str]:
    """Evidence ids in a text."""
    return set(re.findall(r"\bE\d+\b", text))


def check(ran: Ran) -> None:
    """The assertions for all 25 questions that need one run only."""
    document = json.loads(ran.diagnosis.to_json())
    faults = [error.message for error in _validator().iter_errors(document)]
    assert not faults, faults[:3]
    _check_citations(document)
    _check_numbers(document)
    _check_evidence(ran)
    _check_terminal(ran.diagnosis)
    assert ran.usage.requests <= REQUESTS[ran.options.effort]
    start, end = (datetime.fromisoformat(document["window"][one]) for one in ("from", "to"))
    assert start < end
    assert document["window"]["display_time_zone"]


def _check_citations(document: Mapping[str, Any]) -> None:
    known = {row["id"] for row in document["evidence"]}
    assert len(known) == len(document["evidence"])
    prose = json.dumps({k: v for k, v in document.items() if k != "evidence"}, ensure_ascii=False)
    assert cited(prose) <= known, cited(prose) - known
    assert len(document["summary"]["headline"]) <= 120
    leaders = [one for one in document["hypotheses"] if one["state"] == "leading"]
    assert len(leaders) <= 1
    if document["outcome"] not in {"confirmed", "probable"}:
        assert not document["summary"].get("probable_cause")
        assert not re.search(r"because|caused? by|导致", document["summary"]["headline"])
    for step in document["next_steps"]:
        assert step["read_only"], step
        assert step.get("source") != "model" or not step.get("command"), step


def _check_numbers(document: Mapping[str, Any]) -> None:
    """Every number in the summary is a figure of the diagnosis, or a rounded form of one."""
    rest = {key: value for key, value in document.items() if key != "summary"}
    names = " ".join(json.dumps(rest, ensure_ascii=False).split())
    known = {float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", names)}
    known |= {100 * one for one in known} | {1 / one for one in known if one}
    for text in document["summary"].values():
        plain = re.sub(r'"[^"]*"|\[(?:E\d+[ ,]*)+\]', " ", text or "")
        plain = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", " ", plain)
        for number in re.findall(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])", plain):
            value = float(number.replace(",", ""))
            step = 10.0 ** -len(number.partition(".")[2])
            assert any(abs(value - one) <= step / 2 + 1e-9 for one in known), (number, text)


def _check_evidence(ran: Ran) -> None:
    """All rows of the report hold, and hold again for `logagent verify`, which has the report alone."""
    rows = ran.diagnosis.evidence
    assert {row.verification.state for row in rows} <= {"verified"}, _not_verified(ran.diagnosis)
    for row in rows:
        parse(row.query.text, max_length=8_000)
    again = requery(Diagnosis.model_validate_json(ran.diagnosis.to_json()), ran.settings, ran.options)
    assert {row.verification.state for row in again.evidence} <= {"verified"}, _not_verified(again)


def _not_verified(diagnosis: Diagnosis) -> list[object]:
    return [
        (row.id, row.kind, row.query.text, row.value, row.verification)
        for row in diagnosis.evidence
        if row.verification.state != "verified"
    ]


def _check_terminal(diagnosis: Diagnosis) -> None:
    shown = render(diagnosis, "text", width=80).rstrip("\n").split("\n")
    assert len(shown) <= 40, len(shown)
    for row in shown:
        assert wcswidth(row) in range(81), row
        assert row == sanitise(row), row


def head(diagnosis: Diagnosis) -> tuple[object, ...]:
    """What must be the same on every backend and in every repetition."""
    lead = diagnosis.hypotheses[0] if diagnosis.hypotheses else None
    return (
        diagnosis.outcome,
        diagnosis.status,
        diagnosis.confidence.level,
        diagnosis.confidence.capped_by,
        lead.entity.get("service.name") if lead else None,
        lead.mechanism_id if lead else None,
        lead.state if lead else None,
        lead.grade if lead else None,
        diagnosis.onset.started_at if diagnosis.onset else None,
        diagnosis.onset.certainty if diagnosis.onset else None,
    )
