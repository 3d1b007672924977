"""A made-up diagnosis with every part filled, for the reports."""

from datetime import datetime, timedelta

import pytest

from logagent.diagnosis import Diagnosis

START = datetime.fromisoformat("2026-11-24T06:01:00Z")


def _stamp(minutes: float) -> str:
    return (START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _points() -> list[dict[str, object]]:
    counts = [3, 2, 4, 1, 40, 110, 190, 180, 205, 198, 212, 190, 187, 199, 201]
    return [
        {"at": _stamp(minute), "count": count, "expected_low": 0, "expected_high": 18}
        for minute, count in enumerate(counts)
    ]


def _evidence(number: int, kind: str, statement: str, text: str) -> dict[str, object]:
    query = {"text": text, "indices": ["logs.ndjson.gz"], "from": _stamp(0), "to": _stamp(30)}
    return {
        "id": f"E{number}",
        "kind": kind,
        "statement": statement,
        "query": query,
        "verification": {"state": "verified", "method": "requery"},
    }


def _pattern(number: int, change: str, counts: tuple[int, int], service: str, template: str) -> dict[str, object]:
    return {
        "id": f"P{number}",
        "template": template,
        "change": change,
        "count": counts[0],
        "baseline_count": counts[1],
        "first_seen": "2026-11-24T06:05:20Z",
        "last_seen": "2026-11-24T06:30:58Z",
        "fields": {"service.name": [service]},
        "sparkline": [0, 0, 4, 90, 110],
        "evidence": [f"E{number + 1}"],
    }


def _outage() -> dict[str, object]:
    return {
        "id": "20261124-0631-7f3a",
        "created_at": "2026-11-30T08:00:00Z",
        "tool": {"version": "0.1.0", "mode": "no_llm"},
        "language": "en",
        "request": {"command": "diagnose"},
        "window": {
            "from": _stamp(0),
            "to": _stamp(30),
            "display_time_zone": "Asia/Shanghai",
            "now": _stamp(30),
            "now_from": "newest_event",
            "baseline": {
                "method": "previous",
                "ranges": [{"from": _stamp(-30), "to": _stamp(0)}],
                "reason": "the window before",
            },
        },
        "outcome": "confirmed",
        "status": "ongoing",
        "severity": {"suggested": "SEV2", "scale": "sev1-4", "basis": ["E1"]},
        "confidence": {"level": "high", "reasons": ["a line says how it broke (E2)", "nothing contradicts it"]},
        "summary": {
            "headline": "order-api: 1 in 6 requests fails, payment-api: connection pool exhausted",
            "what_is_happening": "160 of 932 requests failed [E1].",
            "probable_cause": "Connection pool exhausted in payment-api 3.4.1 [E2 E4].",
            "recommended_next": "compare the pool settings",
        },
        "onset": {
            "started_at": "2026-11-24T06:05:20Z",
            "earliest": "2026-11-24T06:05:10Z",
            "latest": "2026-11-24T06:05:20Z",
            "certainty": "interval",
            "evidence": ["E2"],
        },
        "impact": {
            "events": {"value": 320, "baseline": 12, "unit": "failing events", "evidence": ["E1"]},
            "error_ratio": {"value": 0.171674, "baseline": 0.002, "unit": "of requests", "evidence": ["E1"]},
            "requests": {"value": 932, "unit": "requests", "evidence": ["E1"]},
            "services": {"value": 3, "unit": "of 8 services"},
            "users": {"value": 148, "approximate": True, "field": "user.id", "evidence": ["E6"]},
        },
        "timeline": {
            "interval_seconds": 60,
            "unit": "failing events",
            "series": [{"name": "order-api", "points": _points()}],
            "events": [
                {"at": "2026-11-24T06:03:12Z", "kind": "change", "label": "payment-api 3.4.1 first logs"},
                {"at": "2026-11-24T06:05:20Z", "kind": "onset", "label": "onset"},
            ],
        },
        "patterns": [
            _pattern(1, "new", (159, 0), "payment-api", "HikariPool-1 - Connection is not available, request timed out after <*>ms (total=4, active=4, idle=0, waiting=<*>)"),
            _pattern(2, "spiking", (160, 3), "order-api", "payment call failed: 503 Service Unavailable order=<*>"),
            _pattern(3, "falling", (612, 790), "payment-api", "payment settled order=<*>"),
            _pattern(4, "steady", (30, 31), "notification-worker", "mail server answered 451"),
        ],
        "blast_radius": [
            {
                "dimension": "service.version",
                "values": [{"value": "3.4.1", "affected_events": 159, "share_in_anomaly": 1.0, "share_in_baseline": 0.14, "lift": 7.1}],
                "unaffected": ["3.4.0"],
            },
            {
                "dimension": "cloud.availability_zone",
                "values": [{"value": "eu-west-1b", "affected_events": 159, "share_in_anomaly": 1.0, "share_in_baseline": 0.18, "lift": 5.6}],
                "unaffected": ["eu-west-1a", "eu-west-1c"],
            },
        ],
        "changes": [{"kind": "deployment", "at": "2026-11-24T06:03:12Z", "label": "payment-api 3.4.1 first logs"}],
        "evidence": [
            _evidence(1, "rate", "160 of 932 requests failed; 0.2 % in the baseline", "http.response.status_code:[500 TO 599]"),
            _evidence(2, "first_seen", 'first line of payment-api "HikariPool-1" at 06:05:20', 'message:"Connection is not available"'),
            _evidence(4, "distribution", "100 % of failing events have 3.4.1", 'service.version:"3.4.1"'),
        ],
        "hypotheses": [
            {"id": "H1", "rank": 1, "statement": "payment-api exhausts its connection pool", "mechanism_id": "pool.exhausted",
             "entity": {"service.name": "payment-api"}, "state": "leading", "grade": "confirmed", "supporting": ["E2", "E4"]},
            {"id": "H2", "rank": 2, "statement": "order-api fails by itself", "state": "ruled_out",
             "ruled_out_because": "its errors name payment-api"},
        ],
        "checks": [
            {"name": "error rate", "result": "signal"},
            *({"name": name, "result": "no_signal"} for name in ("memory", "disk", "dns", "tls", "auth", "restarts")),
            {"name": "database logs", "result": "not_possible", "detail": "no such service"},
        ],
        "next_steps": [
            {"order": 1, "purpose": "compare pool settings of the failing and the healthy version", "source": "catalogue",
             "command": "kubectl -n shop get deploy payment-api -o yaml | grep -i pool", "command_kind": "kubectl"},
        ],
        "open_questions": ["Was the change at 14:03:12 made on purpose?"],
        "data_quality": {
            "complete": True,
            "shards": {"total": 1, "successful": 1},
            "field_coverage": {"service.name": 1.0, "trace.id": 0.96},
            "redactions": 3,
        },
        "usage": {"duration_ms": 812, "store": {"backend": "embedded", "requests": 11, "took_ms": 402}},
    }  # fmt: skip


@pytest.fixture
def outage() -> Diagnosis:
    return Diagnosis.model_validate(_outage())


@pytest.fixture
def quiet(outage: Diagnosis) -> Diagnosis:
    return outage.model_copy(
        update={
            "outcome": "no_anomaly",
            "status": "unknown",
            "severity": None,
            "hypotheses": [],
            "patterns": [],
            "changes": [],
            "blast_radius": [],
            "onset": None,
            "summary": outage.summary.model_copy(
                update={"headline": "nothing unusual in all services", "probable_cause": None}
            ),
        }
    )


@pytest.fixture
def cannot_tell(outage: Diagnosis) -> Diagnosis:
    words = {
        "headline": "cannot tell: pricing-api stopped logging",
        "probable_cause": None,
        "strongest_lead": "pricing-api fell silent [E2]. Its callers still succeed.",
    }
    return outage.model_copy(
        update={
            "outcome": "insufficient_data",
            "status": "unknown",
            "severity": None,
            "confidence": outage.confidence.model_copy(update={"level": "none", "reasons": []}),
            "hypotheses": [],
            "patterns": [outage.patterns[1].model_copy(update={"change": "vanished", "count": 0})],
            "blast_radius": [],
            "next_steps": [],
            "summary": outage.summary.model_copy(update=words),
        }
    )
