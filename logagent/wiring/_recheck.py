"""`logagent verify`: ask again for every figure of a saved diagnosis, without a model, from the report alone."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath

from logagent.analysis.redact import Redactor
from logagent.analysis.sanitise import sanitise
from logagent.diagnosis import Diagnosis, EvidenceOut, VerificationOut
from logagent.evidence import Evidence, EvidenceQuery, Figure, Ledger
from logagent.expressions import expression
from logagent.logs import LogRecord, RecordId, TimeWindow, iso
from logagent.settings import RunOptions, Settings
from logagent.verify import requery as ask_again
from logagent.wiring._source import open_store

_MASK = expression(r"<[a-z_]{2,16}:[a-z0-9]{4,16}:[0-9]{1,9}>")


def requery(diagnosis: Diagnosis, settings: Settings, options: RunOptions) -> Diagnosis:
    """The same diagnosis with fresh verification states.

    Raises:
        LogAgentError: the source cannot be opened.
    """
    store = open_store(settings, options, None)
    try:
        sources = [source.name for source in store.describe().sources]
        ledger = Ledger()
        for row in diagnosis.evidence:
            ledger.rows[row.id] = _row(row, diagnosis, sources)
        redactor = Redactor("0000")
        asked = [row.id for row in diagnosis.evidence if not _MASK.search(_texts(row))]
        ask_again(store, ledger, asked, datetime.now(UTC), lambda text: sanitise(redactor(text)))
    finally:
        store.close()
    return diagnosis.model_copy(update={"evidence": [_checked(row, ledger) for row in diagnosis.evidence]})


def _texts(row: EvidenceOut) -> str:
    """What a figure is asked by: with a masked value in it, nobody can ask again from the report alone."""
    figure = row.query.figure
    return "" if figure is None or figure.op == "documents" else f"{row.query.text} {figure.of or ''}"


def _row(row: EvidenceOut, diagnosis: Diagnosis, sources: Sequence[str]) -> Evidence:
    query = row.query
    window = TimeWindow(_instant(query.from_ or diagnosis.window.from_), _instant(query.to or diagnosis.window.to))
    figure = query.figure
    return Evidence(
        row.kind,
        row.statement,
        EvidenceQuery(
            query.text,
            window,
            Figure(figure.op, figure.field or "", figure.of or "") if figure else Figure("documents"),
        ),
        value=row.value,
        samples=tuple(_record(sample, sources) for sample in row.samples),
        id=row.id,
    )


def _record(sample: dict[str, object], sources: Sequence[str]) -> LogRecord:
    return LogRecord(
        RecordId(_source(str(sample["_index"]), sources), str(sample["_id"])), None, str(sample.get("message", ""))
    )


def _source(name: str, sources: Sequence[str]) -> str:
    """The opened source that is the one of the report: a file may be named by another path now."""
    if name in sources:
        return name
    wanted = PurePath(name).parts
    fits = [one for one in sources if PurePath(one).parts[-len(wanted) :] == wanted]
    fits = fits or [one for one in sources if PurePath(one).name == PurePath(name).name]
    return fits[0] if len(fits) == 1 else name


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _checked(row: EvidenceOut, ledger: Ledger) -> EvidenceOut:
    state = ledger.rows[row.id].verification
    seen = state.observed
    return row.model_copy(
        update={
            "verification": VerificationOut(
                state=state.state,
                method=state.method,
                checked_at=iso(state.checked_at) if state.checked_at else None,
                observed_value=round(seen, 6) if isinstance(seen, float) else seen,
                tolerance=state.tolerance,
            )
        }
    )
