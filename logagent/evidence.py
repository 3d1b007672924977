"""Evidence: a figure with the query that gave it, so that anybody can ask again.

Each row has a run-local id (E1, E2, ...). The model cites ids; code fills figures in and asks the store again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Literal

from logagent.logs import LogRecord, TimeWindow

Kind = Literal["count", "rate", "first_seen", "distribution", "sequence", "sample", "trace", "absence", "metadata"]
Op = Literal["count", "ratio", "distinct", "first", "last", "documents"]
State = Literal["verified", "drifted", "contradicted", "unverified", "error"]


@dataclass(frozen=True, slots=True)
class Figure:
    """What is computed from the hits: `op`, over `field`; for a ratio `of` is the denominator's text."""

    op: Op
    field: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceQuery:
    """A query in our language plus the figure; `verify` builds the request from both, on any backend."""

    text: str
    window: TimeWindow
    figure: Figure
    indices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of asking again (ux.md 3.1): within 1 % or 3 events is `verified`."""

    state: State = "unverified"
    method: Literal["requery", "document_fetch", "recount", "none"] = "none"
    checked_at: datetime | None = None
    observed: float | str | None = None
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A row before its id: statement, figure, query. `value` is exact; rounded forms are made by the reports."""

    kind: Kind
    statement: str
    query: EvidenceQuery
    value: float | str | None = None
    unit: str = ""
    baseline_value: float | str | None = None
    approximate: bool = False
    samples: tuple[LogRecord, ...] = ()
    """At most 5; redacted wherever they are shown."""
    service: str = ""
    onset: datetime | None = None
    sample_only: bool = False
    """A row of search_logs: one document, cited by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Claim):
    """One row: a claim under the id that a run issued for it, and what came of asking again."""

    id: str
    verification: Verification = Verification()

    def checked(self, verification: Verification) -> "Evidence":
        """The same row with the result of asking again."""
        return replace(self, verification=verification)


@dataclass(slots=True)
class Ledger:
    """All evidence of a run, in order of issue. Ids are never reused."""

    rows: dict[str, Evidence] = field(default_factory=dict)
    _next: int = 1

    def add(self, claim: Claim) -> Evidence:
        """Issue the next id for a claim."""
        own = {one.name: getattr(claim, one.name) for one in fields(claim)}
        row = Evidence(**own, id=f"E{self._next}")
        self._next += 1
        self.rows[row.id] = row
        return row

    def same(self, claim: Claim) -> Evidence | None:
        """The row that says the same of the same: a line read again, a query asked again with the same figure."""
        return next((row for row in self.rows.values() if _key(row) == _key(claim)), None)

    def replace(self, row: Evidence) -> None:
        """Store a changed row under its id.

        Raises:
            KeyError: the id was not issued in this run.
        """
        if row.id not in self.rows:
            raise KeyError(row.id)
        self.rows[row.id] = row

    def get(self, evidence_id: str) -> Evidence | None:
        """The row, or None for an id that was never issued."""
        return self.rows.get(evidence_id)

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self.rows.values())

    def __len__(self) -> int:
        return len(self.rows)


def _key(claim: Claim) -> tuple[object, ...]:
    """What makes two rows one: a single line is found by its id, whatever query it came with."""
    asked = tuple(sample.id for sample in claim.samples) if claim.sample_only else claim.query
    return claim.kind, claim.statement, claim.value, claim.baseline_value, asked
