"""The lines of one trace or correlation id as a journey: lanes of services, gaps, folded repeats, where it failed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from logagent.analysis.templates import mask
from logagent.logs import Completeness, LogRecord, Severity

_FAILED_STATUS = 500


@dataclass(frozen=True, slots=True)
class Stop:
    """One line of the journey, or several alike in a row."""

    record: LogRecord
    gap_s: float | None
    """Seconds since the line before; None for the first one and without times."""
    lane: int
    """Place of its service, in order of first sight."""
    repeats: int
    """Lines it stands for, at least 1."""
    last: LogRecord
    failed: bool


@dataclass(frozen=True, slots=True)
class Journey:
    """All lines of one id, oldest first."""

    stops: tuple[Stop, ...]
    lanes: tuple[str, ...]
    """Services in order of first sight."""
    seconds: float | None
    """From the first line to the last; None without times."""
    first_failure: int | None
    """Index of the stop that failed first."""
    lines: int

    def lane_spans(self) -> Iterator[tuple[str, int, float | None]]:
        """(service, lines, seconds from its first line to its last one)."""
        for place, name in enumerate(self.lanes):
            own = [stop for stop in self.stops if stop.lane == place]
            ends = [one.timestamp for stop in own for one in (stop.record, stop.last) if one.timestamp is not None]
            seconds = (max(ends) - min(ends)).total_seconds() if ends else None
            yield name, sum(stop.repeats for stop in own), seconds


@dataclass(frozen=True, slots=True)
class Traced:
    """What was found of one id."""

    id: str
    journeys: tuple[tuple[str, Journey], ...]
    """(process, its lines): one for all, or one each where every process counts its own ids."""
    total: int
    read: int
    fields: tuple[str, ...]
    """Where the id stands: fields, and `message`."""
    completeness: Completeness = Completeness()


def journey(records: Sequence[LogRecord]) -> Journey:
    """Order, fold and measure the lines of one id.

    Lines of one service in a row that differ in numbers and ids only are one stop.
    """
    ordered = sorted(records, key=lambda one: (one.timestamp is None, one.timestamp or 0))
    lanes = list(dict.fromkeys(record.service for record in ordered))
    stops: list[Stop] = []
    before: LogRecord | None = None
    for record in ordered:
        if stops and _alike(stops[-1].last, record):
            old = stops[-1]
            stops[-1] = Stop(old.record, old.gap_s, old.lane, old.repeats + 1, record, old.failed)
        else:
            stops.append(Stop(record, _gap(before, record), lanes.index(record.service), 1, record, has_failed(record)))
        before = record
    times = [record.timestamp for record in ordered if record.timestamp is not None]
    return Journey(
        tuple(stops),
        tuple(lanes),
        (times[-1] - times[0]).total_seconds() if times else None,
        next((place for place, stop in enumerate(stops) if stop.failed), None),
        len(ordered),
    )


def has_failed(record: LogRecord) -> bool:
    """Whether a line says that something failed: by level, or by HTTP status."""
    severe = record.severity is not None and record.severity >= Severity.ERROR
    return severe or (record.status is not None and record.status >= _FAILED_STATUS)


def _gap(before: LogRecord | None, record: LogRecord) -> float | None:
    if before is None or before.timestamp is None or record.timestamp is None:
        return None
    return (record.timestamp - before.timestamp).total_seconds()


def _alike(one: LogRecord, other: LogRecord) -> bool:
    same = one.service == other.service and one.severity == other.severity and one.status == other.status
    return same and one.host == other.host and mask(one.message) == mask(other.message)
