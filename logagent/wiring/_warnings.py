"""Warnings about the data that do not end a run: shifted or missing times, partial answers (ux.md 2.9)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from logagent.diagnosis import Caveat
from logagent.events import Notice, OnEvent
from logagent.logs import Completeness, iso
from logagent.stores._base import Description
from logagent.texts import Catalogue as Texts

_HOUR = 3600
_ALMOST = 0.1
"""Share of an hour by which a shift may miss whole hours: ingest is not instant."""
Values = dict[str, object]


def data_warnings(description: Description, worst: Completeness, clock: datetime) -> Iterator[tuple[str, Values]]:
    """Codes of `texts/` with their values, in the order of the codes."""
    hours = _hours_ahead(description, clock)
    if hours and description.last is not None:
        yield "LA305", {"hours": hours, "newest": iso(description.last)}
    if any(note.startswith("LA308") for note in description.notes):
        yield "LA308", {"path": ", ".join(one.name for one in description.sources[:3]), "lines": description.events}
    failed = max(worst.shards_failed, worst.shards_total - worst.shards_successful)
    if failed:
        share = f"{100 * worst.failed_share:.0f}"
        reason = "; ".join(worst.reasons[:2])
        yield "LA401", {"failed": failed, "total": worst.shards_total, "percent": share, "reason": reason}
    for name in worst.clusters_skipped:
        yield "LA402", {"cluster": name}
    if worst.timed_out:
        yield "LA403", {}


def tell(found: Iterator[tuple[str, Values]], texts: Texts, on_event: OnEvent) -> list[Caveat]:
    """Say each warning once, and give the caveats that the diagnosis carries."""
    caveats = []
    for code, values in found:
        on_event(Notice(code, values))
        text = texts.error(code, values)
        level: Literal["info", "warning"] = "info" if text.kind == "notice" else "warning"
        caveats.append(Caveat(code=code, severity=level, text=text.title))
    return caveats


def _hours_ahead(description: Description, clock: datetime) -> int:
    """Whole hours by which the newest event lies in the future: local times stored as UTC."""
    if description.last is None:
        return 0
    ahead = (description.last - clock).total_seconds() / _HOUR
    return round(ahead) if round(ahead) >= 1 and abs(ahead - round(ahead)) <= _ALMOST else 0
