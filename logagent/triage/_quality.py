"""What limits trust in the figures: completeness, coverage, sampling, caveats."""

from typing import Literal

from logagent.diagnosis import Caveat, DataQuality, Lag, Sampling, Shards
from logagent.expressions import expression
from logagent.fields import ECS, Role
from logagent.logs import iso
from logagent.stores._base import Description
from logagent.triage._findings import Findings
from logagent.triage._hypotheses import Words
from logagent.triage._latency import slowness
from logagent.triage._statements import Clean

_FIELD_NOTE = expression(r"[a-z_]+: .+ \(\d+%\)")
"""A note of a store about a chosen field; shown in the first step and by doctor."""
FEW = 20
"""Events under which the report says how few there were."""
LEFT_OUT = 0.05
"""Share of events without a usable time from which the data count as incomplete."""
_COVERED: tuple[Role, ...] = ("service", "severity", "trace_id", "status", "host", "version", "user")


def data_quality(
    findings: Findings, words: Words, clean: Clean, *, caveats: list[Caveat], redactions: int
) -> DataQuality:
    """Of one run; `caveats` are those that the run itself has."""
    worst, description = findings.worst, findings.description
    fields = description.fields
    shares = {ECS[role]: round(fields.coverage(role), 3) for role in _COVERED if fields.roles.get(role)}
    lag = description.lag_seconds
    return DataQuality(
        complete=worst.complete and not _many_left_out(findings),
        shards=Shards(
            total=worst.shards_total,
            successful=worst.shards_successful,
            skipped=worst.shards_skipped,
            failed=worst.shards_failed,
        ),
        timed_out=worst.timed_out,
        newest_event_at=iso(description.last) if description.last else None,
        ingest_lag_seconds=Lag(p95=lag, source="event.ingested") if lag is not None else None,
        sampling=None if findings.material.complete else Sampling(probability=round(findings.material.share, 6)),
        field_coverage=shares,
        redactions=redactions,
        suspicious_content=findings.suspicious,
        caveats=[*caveats, *_caveats(findings, words, clean)],
    )


def _many_left_out(findings: Findings) -> bool:
    """Whether so many events have no usable time that the report is one of a part of the data."""
    untimed = findings.description.untimed
    return untimed > LEFT_OUT * max(1, untimed + findings.volume.events)


def _without_times(description: Description) -> list[str]:
    """Files of which no event has a time, where others have times."""
    if description.backend != "embedded" or not (description.has_times and description.untimed):
        return []
    return [source.name for source in description.sources if source.events and source.first is None]


def _caveats(findings: Findings, words: Words, clean: Clean) -> list[Caveat]:
    description, volume = findings.description, findings.volume
    without = _without_times(description)
    found: list[tuple[str, bool, dict[str, object]]] = [
        ("suspicious", findings.suspicious > 0, {"n": findings.suspicious}),
        ("short_window", volume.events < FEW, {"n": volume.events}),
        ("sampled", not findings.material.complete, {"share": f"{findings.material.share:.1%}"}),
        ("untimed", description.untimed > 0 and not without, {"n": f"{description.untimed:,}"}),
        ("untimed_in", bool(without), {"n": f"{description.untimed:,}", "sources": clean(", ".join(without))}),
        ("unparsed", description.unparsed > 0, {"n": f"{description.unparsed:,}"}),
        ("future", description.future > 0, {"n": f"{description.future:,}"}),
        ("no_levels", not findings.levels_known, {}),
    ]
    notes = [note for note in description.notes if not _FIELD_NOTE.fullmatch(note) and not note.startswith("LA")]
    told = [Caveat(code="source", severity="warning", text=clean(note)) for note in notes]
    severe: dict[str, Literal["warning"]] = {"suspicious": "warning", "unparsed": "warning", "future": "warning"}
    ranking = findings.conclusion.ranking
    texts = {"sampled": "sampled_calls"} if slowness(findings, ranking[0] if ranking else None) is not None else {}
    if _many_left_out(findings):
        severe["untimed"] = severe["untimed_in"] = "warning"
    return told + [
        Caveat(
            code=code, severity=severe.get(code, "info"), text=words.say(f"caveat.{texts.get(code, code)}", **values)
        )
        for code, holds, values in found
        if holds
    ]
