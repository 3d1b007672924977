"""The Diagnosis: what every format renders and what JSON consumers get (design: diagnosis.schema.json).

Own keys are snake_case; keys inside `fields`, `scope.fields` and `samples` are ECS names. Enum values are never
localised. Instants are RFC 3339 text in UTC with `Z`. Fields that are None are left out of the JSON unless the schema
requires them.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

Timestamp = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]
EvidenceId = Annotated[str, Field(pattern=r"^E[0-9]+$")]
OutcomeName = Literal["confirmed", "probable", "inconclusive", "no_anomaly", "insufficient_data"]
Status = Literal["ongoing", "recovering", "recovered", "intermittent", "unknown"]
ConfidenceLevel = Literal["high", "medium", "low", "none"]
Grade = Literal["confirmed", "likely", "possible"]
Change = Literal["new", "spiking", "rising", "steady", "falling", "vanished"]
ChangeKind = Literal["deployment", "restart", "config", "scaling", "failover", "certificate", "feature_flag", "other"]
CheckResult = Literal["signal", "no_signal", "not_possible", "skipped"]
BaselineMethod = Literal[
    "previous", "same_hour_yesterday", "same_hour_last_week", "blend", "before_onset", "explicit", "none"
]


class Model(BaseModel):
    """Base: no unknown keys, by name or alias."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, defer_build=True)


class ToolInfo(Model):
    """Which program wrote this."""

    name: Literal["logagent"] = "logagent"
    version: str
    mechanisms: str | None = None
    mode: Literal["full", "no_llm", "replay"] | None = None


class Scope(Model):
    """What was looked at."""

    indices: list[str] = Field(default_factory=list)
    filter: str | None = None
    exclude: list[str] = Field(default_factory=list)
    fields: dict[str, list[str]] = Field(default_factory=dict)


class Alert(Model):
    """The alert that started the run."""

    source: Literal["alertmanager", "grafana", "pagerduty", "opsgenie", "jsm", "kibana", "generic"]
    name: str | None = None
    status: Literal["firing", "resolved"] | None = None
    starts_at: Timestamp | None = None
    ends_at: Timestamp | None = None
    fingerprint: str | None = None
    labels: dict[str, str] | None = None
    url: str | None = None


class Request(Model):
    """What was asked, and how it was read."""

    command: Literal["diagnose", "ask", "compare", "watch", "webhook", "mcp"]
    question: str | None = None
    interpretation: str | None = None
    assumptions: list[str] = Field(default_factory=list)
    alert: Alert | None = None
    scope: Scope = Field(default_factory=Scope)


class Span(Model):
    """A half-open range of time."""

    from_: Timestamp = Field(alias="from")
    to: Timestamp


class Baseline(Model):
    """What the window was compared with, and why that."""

    method: BaselineMethod
    ranges: list[Span] = Field(default_factory=list)
    reason: str = ""


class Window(Model):
    """The window of the run. `now` is what relative times count back from."""

    from_: Timestamp = Field(alias="from")
    to: Timestamp
    display_time_zone: str
    now: Timestamp | None = None
    now_from: Literal["clock", "newest_event"] | None = None
    trimmed_seconds: float | None = None
    baseline: Baseline | None = None


class Severity(Model):
    """A suggestion by the severity table, never set by the model."""

    suggested: str
    scale: str
    basis: list[EvidenceId] = Field(default_factory=list)


class Confidence(Model):
    """Set by code; `capped_by` names the lowest cap of ux.md 3.1."""

    level: ConfidenceLevel
    reasons: list[str] = Field(default_factory=list)
    capped_by: str | None = None


class Summary(Model):
    """The words of the head."""

    headline: str = Field(max_length=120)
    what_is_happening: str
    probable_cause: str | None = None
    recommended_next: str | None = None
    strongest_lead: str | None = None
    stakeholder_update: str | None = None


class Onset(Model):
    """Since when."""

    started_at: Timestamp
    earliest: Timestamp | None = None
    latest: Timestamp | None = None
    certainty: Literal["exact", "interval", "before_window", "unknown"]
    method: str | None = None
    ended_at: Timestamp | None = None
    evidence: list[EvidenceId] = Field(default_factory=list)


class ImpactMeasure(Model):
    """One figure of the impact, or why it is missing."""

    value: float | int | None
    baseline: float | int | None = None
    unit: str | None = None
    approximate: bool | None = None
    field: str | None = None
    reason_missing: str | None = None
    evidence: list[EvidenceId] = Field(default_factory=list)

    @model_serializer(mode="wrap")
    def _keep_value(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """`value` is required by the schema, also as null."""
        return {"value": self.value, **handler(self)}


class Point(Model):
    """One bucket of a series with the baseline band."""

    at: Timestamp
    count: float
    expected_low: float | None = None
    expected_high: float | None = None
    partial: bool | None = None


class SeriesOut(Model):
    """One named series."""

    name: str
    points: list[Point]


class TimelineEvent(Model):
    """A mark on the timeline."""

    at: Timestamp
    kind: Literal["onset", "change", "alert", "restart", "gap", "recovery", "peak", "note"]
    label: str
    evidence: list[EvidenceId] = Field(default_factory=list)


class ServiceActivity(Model):
    """One service over the buckets of the first series: all its events, and those of them that fail."""

    name: str
    events: list[float]
    failing: list[float] = Field(default_factory=list)
    """Empty where nothing tells failing events."""


class Timeline(Model):
    """Failing events over time."""

    interval_seconds: int = Field(ge=1)
    unit: str = "failing events"
    series: list[SeriesOut] = Field(default_factory=list)
    services: list[ServiceActivity] = Field(default_factory=list)
    events: list[TimelineEvent] = Field(default_factory=list)


class Pattern(Model):
    """A message pattern in the window against the baseline."""

    id: str
    template: str
    change: Change
    count: int
    baseline_count: float | None = None
    ratio: float | None = None
    first_seen: Timestamp | None = None
    first_seen_is_lower_bound: bool | None = None
    last_seen: Timestamp | None = None
    fields: dict[str, list[str]] = Field(default_factory=dict)
    sparkline: list[float] = Field(default_factory=list)
    approximate: bool | None = None
    evidence: list[EvidenceId] = Field(default_factory=list)


class BlastValue(Model):
    """One value of a dimension: share among failing against healthy events."""

    value: str
    affected_events: float
    share_in_anomaly: float | None = None
    share_in_baseline: float | None = None
    lift: float | None = None


class BlastRadius(Model):
    """What is over-represented among failing events, and what is not affected."""

    dimension: str
    coverage: float | None = Field(default=None, ge=0, le=1)
    values: list[BlastValue]
    unaffected: list[str] = Field(default_factory=list)


class ChangeEvent(Model):
    """A change near the onset."""

    kind: ChangeKind
    at: Timestamp
    seconds_before_onset: float | None = None
    label: str
    fields: dict[str, Any] | None = None
    evidence: list[EvidenceId] = Field(default_factory=list)


class Trace(Model):
    """An exemplar trace."""

    trace_id: str = Field(alias="trace.id")
    services: list[str] = Field(default_factory=list)
    first_failure: dict[str, Any] | None = None
    evidence: list[EvidenceId] = Field(default_factory=list)


class FigureOut(Model):
    """What is computed from the hits."""

    op: Literal["count", "ratio", "distinct", "first", "last", "documents"]
    field: str | None = None
    of: str | None = None


class QueryOut(Model):
    """The query of a piece of evidence, in our language."""

    language: Literal["logagent"] = "logagent"
    text: str
    indices: list[str] = Field(default_factory=list)
    from_: Timestamp | None = Field(default=None, alias="from")
    to: Timestamp | None = None
    figure: FigureOut | None = None


class VerificationOut(Model):
    """Result of asking again."""

    state: Literal["verified", "drifted", "contradicted", "unverified", "error"]
    method: Literal["requery", "document_fetch", "recount", "none"] | None = None
    checked_at: Timestamp | None = None
    observed_value: float | str | None = None
    tolerance: float | None = None


class Link(Model):
    """A link out of the report."""

    rel: Literal["kibana_discover", "kibana_trace", "alert", "runbook", "dashboard", "incident", "report"]
    href: str
    title: str | None = None


class EvidenceOut(Model):
    """One piece of evidence. Samples are redacted; `_index` and `_id` name the document or file and line."""

    id: EvidenceId
    kind: Literal["count", "rate", "first_seen", "distribution", "sequence", "sample", "trace", "absence", "metadata"]
    statement: str
    value: float | int | str | None = None
    unit: str | None = None
    baseline_value: float | int | str | None = None
    approximate: bool | None = None
    query: QueryOut
    samples: list[dict[str, Any]] = Field(default_factory=list, max_length=5)
    verification: VerificationOut
    links: list[Link] = Field(default_factory=list)


class Hypothesis(Model):
    """One explanation. `grade` is set by code and absent when ruled out or untested."""

    id: str = Field(pattern=r"^H[0-9]+$")
    rank: int
    statement: str
    mechanism: str | None = None
    mechanism_id: str | None = None
    mechanism_lines: list[EvidenceId] = Field(default_factory=list)
    entity: dict[str, str] = Field(default_factory=dict)
    state: Literal["leading", "open", "ruled_out", "untested"]
    grade: Grade | None = None
    supporting: list[EvidenceId] = Field(default_factory=list)
    contradicting: list[EvidenceId] = Field(default_factory=list)
    discriminating: list[EvidenceId] = Field(default_factory=list)
    would_refute: str | None = None
    ruled_out_because: str | None = None


class Check(Model):
    """Something looked for, with the result, also when there was nothing."""

    name: str
    result: CheckResult
    detail: str | None = None
    evidence: list[EvidenceId] = Field(default_factory=list)


class NextStep(Model):
    """A read-only step; commands come from the action catalogue or a runbook, never from a log or the model."""

    order: int
    purpose: str
    tests: list[str] = Field(default_factory=list)
    source: Literal["catalogue", "runbook", "model"] | None = None
    action: str | None = None
    command: str | None = None
    command_kind: Literal["logagent", "kubectl", "systemd", "network", "sql", "es", "kafka", "redis", "none"] | None = (
        None
    )
    read_only: bool = True
    expect_if_true: str | None = None
    expect_if_false: str | None = None


class Mitigation(Model):
    """An option for the incident commander; no command."""

    label: str
    fits: list[str] = Field(default_factory=list)
    would_not_help: list[str] = Field(default_factory=list)
    watch_after: str | None = None


class Caveat(Model):
    """A warning about the data or the run."""

    code: str
    severity: Literal["info", "warning", "critical"] | None = None
    text: str


class Shards(Model):
    """Shards of the worst answer of the run."""

    total: int
    successful: int
    skipped: int = 0
    failed: int = 0


class Lag(Model):
    """Ingest lag."""

    p50: float | None = None
    p95: float | None = None
    source: Literal["event.ingested", "newest_document", "unknown"] = "unknown"


class Sampling(Model):
    """Share of the events that were read for patterns."""

    probability: float
    by: Literal["pipeline", "logagent"] = "logagent"


class DataQuality(Model):
    """What limits trust in the figures."""

    complete: bool
    shards: Shards | None = None
    timed_out: bool | None = None
    clusters: list[Any] | None = None
    newest_event_at: Timestamp | None = None
    ingest_lag_seconds: Lag | None = None
    clock_skew_seconds: float | None = None
    sampling: Sampling | None = None
    field_coverage: dict[str, float] = Field(default_factory=dict)
    redactions: int = 0
    suspicious_content: int = 0
    caveats: list[Caveat] = Field(default_factory=list)


class StoreUse(Model):
    """What the run asked of the log store."""

    backend: Literal["elasticsearch", "opensearch", "embedded"]
    requests: int = 0
    took_ms: int = 0
    documents_matched: int = 0


class Cost(Model):
    """Money spent at the model endpoint."""

    amount: float
    currency: str = "USD"
    estimated: bool = True


class ModelUse(Model):
    """What the run asked of the model (OTel GenAI names)."""

    provider: str = Field(default="", alias="gen_ai.provider.name")
    model: str = Field(default="", alias="gen_ai.request.model")
    requests: int = 0
    input_tokens: int = Field(default=0, alias="gen_ai.usage.input_tokens")
    output_tokens: int = Field(default=0, alias="gen_ai.usage.output_tokens")
    cost: Cost | None = None


class Usage(Model):
    """Time and requests of the run."""

    duration_ms: int
    store: StoreUse
    llm: ModelUse | None = None


class Diagnosis(Model):
    """Result of one investigation."""

    schema_version: str = "1.0"
    kind: Literal["diagnosis"] = "diagnosis"
    id: str
    created_at: Timestamp
    supersedes: str | None = None
    tool: ToolInfo
    language: str
    request: Request
    window: Window
    outcome: OutcomeName
    status: Status
    severity: Severity | None = None
    confidence: Confidence
    summary: Summary
    onset: Onset | None = None
    impact: dict[str, ImpactMeasure] | None = None
    timeline: Timeline | None = None
    patterns: list[Pattern] = Field(default_factory=list)
    blast_radius: list[BlastRadius] = Field(default_factory=list)
    changes: list[ChangeEvent] = Field(default_factory=list)
    traces: list[Trace] = Field(default_factory=list)
    evidence: list[EvidenceOut] = Field(default_factory=list)
    hypotheses: list[Hypothesis] = Field(default_factory=list)
    checks: list[Check] = Field(default_factory=list)
    next_steps: list[NextStep] = Field(default_factory=list)
    mitigations: list[Mitigation] = Field(default_factory=list)
    open_questions: list[str] = Field(default_factory=list)
    data_quality: DataQuality
    usage: Usage
    links: list[Link] = Field(default_factory=list)

    def to_json(self) -> str:
        """One JSON document, keys by alias, None left out, in the order of the fields; no trailing newline."""
        return self.model_dump_json(by_alias=True, exclude_none=True)
