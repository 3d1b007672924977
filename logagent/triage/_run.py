"""What a survey is given: the store, what may be looked at, and where evidence is written down."""

from collections.abc import Callable
from dataclasses import dataclass

from logagent.analysis.mechanisms import Catalogue
from logagent.evidence import EvidenceQuery, Figure, Ledger
from logagent.logs import TimeWindow
from logagent.query import Node, Scope, conjunction, to_text
from logagent.stores._base import Description, LogStore
from logagent.triage._baseline import BaselineChoice

Report = Callable[[str, str], None]
"""Called at the end of a step with its name and its one-line finding."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a survey needs: the store, what may be looked at, and where evidence is written down."""

    store: LogStore
    scope: Scope
    description: Description
    baseline: BaselineChoice
    catalogue: Catalogue
    ledger: Ledger
    report: Report
    alert: float | None = None
    """Seconds since the epoch of the alert, where one is known."""
    focus: tuple[str, ...] = ()
    """Services asked for."""

    @property
    def span(self) -> TimeWindow:
        """Window plus the baseline range that touches it."""
        window = self.scope.window
        touching = [one for one in self.baseline.ranges if one.end == window.start]
        return TimeWindow(touching[0].start if touching else window.start, window.end)

    def query(self, node: Node, window: TimeWindow, figure: Figure) -> EvidenceQuery:
        """The query of a piece of evidence: the user's filters and `node`, as text."""
        return EvidenceQuery(to_text(conjunction(self.scope.base, node)), window, figure, self.scope.indices)
