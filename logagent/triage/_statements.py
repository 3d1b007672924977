"""Evidence rows in words and as JSON: statements in one language, samples redacted, keys in ECS."""

from collections.abc import Callable, Sequence

from logagent.diagnosis import EvidenceOut, FigureOut, QueryOut, VerificationOut
from logagent.evidence import Evidence, Ledger
from logagent.logs import LogRecord, iso
from logagent.triage._findings import Findings
from logagent.triage._hypotheses import Words

Clean = Callable[[str], str]
"""Redacts and sanitises one text."""
TEMPLATE = 160
SAMPLE_CHARS = 2_000
ALMOST_ALL, ALMOST_NONE = 99.95, 0.05
"""Shares in percent that one decimal would round to 100 or 0."""


def evidence_out(
    ledger: Ledger, ids: Sequence[str], findings: Findings, words: Words, clean: Clean
) -> list[EvidenceOut]:
    """The rows in use, in order of their number."""
    wanted = sorted({one for one in ids if ledger.get(one) is not None}, key=lambda one: int(one[1:]))
    return [_row(row, findings, words, clean) for one in wanted if (row := ledger.get(one)) is not None]


def _row(row: Evidence, findings: Findings, words: Words, clean: Clean) -> EvidenceOut:
    check = row.verification
    return EvidenceOut(
        id=row.id,
        kind=row.kind,
        statement=_statement(row, findings, words, clean),
        value=_exact(row.value),
        unit=row.unit or None,
        baseline_value=_exact(row.baseline_value),
        approximate=True if row.approximate else None,
        query=QueryOut(
            text=clean(row.query.text),
            indices=list(row.query.indices) or [one.name for one in findings.description.sources],
            from_=iso(row.query.window.start),
            to=iso(row.query.window.end),
            figure=_figure(row),
        ),
        samples=[sample(record, clean) for record in row.samples[:5]],
        verification=VerificationOut(
            state=check.state,
            method=check.method,
            checked_at=iso(check.checked_at) if check.checked_at else None,
            observed_value=_exact(check.observed),
            tolerance=check.tolerance,
        ),
    )


def _figure(row: Evidence) -> FigureOut:
    figure = row.query.figure
    return FigureOut(op=figure.op, field=figure.field or None, of=figure.of or None)


def _exact(value: float | str | None) -> float | str | None:
    """Counts as whole numbers, ratios to six digits."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) > 1 else round(value, 6)
    return value


def sample(record: LogRecord, clean: Clean) -> dict[str, object]:
    """One record as a sample: ECS names, log text redacted, empty fields left out."""
    out: dict[str, object] = {"_index": record.id.source, "_id": record.id.id}
    if record.timestamp is not None:
        out["@timestamp"] = iso(record.timestamp)
    texts = {
        "service.name": record.service,
        "log.level": record.level,
        "message": record.message,
        "error.type": record.error_type,
        "error.message": record.error_message,
        "host.name": record.host,
        "service.version": record.version,
        "trace.id": record.trace_id,
    }
    out.update({name: clean(text)[:SAMPLE_CHARS] for name, text in texts.items() if text})
    if record.status is not None:
        out["http.response.status_code"] = record.status
    if record.duration_ms is not None:
        out["event.duration_ms"] = record.duration_ms
    return out


def _statement(row: Evidence, findings: Findings, words: Words, clean: Clean) -> str:
    text = clean(" ".join(row.statement.split()))[:TEMPLATE]
    make = _MAKERS.get(row.kind)
    if make is None:
        return words.say("evidence.sample", service=row.service, text=text)
    return make(row, findings, words, text)


def _rate(row: Evidence, findings: Findings, words: Words, _text: str) -> str:
    volume, symptom = findings.volume, findings.symptom
    if row.id != findings.volume_row and (symptom is None or row.id != symptom.row):
        return words.say("evidence.slow", service=row.service, share=percent(row.value))
    requests = volume.unit == "requests"
    part = volume.failing_requests if requests else volume.failing
    whole = volume.requests if requests else volume.events
    unit = words.say(f"unit.{volume.unit}")
    if symptom is not None and symptom.row == row.id:
        part, whole, unit = symptom.part, symptom.whole, words.say("unit.requests_of", service=symptom.service)
    if row.baseline_value is None:
        return words.say("evidence.rate_only", part=f"{part:,}", whole=f"{whole:,}", unit=unit)
    return words.say(
        "evidence.rate", part=f"{part:,}", whole=f"{whole:,}", unit=unit, before=percent(row.baseline_value)
    )


def _count(row: Evidence, _findings: Findings, words: Words, text: str) -> str:
    count = f"{row.value:,}" if isinstance(row.value, int | float) else str(row.value)
    if not row.service and row.unit == "events":
        return words.say("evidence.events", count=count)
    if row.baseline_value is None:
        return words.say("evidence.pattern_only", count=count, service=row.service, template=text)
    before = f"{row.baseline_value:,}" if isinstance(row.baseline_value, int | float) else row.baseline_value
    return words.say("evidence.pattern", count=count, service=row.service, template=text, before=before)


def _absence(row: Evidence, _findings: Findings, words: Words, text: str) -> str:
    before = f"{row.baseline_value:,}" if isinstance(row.baseline_value, int | float) else "-"
    if not text:
        return words.say("evidence.silent", service=row.service, before=before)
    return words.say("evidence.absence", service=row.service, template=text, before=before)


def _first(row: Evidence, _findings: Findings, words: Words, text: str) -> str:
    return words.say("evidence.first_seen", service=row.service, template=text, at=row.value or "-")


def _sequence(row: Evidence, _findings: Findings, words: Words, _text: str) -> str:
    return words.say("evidence.sequence", service=row.service, at=row.value or "-")


def _distribution(row: Evidence, _findings: Findings, words: Words, text: str) -> str:
    return words.say("evidence.distribution", value=percent(row.value), name=text, before=percent(row.baseline_value))


_MAKERS: dict[str, Callable[[Evidence, Findings, Words, str], str]] = {
    "rate": _rate,
    "count": _count,
    "absence": _absence,
    "first_seen": _first,
    "sequence": _sequence,
    "distribution": _distribution,
}


def percent(value: object) -> str:
    """A share as `18.6 %`, three significant digits at most; `-` where there is none.

    >>> percent(0.1858), percent(0), percent(None)
    ('18.6 %', '0 %', '-')
    """
    if not isinstance(value, int | float):
        return "-"
    shown = value * 100
    if shown in {0, 100}:
        return f"{shown:.0f} %"
    if shown > ALMOST_ALL:
        return "99.9 %"
    if shown < ALMOST_NONE:
        return f"{shown:.3f} %"
    return f"{shown:.1f} %"
