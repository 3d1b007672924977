"""Which two sides a comparison has: windows, values of a field, files, or the window and its baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from logagent.errors import UsageError
from logagent.logs import TimeWindow, iso
from logagent.query import All, LogQuery, Node, Phrase, conjunction
from logagent.stores._base import Measure
from logagent.times import parse_span, parse_time
from logagent.triage._comparison import Comparison, Side, compare_sides
from logagent.wiring._session import Session
from logagent.wiring._source import INSTANT, display_zone

_VALUES = 20
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Sides:
    """What two sides were asked for; the first that is given counts, and nothing at all is the baseline."""

    spans: tuple[str, ...] = ()
    """`A..B`, one or two."""
    by: str = ""
    values: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


def compare(session: Session, asked: Sides) -> Comparison:
    """The two sides of `asked` over the open source.

    Raises:
        UsageError: LA701, LA702, the sides cannot be told.
        NoData: LA303, both are empty.
        SourceError: the source does not answer.
    """
    a, b = _sides(session, asked)
    found = compare_sides(session.store, session.ledger, session.description.fields, a, b)
    if not found.rows:
        raise session.nothing()
    return found


def _sides(session: Session, asked: Sides) -> tuple[Side, Side]:
    if asked.by:
        return _by_value(session, asked)
    if asked.spans:
        return _windows(session, asked.spans)
    if asked.before or asked.after:
        return _around(session, asked)
    if len(session.options.files) == _PAIR:
        return _by_source(session)
    return _against_baseline(session)


def _windows(session: Session, spans: Sequence[str]) -> tuple[Side, Side]:
    now, zone = session.plan.scope.now, display_zone(session.options.zone)
    windows = [_whole(parse_span(text, now, zone), now) for text in spans]
    if len(windows) == 1:
        windows.insert(0, windows[0].shifted(windows[0].start - windows[0].end))
    return _over(session, windows[0]), _over(session, windows[1])


def _whole(window: TimeWindow, now: datetime) -> TimeWindow:
    """With the instant that ends it, where that is the newest event."""
    return TimeWindow(window.start, window.end + INSTANT) if window.end == now else window


def _over(session: Session, window: TimeWindow) -> Side:
    scope = session.plan.scope
    return Side("", LogQuery(window, scope.base, scope.indices))


def _around(session: Session, asked: Sides) -> tuple[Side, Side]:
    """What lies before one instant and after another (or the same one)."""
    scope, zone = session.plan.scope, display_zone(session.options.zone)
    before = parse_time(asked.before or asked.after, scope.now, zone)
    after = parse_time(asked.after or asked.before, scope.now, zone)
    window = scope.window
    given = session.options.since or session.description.backend == "embedded"
    start = window.start if given else before - (window.end - after)
    if not start < before <= after < window.end:
        span = f"{iso(start)} .. {iso(before)} | {iso(after)} .. {iso(window.end)}"
        raise UsageError(f"one side is empty: {span}", code="LA701", values={"span": span})
    return _over(session, TimeWindow(start, before)), _over(session, TimeWindow(after, window.end))


def _against_baseline(session: Session) -> tuple[Side, Side]:
    scope = session.plan.scope
    if scope.baselines:
        return _over(session, scope.baselines[0]), _over(session, scope.window)
    middle = scope.window.start + (scope.window.end - scope.window.start) / 2
    return _over(session, TimeWindow(scope.window.start, middle)), _over(session, TimeWindow(middle, scope.window.end))


def _by_source(session: Session) -> tuple[Side, Side]:
    """Two files, each over its own time."""
    scope, sides = session.plan.scope, []
    for source in session.description.sources[:_PAIR]:
        window = TimeWindow(source.first or scope.window.start, (source.last or scope.window.end) + INSTANT)
        sides.append(Side(source.name, LogQuery(window, scope.base, (source.name,))))
    if len(sides) < _PAIR:
        raise _refused("both names mean the same file")
    return sides[0], sides[1]


def _by_value(session: Session, asked: Sides) -> tuple[Side, Side]:
    fields, scope = session.description.fields, session.plan.scope
    role = fields.role_of(asked.by) or asked.by
    if not fields.roles.get(role) and role not in fields.names:
        known = ", ".join(sorted(name for name in fields.roles if name not in {"message", "timestamp"}))
        raise _refused(f"there is no field {asked.by!r} here; there are: {known}")
    values, node = (asked.values, scope.base) if asked.values else _two_values(session, role)
    if len(values) != _PAIR:
        raise _refused(f"two values of {asked.by} are needed, not {len(values)}: {', '.join(values) or '-'}")
    sides = [
        Side(value, LogQuery(scope.window, conjunction(node, Phrase(role, value)), scope.indices)) for value in values
    ]
    return sides[0], sides[1]


def _two_values(session: Session, role: str) -> tuple[tuple[str, ...], Node]:
    """The two newest versions of one service, the older one first; of anything else the two with the most events."""
    scope, values = session.plan.scope, _values(session, role)
    if role != "version" or not session.description.fields.roles.get("service"):
        return tuple(values[:_PAIR]), scope.base
    for newest in reversed(_by_age(session, values)):
        for service in _values(session, "service", Phrase("version", newest)):
            whose = Phrase("service", service)
            own = _values(session, "version", whose)
            if len(own) >= _PAIR:
                return tuple(_by_age(session, own, whose)[-_PAIR:]), conjunction(scope.base, whose)
    return tuple(values[:_PAIR]), scope.base


def _values(session: Session, role: str, node: Node = All()) -> list[str]:
    answer = session.store.top_values(session.plan.scope.query(node), [role], size=_VALUES)
    return [one.value for one in answer.fields[0].values]


def _by_age(session: Session, versions: Sequence[str], node: Node = All()) -> list[str]:
    """Oldest first, by the first event that each has within reach of the run."""
    scope = session.plan.scope
    measures = [
        Measure(scope.query(conjunction(node, Phrase("version", one)), scope.reach), "first") for one in versions
    ]
    firsts = [one.value for one in session.store.count(measures).values] if measures else []
    seen = [(iso(at) if isinstance(at, datetime) else "", one) for at, one in zip(firsts, versions, strict=True)]
    return [one for _, one in sorted(seen)]


def _refused(reason: str) -> UsageError:
    return UsageError(reason, code="LA702", values={"reason": reason, "command": "compare"})
