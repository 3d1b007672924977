"""Outcome and confidence follow from verified rows alone, and every figure is asked again."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.analysis.redact import Redactor
from logagent.errors import StoreUnavailable
from logagent.evidence import Claim, Evidence, EvidenceQuery, Figure, Ledger, State, Verification
from logagent.logs import Completeness, LogRecord, RecordId, TimeWindow, iso
from logagent.query import LogQuery
from logagent.stores._base import LogStore, Measure, StoreUsage
from logagent.stores.local import LocalOptions, open_local
from logagent.verify import Grounds, Judgement, judge, requery

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOUR = TimeWindow(NOON, NOON + timedelta(hours=1))
NOW = NOON + timedelta(hours=2)
LINE, SECOND, CLAIM, AGAINST = "E1", "E2", "E3", "E4"
FULL = Grounds(
    anomaly=True,
    claimed=True,
    claim_rows=(CLAIM,),
    mechanism_rows=(LINE,),
    discriminating_rows=(SECOND,),
)
"""A leading hypothesis with everything that `confirmed` needs."""
CLAIM_ONLY = replace(FULL, mechanism_rows=(), discriminating_rows=())
QUIET = Grounds(anomaly=False)


def shards(failed: int, total: int = 48) -> Completeness:
    return Completeness(total, total - failed, 0, failed)


def ledger(**states: State) -> Ledger:
    """Four rows, verified unless told otherwise."""
    made = Ledger()
    for name in (LINE, SECOND, CLAIM, AGAINST):
        row = made.add(Claim("count", name, EvidenceQuery("x", HOUR, Figure("count")), value=1))
        made.replace(row.checked(Verification(states.get(name, "verified"))))
    return made


def head(judged: Judgement) -> tuple[str, str, str, str | None]:
    return judged.outcome, judged.grade, judged.level, judged.capped_by


CASES: list[tuple[str, Grounds, dict[str, State], tuple[str, str, str, str | None]]] = [
    ("line, second row, nothing against, complete", FULL, {}, ("confirmed", "confirmed", "high", None)),
    ("no second row", replace(FULL, discriminating_rows=()), {}, ("probable", "likely", "medium", "single_row")),
    ("second row unverified", FULL, {SECOND: "unverified"}, ("probable", "likely", "medium", "single_row")),
    ("second row drifted", FULL, {SECOND: "drifted"}, ("probable", "likely", "medium", "single_row")),
    ("no mechanism line", replace(FULL, mechanism_rows=()), {}, ("probable", "likely", "medium", "logs_only")),
    ("line contradicted", FULL, {LINE: "contradicted"}, ("probable", "likely", "medium", "logs_only")),
    ("line could not be asked", FULL, {LINE: "error"}, ("probable", "likely", "medium", "logs_only")),
    ("line stands in client text only", replace(FULL, client_controlled=True), {}, ("probable", "likely", "medium", "logs_only")),
    ("a causal fact alone", CLAIM_ONLY, {}, ("probable", "likely", "medium", "logs_only")),
    ("a causal fact that is unverified", CLAIM_ONLY, {CLAIM: "error"}, ("inconclusive", "possible", "low", None)),
    ("ids that were never issued", replace(CLAIM_ONLY, claim_rows=("E99",)), {}, ("inconclusive", "possible", "low", None)),
    ("nobody leads", replace(FULL, claimed=False), {}, ("inconclusive", "possible", "low", None)),
    ("verified contradiction", replace(FULL, contradicting_rows=(AGAINST,)), {}, ("inconclusive", "possible", "low", None)),
    ("contradiction that does not hold", replace(FULL, contradicting_rows=(AGAINST,)), {AGAINST: "contradicted"}, ("confirmed", "confirmed", "high", None)),
    ("one of 48 shards failed", replace(FULL, completeness=shards(1)), {}, ("probable", "likely", "high", None)),
    ("3 of 48 shards failed", replace(FULL, completeness=shards(3)), {}, ("probable", "likely", "medium", "failed_shards")),
    ("10 of 48 shards failed", replace(FULL, completeness=shards(10)), {}, ("probable", "likely", "low", "failed_shards")),
    ("a cluster was skipped", replace(FULL, completeness=Completeness(clusters_skipped=("eu",))), {}, ("probable", "likely", "high", None)),
    ("timed out", replace(FULL, completeness=Completeness(timed_out=True)), {}, ("probable", "likely", "high", None)),
    ("onset before the window", replace(FULL, onset_before_window=True), {}, ("confirmed", "confirmed", "low", "onset_before_window")),
    ("history of 2.9 windows", replace(FULL, history_windows=2.9), {}, ("confirmed", "confirmed", "medium", "short_baseline")),
    ("history of 3 windows", replace(FULL, history_windows=3.0), {}, ("confirmed", "confirmed", "high", None)),
    ("quiet and complete", QUIET, {}, ("no_anomaly", "possible", "high", None)),
    ("quiet, short history", replace(QUIET, history_windows=1.0), {}, ("no_anomaly", "possible", "medium", "short_baseline")),
    ("quiet, a shard failed", replace(QUIET, completeness=shards(1)), {}, ("insufficient_data", "possible", "none", None)),
    ("quiet, no events", replace(QUIET, checks_possible=False), {}, ("insufficient_data", "possible", "none", None)),
    ("all there but the checks", replace(FULL, checks_possible=False), {}, ("insufficient_data", "confirmed", "none", None)),
    ("loud, no claim, a shard failed", replace(QUIET, anomaly=True, completeness=shards(1)), {}, ("inconclusive", "possible", "low", None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("grounds", "states", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_rules(grounds: Grounds, states: dict[str, State], expected: tuple[str, str, str, str | None]) -> None:
    assert head(judge(grounds, ledger(**states))) == expected


ORDER = [
    (replace(CLAIM_ONLY, completeness=shards(3), history_windows=1), "medium", "logs_only"),
    (replace(FULL, discriminating_rows=(), completeness=shards(3), history_windows=1), "medium", "single_row"),
    (replace(FULL, completeness=shards(3), history_windows=1), "medium", "failed_shards"),
    (replace(FULL, completeness=shards(20), onset_before_window=True), "low", "failed_shards"),
    (replace(CLAIM_ONLY, completeness=shards(20)), "low", "failed_shards"),
    (replace(CLAIM_ONLY, onset_before_window=True, history_windows=1), "low", "onset_before_window"),
]


@pytest.mark.parametrize(("grounds", "level", "cap"), ORDER)
def test_the_lowest_cap_counts_and_of_equal_ones_the_first(grounds: Grounds, level: str, cap: str) -> None:
    judged = judge(grounds, ledger())
    assert (judged.level, judged.capped_by) == (level, cap)


def test_reasons_name_what_is_there_and_what_is_missing() -> None:
    assert judge(FULL, ledger()).reasons == ["mechanism_line", "second_row", "nothing_against", "data_complete"]
    weak = replace(CLAIM_ONLY, contradicting_rows=(AGAINST,), completeness=shards(1))
    assert judge(weak, ledger()).reasons == ["no_mechanism_line", "no_second_row", "contradicted", "data_incomplete"]
    assert judge(QUIET, ledger()).reasons == ["nothing_outside", "data_complete"]
    assert judge(replace(QUIET, anomaly=True), ledger()).reasons == ["no_single_cause", "data_complete"]


RANK = {"confirmed": 3, "probable": 2, "inconclusive": 1, "insufficient_data": 0}
LEVEL = {"high": 3, "medium": 2, "low": 1, "none": 0}
ROWS = st.sets(st.sampled_from([LINE, SECOND, CLAIM])).map(lambda found: tuple(sorted(found)))
STATES = st.sampled_from(["verified", "drifted", "contradicted", "unverified", "error"])
GROUNDS = st.builds(
    Grounds,
    anomaly=st.just(True),
    claimed=st.booleans(),
    claim_rows=ROWS,
    mechanism_rows=ROWS,
    discriminating_rows=ROWS,
    contradicting_rows=st.sampled_from([(), (AGAINST,)]),
    client_controlled=st.booleans(),
    completeness=st.integers(0, 48).map(shards),
    onset_before_window=st.booleans(),
    history_windows=st.floats(0, 10) | st.just(math.inf),
    checks_possible=st.booleans(),
)
WEAKER: dict[str, Callable[[Grounds], Grounds]] = {
    "shards": lambda g: replace(g, completeness=shards(min(48, g.completeness.shards_failed + 3))),
    "timeout": lambda g: replace(g, completeness=replace(g.completeness, timed_out=True)),
    "history": lambda g: replace(g, history_windows=min(g.history_windows, 6) / 2),
    "contradiction": lambda g: replace(g, contradicting_rows=(AGAINST,)),
    "onset": lambda g: replace(g, onset_before_window=True),
    "client": lambda g: replace(g, client_controlled=True),
    "claim": lambda g: replace(g, claimed=False),
    "line": lambda g: replace(g, mechanism_rows=()),
    "second": lambda g: replace(g, discriminating_rows=()),
    "checks": lambda g: replace(g, checks_possible=False),
}


def not_above(weaker: Judgement, stronger: Judgement) -> bool:
    return RANK[weaker.outcome] <= RANK[stronger.outcome] and LEVEL[weaker.level] <= LEVEL[stronger.level]


@given(grounds=GROUNDS, states=st.fixed_dictionaries({LINE: STATES, SECOND: STATES, CLAIM: STATES}))
@pytest.mark.parametrize("how", WEAKER)
def test_weaker_grounds_never_raise_outcome_or_confidence(grounds: Grounds, states: dict[str, State], how: str) -> None:
    rows = ledger(**states)
    assert not_above(judge(WEAKER[how](grounds), rows), judge(grounds, rows))


@given(grounds=GROUNDS, row=st.sampled_from([LINE, SECOND, CLAIM]), state=STATES)
def test_a_row_that_no_longer_holds_never_raises_outcome_or_confidence(
    grounds: Grounds, row: str, state: State
) -> None:
    assert not_above(judge(grounds, ledger(**{row: state})), judge(grounds, ledger()))


@given(anomaly=st.booleans(), failed=st.integers(1, 48))
def test_incomplete_data_is_never_confirmed_nor_quiet(anomaly: bool, failed: int) -> None:
    judged = judge(replace(FULL, anomaly=anomaly, completeness=shards(failed)), ledger())
    assert judged.outcome not in {"confirmed", "no_anomaly"}


# requery


def lines() -> Iterator[dict[str, object]]:
    for number in range(100):
        yield {
            "@timestamp": iso(NOON + timedelta(seconds=number)),
            "log.level": "error" if number % 10 == 0 else "info",
            "service.name": "cart" if number % 2 else "mail",
            "message": f"user ada{number}@example.com pays\n  order {number}" if number % 10 == 0 else "tick",
        }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogStore]:
    path = tmp_path_factory.mktemp("verify") / "logs.ndjson"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines()), encoding="utf-8")
    opened = open_local(LocalOptions(paths=(str(path),), clock=lambda: NOW))
    yield opened
    opened.close()


def asked(rows: Sequence[tuple[str, Figure, object]], store: LogStore) -> list[Evidence]:
    made = Ledger()
    for text, figure, value in rows:
        made.add(Claim("count", text, EvidenceQuery(text, HOUR, figure), value=value))
    requery(store, made, [*(row.id for row in made), "E99"], NOW)
    return list(made)


FIGURES = [
    ("level:error", Figure("count"), 10, "verified", 10),
    ("level:error", Figure("count"), 13, "verified", 10),
    ("level:info", Figure("count"), 94, "drifted", 90),
    ("level:info", Figure("count"), 113, "contradicted", 90),
    ("level:error", Figure("count"), 0, "contradicted", 10),
    ("level:fatal", Figure("count"), 0, "verified", 0),
    ("", Figure("count"), 99.0, "verified", 100),
    ("", Figure("distinct", "service"), 2, "verified", 2),
    ("level:error", Figure("ratio", of=""), 0.1, "verified", 0.1),
    ("level:error", Figure("ratio", of=""), 0.103, "drifted", 0.1),
    ("level:error", Figure("ratio", of=""), 0.3, "contradicted", 0.1),
    ("level:error", Figure("ratio", of="level:fatal"), 0.3, "contradicted", None),
    ("service:cart", Figure("first", "timestamp"), iso(NOON + timedelta(seconds=1)), "verified", iso(NOON + timedelta(seconds=1))),
    ("service:cart", Figure("last", "timestamp"), iso(NOON), "contradicted", iso(NOON + timedelta(seconds=99))),
    ("service:nobody", Figure("first", "timestamp"), iso(NOON), "contradicted", None),
]  # fmt: skip


def test_every_figure_is_asked_again_in_one_request(store: LogStore) -> None:
    store.describe()
    before = store.usage.requests
    rows = asked([case[:3] for case in FIGURES], store)
    assert [(row.verification.state, row.verification.observed) for row in rows] == [case[3:] for case in FIGURES]
    assert all(row.verification.checked_at == NOW and row.verification.method == "requery" for row in rows)
    assert store.usage.requests == before + 1


def test_hundreds_of_rows_are_asked_in_parts(store: LogStore) -> None:
    rows = asked([("level:error", Figure("ratio", of=""), 0.1)] * 130, store)
    assert {row.verification.state for row in rows} == {"verified"}


def quoted(message: str, number: int = 1, name: str | None = None, *, store: LogStore) -> Evidence:
    """A row that quotes the n-th line of the file."""
    page = store.search(LogQuery(HOUR), limit=200, order="oldest").records
    record = page[number - 1]
    made = Ledger()
    sample = replace(record, message=message, id=RecordId(name or record.id.source, record.id.id))
    made.add(Claim("sample", "a line", EvidenceQuery("", HOUR, Figure("documents")), value=1, samples=(sample,)))
    redactor = Redactor("zzzz")
    requery(store, made, ["E1"], NOW, redactor)
    return made.rows["E1"]


@pytest.mark.parametrize(
    ("quote", "state"),
    [
        ("user <email:k7q2:4> pays order 0", "verified"),
        ("user  <email:k7q2:1>\n pays   order", "verified"),
        ("pays order 0", "verified"),
        ("user <phone:k7q2:4> pays order 0", "contradicted"),
        ("user <email:k7q2:4> pays order 1", "contradicted"),
        ("tick", "contradicted"),
    ],
)
def test_a_quote_is_looked_up_in_redacted_space(store: LogStore, quote: str, state: str) -> None:
    row = quoted(quote, store=store)
    assert (row.verification.state, row.verification.method) == (state, "document_fetch")


def test_a_quoted_record_that_is_gone_is_contradicted(store: LogStore) -> None:
    assert quoted("tick", 2, "elsewhere.ndjson", store=store).verification.state == "contradicted"


def test_a_row_without_quotes_stays_unverified(store: LogStore) -> None:
    made = Ledger()
    made.add(Claim("sample", "nothing", EvidenceQuery("", HOUR, Figure("documents")), value=0))
    requery(store, made, ["E1"], NOW)
    assert made.rows["E1"].verification.state == "unverified"


class DyingStore:
    """Answers `answers` times, then is gone."""

    def __init__(self, inner: LogStore, answers: int) -> None:
        self.inner = inner
        self.answers = answers
        self.usage = StoreUsage()

    def count(self, measures: Sequence[Measure]) -> object:
        self._spend()
        return self.inner.count(measures)

    def fetch(self, ids: Sequence[RecordId]) -> dict[RecordId, LogRecord]:
        self._spend()
        return self.inner.fetch(ids)

    def _spend(self) -> None:
        if not self.answers:
            self._die()
        self.answers -= 1

    def _die(self) -> NoReturn:
        raise StoreUnavailable("Connection refused.", code="LA101")


def test_a_store_that_is_lost_leaves_errors_and_never_a_silent_pass(store: LogStore) -> None:
    made = Ledger()
    for _ in range(60):
        made.add(Claim("count", "errors", EvidenceQuery("level:error", HOUR, Figure("count")), value=10))
    record = store.search(LogQuery(HOUR), limit=1).records[0]
    made.add(Claim("sample", "line", EvidenceQuery("", HOUR, Figure("documents")), value=1, samples=(record,)))
    requery(DyingStore(store, 1), made, [row.id for row in made], NOW)  # type: ignore[arg-type]
    states = [row.verification.state for row in made]
    assert states == ["verified"] * 50 + ["error"] * 11
    assert {row.verification.observed for row in list(made)[50:]} == {None}
    assert judge(replace(FULL, mechanism_rows=("E55",)), made).outcome == "probable"
    lost = replace(FULL, mechanism_rows=("E55",), discriminating_rows=("E56",), claim_rows=("E57",))
    assert judge(lost, made).outcome == "inconclusive"


def test_a_query_of_a_saved_report_that_cannot_be_read_is_an_error_of_that_row_only(store: LogStore) -> None:
    rows = asked([("level:error", Figure("count"), 10), ("message:(((", Figure("count"), 3)], store)
    assert [row.verification.state for row in rows] == ["verified", "error"]
