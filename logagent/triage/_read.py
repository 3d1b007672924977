"""Reading the events that the analysis works on: all of them where that is cheap, else a sample with its counts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from logagent.analysis.events import from_record
from logagent.analysis.facts import Event
from logagent.analysis.mechanisms import Catalogue
from logagent.analysis.trace_ids import part_requests
from logagent.expressions import expression
from logagent.logs import Completeness, LogRecord, Severity, TimeWindow, WeightedRecord
from logagent.query import Level, Node, Or, Phrase, Range, Scope
from logagent.stores._base import PAGE_LIMIT, LogStore, Measure, Sample, ScanPage
from logagent.triage._together import together

READ_ALL = 20_000
"""Up to this many events all are read, and every figure is exact."""
WARN_PAGE = 2_000
CUE_HITS = 50
CUE_LENGTH = 4
_DIGITS = expression(r"\d+")


@dataclass(slots=True)
class Material:
    """Events of one run. `exact`: weights are true counts; `complete`: every event was read."""

    events: list[Event]
    trace_events: list[Event] | None
    total: int
    exact: bool
    complete: bool
    completeness: list[Completeness] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of all events that was read, 0 to 1."""
        return min(1.0, len(self.events) / self.total) if self.total else 1.0


def read(store: LogStore, scope: Scope, span: TimeWindow, total: int, catalogue: Catalogue) -> Material:
    """Events of `span`, oldest first, at most about READ_ALL of them (elasticsearch.md 6)."""
    if total <= READ_ALL:
        return _read_all(store, scope, span, total)
    return _read_sample(store, scope, span, total, catalogue)


def _read_all(store: LogStore, scope: Scope, span: TimeWindow, total: int) -> Material:
    records: list[LogRecord] = []
    notes: list[Completeness] = []
    cursor: object | None = None
    while True:
        page = store.scan(scope.query(window=span), limit=PAGE_LIMIT, cursor=cursor)
        records.extend(page.records)
        notes.append(page.completeness)
        cursor = page.cursor
        if cursor is None or len(records) > 2 * READ_ALL:
            break
    return Material(_events(records), None, max(total, len(records)), exact=True, complete=True, completeness=notes)


def _read_sample(store: LogStore, scope: Scope, span: TimeWindow, total: int, catalogue: Catalogue) -> Material:
    query = scope.query(window=span)
    jobs: list[Callable[[], Sample | ScanPage]] = [
        lambda: store.sample(query, limit=PAGE_LIMIT),
        lambda: store.traces(query),
    ]
    if store.describe().backend != "embedded":  # which groups all events instead, the loud ones among them
        loud = scope.query(_loud(store), window=span)
        jobs.insert(0, lambda: store.sample(loud, limit=WARN_PAGE))
    found = together(store, jobs)
    samples = [one for one in found if isinstance(one, Sample)]
    (traces,) = (one for one in found if isinstance(one, ScanPage))
    exact = samples[-1].exact
    events = _weighted(samples)
    if not exact:
        events += _cue_hits(store, scope, span, catalogue, events)
        events.sort(key=lambda event: event.time)
    return Material(
        events,
        _events(traces.records) or None,
        total,
        exact=exact,
        complete=False,
        completeness=[one.completeness for one in found],
    )


def _loud(store: LogStore) -> Node:
    """Warnings and worse, or answers of class 5xx."""
    fields = store.describe().fields
    ways: list[Node] = [Level(3, and_worse=True)]
    if fields.roles.get("status"):
        ways.append(Range("status", "500", "599"))
    return Or(tuple(ways)) if len(ways) > 1 else ways[0]


def _weighted(samples: Sequence[Sample]) -> list[Event]:
    """Events of overlapping samples: a loud event counts in the page of loud ones only."""
    events: list[Event] = []
    loud = len(samples) > 1
    for place, sample in enumerate(samples):
        for row in sample.rows:
            event = _event(row)
            if loud and place == 1 and ((event.level or 0) >= Severity.WARN or event.failed):
                continue
            events.append(event)
    return sorted(events, key=lambda event: event.time)


def _event(row: WeightedRecord) -> Event:
    return from_record(row.record, weight=row.weight)


def _events(records: Iterable[LogRecord]) -> list[Event]:
    events = [from_record(record) for record in records if record.timestamp is not None]
    part_requests(events)
    return events


def _cue_hits(
    store: LogStore, scope: Scope, span: TimeWindow, catalogue: Catalogue, seen: Sequence[Event]
) -> list[Event]:
    """Newest lines of the cue phrases that have hits but no sampled line: a line in 100,000 is not missed."""
    every = dict.fromkeys(term for terms in catalogue.terms.values() for term in terms)
    phrases = [phrase for phrase in every if len(phrase) >= CUE_LENGTH]
    unseen = _unseen(phrases, [event.message.lower() for event in seen])
    found: list[tuple[str, int]] = []
    answer = store.count([Measure(scope.query(Phrase("", phrase), window=span)) for phrase in unseen])
    for phrase, value in zip(unseen, answer.values, strict=True):
        if isinstance(value.value, int) and value.value:
            found.append((phrase, value.value))
    if not found:
        return []
    rare = sorted(found, key=lambda pair: pair[1])[:20]
    node: Node = Or(tuple(Phrase("", phrase) for phrase, _ in rare)) if len(rare) > 1 else Phrase("", rare[0][0])
    page = store.search(scope.query(node, window=span), limit=CUE_HITS, exact_total=True)
    weight = max(1.0, page.total / max(1, len(page.records)))
    return [from_record(record, weight=weight) for record in page.records if record.timestamp is not None]


def _unseen(phrases: Sequence[str], messages: Sequence[str]) -> list[str]:
    """Phrases that stand in no message. Most messages differ in numbers only, and most phrases hold none.

    >>> _unseen(["disk full", "errno 28", "errno 11"], ["disk full on sda1", "errno 28"])
    ['errno 11']
    """
    texts = "\n".join(dict.fromkeys(messages))
    plain = "\n".join(dict.fromkeys(_DIGITS.sub("0", message) for message in messages))
    return [one for one in phrases if one.lower() not in (texts if _DIGITS.search(one) else plain)]
