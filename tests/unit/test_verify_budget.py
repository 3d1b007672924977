"""Verification that the budget does not allow is a state of its rows, and no row is left out silently."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

from logagent.errors import BudgetExceeded
from logagent.evidence import Claim, EvidenceQuery, Figure, Ledger
from logagent.logs import LogRecord, RecordId, TimeWindow
from logagent.stores._base import LogStore, Measure
from logagent.verify import Grounds, judge, requery

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOUR = TimeWindow(NOON, NOON + timedelta(hours=1))
RECORD = LogRecord(RecordId("app.log", "1"), NOON, "pool is dry")


class Spent:
    """A store whose budget of requests is spent, as the transport tells it."""

    def count(self, measures: Sequence[Measure]) -> object:
        raise BudgetExceeded(f"All 25 requests to the log store are spent, {len(measures)} figures are left.")

    def fetch(self, ids: Sequence[RecordId]) -> object:
        raise BudgetExceeded(f"All 25 requests to the log store are spent, {len(ids)} quotes are left.")


class Holding:
    """A store that holds every document it is asked for."""

    def fetch(self, ids: Sequence[RecordId]) -> dict[RecordId, LogRecord]:
        return {one: replace(RECORD, id=one) for one in ids}


def quote(number: int) -> Claim:
    record = replace(RECORD, id=RecordId("app.log", str(number)))
    return Claim("sample", "a line", EvidenceQuery("", HOUR, Figure("documents")), value=1, samples=(record,))


def test_a_spent_budget_leaves_rows_unverified_and_the_run_goes_on() -> None:
    made = Ledger()
    made.add(Claim("count", "a count", EvidenceQuery("level:error", HOUR, Figure("count")), value=3))
    made.add(quote(1))
    requery(cast("LogStore", Spent()), made, ["E1", "E2"], NOON)
    assert [row.verification.state for row in made] == ["unverified", "unverified"]
    assert [row.verification.method for row in made] == ["requery", "document_fetch"]
    judged = judge(Grounds(anomaly=True, claimed=True, mechanism_rows=("E1",), discriminating_rows=("E2",)), made)
    assert (judged.outcome, judged.level) == ("inconclusive", "low")


def test_quotes_beyond_one_look_up_are_unverified_and_not_contradicted() -> None:
    made = Ledger()
    for number in range(1003):
        made.add(quote(number))
    requery(cast("LogStore", Holding()), made, list(made.rows), NOON)
    states = [row.verification.state for row in made]
    assert states[:1000] == ["verified"] * 1000
    assert states[1000:] == ["unverified"] * 3
