"""Many measures as few aggregations: a query that several measures share is evaluated once (decision 0024).

One `filters` aggregation costs a server a tenth of as many `filter` aggregations side by side, and a clause above
others saves them its evaluation. So measures of the same windows and figures stand in one `filters`, below one bucket a
window; and what the nodes have in common, where that is costly (the definition of a failing event), stands above them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from logagent.logs import TimeWindow, instant
from logagent.query import All, And, Node, Not, Or, conjunction
from logagent.stores._base import Measure, Measured
from logagent.stores._es_bodies import hull
from logagent.stores._es_compile import Clause, all_of, in_window
from logagent.stores._es_fields import ClusterFields
from logagent.stores._es_values import PRECISE_DISTINCT, cardinality

_COSTLY = 6
"""Clauses from which a part that nodes have in common is evaluated apart, above them."""

Path = tuple[str, ...]
Figure = tuple[str, str]
"""(op, field) of a measure."""


@dataclass(slots=True)
class _Wanted:
    """What is asked of one node: windows and figures, in the order they came."""

    windows: dict[TimeWindow, None] = field(default_factory=dict)
    figures: dict[Figure, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """The aggregations of one request, and where in the answer each measure is found.

    Args:
        measures: all of the same indices; different values of fields that are alike in all of them.
        clause: what a node of the tree compiles to in a window, without the window.
        fields: of the scope.
    """

    measures: Sequence[Measure]
    clause: Callable[[Node, TimeWindow], Clause]
    fields: ClusterFields
    places: dict[tuple[Node, TimeWindow], Path] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The search, to be made before its answer is read."""
        whole = hull([measure.query.window for measure in self.measures])
        wanted: dict[Node, _Wanted] = {}
        for measure in self.measures:
            one = wanted.setdefault(measure.query.node, _Wanted())
            one.windows.setdefault(measure.query.window)
            one.figures.setdefault((measure.op, measure.field))
        aggs = self._bare(wanted, whole) or self._nested(wanted, whole)
        return {"size": 0, "track_total_hits": False, "query": in_window(self.fields.time, whole), "aggs": aggs}

    def _bare(self, wanted: Mapping[Node, _Wanted], whole: TimeWindow) -> dict[str, Any]:
        """Different values of all events: with no filter above, a server passes over events whose values it knows."""
        one = wanted.get(All())
        if one is None or len(wanted) > 1 or len(one.windows) > 1 or {op for op, _ in one.figures} != {"distinct"}:
            return {}
        self.places[All(), whole] = ()
        return self._figures(one.figures)

    def _nested(self, wanted: Mapping[Node, _Wanted], whole: TimeWindow) -> dict[str, Any]:
        """Groups of nodes; those with the costly part in common below it."""
        common = shared(list(wanted))
        inside = {node: one for node, one in wanted.items() if common and common <= set(_parts(node))}
        rest = {node: one for node, one in wanted.items() if node not in inside}
        aggs = self._groups(rest, frozenset(), whole, ())
        if inside:
            above = conjunction(*(part for part in _parts(next(iter(inside))) if part in common))
            windows = {window: None for one in inside.values() for window in one.windows}
            below = self._groups(inside, common, whole, ("shared",))
            aggs["shared"] = {"filter": self._clause(above, windows), "aggs": below}
        return aggs

    def read(self, answer: Mapping[str, Any]) -> list[Measured]:
        """The measures in their order."""
        found = answer.get("aggregations") or {}
        return [self._measured(one, _at(found, self.places[one.query.node, one.query.window])) for one in self.measures]

    def _measured(self, measure: Measure, bucket: Mapping[str, Any]) -> Measured:
        if measure.op == "count":
            return Measured(int(bucket.get("doc_count", 0)))
        if measure.op == "distinct":
            found = int((bucket.get(self._distinct(measure.field)) or {}).get("value", 0))
            return Measured(found, approximate=found > PRECISE_DISTINCT)
        value = (bucket.get(measure.op) or {}).get("value")
        return Measured(instant(value / 1_000) if isinstance(value, int | float) else None)

    def _groups(
        self, wanted: Mapping[Node, _Wanted], common: frozenset[Node], whole: TimeWindow, above: Path
    ) -> dict[str, Any]:
        """One aggregation for the nodes of which the same figures are wanted in the same windows."""
        alike: dict[tuple[tuple[TimeWindow, ...], tuple[Figure, ...]], list[Node]] = {}
        for node, one in wanted.items():
            stretches = [(window,) for window in one.windows] if _plain(node, one) else [tuple(one.windows)]
            for windows in stretches:
                alike.setdefault((windows, tuple(one.figures)), []).append(node)
        groups = {}
        for number, ((windows, figures), nodes) in enumerate(alike.items()):
            rests = [conjunction(*(part for part in _parts(node) if part not in common)) for node in nodes]
            clauses = {f"n{place}": self._clause(rest, windows) for place, rest in enumerate(rests)}
            within = {f"w{place}": in_window(self.fields.time, one) for place, one in enumerate(windows)}
            single = len(windows) == 1
            if single and windows[0] != whole:
                clauses = {name: all_of([within["w0"], clause]) for name, clause in clauses.items()}
            matching = _filters(clauses, self._figures(figures))
            groups[f"g{number}"] = matching if single else _filters(within, {"in": matching})
            for place, window in enumerate(windows):
                way = () if single else ("buckets", f"w{place}", "in")
                for last, node in enumerate(nodes):
                    self.places[node, window] = (*above, f"g{number}", *way, "buckets", f"n{last}")
        return groups

    def _clause(self, node: Node, windows: Iterable[TimeWindow]) -> Clause:
        """The clause of a node, which must be allowed in each of its windows."""
        return [self.clause(node, window) for window in windows][-1]

    def _figures(self, figures: Iterable[Figure]) -> dict[str, Any]:
        """What is asked of each bucket besides its number of documents."""
        aggs: dict[str, Any] = {}
        for op, name in figures:
            if op in {"first", "last"}:
                aggs[op] = {"min" if op == "first" else "max": {"field": self.fields.time}}
            if op == "distinct" and (exact := self.fields.sole(name)):
                aggs[self._distinct(name)] = cardinality(exact)
        return aggs

    def _distinct(self, name: str) -> str:
        """The aggregation for different values of a field."""
        return f"distinct{list(dict.fromkeys(one.field for one in self.measures)).index(name)}"


def shared(nodes: Sequence[Node]) -> frozenset[Node]:
    """The costly part that most of the nodes have in common; empty where there is none, or only one node has it."""
    counts = Counter(part for node in nodes for part in set(_parts(node)) if isinstance(part, Or | Not | And))
    if not counts or max(counts.values()) == 1:
        return frozenset()
    often = max(counts.values())
    for part in (one for one, count in counts.items() if count == often):
        common = frozenset.intersection(*(frozenset(_parts(node)) for node in nodes if part in _parts(node)))
        if sum(map(_clauses, common)) >= _COSTLY:
            return common
    return frozenset()


def _parts(node: Node) -> tuple[Node, ...]:
    """What all must match."""
    flat = conjunction(node)
    return flat.nodes if isinstance(flat, And) else () if isinstance(flat, All) else (flat,)


def _clauses(node: Node) -> int:
    """Leaves of a tree."""
    match node:
        case And(nodes) | Or(nodes):
            return sum(map(_clauses, nodes))
        case Not(inner):
            return _clauses(inner)
        case _:
            return 1


def _plain(node: Node, wanted: _Wanted) -> bool:
    """Whether a node is counted at once in any window, so that none need be gone through document by document."""
    return _clauses(node) == 1 and set(wanted.figures) <= {("count", "")}


def _filters(clauses: Mapping[str, Clause], below: Mapping[str, Any]) -> dict[str, Any]:
    return {"filters": {"filters": dict(clauses)}, **({"aggs": dict(below)} if below else {})}


def _at(answer: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The bucket at a path; an empty one where the answer stops before."""
    for step in path:
        answer = answer.get(step) or {}
    return answer
