"""Blame: how much each service is suspected, by few rules in this order (analysis.md 5)."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from logagent.analysis.facts import Fact, Suspect
from logagent.analysis.figures import number
from logagent.analysis.limits import EDGE
from logagent.analysis.steps import first_share
from logagent.analysis.study import Study

WEIGHT: Mapping[str, float] = {
    "own_error": 3.0,
    "own_gone": 3.0,
    "entry_gone": 3.0,
    "unreachable": 3.0,
    "slow_peer": 2.5,
    "slow": 2.5,
    "episode": 2.0,
    "needle": 2.0,
    "mechanism": 2.0,
    "ramp": 2.0,
    "slow_shift": 2.0,
    "slow_endpoint": 1.8,
    "slow_number": 1.5,
    "silent": 1.5,
    "slow_hint": 1.0,
    "stops": 1.0,
    "spike": 1.0,
    "undiscovered": 1.0,
    "steady_error": 1.0,
    "mechanism_weak": 0.8,
    "relay": 0.5,
    "relay_episode": 0.3,
    "branch": 0.3,
    "healed": 0.1,
}
OWN = frozenset({"own_error", "own_gone", "entry_gone"})
CLAIM = OWN | {"unreachable", "slow", "needle", "episode", "mechanism", "ramp", "slow_shift", "slow_endpoint"}
"""Facts that a cause may be claimed on."""
_UNTESTED = frozenset(
    {"needle", "slow_number", "steady_error", "healed", "mechanism", "mechanism_weak", "ramp", "slow_endpoint"}
)
_SAME_LINES = {"mechanism": "needle", "mechanism_weak": "needle"}
"""The same lines count once."""
_LINES = frozenset({"needle", "mechanism", "mechanism_weak"})
BLAMED = 0.4
"""Per distinct service whose errors name this one, two at most."""
EXCUSED = 0.34
"""What is left of a fact that another one explains."""
LATER = 0.75
"""What is left of a fact that begins well after a sure one of another service."""
_SIDE = 0.25
_SURE = 1e-4
_LEAD_S = 10.0


def claimable(fact: Fact) -> bool:
    """Whether a cause may be claimed on a fact."""
    return fact.kind in CLAIM


def rank(study: Study, facts: Sequence[Fact]) -> list[Suspect]:
    """Services by score; what an earlier break in the same requests explains counts a third."""
    values = _values(study, facts)
    kept: defaultdict[str, dict[str, tuple[float, Fact]]] = defaultdict(dict)
    for fact, value in zip(facts, values, strict=True):
        kind = _SAME_LINES.get(fact.kind, fact.kind)
        before = kept[fact.service].get(kind)
        if before is None or value > before[0]:
            kept[fact.service][kind] = (value, fact)
    suspects = {service: _suspect(service, rows.values(), facts) for service, rows in kept.items()}
    _add_blame(study, suspects, facts)
    return sorted(suspects.values(), key=lambda suspect: (-suspect.score, suspect.service))


def _values(study: Study, facts: Sequence[Fact]) -> list[float]:
    """Weight times strength of every fact, less what excuses it."""
    share = first_share(study.window, facts)
    strong = {fact.service for fact in facts if claimable(fact) or fact.kind == "slow_peer"}
    sure = [fact for fact in facts if claimable(fact) and fact.onset and fact.p <= _SURE]
    lead = max(_LEAD_S, EDGE * study.window.length)
    values = []
    for fact in facts:
        value = WEIGHT[fact.kind] * strength(fact)
        if fact.kind == "steady_error":
            value *= min(1.0, math.log10(1 + number(fact, "count")) / 1.5)
        if fact.kind in OWN and share.get(fact.service, 1.0) < 0.5:  # noqa: PLR2004
            value *= EXCUSED
        if fact.blames & strong - {fact.service}:
            value *= EXCUSED
        if _later(fact, sure, lead):
            value *= LATER
        values.append(value)
    return values


def strength(fact: Fact) -> float:
    """Weight of a fact by its test: 0.4 at p = 1, 1 from p = 1e-6 on; without a test its own weight."""
    if fact.kind in _UNTESTED:
        return fact.weight
    return fact.weight * min(1.0, 0.4 + max(0.0, -math.log10(max(fact.p, 1e-300))) / 10)


def _later(fact: Fact, sure: Sequence[Fact], lead: float) -> bool:
    """Whether a sure fact of another service began well before this one: cause precedes symptom."""
    if fact.onset is None:
        return False
    begin = fact.onset[1] - lead
    return any(other.service != fact.service and other.onset is not None and other.onset[1] < begin for other in sure)


def _suspect(service: str, rows: Iterable[tuple[float, Fact]], facts: Sequence[Fact]) -> Suspect:
    """Best fact, and a quarter of each other kind; all facts about lines are kept for the reader."""
    ordered = sorted(rows, key=lambda row: -row[0])
    best, rest = ordered[0][0], sum(value for value, _ in ordered[1:])
    kept = [fact for _, fact in ordered]
    seen = {id(fact) for fact in kept}
    kept += [fact for fact in facts if fact.service == service and fact.kind in _LINES and id(fact) not in seen]
    return Suspect(service, best + _SIDE * rest, kept)


def _add_blame(study: Study, suspects: dict[str, Suspect], facts: Sequence[Fact]) -> None:
    """Raise the services that errors of others name, and note all that name them, with a fact about it or without."""
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for fact in facts:
        for named in fact.blames:
            callers[named].add(fact.service)
    naming = study.naming if callers else {}
    for named, who in callers.items():
        suspect = suspects.setdefault(named, Suspect(named, 0.0))
        if not any(fact.kind in ("unreachable", "undiscovered") for fact in suspect.facts):
            suspect.score += BLAMED * min(2, len(who))
        suspect.notes.append(f"named by errors of {', '.join(sorted(who | naming.get(named, set())))}")
