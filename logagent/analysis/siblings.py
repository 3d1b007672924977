"""Without trace ids: an error against the statement that the same code writes when all is well (analysis.md 3.6)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from logagent.analysis.facts import Event, Fact
from logagent.analysis.limits import ALPHA, ERROR, LOW, MIN_FAIL, MIN_SIDE, REACHABLE, RISE
from logagent.analysis.statistics import least_p, scan_step
from logagent.analysis.study import Study, samples
from logagent.analysis.templates import tokens

_TWIN_LINES = 3
_SAME_SITE = 0.5
"""What the same call site adds to the number of leading words in common."""


@dataclass(slots=True)
class _Test:
    """An error template, its healthy twin, and the lines of both, oldest first."""

    template: int
    twin: int
    rows: list[tuple[Event, bool]]

    def rate(self, start: int, end: int) -> float:
        """Share of the error among the lines of both, by weight."""
        part = self.rows[start:end]
        return sum(e.weight for e, bad in part if bad) / max(1e-9, sum(e.weight for e, _ in part))


def sibling_errors(study: Study) -> list[Fact]:
    """Errors that took the place of their healthy twin at one time."""
    tests = list(_tests(study))
    found = []
    for test in tests:
        fact = _fact(study, test, len(tests))
        if fact is not None:
            found.append(fact)
    return found


def _tests(study: Study) -> Iterator[_Test]:
    window = study.window
    for template, indices in window.by_template.items():
        if window.severity[template] < ERROR or len(indices) < MIN_FAIL:
            continue
        twin = _Twins(study).of(template)
        if twin is None:
            continue
        bad, good = study.events_with(template), study.events_with(twin)
        if least_p(len(bad), len(bad) + len(good)) <= REACHABLE:
            rows = [(event, True) for event in bad] + [(event, False) for event in good]
            yield _Test(template, twin, sorted(rows, key=lambda row: (row[0].time, row[1])))


class _Twins:
    """Finds the healthy template of the same service that shares most leading words with an error."""

    def __init__(self, study: Study) -> None:
        self._window = study.window

    def of(self, template: int) -> int | None:
        """The twin of an error, or None when no healthy statement begins with the same word."""
        window = self._window
        service, site = window.miner.keys[template]
        words = tokens(window.text(template))
        best, score = None, 0.0
        for other, indices in window.by_template.items():
            if window.service(other) != service or window.severity[other] >= 1 or len(indices) < _TWIN_LINES:
                continue
            same = _common(words, tokens(window.text(other)))
            if site and _place(window.miner.keys[other][1]) == _place(site):
                same += _SAME_SITE
            if same > score:
                best, score = other, same
        return best if score >= 1 else None


def _common(words: Sequence[str], others: Sequence[str]) -> float:
    """Number of equal leading words, up to the first variable one."""
    pairs = zip(words, others, strict=False)
    return float(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] and pair[0] != "<*>", pairs)))


def _place(site: str) -> str:
    """Class or file of a call site, without the line."""
    return site.partition("#")[0].partition(":")[0]


def _fact(study: Study, test: _Test, tests: int) -> Fact | None:
    rows = test.rows
    step = scan_step([int(bad) for _, bad in rows], study.near([event.time for event, _ in rows]))
    if step is None or min(step.n_before, step.n_after) < MIN_SIDE:
        return None
    before, after, p = test.rate(0, step.k), test.rate(step.k, len(rows)), min(1.0, step.p * tests)
    if p > ALPHA or before > LOW or after - before < RISE:
        return None
    events = study.events_with(test.template)
    blame = study.blame_of(events)
    n_before = study.number(event for event, _ in rows[: step.k])
    n_after = study.number(event for event, _ in rows[step.k :])
    text = (
        f'error of {events[0].service} "{events[0].message[:140]}" instead of "{study.window.text(test.twin)[:80]}": '
        f"{before:.0%} of {n_before:.0f} before, {after:.0%} of {n_after:.0f} after"
    )
    return Fact(
        "relay" if blame.relay else "own_error",
        events[0].service,
        p,
        text,
        (rows[step.k - 1][0].time, rows[step.k][0].time),
        test.template,
        blame.named,
        figures={
            "before": before,
            "after": after,
            "n": (n_before, n_after),
            "b": test.template,
            "twin": test.twin,
            "templates": [test.template, test.twin],
            "last": events[-1].time,
            "lines": samples(events),
        },
    )
