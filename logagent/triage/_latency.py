"""Slow calls in figures, where they are what the leading suspect is suspected for."""

from dataclasses import dataclass
from typing import Literal

from logagent.analysis.directions import WayFigure
from logagent.analysis.facts import Fact, Suspect
from logagent.analysis.figures import flag, number
from logagent.times import delay
from logagent.triage._findings import Findings
from logagent.triage._hypotheses import Words


@dataclass(frozen=True, slots=True)
class Slowness:
    """Slow calls of a suspect; times in seconds."""

    service: str
    other: str
    """Who is called or calls, "" for all of its calls or its own work."""
    calling: bool
    """Whether these are calls to `other`, else from it."""
    slow: int
    calls: int
    """0 where only the times are known."""
    now: float
    before: float | None
    row: str
    every: tuple[str, ...] = ()
    """All services that are slow, where that is nearly everybody."""
    sampled: bool = False
    """Whether these are calls of the requests looked at, not all."""
    paired: bool = False
    """Whether nothing tells which of the two is the slow one."""

    @property
    def told(self) -> Literal["lead", "pair", "everywhere"]:
        """What the calls tell: whom to look at first, between which two it is, or that all are slow."""
        return "everywhere" if self.every else "pair" if self.paired else "lead"

    @property
    def name(self) -> str:
        """Whose calls these are, and to or from whom."""
        pair = (self.service, self.other) if self.calling else (self.other, self.service)
        return " -> ".join(name for name in pair if name)

    def words(self, words: Words) -> str:
        """`14 of 14 calls to login are slow: 1.01 s, 3 ms before`."""
        key = ("slow_calls" if self.calls else "slow_lines") + ("" if self.before is not None else "_only")
        way = words.say("impact.to" if self.calling else "impact.from", other=self.other) if self.other else ""
        seen = words.say("impact.sampled") if self.sampled else ""
        values = {
            "slow": f"{self.slow:,}",
            "calls": f"{self.calls:,}",
            "seen": seen,
            "way": way,
            "now": delay(self.now),
        }
        return words.say(f"impact.{key}", before=delay(self.before or 0.0), **values)


def slowness(findings: Findings, suspect: Suspect | None) -> Slowness | None:
    """The slow calls of a suspect whose best fact is about them; None for any other suspect."""
    fact = suspect.facts[0] if suspect is not None and suspect.facts else None
    if fact is None or not fact.kind.startswith("slow"):
        return None
    if isinstance(way := fact.figures.get("way"), WayFigure):
        return _of_way(fact, way, findings)
    shift, calls = fact.kind == "slow_shift", round(number(fact, "n"))
    return Slowness(
        service=fact.service,
        other="",
        calling=True,
        slow=round(number(fact, "share") * calls),
        calls=calls,
        now=number(fact, "after") / 1000 if shift else number(fact, "p50"),
        before=number(fact, "before") / 1000 if shift else None,
        row=findings.row_of(fact),
        sampled=not findings.material.complete,
    )


def _of_way(fact: Fact, way: WayFigure, findings: Findings) -> Slowness:
    calling = way.a == fact.service
    other = "" if way.a == way.b else way.b if calling else way.a
    times = (way.slow, way.calls, way.now, way.before)
    every = fact.figures.get("everywhere")
    named = tuple(map(str, every)) if isinstance(every, list) else ()
    row, sampled = findings.row_of(fact), not findings.material.complete
    return Slowness(fact.service, other, calling, *times, row, named, sampled, paired=flag(fact, "pair"))
