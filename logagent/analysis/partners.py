"""Without trace ids: a statement that always came with another one and then no longer does (analysis.md 3.6).

Invariants between counts: Lou et al., "Mining Invariants from Console Logs for System Problem Detection", USENIX ATC
2010.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from logagent.analysis.facts import Fact
from logagent.analysis.figures import number
from logagent.analysis.limits import ALPHA, ERROR
from logagent.analysis.statistics import fisher_greater
from logagent.analysis.study import Study
from logagent.analysis.window import BUCKETS

PARTNER_MIN = 12
"""Lines of a statement before it can be missed."""
PARTNER_FIT = 0.9
"""Correlation of the bucket counts before the change."""
GONE = 0.15
"""At most this share of the lines due after it."""
DUE = 8
MANY = 3
"""Services; a program alone changes its phase without a fault."""
_STATEMENTS = 200
"""Statements compared, the most frequent ones: the cost is their square times the cuts."""
_KEPT = 12
_BUSY = 0.4
_SAME_SERVICE = 0.02
_FLAT = 1e-12


@dataclass(slots=True)
class _Statement:
    """Bucket counts of a template and their running sums (of the lines, and of their squares)."""

    template: int
    service: str
    counts: list[float]
    prefix: list[float]
    squares: list[float]

    def left(self, cut: int) -> float:
        """Lines before the cut."""
        return self.prefix[cut]

    def right(self, cut: int) -> float:
        """Lines after the cut."""
        return self.prefix[-1] - self.prefix[cut]


@dataclass(slots=True)
class _Miss:
    """A statement missed from a cut on, by its best partner."""

    p: float
    statement: _Statement
    partner: _Statement
    expected: float
    seen: float
    cut: int


def partner_drops(study: Study) -> list[Fact]:
    """Statements that stopped while their partner goes on."""
    statements = _statements(study)
    width = study.window.length / BUCKETS
    near = study.near_bucket()
    cuts = [cut for cut in range(6, BUCKETS - 5, 2) if near is None or near(cut)]
    tests = len(statements) * max(1, len(cuts))
    found = []
    growth = [(cut, _growth(statements, cut)) for cut in cuts]
    for statement in statements:
        misses = list(_misses(statements, statement, growth))
        best = min(misses, key=lambda miss: miss.p, default=None)
        if best is not None and best.p * tests <= ALPHA:
            found.append(_fact(study, best, min(1.0, best.p * tests), width))
    return _roots(study, found)


def _statements(study: Study) -> list[_Statement]:
    """Statements frequent enough, no errors; at most `_STATEMENTS`."""
    window = study.window
    rows = [
        (template, indices)
        for template, indices in window.by_template.items()
        if len(indices) >= PARTNER_MIN and window.severity[template] < ERROR
    ]
    rows.sort(key=lambda row: -len(row[1]))
    kept = {template for template, _ in rows[:_STATEMENTS]}
    return [_statement(study, template) for template in window.by_template if template in kept]


def _statement(study: Study, template: int) -> _Statement:
    counts = study.series(study.window.by_template[template], study.tested_weights)
    prefix = [0.0, *accumulate(counts)]
    squares = [0.0, *accumulate(count * count for count in counts)]
    return _Statement(template, study.window.service(template), counts, prefix, squares)


def _growth(statements: Sequence[_Statement], cut: int) -> float:
    """Largest ratio of the lines after a cut to those before it: no statement can be due more than that."""
    ratios = (s.right(cut) / s.left(cut) for s in statements if s.left(cut) >= PARTNER_MIN and s.right(cut) >= DUE)
    return max(ratios, default=0.0)


def _misses(
    statements: Sequence[_Statement], statement: _Statement, growth: Sequence[tuple[int, float]]
) -> Iterator[_Miss]:
    """Per cut what the best partner that goes on after it says."""
    cuts = [cut for cut, most in growth if _may_be_missed(statement, cut, most)]
    if not cuts:
        return
    best: dict[int, tuple[float, _Statement]] = {}
    for other in statements:
        near = [cut for cut in cuts if _may_be_partner(statement, other, cut)]
        for cut, fit in _fits(statement, other, near):
            score = fit + _SAME_SERVICE * (other.service == statement.service)
            if fit >= PARTNER_FIT and (cut not in best or score > best[cut][0]):
                best[cut] = (score, other)
    for cut, (_, partner) in sorted(best.items()):
        miss = _missed(statement, partner, cut)
        if miss is not None:
            yield miss


def _may_be_missed(statement: _Statement, cut: int, most: float) -> bool:
    """Whether a statement is frequent before a cut and, given the largest growth of any other, rare after it."""
    left, right = statement.left(cut), statement.right(cut)
    return left >= PARTNER_MIN and right <= left / 2 and right <= GONE * most * left


def _missed(statement: _Statement, partner: _Statement, cut: int) -> _Miss | None:
    left, right = partner.left(cut), partner.right(cut)
    own_left, own_right = statement.left(cut), statement.right(cut)
    expected = right * own_left / left
    if own_right > GONE * expected or expected < DUE:
        return None
    p = fisher_greater(own_right, own_right + right, own_left, own_left + left)
    return _Miss(p, statement, partner, expected, own_right, cut)


def _may_be_partner(statement: _Statement, other: _Statement, cut: int) -> bool:
    """As frequent before the cut (half to double), and going on after it so far that the statement is missed."""
    left = other.prefix[cut]
    right = other.prefix[-1] - left
    own = statement.prefix[cut]
    if right < DUE or left < PARTNER_MIN or other is statement:
        return False
    return own <= 2 * left and left <= 2 * own


def _fits(a: _Statement, b: _Statement, cuts: Sequence[int]) -> Iterator[tuple[int, float]]:
    """Pearson's correlation of the counts before each cut."""
    if not cuts:
        return
    products = list(accumulate(map(mul, a.counts, b.counts)))
    for cut in cuts:
        sum_a, sum_b = a.prefix[cut], b.prefix[cut]
        var_a, var_b = a.squares[cut] - sum_a * sum_a / cut, b.squares[cut] - sum_b * sum_b / cut
        flat_a, flat_b = var_a <= _FLAT * a.squares[cut], var_b <= _FLAT * b.squares[cut]
        if flat_a or flat_b:
            yield cut, float(flat_a and flat_b)
        else:
            yield cut, (products[cut - 1] - sum_a * sum_b / cut) / math.sqrt(var_a * var_b)


def _fact(study: Study, miss: _Miss, p: float, width: float) -> Fact:
    window, statement, partner = study.window, miss.statement, miss.partner
    times = [event.time for event in study.events_with(statement.template)]
    place = bisect_right(times, window.start + (miss.cut + 1) * width)
    last = times[place - 1] if place else window.start
    others = study.events_with(partner.template)
    later = next((event for event in others if event.time > last + 0.5), None)
    text = (
        f'"{window.text(statement.template)[:90]}" of {statement.service} stopped: {miss.seen:.0f} where '
        f'{miss.expected:.0f} were due by its partner "{window.text(partner.template)[:60]}" of {partner.service}, '
        "which goes on"
    )
    sample = study.events_with(statement.template)[place - 1 if place else 0]
    return Fact(
        "own_gone",
        statement.service,
        p,
        text,
        (last, later.time if later else last),
        statement.template,
        figures={
            "expected": miss.expected,
            "seen": miss.seen,
            "partner": partner.template,
            "templates": [statement.template, partner.template],
            "last": window.end,
            "lines": [sample.message, *([later.message] if later else [])],
        },
    )


def _roots(study: Study, found: list[Fact]) -> list[Fact]:
    """A missing statement is a fault of its own service only if nothing else explains it.

    It counts as a mere stop when statements of several services went missing (a break further up), or when new errors
    as many as four tenths of the missing lines began with it.
    """
    found = sorted(found, key=lambda fact: fact.p)[:_KEPT]
    several = len({fact.service for fact in found}) > 1 or len(study.window.services) < MANY
    for fact in found:
        missing = number(fact, "expected") - number(fact, "seen")
        if several or _new_errors(study, fact.onset[0] if fact.onset else study.window.start) >= _BUSY * missing:
            fact.kind = "stops"
    return found


def _new_errors(study: Study, cut: float) -> float:
    """Errors after a cut, of templates that are far more frequent after it than before."""
    window = study.window
    share = max(1e-6, (cut - window.start) / window.length)
    errors = 0.0
    for template in window.by_template:
        if window.severity[template] >= ERROR:
            events = study.events_with(template)
            after = sum(study.tested(event) for event in events if event.time > cut)
            before = sum(study.tested(event) for event in events) - after
            if after > 2 * before * (1 - share) / share:
                errors += after
    return errors
