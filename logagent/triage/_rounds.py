"""What changed between one look at the logs and the next one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from logagent.diagnosis import Diagnosis, Pattern

News = Literal["start", "pattern", "outcome", "status", "rate", "recovered"]
RISE, FALL = 1.25, 0.8
"""Ratios of failing shares from which a change is told."""
_LEAST = 0.005
"""Smallest difference of failing shares that is told."""
_TOLD = frozenset({"new", "spiking", "vanished"})
_TROUBLE = frozenset({"confirmed", "probable", "inconclusive"})


@dataclass(frozen=True, slots=True)
class Novelty:
    """One thing that was not so at the look before."""

    kind: News
    text: str = ""
    """Headline, template or outcome."""
    service: str = ""
    change: str = ""
    count: int = 0
    before: float | None = None
    now: float | None = None


class Rounds:
    """Looks one after the other; each is told as its difference from those before."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str, str]] = set()
        self._last: Diagnosis | None = None
        self._told_rate: float | None = None
        self.troubled = False
        """Whether any look found trouble."""
        self.recovered = False
        """Whether the newest look found that it is over."""

    def look(self, diagnosis: Diagnosis) -> list[Novelty]:
        """What is new with this diagnosis; empty where it says the same as the one before."""
        first, before = self._last is None, self._last
        found: list[Novelty] = []
        if before is None:
            found.append(Novelty("start", diagnosis.summary.headline, change=diagnosis.outcome))
        else:
            found += _states(before, diagnosis)
        found += self._patterns(diagnosis.patterns, first=first)
        found += self._rate(diagnosis)
        found += self._recovery(diagnosis)
        self._last = diagnosis
        return found

    def _patterns(self, patterns: Sequence[Pattern], *, first: bool) -> list[Novelty]:
        found = []
        for one in patterns:
            services = one.fields.get("service.name", [])
            key = (one.template, ",".join(services), one.change)
            if one.change not in _TOLD or key in self._seen:
                continue
            self._seen.add(key)
            if not first or one.change == "new":
                found.append(Novelty("pattern", one.template, ", ".join(services), one.change, one.count))
        return found

    def _rate(self, diagnosis: Diagnosis) -> list[Novelty]:
        ratio = (diagnosis.impact or {}).get("error_ratio")
        now = ratio.value if ratio is not None else None
        before, now = self._told_rate, float(now) if now is not None else None
        if now is None:
            return []
        if before is None:
            self._told_rate = now
            return []
        moved = now >= RISE * before or now <= FALL * before
        if not moved or abs(now - before) < _LEAST:
            return []
        self._told_rate = now
        return [Novelty("rate", before=before, now=now)]

    def _recovery(self, diagnosis: Diagnosis) -> list[Novelty]:
        over = diagnosis.status == "recovered" or (self.troubled and diagnosis.outcome == "no_anomaly")
        self.troubled = self.troubled or diagnosis.outcome in _TROUBLE
        self.recovered = self.troubled and over
        return [Novelty("recovered", diagnosis.summary.headline)] if self.recovered else []


def _states(before: Diagnosis, now: Diagnosis) -> list[Novelty]:
    found = []
    if now.outcome != before.outcome:
        found.append(Novelty("outcome", now.summary.headline, change=now.outcome))
    if now.status != before.status:
        found.append(Novelty("status", now.summary.headline, change=now.status))
    return found
