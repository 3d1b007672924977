# ruff: noqa: S608 - names come from the loaded columns only, values are parameters
"""What the embedded store tells of itself."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from logagent.fields import ECS
from logagent.logs import Completeness
from logagent.stores._base import Description, SourceInfo
from logagent.stores._local_load import Table
from logagent.stores._local_sources import Opened
from logagent.stores._local_sql import naive

Run = Callable[[str, str, Sequence[object]], list[tuple[Any, ...]]]


def describe(run: Run, table: Table, opened: Opened, now: datetime) -> Description:
    """Sources, fields, first and last event, and what could not be used."""
    empty = f"coalesce({', '.join(table.columns.values())}) IS NULL" if table.columns else "true"
    figures = (
        "count(*) FILTER (ts IS NOT NULL), min(ts), "
        "coalesce(max(ts) FILTER (ts <= ?), max(ts)), count(*) FILTER (ts > ?), "
        f"count(*) FILTER (ts IS NULL AND NOT ({empty})), count(*) FILTER ({empty})"
    )
    cut = [naive(now + timedelta(days=1)), naive(now)]
    sources, rows = [], []
    for name, (start, end) in table.ranges.items():
        row = run("describe", f"SELECT {figures} FROM logs WHERE rowid >= ? AND rowid < ?", [*cut, start, end])[0]
        rows.append(row)
        sources.append(SourceInfo(name, row[0] + row[4], _aware(row[1]), _aware(row[2]), opened.kinds.get(name, "")))
    firsts = [row[1] for row in rows if row[1] is not None]
    lasts = [row[2] for row in rows if row[2] is not None]
    from logagent.stores._duckdb import __version__  # noqa: PLC0415 - loaded already

    return Description(
        backend="embedded",
        product=f"embedded (DuckDB {__version__})",
        sources=tuple(sources),
        fields=table.fields,
        events=sum(source.events for source in sources),
        first=_aware(min(firsts, default=None)),
        last=_aware(max(lasts, default=None)),
        lag_seconds=None,
        unparsed=sum(row[5] for row in rows) + sum(opened.unparsed.values()),
        future=0 if table.ordered else sum(row[3] for row in rows),
        untimed=sum(row[4] for row in rows),
        has_times=not table.ordered,
        notes=(*opened.notes, *table.notes, *_chosen(table)),
        completeness=Completeness(cut=tuple(opened.cut)),
    )


def _chosen(table: Table) -> list[str]:
    """The fields that were chosen, with their coverage."""
    notes = []
    for role in ECS:
        choices = table.fields.roles.get(role, ())
        if choices:
            named = ", ".join(f"{choice.name} ({choice.coverage:.0%})" for choice in choices)
            notes.append(f"{role}: {named}")
    return notes


def _aware(at: datetime | None) -> datetime | None:
    return None if at is None else at.replace(tzinfo=UTC)
