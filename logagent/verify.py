"""The check: every figure is asked again, and outcome and confidence follow from what came back (ux.md 3.1).

Nothing that a model says enters `judge`; it reads verified rows and facts about the data only.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from logagent.diagnosis import ConfidenceLevel, Grade, OutcomeName
from logagent.errors import BudgetExceeded, SourceError, UsageError
from logagent.evidence import Evidence, Ledger, State, Verification
from logagent.expressions import expression
from logagent.logs import Completeness, iso
from logagent.query import LogQuery, parse
from logagent.stores._base import LogStore, Measure, Measured

TOLERANCE = 0.01
SLACK = 3
RATIO_SLACK = 0.001
"""A count is verified within 1 % or 3 events."""
DRIFT = 0.2
"""Up to this relative change a figure has drifted (late data); beyond it is contradicted."""
QUERY_LENGTH = 8_000
FEW_SHARDS, MANY_SHARDS = 0.05, 0.2
HISTORY = 3.0
"""Windows of history under which a baseline is short."""
_BATCH = 100
ROUND_TRIPS = 3
"""Requests to the store that the verification of one run takes at most, as a rule."""
_QUOTES = 1000
"""Documents that one look-up by id takes."""
_MASK = expression(r"<([a-z_-]{2,20}):[0-9a-z]{2,8}:\d{1,6}>")

Cap = Literal["logs_only", "single_row", "failed_shards", "onset_before_window", "short_baseline", "contradiction"]


def requery(
    store: LogStore, ledger: Ledger, ids: Sequence[str], now: datetime, clean: Callable[[str], str] = str
) -> None:
    """Ask the store again for each row of `ids` and note the result in the ledger.

    Quotes are compared in the space of `clean`: a saved report holds masked text, so stored text is masked alike.

    A store that is lost leaves the rest in state `error`, a budget that is spent in state `unverified`: verification is
    never skipped silently.
    """
    rows = [row for one in dict.fromkeys(ids) if (row := ledger.get(one)) is not None]
    figures = [row for row in rows if row.query.figure.op != "documents"]
    for start in range(0, len(figures), _BATCH // 2):
        _recount(store, ledger, figures[start : start + _BATCH // 2], now)
    _refetch(store, ledger, [row for row in rows if row.query.figure.op == "documents"], now, clean)


def _recount(store: LogStore, ledger: Ledger, rows: Sequence[Evidence], now: datetime) -> None:
    measures: list[Measure] = []
    places: list[tuple[Evidence, int, int]] = []
    for row in rows:
        try:
            own = _measures(row)
        except UsageError:  # the query of a saved report that somebody edited
            ledger.replace(row.checked(Verification("error", "requery", now)))
            continue
        places.append((row, len(measures), len(own)))
        measures.extend(own)
    if not measures:
        return
    try:
        answer = store.count(measures)
    except (SourceError, BudgetExceeded) as error:
        for row, _, _ in places:
            ledger.replace(row.checked(Verification(_unanswered(error), "requery", now)))
        return
    for row, first, length in places:
        observed = _figure(row, answer.values[first : first + length])
        ledger.replace(row.checked(_compare(row, observed, now)))


def _unanswered(error: SourceError | BudgetExceeded) -> State:
    """State of rows that the store was not asked about, or gave no answer to."""
    return "unverified" if isinstance(error, BudgetExceeded) else "error"


def _measures(row: Evidence) -> list[Measure]:
    """One measure a figure, two for a ratio."""
    figure = row.query.figure
    query = LogQuery(row.query.window, parse(row.query.text, max_length=QUERY_LENGTH), row.query.indices)
    if figure.op == "ratio":
        whole = LogQuery(row.query.window, parse(figure.of, max_length=QUERY_LENGTH), row.query.indices)
        return [Measure(query), Measure(whole)]
    if figure.op == "documents":
        return []
    return [Measure(query, figure.op, figure.field)]


def _figure(row: Evidence, values: Sequence[Measured]) -> float | str | None:
    """The figure of a row from its measures."""
    raw = [one.value for one in values]
    if row.query.figure.op == "ratio":
        part, whole = raw
        return part / whole if isinstance(part, int) and isinstance(whole, int) and whole > 0 else None
    value = raw[0]
    return iso(value) if isinstance(value, datetime) else value


def _compare(row: Evidence, observed: float | str | None, now: datetime) -> Verification:
    state = _state(row.value, observed, ratio=row.query.figure.op == "ratio")
    return Verification(state, "requery", now, observed, TOLERANCE)


def _state(expected: float | str | None, observed: float | str | None, *, ratio: bool = False) -> State:
    """State of one figure; texts (instants) must be equal."""
    if isinstance(expected, str) or isinstance(observed, str) or expected is None or observed is None:
        return "verified" if expected == observed else "contradicted"
    gap = abs(expected - observed)
    slack = max(TOLERANCE * abs(expected), RATIO_SLACK if ratio else SLACK)
    if gap <= slack or math.isclose(expected, observed):
        return "verified"
    return "drifted" if gap <= DRIFT * max(abs(expected), abs(observed)) else "contradicted"


def _refetch(
    store: LogStore, ledger: Ledger, rows: Sequence[Evidence], now: datetime, clean: Callable[[str], str]
) -> None:
    """Quoted documents are read again by id and compared as stored."""
    wanted = [record.id for row in rows for record in row.samples]
    if not wanted:
        return
    try:
        found = store.fetch(wanted[:_QUOTES])
    except (SourceError, BudgetExceeded) as error:
        for row in rows:
            ledger.replace(row.checked(Verification(_unanswered(error), "document_fetch", now)))
        return
    beyond = set(wanted[_QUOTES:])
    for row in rows:
        if any(record.id in beyond for record in row.samples):
            ledger.replace(row.checked(Verification("unverified", "document_fetch", now)))
            continue
        same = [r.id in found and _same(clean(found[r.id].message), r.message) for r in row.samples]
        state: State = "verified" if same and all(same) else "contradicted" if same else "unverified"
        ledger.replace(row.checked(Verification(state, "document_fetch", now, sum(same), None)))


def _same(stored: str, quoted: str) -> bool:
    """Whether a quote stands in its record: white space as single blanks, masks without their numbers."""
    return _flat(quoted) in _flat(stored)


def _flat(text: str) -> str:
    return _MASK.sub(r"<\1>", " ".join(text.split()))


@dataclass(frozen=True, slots=True)
class Grounds:
    """What outcome and confidence are computed from. Ids are evidence rows of the leading hypothesis."""

    anomaly: bool
    """Some series, pattern or fact is outside the usual."""
    claimed: bool = False
    """The analysis names one suspect ahead of the rest by a fact that can be a cause."""
    claim_rows: tuple[str, ...] = ()
    mechanism_rows: tuple[str, ...] = ()
    """Mechanism lines: strong cue, new or spiking, in the suspect, in time."""
    discriminating_rows: tuple[str, ...] = ()
    contradicting_rows: tuple[str, ...] = ()
    client_controlled: bool = False
    """The mechanism stands only in text that clients write."""
    completeness: Completeness = Completeness()
    onset_before_window: bool = False
    history_windows: float = math.inf
    """Length of the history before the window, in windows."""
    checks_possible: bool = True
    """There were events, and a baseline or an onset to compare with."""


@dataclass(slots=True)
class Judgement:
    """Set by code: outcome, grade of the leading hypothesis, confidence with its reasons and lowest cap."""

    outcome: OutcomeName
    grade: Grade
    level: ConfidenceLevel
    reasons: list[str] = field(default_factory=list)
    """Keys of texts (diagnosis.reason.*)."""
    capped_by: Cap | None = None


_ORDER: Mapping[ConfidenceLevel, int] = {"none": 0, "low": 1, "medium": 2, "high": 3}


def judge(grounds: Grounds, ledger: Ledger) -> Judgement:
    """Outcome, grade and confidence by the rules of ux.md 3.1."""
    mechanism = _verified(ledger, grounds.mechanism_rows) and not grounds.client_controlled
    second = _verified(ledger, grounds.discriminating_rows)
    claim = _verified(ledger, grounds.claim_rows)
    against = _verified(ledger, grounds.contradicting_rows)
    grade = _grade(grounds, mechanism=mechanism, second=second, claim=claim, against=against)
    outcome = _outcome(grounds, grade)
    judgement = Judgement(outcome, grade, _start(outcome))
    judgement.reasons = _reasons(grounds, mechanism=mechanism, second=second, against=against)
    for cap, level in _caps(grounds, outcome, mechanism=mechanism, second=second, against=against):
        if _ORDER[level] < _ORDER[judgement.level]:
            judgement.level, judgement.capped_by = level, cap
    return judgement


def _verified(ledger: Ledger, ids: Sequence[str]) -> bool:
    """Whether one of the rows was asked again and found the same."""
    return any((row := ledger.get(one)) is not None and row.verification.state == "verified" for one in ids)


def _grade(grounds: Grounds, *, mechanism: bool, second: bool, claim: bool, against: bool) -> Grade:
    if not grounds.claimed or against:
        return "possible"
    if mechanism and second and grounds.completeness.complete:
        return "confirmed"
    return "likely" if mechanism or second or claim else "possible"


def _outcome(grounds: Grounds, grade: Grade) -> OutcomeName:
    if not grounds.checks_possible:
        return "insufficient_data"
    if grounds.anomaly and grounds.claimed and grade in {"confirmed", "likely"}:
        return "confirmed" if grade == "confirmed" else "probable"
    if grounds.anomaly:
        return "inconclusive"
    return "no_anomaly" if grounds.completeness.complete else "insufficient_data"


def _start(outcome: OutcomeName) -> ConfidenceLevel:
    if outcome == "insufficient_data":
        return "none"
    return "low" if outcome == "inconclusive" else "high"


def _caps(
    grounds: Grounds, outcome: OutcomeName, *, mechanism: bool, second: bool, against: bool
) -> list[tuple[Cap, ConfidenceLevel]]:
    """Caps that apply, in the order of the table."""
    caused = outcome in {"confirmed", "probable"}
    share = grounds.completeness.failed_share
    table: list[tuple[bool, Cap, ConfidenceLevel]] = [
        (caused and not mechanism, "logs_only", "medium"),
        (caused and mechanism and not second, "single_row", "medium"),
        (share > FEW_SHARDS, "failed_shards", "medium"),
        (share > MANY_SHARDS, "failed_shards", "low"),
        (caused and grounds.onset_before_window, "onset_before_window", "low"),
        (grounds.history_windows < HISTORY, "short_baseline", "medium"),
        (against, "contradiction", "low"),
    ]
    return [(cap, level) for holds, cap, level in table if holds]


def _reasons(grounds: Grounds, *, mechanism: bool, second: bool, against: bool) -> list[str]:
    """Keys of the sentences that say why."""
    keys = ["mechanism_line" if mechanism else "no_mechanism_line"] if grounds.claimed else []
    if grounds.claimed:
        keys.append("second_row" if second else "no_second_row")
        keys.append("contradicted" if against else "nothing_against")
    keys.append("data_complete" if grounds.completeness.complete else "data_incomplete")
    if not grounds.anomaly:
        keys.insert(0, "nothing_outside")
    elif not grounds.claimed:
        keys.insert(0, "no_single_cause")
    if grounds.client_controlled:
        keys.append("client_controlled")
    return keys
