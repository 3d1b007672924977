"""Windows of labelled incidents as lines that can be cut, spliced, spoilt and diagnosed."""

import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.incidents import diagnose
from logagent.diagnosis import Diagnosis

TRACED = 0.5
"""Share of lines with a trace id from which a window serves for faults along requests."""


@dataclass(frozen=True, slots=True)
class Line:
    """One log record: what a fault changes, and the document that it came from."""

    time: float
    """Seconds since the epoch."""
    service: str
    level: str | None
    message: str
    trace: str
    site: str
    """Where in the code it was written, or empty."""
    document: Mapping[str, Any]

    @property
    def failed(self) -> bool:
        """Whether its level is an error or worse."""
        return (self.level or "").lower() in {"error", "err", "severe", "critical", "fatal"}

    def as_document(self) -> dict[str, Any]:
        """The document with what was changed."""
        known = {"service": self.service, "level": self.level, "trace_id": self.trace, "logger": self.site}
        rest = {key: value for key, value in self.document.items() if key not in known}
        stamp = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="microseconds")
        return {
            **rest,
            **{key: value for key, value in known.items() if value},
            "@timestamp": stamp,
            "message": self.message,
        }


def seconds(text: str) -> float:
    """An ISO time with up to nanoseconds, as seconds since the epoch."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp() + float(f"0.{fraction or 0}")


def read(folder: Path) -> list[Line]:
    """The lines of an incident, oldest first; lines that are no object or have no time are left out."""
    path = next(one for one in (folder / "logs.ndjson", folder / "logs.ndjson.gz") if one.exists())
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return sorted(_lines(text.splitlines()), key=lambda line: line.time)


def _lines(rows: Iterable[bytes]) -> Iterator[Line]:
    for row in rows:
        try:
            document = json.loads(row)
            time = seconds(document["@timestamp"])
        except (ValueError, KeyError, TypeError):
            continue
        texts = {name: str(document.get(name) or "") for name in ("service", "message", "trace_id", "logger")}
        level = document.get("level")
        yield Line(time, texts["service"], level, texts["message"], texts["trace_id"], texts["logger"], document)


def truth_of(folder: Path) -> dict[str, Any]:
    """What is known of an incident."""
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return truth


def healthy(path: Path) -> Iterator[tuple[str, list[Line]]]:
    """(name, lines) of stretches without a fault.

    These are windows without a root cause and, where the first bad line is known, what stands before it, without the
    requests that reach beyond it.
    """
    for folder in sorted(one for one in path.iterdir() if (one / "truth.json").exists()):
        lines, truth = read(folder), truth_of(folder)
        if sum(bool(line.trace) for line in lines) < TRACED * len(lines):
            continue
        seen = truth.get("observed_onset") or {}
        if truth.get("root_cause_service") is None:
            yield folder.name, lines
        elif seen.get("in_window") == "yes":
            good = seconds(seen["last_ok"])
            late = {line.trace for line in lines if line.time > good}
            yield folder.name, [line for line in lines if line.time <= good and line.trace not in late]


def splice(first: list[Line], second: list[Line]) -> list[Line]:
    """Two healthy stretches end to end."""
    by = first[-1].time + 0.5 - second[0].time
    return first + [replace(line, time=line.time + by) for line in second]


def asked(lines: Iterable[Line]) -> Diagnosis:
    """The diagnosis of these lines without a model, over all of them."""
    with tempfile.TemporaryDirectory(prefix="logagent-eval-") as folder:
        path = Path(folder) / "logs.ndjson"
        with path.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(line.as_document(), ensure_ascii=False) + "\n" for line in lines)
        return diagnose(Path(folder), {})[0]


def ranked(diagnosis: Diagnosis) -> list[str]:
    """Services of the hypotheses that were not ruled out, likeliest first."""
    return [one.entity.get("service.name", "") for one in diagnosis.hypotheses if one.state != "ruled_out"]
