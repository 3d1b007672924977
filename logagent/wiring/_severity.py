"""The suggested severity: the first line of the table of settings that holds for the figures (ux.md 3.1)."""

from logagent.diagnosis import OutcomeName, Severity
from logagent.settings import Settings, SeverityRule
from logagent.triage import Findings, standing


def suggest(settings: Settings, findings: Findings, outcome: OutcomeName) -> Severity | None:
    """Name, scale and basis; None where nothing is wrong or nothing can be told, or the scale is not set."""
    table = settings.severity.get(settings.ui.severity_scale)
    if outcome in {"no_anomaly", "insufficient_data"} or not table:
        return None
    basis = [findings.volume_row] if findings.volume_row else []
    for name, rule in table.items():
        if _holds(rule, findings):
            return Severity(suggested=name, scale=settings.ui.severity_scale, basis=basis)
    return None


def _holds(rule: SeverityRule, findings: Findings) -> bool:
    """Any of the conditions is enough; a ratio counts from the events that the rule asks for; an empty rule holds."""
    ratio, volume = findings.volume.ratio or 0.0, findings.volume
    if findings.symptom is not None:
        ratio = max(ratio, findings.symptom.ratio or 0.0)
    whole = volume.requests if volume.unit == "requests" else volume.events
    conditions = [
        rule.error_ratio is not None and ratio >= rule.error_ratio and whole >= (rule.min_events or 0),
        rule.failing_services is not None and _services(findings) >= rule.failing_services,
        bool(rule.new_fatal_pattern) and any(p.change == "new" and p.levels == "FATAL" for p in findings.patterns),
    ]
    empty = rule.error_ratio is None and rule.failing_services is None and rule.new_fatal_pattern is None
    return empty or any(conditions)


def _services(findings: Findings) -> int:
    """Services in trouble: those that leave their band; all that fail, where the baseline has the same trouble."""
    unusual = len(findings.anomalous_services)
    return max(unusual, findings.volume.services_failing) if standing(findings) == "chronic" else unusual
