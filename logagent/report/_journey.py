"""The lines of one id as text, Markdown or JSON."""

import json
from collections.abc import Callable, Iterator
from datetime import tzinfo

from logagent.analysis.journey import Journey, Stop, Traced
from logagent.logs import LogRecord, iso
from logagent.report._escape import fence
from logagent.report._text import cells, clean, fit_mark, pad, right
from logagent.texts import Catalogue

Mask = Callable[[str], str]
_GAP, _LANE, _MOST_LANES = 9, 14, 6
_SECOND, _MINUTE = 1.0, 60.0


def traced_text(found: Traced, texts: Catalogue, zone: tzinfo, width: int, mask: Mask) -> str:
    """A head, then one line a stop: time, gap, service, text; what failed first is marked."""
    lines = list(_head(found, texts, mask))
    for where, one in found.journeys:
        lines += ["", *([clean(mask(where))] if where else []), *_lanes(one, texts, mask), ""]
        lines += [_stop(one, place, stop, (texts, zone, width), mask) for place, stop in enumerate(one.stops)]
    return "\n".join(lines)


def _head(found: Traced, texts: Catalogue, mask: Mask) -> Iterator[str]:
    say = texts.say
    yield say("report.trace.head", id=clean(mask(found.id)), n=f"{found.total:,}", fields=", ".join(found.fields))
    if found.read < found.total:
        yield say("report.trace.cut", read=f"{found.read:,}", total=f"{found.total:,}")
    if len(found.journeys) > 1:
        yield say("report.trace.local", n=len(found.journeys))
    if not found.completeness.complete:
        yield say("report.compare.partial")


def _lanes(one: Journey, texts: Catalogue, mask: Mask) -> Iterator[str]:
    """What each service took, and where it failed first."""
    for name, lines, seconds in list(one.lane_spans())[:_MOST_LANES]:
        shown = clean(mask(name)) or "-"
        yield texts.say("report.trace.lane", service=shown, n=lines, seconds=_seconds(seconds) or "-")
    if len(one.lanes) > _MOST_LANES:
        yield texts.say("report.trace.lanes", n=len(one.lanes) - _MOST_LANES)
    if one.first_failure is None:
        yield texts.say("report.trace.fine")
        return
    first = one.stops[one.first_failure]
    yield texts.say("report.trace.failed", service=clean(mask(first.record.service)) or "-", at=one.first_failure + 1)


def _stop(one: Journey, place: int, stop: Stop, shown: tuple[Catalogue, tzinfo, int], mask: Mask) -> str:
    texts, zone, width = shown
    at = f"{stop.record.timestamp.astimezone(zone):%H:%M:%S.%f}"[:-3] if stop.record.timestamp else "-"
    mark = "!" if place == one.first_failure else " "
    lane = pad(
        _fit("  " * min(stop.lane, _MOST_LANES - 1) + (clean(mask(stop.record.service)) or "-"), _LANE + 6), _LANE + 6
    )
    repeats = texts.say("report.trace.repeats", n=stop.repeats) + " " if stop.repeats > 1 else ""
    took = f" ({_seconds(stop.record.duration_ms / 1000)})" if stop.record.duration_ms is not None else ""
    level = stop.record.severity.word.upper() + " " if stop.record.severity is not None and stop.failed else ""
    text = f"{repeats}{level}{clean(mask(stop.record.message))}{took}"
    gap = f"+{_seconds(stop.gap_s)}" if stop.gap_s is not None else ""
    return _fit(f"{mark}{at} {right(gap, _GAP)}  {lane} {text}", width)


def _fit(text: str, width: int) -> str:
    return text if cells(text) <= width else fit_mark(text, width, "...")


def _seconds(seconds: float | None) -> str:
    """`12ms`, `3.41s`, `2m05s`."""
    if seconds is None:
        return ""
    if seconds < _SECOND:
        return f"{seconds * 1000:.3g}ms"
    return f"{seconds:.2f}s" if seconds < _MINUTE else f"{int(seconds // 60)}m{int(seconds % 60):02d}s"


def traced_markdown(found: Traced, texts: Catalogue, zone: tzinfo, mask: Mask) -> str:
    """The same, in a fence: lines of logs can neither format nor ping."""
    head, _, rest = traced_text(found, texts, zone, 160, mask).partition("\n")
    return "\n".join([f"## {head.replace('<', '&lt;')}", "", *fence(rest.split("\n"))])


def traced_json(found: Traced, mask: Mask) -> str:
    """One document: every stop with its gap in seconds."""
    document = {
        "kind": "trace",
        "schema_version": 1,
        "id": clean(mask(found.id)),
        "total": found.total,
        "read": found.read,
        "found_in": list(found.fields),
        "ids_are_per_process": len(found.journeys) > 1,
        "complete": found.completeness.complete,
        "journeys": [_journey_out(where, one, mask) for where, one in found.journeys],
    }
    return json.dumps(document, ensure_ascii=False)


def _journey_out(where: str, one: Journey, mask: Mask) -> dict[str, object]:
    return {
        "process": clean(mask(where)),
        "lines": one.lines,
        "seconds": one.seconds,
        "services": [
            {"name": clean(mask(name)), "lines": lines, "seconds": seconds} for name, lines, seconds in one.lane_spans()
        ],
        "first_failure": one.first_failure,
        "stops": [_stop_out(stop, mask) for stop in one.stops],
    }


def _stop_out(stop: Stop, mask: Mask) -> dict[str, object]:
    record: LogRecord = stop.record
    row = {
        "@timestamp": iso(record.timestamp) if record.timestamp else None,
        "gap_seconds": stop.gap_s,
        "service": clean(mask(record.service)),
        "level": record.severity.word if record.severity is not None else None,
        "message": clean(mask(record.message)),
        "duration_ms": record.duration_ms,
        "status": record.status,
        "failed": stop.failed,
        "repeats": stop.repeats,
        "source": record.id.source,
        "id": record.id.id,
    }
    return {name: value for name, value in row.items() if value is not None}
