"""Who is suspected of slow steps, and what tells the first from the next, from its caller or callee, and from all."""

from collections.abc import Iterable
from dataclasses import dataclass

from logagent.analysis.directions import Sender, Table, calls_text, own_text, sender
from logagent.analysis.gaps import EDGE_MIN, Edge, SlowEdges
from logagent.analysis.window import Window

_NETWORK = "network.latency"
_MOST = 2 / 3
"""Share of the steps without the first suspect that are slow too: then it is no trouble of its own."""
_OTHERS = 2
"""Such steps, at least."""
_PAIR = 2


@dataclass(frozen=True, slots=True)
class View:
    """Who is suspected of the slow edges, best first. `table`: the calls since the onset and before it."""

    window: Window
    blame: SlowEdges
    table: Table
    order: list[str]
    tied: list[str]
    """Fit as well as the first."""
    sender: Sender | None
    """The first of the order, where the direction of the delay tells it from the only one that fits as well."""
    everywhere: list[str]
    """All that are slow, where that is nearly everybody; else empty."""
    pair: bool
    """Whether all that is slow lies between two services, and nothing tells one from the other."""

    @property
    def told(self) -> bool:
        """Whether the first is told from the others for certain."""
        if self.everywhere:
            return False
        return self.sender.sure if self.sender else not self.tied

    def figures(self, service: str) -> dict[str, object]:
        """The mechanism, which no line states, of a known sender; what else a reader must know of the blame."""
        if self.everywhere:
            return {"everywhere": self.everywhere}
        if self.pair:
            return {"pair": True}
        sure = self.sender is not None and self.sender.sure and service == self.sender.service
        return {"inferred": _NETWORK} if sure else {}

    def text(self, service: str) -> str:
        """The slow calls of a service, and for the first what tells it from the next, or that nothing does."""
        lead = self.order[0]
        own = [edge for edge in self.blame.slow_edges if service in edge]
        if self.everywhere:
            return f"slow everywhere: shared cause of {', '.join(self.everywhere)}; {self._calls(service)}"
        if service != lead and all(lead in edge for edge in own):
            slow, every = sum(self.blame.table[e].slow for e in own), sum(self.blame.table[e].after for e in own)
            return f"{service} is slow in its calls with {lead} only, {slow} of {every}"
        if service != lead:
            return self._calls(service)
        if self.sender:
            return f"{self._calls(service)}; {self.sender.text}{own_text(self.table, self.order[:2])}"
        if not self.tied:
            return self._calls(lead)
        rest = ": nothing else of either is slow" if self.pair else ""
        return f"{self._calls(lead)}; not to be told from {', '.join(self.tied)}{rest}"

    def _calls(self, service: str) -> str:
        return calls_text(self.table, self.blame, service)


def view(window: Window, blame: SlowEdges, table: Table) -> View:
    """The suspects of slow edges in order; where the direction of the delay tells the sender, it is the first.

    Where all that is slow lies between two services, that one of them has more other calls that are fast tells nothing:
    only the direction does.
    """
    order = blame.order()
    alone = len(order) == _PAIR and all(a != b for a, b in blame.slow_edges)
    tied = order[1:] if alone else blame.tied(order)
    way = sender(table, order[0], tied[0]) if len(tied) == 1 else None
    if way is not None:
        order.sort(key=lambda service: service != way.service)
    every = _everywhere(blame, order[0])
    pair = alone and not every and not (way is not None and way.sure)
    return View(window, blame, table, order, tied, way, every, pair)


def _everywhere(blame: SlowEdges, lead: str) -> list[str]:
    """The services that are slow, where most of the calls, or of the services' own work, without the first is slow."""
    rest = [edge for edge, row in blame.table.items() if lead not in edge and row.after >= EDGE_MIN]
    calls, work = [e for e in rest if e[0] != e[1]], [e for e in rest if e[0] == e[1]]
    if not (_most(blame, calls) or _most(blame, work)):
        return []
    return sorted({service for edge in blame.slow_edges for service in edge})


def _most(blame: SlowEdges, edges: Iterable[Edge]) -> bool:
    slow = [edge in blame.slow_edges for edge in edges]
    return len(slow) >= _OTHERS and sum(slow) >= _MOST * len(slow)
