"""The evidence row of each fact: the pattern that shows it, or a figure of the fact's own service, or its lines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from logagent.analysis.digest_rows import templates_of
from logagent.analysis.facts import Fact
from logagent.analysis.figures import number, word
from logagent.analysis.figures import seen as seen_in
from logagent.evidence import Claim, Figure
from logagent.logs import LogRecord, TimeWindow, instant
from logagent.query import Exists, Node, Phrase, Range, conjunction, to_text
from logagent.stores._base import Measure
from logagent.triage._findings import FactRow, Findings, PatternFinding
from logagent.triage._run import Run

SUSPECTS, FACTS = 5, 6
_LINES = 3
_DURATION = "duration_ms"
"""What an event calls the duration of its record, whatever field holds it."""
_MOMENT = timedelta(milliseconds=1)


@dataclass(slots=True)
class FactQuestion:
    """A fact whose row is a figure of its own: the claim without its values, and what gives these.

    The first measure (the first two of a ratio) is the figure, the rest is what it is compared with.
    """

    fact: Fact
    claim: Claim
    measures: list[Measure]


def fact_questions(run: Run, findings: Findings) -> list[FactQuestion]:
    """What the store is asked about facts that no pattern row shows by itself."""
    facts = [fact for suspect in findings.conclusion.ranking[:SUSPECTS] for fact in suspect.facts[:FACTS]]
    asked = (_question(run, findings, fact) for fact in facts)
    return [one for one in asked if one is not None]


def write_fact_rows(
    run: Run, findings: Findings, questions: Sequence[FactQuestion], values: Sequence[int | datetime | None]
) -> None:
    """One row for every fact of the first suspects; `values` are the answers to the measures of `questions`, in order.

    Facts of one service about the same lines share a row.
    """
    rows: dict[int, str] = {}
    place = 0
    for one in questions:
        own = values[place : place + len(one.measures)]
        place += len(one.measures)
        if own:
            rows[id(one.fact)] = run.ledger.add(_answered(one, own, findings)).id
    for suspect in findings.conclusion.ranking[:SUSPECTS]:
        for fact in suspect.facts[:FACTS]:
            row = rows.get(id(fact)) or _shared_row(run, findings, fact)
            findings.facts.append(FactRow(fact, row))


def _question(run: Run, findings: Findings, fact: Fact) -> FactQuestion | None:
    if fact.kind == "silent":
        return _silence(run, findings, fact)
    if fact.kind == "slow_number":
        return _slow_share(run, findings, fact)
    pattern = pattern_of(findings, fact)
    if pattern is None or seen_in(fact) or not pattern.exact or fact.service == pattern.service:
        return None
    return _own_count(run, findings, fact, pattern) if fact.service in pattern.services else None


def _silence(run: Run, findings: Findings, fact: Fact) -> FactQuestion | None:
    """No line of the service after its last one."""
    last = instant(fact.onset[0]) + _MOMENT if fact.onset else None
    if last is None or last >= findings.bad.end:
        return None
    rest, node = TimeWindow(last, findings.bad.end), Phrase("service", fact.service)
    claim = Claim(
        "absence", "", run.query(node, rest, Figure("count")), unit="lines", samples=_lines(findings, fact)[-1:],
        service=fact.service,
    )  # fmt: skip
    earlier = TimeWindow(run.span.start, last)
    scope = findings.scope
    return FactQuestion(fact, claim, [Measure(scope.query(node, rest)), Measure(scope.query(node, earlier))])


def _slow_share(run: Run, findings: Findings, fact: Fact) -> FactQuestion | None:
    """The share of the service's durations at or above 1 s among all that were read, where a field holds them."""
    name, scope = word(fact, "field"), findings.scope
    if name is None:
        return None
    choice = findings.description.fields.first("duration")
    role = choice is not None and name in (choice.name, _DURATION)
    field, least = ("duration", 1000.0) if role else (name, 1 / number(fact, "unit", 1.0))
    own = Phrase("service", fact.service)
    slow, every = conjunction(own, Range(field, f"{least:.0f}", None)), conjunction(own, Exists(field))
    whole = to_text(conjunction(run.scope.base, every))
    claim = Claim(
        "rate", fact.text[:200], run.query(slow, run.span, Figure("ratio", of=whole)), unit="ratio",
        samples=_lines(findings, fact)[:1], service=fact.service,
    )  # fmt: skip
    return FactQuestion(fact, claim, [Measure(scope.query(node, run.span)) for node in (slow, every)])


def _own_count(run: Run, findings: Findings, fact: Fact, pattern: PatternFinding) -> FactQuestion | None:
    """The lines of a pattern that the fact's service writes, where other services write most of them."""
    samples = _lines(findings, fact)
    if not samples or any(record.service != fact.service for record in samples):
        return None  # the object of a platform event writes no lines itself
    node: Node = conjunction(Phrase("service", fact.service), pattern.node)
    claim = Claim(
        "count", pattern.template, run.query(node, findings.bad, Figure("count")), unit="lines", samples=samples[:1],
        service=fact.service, onset=samples[0].timestamp,
    )  # fmt: skip
    stretches = (findings.bad, *findings.good)
    return FactQuestion(fact, claim, [Measure(findings.scope.query(node, one)) for one in stretches])


def _answered(question: FactQuestion, values: Sequence[int | datetime | None], findings: Findings) -> Claim:
    counts = [value if isinstance(value, int) else 0 for value in values]
    if question.claim.query.figure.op == "ratio":
        return replace(question.claim, value=counts[0] / counts[1] if counts[1] else None)
    usual = sum(counts[1:]) if findings.good or question.fact.kind == "silent" else None
    return replace(question.claim, value=counts[0], baseline_value=usual)


def _shared_row(run: Run, findings: Findings, fact: Fact) -> str:
    """The pattern row that shows a fact; else a row of the documents it was read from."""
    pattern = pattern_of(findings, fact)
    if pattern is not None and not seen_in(fact):
        return pattern.evidence
    records = _lines(findings, fact)
    if not records:
        return pattern.evidence if pattern is not None else ""
    row = run.ledger.add(
        Claim(
            "sample",
            fact.text[:200],
            run.query(Phrase("service", fact.service), findings.bad, Figure("documents")),
            value=len(records),
            samples=records,
            service=fact.service,
        )
    )
    return row.id


def _lines(findings: Findings, fact: Fact) -> tuple[LogRecord, ...]:
    """Records of a fact: those it saw, else the first ones of its patterns."""
    if seen := seen_in(fact):
        return tuple(event.record for event in seen if event.record is not None)
    window = findings.analysis.window
    records = (
        window.events[index].record
        for template in sorted(templates_of(fact))
        for index in window.by_template.get(template, [])[:2]
    )
    return tuple(record for record in records if record is not None)[:_LINES]


def pattern_of(findings: Findings, fact: Fact) -> PatternFinding | None:
    """The counted pattern that a fact rests on, if there is one."""
    templates = templates_of(fact)
    return next((pattern for pattern in findings.patterns if templates & set(pattern.templates)), None)
