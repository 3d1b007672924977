"""Sources of a scope, their ends and their lag, from the buckets of an answer."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from logagent.expressions import expression
from logagent.fields import FieldMap, instant_of
from logagent.logs import instant
from logagent.stores._base import SourceInfo

_BACKING = expression(r"^\.ds-(?P<stream>.+?)(?:-\d{4}\.\d{2}\.\d{2})?-\d{6}$")
_DAILY = expression(r"^(?P<stem>.+?)[-.]\d{4}[.-]\d{2}(?:[.-]\d{2})?(?:-\d{6})?$")


def stem_of(name: str) -> str:
    """A name without the date at its end."""
    match = _DAILY.match(name)
    return match["stem"] if match else name


def buckets_of(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The buckets of one aggregation, or none."""
    found = ((answer.get("aggregations") or {}).get(name) or {}).get("buckets") or []
    return list(found)


def at_of(agg: Mapping[str, Any] | None) -> datetime | None:
    """The value of a min or max of times."""
    value = (agg or {}).get("value")
    return instant(value / 1_000).astimezone(UTC) if isinstance(value, int | float) else None


def sources_of(buckets: Sequence[Mapping[str, Any]]) -> list[SourceInfo]:
    """Backing indices under the name of their data stream, daily indices under their pattern."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for bucket in buckets:
        name = str(bucket["key"])
        stream, daily = _BACKING.match(name), _DAILY.match(name)
        group = stream["stream"] if stream else f"{daily['stem']}-*" if daily else name
        groups.setdefault(group, []).append(bucket)
    found = []
    for name, members in groups.items():
        firsts = [at for member in members if (at := at_of(member.get("first")))]
        lasts = [at for member in members if (at := at_of(member.get("last")))]
        single = len(members) == 1 and not _BACKING.match(str(members[0]["key"]))
        found.append(
            SourceInfo(
                name=str(members[0]["key"]) if single else name,
                events=sum(int(member["doc_count"]) for member in members),
                first=min(firsts, default=None),
                last=max(lasts, default=None),
                note=""
                if single
                else f"{len(members)} {'backing indices' if _BACKING.match(str(members[0]['key'])) else 'indices'}",
            )
        )
    return sorted(found, key=lambda source: -source.events)


def lag_of(found: FieldMap, values: Sequence[Mapping[str, Any]]) -> float | None:
    """95th percentile of the seconds between event and ingest among the newest documents."""
    time, ingested = found.first("timestamp"), found.first("ingested")
    if time is None or ingested is None:
        return None
    lags = []
    for document in values:
        event, arrived = instant_of(document.get(time.name)), instant_of(document.get(ingested.name))
        if event and arrived:
            lags.append(max(0.0, (arrived - event).total_seconds()))
    return sorted(lags)[min(len(lags) - 1, int(len(lags) * 0.95))] if lags else None
