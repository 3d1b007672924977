"""The query language of people and of the model: text -> typed tree (ux.md 2.2). Each store compiles the tree.

A small Lucene-like subset: `field:value`, `"phrase"`, wildcards (not leading), ranges `[a TO b]`, `level>=error`,
AND OR NOT (also in lower case), grouping, `_exists_:field`. Terms without an operator are joined by AND.
A bare term or phrase searches the message role.
"""

from dataclasses import dataclass
from datetime import datetime

from logagent.logs import TimeWindow


@dataclass(frozen=True, slots=True)
class All:
    """Matches everything."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word or exact value. `field` is a role, an ECS name or a name of the source; "" is the message role."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in order (on the message role), or an exact value (on any other field)."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A value with `*` or `?`, never at its start."""

    field: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Range:
    """low <= field <= high; None is open. `include_low`/`include_high` False for `{a TO b}`, `>` and `<`."""

    field: str
    low: str | None
    high: str | None
    include_low: bool = True
    include_high: bool = True


@dataclass(frozen=True, slots=True)
class Level:
    """Severity class exactly (`level:error`), or that class and worse (`level>=error`)."""

    severity: int
    and_worse: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """The field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class Not:
    """Complement, also of records without the field."""

    node: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """All of two or more."""

    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of two or more."""

    nodes: tuple["Node", ...]


Node = All | Term | Phrase | Wildcard | Range | Level | Exists | Not | And | Or


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What to look at: a tree inside a window. `indices` empty means the whole scope of the store."""

    window: TimeWindow
    node: Node = All()
    indices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run may look at, fixed before the first log byte is read: every query is made by it, none can widen it.

    `base` holds the user's own filters and excludes; `reach` is the widest span any query may touch (window, baseline
    and look-back). `now` is what relative times count back from (ux.md 2.2).
    """

    window: TimeWindow
    reach: TimeWindow
    now: datetime
    base: Node = All()
    baselines: tuple[TimeWindow, ...] = ()
    indices: tuple[str, ...] = ()
    zone: str = "UTC"

    def query(self, node: Node = All(), window: TimeWindow | None = None, indices: tuple[str, ...] = ()) -> LogQuery:
        """A query inside the scope: `node` AND the base, the window clipped to `reach`."""
        asked = window or self.window
        start = min(max(asked.start, self.reach.start), self.reach.end)
        end = max(min(asked.end, self.reach.end), start)
        return LogQuery(TimeWindow(start, end), conjunction(self.base, node), indices or self.indices)


def conjunction(*nodes: Node) -> Node:
    """AND of the nodes, flattened, without `All`."""
    flat: list[Node] = []
    for node in nodes:
        if isinstance(node, And):
            flat.extend(node.nodes)
        elif not isinstance(node, All):
            flat.append(node)
    if not flat:
        return All()
    return flat[0] if len(flat) == 1 else And(tuple(flat))
