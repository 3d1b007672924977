"""Zero results explain themselves, with at most five cheap probes (ux.md 2.9, LA303)."""

from datetime import timedelta
from difflib import get_close_matches

from logagent.errors import NoData
from logagent.logs import TimeWindow, iso
from logagent.query import All, LogQuery, Node, Phrase, Scope, conjunction, to_text
from logagent.stores._base import Description, LogStore, Measure

LOOK_BACK = timedelta(days=7)
DAY = timedelta(days=1)
_SHOWN = 80
"""Characters of a filter that are shown."""
ALMOST = 0.9
"""Hours, from which a shift by a whole hour is meant."""


def explain_nothing(
    store: LogStore,
    scope: Scope,
    description: Description,
    services: tuple[str, ...] = (),
    source_words: tuple[str, ...] = (),
) -> NoData:
    """The LA303 error for an empty window: what lies around it, and which remedy fits.

    `source_words` name the source in a command.
    """
    window = scope.window
    node: Node = Phrase("service", services[0]) if len(services) == 1 else conjunction()
    before = TimeWindow(max(window.start - LOOK_BACK, scope.reach.start), window.start)
    after = TimeWindow(window.end, window.end + DAY)
    is_filtered = not isinstance(scope.base, All)
    answer = store.count(
        [
            Measure(LogQuery(window, indices=scope.indices)),  # without the user's filters
            Measure(scope.query(node, before), "last"),
            Measure(scope.query(node, before)),
            Measure(scope.query(node, after), "first"),
        ]
    )
    others, last, amount, first = (one.value for one in answer.values)
    what = services[0] if services else ", ".join(one.name for one in description.sources[:3]) or "the source"
    hour_off = _hours_off(scope, description)
    values: dict[str, object] = {
        "what": what,
        "service": what,
        "targets": (*source_words, *services),
        "from": iso(window.start),
        "to": iso(window.end),
        "others": others or 0,
        "newest": iso(last) if last is not None and not isinstance(last, int) else "",
        "before": amount or 0,
        "next": iso(first) if first is not None and not isinstance(first, int) else "",
        "newest_event": iso(description.last) if description.last else "",
        "oldest_event": iso(description.first) if description.first else "",
        "hours": hour_off or "",
    }
    if others and is_filtered:
        values |= {"filter": to_text(scope.base)[:_SHOWN], "unfiltered": f"{others:,}", "others": ""}
    newest = values["newest"] or values["newest_event"] or "none"
    message = f"0 events for {what} between {iso(window.start)} and {iso(window.end)}; newest event {newest}"
    hint = "" if "filter" in values else "Widen the window: --since 2h"
    return NoData(message, code="LA303", values=values, hint=hint)


def unknown_service(name: str, known: dict[str, int]) -> NoData:
    """The LA304 error for a service that does not log here."""
    near = [one for one in known if name.lower() in one.lower() or one.lower() in name.lower()]
    near = near or get_close_matches(name, list(known), n=3, cutoff=0.5) or list(known)[:3]
    shown = ", ".join(f"{one} ({known[one]:,} events)" for one in near[:3])
    return NoData(
        f"no service named {name} in the scope; did you mean {shown}?" if shown else f"no service named {name}",
        code="LA304",
        values={"service": name, "near": shown, "best": near[0] if near else ""},
    )


def _hours_off(scope: Scope, description: Description) -> int:
    """Whole hours by which the newest event lies in the future: local times stored as UTC."""
    if description.last is None:
        return 0
    ahead = (description.last - scope.now).total_seconds() / 3600
    return round(ahead) if ahead >= ALMOST and abs(ahead - round(ahead)) < 1 - ALMOST else 0
