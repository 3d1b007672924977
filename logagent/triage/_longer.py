"""A longer baseline, where the one that was chosen lies in the same trouble as the window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from logagent.analysis.pattern_query import failing_node
from logagent.logs import Severity, TimeWindow, instant
from logagent.query import Exists, conjunction
from logagent.stores._base import Measure
from logagent.triage._baseline import BaselineChoice
from logagent.triage._read import READ_ALL
from logagent.triage._run import Run
from logagent.triage._standing import ALIKE, HIGH, LEAST

REASON = "longer"
"""Of a baseline that was made longer (diagnosis.baseline.*)."""
_LENGTHS = (12, 6, 3)
"""How far back is looked, in windows; the series of a longer span would be too coarse to date a beginning."""
_WORTH = 1.5
"""Windows before this one from which a longer look tells more."""
_CALM = 0.5
"""Length of a calm stretch, in windows, that is enough to compare with."""
_CHOSEN = frozenset({"previous", "yesterday", "blend"})
"""Reasons of baselines that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Look:
    """What is asked about the chosen baseline, and how far back a longer one could go."""

    measures: tuple[Measure, ...] = ()
    starts: tuple[datetime, ...] = ()
    """Starts of longer spans, longest first."""
    stretches: int = 0
    pairs: int = 0
    """Shares of failing asked for each stretch: of events, and of requests where there are any."""

    def choose(self, answers: Sequence[int], total: int) -> tuple[datetime, int] | None:
        """Where a longer baseline begins and how many events there are from then on; None where the chosen one does.

        `answers` are those to the measures, `total` the events of window and chosen baseline.
        """
        if not self.starts:
            return None
        counts, totals = answers[: -len(self.starts)], answers[-len(self.starts) :]
        if not any(_alike(counts, pair, self.pairs, self.stretches) for pair in range(self.pairs)):
            return None
        found = list(zip(self.starts, totals, strict=True))
        fits = [pair for pair in found if pair[1] <= max(READ_ALL, total)]
        return fits[0] if fits else found[len(found) // 2]


def look_back(run: Run) -> Look:
    """The figures to ask; none where a baseline was asked for or there is no older event."""
    baseline, scope = run.baseline, run.scope
    window, fields = scope.window, run.description.fields
    status = bool(fields.roles.get("status"))
    failing = failing_node(
        severity=bool(fields.levels.get(Severity.ERROR) or fields.levels.get(Severity.FATAL)), status=status
    )
    first = max(window.start - baseline.history, scope.reach.start)
    if failing is None or baseline.reason not in _CHOSEN or window.start - first < _WORTH * (window.end - window.start):
        return Look()
    wholes = [conjunction(), *([Exists("status")] if status else [])]
    stretches = (window, *baseline.ranges)
    asked = [
        Measure(scope.query(node, one))
        for whole in wholes
        for one in stretches
        for node in (conjunction(failing, whole), whole)
    ]
    starts = tuple(dict.fromkeys(max(first, window.start - n * (window.end - window.start)) for n in _LENGTHS))
    asked += [Measure(scope.query(window=TimeWindow(start, window.end))) for start in starts]
    return Look(tuple(asked), starts, len(stretches), len(wholes))


def _alike(counts: Sequence[int], pair: int, pairs: int, stretches: int) -> bool:
    """Whether much fails in the window, and about as much in the baseline."""
    own = counts[pair * 2 * stretches : (pair + 1) * 2 * stretches] if pairs else ()
    part, whole, before, whole_before = own[0], own[1], sum(own[2::2]), sum(own[3::2])
    if min(part, before) < LEAST or not whole or not whole_before:
        return False
    now, then = part / whole, before / whole_before
    return min(now, then) >= HIGH and then >= ALIKE * now


def lengthened(run: Run, start: datetime) -> Run:
    """The run with all from `start` to its window as baseline."""
    ranges = (TimeWindow(start, run.scope.window.start),)
    chosen = BaselineChoice("before_onset", ranges, REASON, run.baseline.history)
    return replace(run, baseline=chosen, scope=replace(run.scope, baselines=ranges))


def is_longer(baseline: BaselineChoice) -> bool:
    """Whether the baseline was made longer."""
    return baseline.reason == REASON


def calm_part(window: TimeWindow, baseline: TimeWindow, onset: tuple[float, float] | None) -> TimeWindow:
    """The part of a longer baseline that lies before the trouble; all of it where that is too short to tell."""
    if onset is None:
        return baseline
    end = min(max(instant(onset[1]), baseline.start), baseline.end)
    least = timedelta(seconds=_CALM * window.seconds)
    return TimeWindow(baseline.start, end) if end - baseline.start >= least else baseline
