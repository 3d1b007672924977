"""All lines of a trace or correlation id: which fields hold it, and what is there where it is not found."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches

from logagent.analysis.journey import Journey, Traced, journey
from logagent.analysis.trace_ids import lines_of, per_process, place
from logagent.errors import NoData
from logagent.logs import LogRecord, TimeWindow, iso
from logagent.query import Exists, LogQuery, Node, Or, Phrase, Wildcard, conjunction
from logagent.stores._base import PAGE_LIMIT, Measure
from logagent.wiring._session import Session

MOST = 5_000
"""Most lines of one id that are read."""
_ID_FIELD = re.compile(
    r"(?:trace|span|req|request|correlation|transaction|txn|session|conversation|message|call)[._-]?u?u?id$",
    re.IGNORECASE,
)
_MOST_FIELDS = 12
_NEAR = 3
_SAMPLED = 2_000
_IDS = 150
_PREFIX = 8


def trace(session: Session, wanted: str) -> Traced:
    """All lines of the window that carry the id in a field for ids or in the text.

    Raises:
        NoData: LA303, no line has it; says near ids and other times.
        SourceError: the source does not answer.
    """
    names = _id_fields(session)
    ways: dict[str, Node] = {name: Phrase(name, wanted) for name in names}
    ways["message"] = Phrase("", wanted)
    query = session.plan.scope.query(Or(tuple(ways.values())))
    measures = [Measure(session.plan.scope.query(node)) for node in ways.values()]
    counts = [one.value for one in session.store.count([Measure(query), *measures]).values]
    if not counts[0]:
        raise _not_found(session, wanted, query, names)
    page = session.store.scan(query, limit=min(MOST, PAGE_LIMIT))
    held = tuple(name for name, count in zip(ways, counts[1:], strict=True) if count)
    total = counts[0] if isinstance(counts[0], int) else len(page.records)
    parts = _processes(session, page.records)
    return Traced(wanted, parts, total, len(page.records), held, page.completeness)


def _id_fields(session: Session) -> list[str]:
    """The trace role, and other fields named after an id of a request; those of the role's own fields once."""
    fields = session.description.fields
    roles = [role for role in ("trace_id", "span_id") if fields.roles.get(role)]
    taken = {choice.name for role in roles for choice in fields.roles[role]}
    more = [
        name
        for name, kind in fields.names.items()
        if name not in taken and kind in {"keyword", "text"} and _ID_FIELD.search(name)
    ]
    return [*roles, *more[:_MOST_FIELDS]]


def _processes(session: Session, records: Sequence[LogRecord]) -> tuple[tuple[str, Journey], ...]:
    """One journey, or one a process where the ids of this source mean nothing across processes."""
    places = dict.fromkeys(place(record) for record in records)
    if len(places) < 2 or not _local_ids(session):  # noqa: PLR2004 - one place has nothing to be told from
        return (("", journey(records)),)
    return tuple(
        (" ".join(part for part in where if part), journey([one for one in records if place(one) == where]))
        for where in places
    )


def _local_ids(session: Session) -> bool:
    if not session.description.fields.roles.get("trace_id"):
        return False
    scope = session.plan.scope
    sample = session.store.traces(LogQuery(scope.window, Exists("trace_id"), scope.indices), ids=_IDS, limit=MOST)
    return per_process(lines_of(sample.records))


def _not_found(session: Session, wanted: str, query: LogQuery, names: Sequence[str]) -> NoData:
    """LA303 with what was looked through, when the id is seen outside of the window, and ids that are nearly it."""
    scope, say = session.plan.scope, session.words.texts.say
    end = max(scope.reach.end, session.description.last or scope.now)
    wide = replace(query, window=TimeWindow(scope.reach.start, end))
    asked = [Measure(wide), Measure(wide, "first"), Measure(wide, "last")]
    answer = [one.value for one in session.store.count(asked).values]
    hints = [say("report.trace.looked", fields=", ".join([*names, "message"]))]
    values: dict[str, object] = {
        "traced": session.clean(wanted[:60]),
        "from": iso(scope.window.start),
        "to": iso(scope.window.end),
    }
    first, last = (iso(one) if isinstance(one, datetime) else "" for one in answer[1:])
    if answer[0]:
        hints.insert(0, say("report.trace.outside", n=answer[0], first=first, last=last))
        values["again"] = (*session.options.source_words, "--since", first)
    near = near_ids(wanted, _known_ids(session, wanted, wide))
    if near:
        hints.insert(0, say("report.trace.near", ids=", ".join(session.clean(one) for one in near)))
    values["hints"] = "; ".join(hints)
    return NoData(f"no line holds {values['traced']}", code="LA303", values=values, hint=str(values["hints"]))


def _known_ids(session: Session, wanted: str, query: LogQuery) -> list[str]:
    """Trace ids that begin alike, and those of a sample of the reach."""
    if not session.description.fields.roles.get("trace_id"):
        return []
    head = wanted[: max(_PREFIX, len(wanted) * 2 // 3)]
    begun = replace(query, node=conjunction(session.plan.scope.base, Wildcard("trace_id", f"{head}*")))
    found = [one.value for one in session.store.top_values(begun, ["trace_id"]).fields[0].values]
    own = replace(query, node=conjunction(session.plan.scope.base, Exists("trace_id")))
    sample = session.store.traces(own, ids=2 * _IDS, limit=_SAMPLED).records
    return [one for one in dict.fromkeys([*found, *(record.trace_id for record in sample)]) if one != wanted]


def near_ids(wanted: str, known: Sequence[str]) -> list[str]:
    """Ids that were cut, have another case, or differ in few characters.

    >>> near_ids("ABC123", ["abc123", "zzz"])
    ['abc123']
    """
    low = wanted.lower()
    alike = [
        one for one in known if one.lower() == low or (one.lower().startswith(low[:_PREFIX]) and len(low) >= _PREFIX)
    ]
    return alike[:_NEAR] or get_close_matches(wanted, known, _NEAR, 0.75)
