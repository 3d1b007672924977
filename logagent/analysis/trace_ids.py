"""Whether a trace id names one request everywhere, or each process counts its own: `req-3` in every pod."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from logagent.analysis.facts import Event
from logagent.expressions import expression
from logagent.logs import LogRecord

Place = tuple[str, str]
Spans = Mapping[Place, tuple[float, float]]

_WIDE = 16
"""Letters and digits from which an id that is no counter is random: it means the same everywhere."""
_COUNTER = expression(r"[^0-9]*0*[0-9]{1,9}")
_FAR_S, _APART_S = 60.0, 1.0
"""Between the lines of two places: no request waits so long; and what is no step of one any more."""
_LONG = 40
"""Characters from which an id is not looked at: no counter, and what is random is the same request everywhere."""
_IDS, _PAIRS = 3, 6
"""Ids that several places share, and pairs of places, from which anything is said."""
_MIXED = 0.2


class Line(NamedTuple):
    """What is asked of a line: its id, who wrote it, and when."""

    trace: str
    place: Place
    at: float


def place(record: LogRecord) -> Place:
    """Who wrote a line: its service and pod, or host where there is no pod."""
    return record.service, record.pod or record.host


def lines_of(records: Iterable[LogRecord]) -> Iterable[Line]:
    """Of records with an id and a time."""
    for record in records:
        if record.trace_id and record.timestamp is not None:
            yield Line(record.trace_id, place(record), record.timestamp.timestamp())


def per_process(lines: Iterable[Line]) -> bool:
    """Whether the same id in two services or pods is no common request.

    So it is where most short ids that several places share come in them at times far apart; or, for counters, one
    after the other and in no order: of a call, the caller comes first and encloses the callee.
    """
    shared = _shared(lines)
    if len(shared) < _IDS:
        return False
    far = sum(_silence(spans) > _FAR_S for spans in shared.values())
    if 2 * far >= len(shared):
        return True
    counters = [spans for trace, spans in shared.items() if _COUNTER.fullmatch(trace)]
    apart = [spans for spans in counters if _silence(spans) > _APART_S]
    return 2 * len(apart) >= len(shared) and _in_no_order(apart)


def part_requests(events: Sequence[Event]) -> None:
    """Give each event whose id is counted by its own process an id of that process: nothing joins it to others."""
    traced = [event for event in events if event.trace and len(event.trace) < _LONG and event.record is not None]
    if per_process(lines_of(event.record for event in traced if event.record is not None)):
        for event in traced:
            if event.record is not None:
                event.trace = " ".join((event.trace or "", *place(event.record)))


def _shared(lines: Iterable[Line]) -> dict[str, Spans]:
    """Short id -> place -> time of its first and last line there, of ids in several places."""
    spans: defaultdict[str, dict[Place, tuple[float, float]]] = defaultdict(dict)
    for trace, where, at in lines:
        first, last = spans[trace].get(where, (at, at))
        spans[trace][where] = (min(first, at), max(last, at))
    return {trace: found for trace, found in spans.items() if len(found) > 1 and _short(trace)}


def _short(trace: str) -> bool:
    return _COUNTER.fullmatch(trace) is not None or sum(letter.isalnum() for letter in trace) < _WIDE


def _silence(spans: Spans) -> float:
    """The longest time in which no place was at it, between two that were."""
    longest, end = 0.0, float("inf")
    for first, last in sorted(spans.values()):
        longest = max(longest, first - end)
        end = last if end == float("inf") else max(end, last)
    return longest


def _in_no_order(apart: Iterable[Spans]) -> bool:
    """Whether of two places now the one comes first and now the other."""
    came: defaultdict[frozenset[Place], Counter[Place]] = defaultdict(Counter)
    for spans in apart:
        for (one, _), (other, _) in pairwise(sorted(spans.items(), key=lambda span: span[1])):
            came[frozenset((one, other))][one] += 1
    turns = [(min(first.values()) if len(first) > 1 else 0, first.total()) for first in came.values()]
    seen = sum(total for _, total in turns)
    return seen >= _PAIRS and sum(turned for turned, _ in turns) >= _MIXED * seen
