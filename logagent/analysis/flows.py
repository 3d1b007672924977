"""Rows of patterns that always come together, as the lines of one action of a user do: one row for all of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from logagent.analysis.digest_rows import PatternRow
from logagent.analysis.facts import Event
from logagent.analysis.window import Window

KINDS = 2
"""Kinds of lines from which a flow saves room; of two, both are shown."""
_RUNS = 3
"""Runs without trace ids from which coming together is more than chance."""
_TOGETHER_S = 1.0
"""Without trace ids, lines of one run lie within this many seconds."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Kinds of lines that always come together; the row that has it is the first of them."""

    kinds: int
    runs: int
    services: tuple[str, ...]
    last: Event
    """A line of the last kind."""


def fold(window: Window, rows: Sequence[PatternRow]) -> list[tuple[PatternRow, Flow | None]]:
    """The rows in their order; quiet ones that always come together are one, at the place of their best."""
    groups = [group for group in _groups(window, [row for row in rows if row.quiet]) if len(group) >= KINDS]
    member = {id(row): group for group in groups for row in group}
    found: list[tuple[PatternRow, Flow | None]] = []
    told: set[int] = set()
    for row in rows:
        group = member.get(id(row))
        if group is None:
            found.append((row, None))
        elif id(group) not in told:
            told.add(id(group))
            found.append(_folded(window, group))
    return found


def _folded(window: Window, group: Sequence[PatternRow]) -> tuple[PatternRow, Flow]:
    order = sorted(group, key=lambda row: min(window.by_template[t][0] for t in row.templates))
    first, last = order[0], order[-1]
    services = tuple(dict.fromkeys(name for row in order for name in row.services))
    runs = len(_traces(window, first)) or round(first.count)
    return replace(first, priority=max(row.priority for row in group)), Flow(len(group), runs, services, last.sample)


def _groups(window: Window, rows: Iterable[PatternRow]) -> list[list[PatternRow]]:
    by_traces: defaultdict[frozenset[str], list[PatternRow]] = defaultdict(list)
    alike: defaultdict[tuple[int, tuple[str, ...]], list[tuple[list[float], PatternRow]]] = defaultdict(list)
    for row in rows:
        if any(t not in window.by_template for t in row.templates):
            continue
        if traces := _traces(window, row):
            by_traces[traces].append(row)
            continue
        times = sorted(window.events[i].time for t in row.templates for i in window.by_template[t])
        if len(times) >= _RUNS and row.count == len(times):
            alike[len(times), tuple(sorted(row.services))].append((times, row))
    return [*by_traces.values(), *(group for timed in alike.values() for group in _together(timed))]


def _traces(window: Window, row: PatternRow) -> frozenset[str]:
    """Traces of the lines of a row; none where a line has none."""
    found = {window.events[i].trace or "" for t in row.templates for i in window.by_template[t]}
    return frozenset() if "" in found else frozenset(found)


def _together(timed: list[tuple[list[float], PatternRow]]) -> list[list[PatternRow]]:
    """Rows of equally many lines whose n-th lines lie near each other; each is compared with the first of its group."""
    timed.sort(key=lambda pair: pair[0][0])
    groups: list[list[PatternRow]] = []
    begun: list[float] = []
    for times, row in timed:
        if begun and all(abs(a - b) <= _TOGETHER_S for a, b in zip(begun, times, strict=True)):
            groups[-1].append(row)
        else:
            groups.append([row])
            begun = times
    return groups
