"""What the survey found, as values: the digest that the model reads and that the diagnosis by rule is made of."""

from dataclasses import dataclass, field
from datetime import datetime

from logagent.analysis.facts import Conclusion, Fact
from logagent.analysis.flows import Flow
from logagent.analysis.survey import Survey
from logagent.diagnosis import BlastRadius, Change, Timeline
from logagent.logs import Completeness, LogRecord, TimeWindow
from logagent.query import Node, Or, Phrase, Scope, conjunction
from logagent.stores._base import Description
from logagent.triage._baseline import BaselineChoice
from logagent.triage._read import Material

FAILING = 2
"""Severity class of a pattern from which its lines fail (analysis.lexicon.severity_class)."""


@dataclass(slots=True)
class PatternFinding:
    """One pattern with its exact counts in the bad stretch and in the good one."""

    id: str
    template: str
    node: Node
    services: dict[str, float]
    severity: int
    change: Change
    count: int
    baseline_count: int
    expected: float
    """Count expected from the baseline, scaled to the length of the bad stretch."""
    first: datetime | None
    last: datetime | None
    mechanism: str = ""
    strong: bool = False
    cited: str = ""
    """Kind of the fact that rests on it."""
    priority: float = 0.0
    levels: str = ""
    every_level: tuple[str, ...] = ()
    """Those of all its lines, most frequent first."""
    since: datetime | None = None
    """Its first line in all stretches that were compared."""
    note: str = ""
    """Quantiles of numbers, status codes."""
    sample: LogRecord | None = None
    templates: tuple[int, ...] = ()
    evidence: str = ""
    exact: bool = True
    """Its query finds its lines and no others."""
    quiet: bool = False
    """Its lines say nothing by themselves."""
    flow: Flow | None = None
    """It stands for all kinds of lines that always come with it."""

    @property
    def service(self) -> str:
        """The service that writes it most, or ""."""
        return max(self.services, key=lambda name: self.services[name]) if self.services else ""


@dataclass(slots=True)
class Volume:
    """Counts of the window and of the baseline, the latter scaled to the window's length."""

    events: int = 0
    events_before: float = 0.0
    failing: int = 0
    failing_before: float = 0.0
    steady: int = 0
    """Failing events of patterns that are as frequent in the baseline."""
    requests: int = 0
    requests_before: float = 0.0
    failing_requests: int = 0
    failing_requests_before: float = 0.0
    services_failing: int = 0
    services: int = 0
    hosts_failing: int | None = None
    hosts: int | None = None
    users_failing: int | None = None
    unit: str = "events"
    """requests or events: what the ratio is of."""
    last_before: datetime | None = None
    """The last failing event of the baseline."""

    @property
    def ratio(self) -> float | None:
        """Share of failing among the denominator, 0 to 1."""
        whole = self.requests if self.unit == "requests" else self.events
        part = self.failing_requests if self.unit == "requests" else self.failing
        return part / whole if whole else None

    @property
    def ratio_before(self) -> float | None:
        """The same in the baseline, None without one."""
        whole = self.requests_before if self.unit == "requests" else self.events_before
        part = self.failing_requests_before if self.unit == "requests" else self.failing_before
        return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class Symptom:
    """The service in which the trouble is seen: its own failing requests, in the bad stretch and in the good ones."""

    service: str
    part: int
    whole: int
    part_before: int
    whole_before: int
    row: str

    @property
    def ratio(self) -> float | None:
        """Share of its requests that fail, 0 to 1."""
        return self.part / self.whole if self.whole else None

    @property
    def ratio_before(self) -> float | None:
        """The same in the baseline."""
        return self.part_before / self.whole_before if self.whole_before else None


@dataclass(frozen=True, slots=True)
class Deployment:
    """A version of the suspect that first logs shortly before the onset, while another one logged before."""

    at: datetime
    service: str
    version: str
    before: str
    """The version that logged until then."""
    row: str = ""


@dataclass(slots=True)
class FactRow:
    """A fact of the analysis with the evidence that shows it."""

    fact: Fact
    evidence: str


@dataclass(slots=True)
class Findings:
    """All that one survey knows. `bad` and `good` are the two stretches that counts compare."""

    scope: Scope
    description: Description
    baseline: BaselineChoice
    material: Material
    analysis: Survey
    bad: TimeWindow
    good: tuple[TimeWindow, ...]
    failing: Node | None = None
    """All failing events: every figure that is printed is of them."""
    fresh: Node | None = None
    """Those that are not as frequent in the baseline: what tells that, and where, something began to fail."""
    requests: Node | None = None
    volume: Volume = field(default_factory=Volume)
    volume_row: str = ""
    onset_row: str = ""
    patterns: list[PatternFinding] = field(default_factory=list)
    facts: list[FactRow] = field(default_factory=list)
    timeline: Timeline | None = None
    anomalous: bool = False
    """The series of failing events leaves its band upwards (ux.md 3.1)."""
    anomalous_services: list[str] = field(default_factory=list)
    blast: list[BlastRadius] = field(default_factory=list)
    blast_service: str = ""
    """The service whose events `blast` compares; "" for all."""
    blast_rows: dict[str, str] = field(default_factory=dict)
    """Evidence id by dimension, for its leading value."""
    change_rows: list[str] = field(default_factory=list)
    first_trouble: list[tuple[datetime, str, str]] = field(default_factory=list)
    """(first failing event, service, evidence id), oldest first."""
    symptom: Symptom | None = None
    deployment: Deployment | None = None
    completeness: list[Completeness] = field(default_factory=list)
    levels_known: bool = True
    suspicious: int = 0
    focus: tuple[str, ...] = ()
    """Services asked for: impact and timeline are theirs, causes are looked for everywhere."""

    @property
    def conclusion(self) -> Conclusion:
        """What the analysis answers."""
        return self.analysis.conclusion

    @property
    def worst(self) -> Completeness:
        """The least complete answer of the run."""
        every = [self.description.completeness, *self.completeness]
        return max(
            every, key=lambda one: (one.failed_share, one.timed_out, bool(one.clusters_skipped), not one.complete)
        )

    @property
    def focus_node(self) -> Node:
        """Events of the services asked for; everything where none is."""
        parts: list[Node] = [Phrase("service", name) for name in self.focus]
        return Or(tuple(parts)) if len(parts) > 1 else conjunction(*parts)

    def row_of(self, fact: Fact) -> str:
        """Evidence id of a fact, or ""."""
        return next((row.evidence for row in self.facts if row.fact is fact), "")
