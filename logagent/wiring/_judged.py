"""What the verdict of a run with a model stands on, as a record of its transcript: enough to judge it once more.

The findings themselves are large and hold log text; a replay needs only what was read from them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from logagent.diagnosis import Diagnosis, Hypothesis, NextStep, Summary
from logagent.evidence import Ledger
from logagent.triage import Findings, discriminating_rows, grounds, mechanism_rows
from logagent.verify import Grounds
from logagent.wiring._told import Told

REMADE = frozenset({"outcome", "confidence", "summary", "hypotheses", "next_steps", "open_questions"})
"""Parts of a diagnosis that follow from the model's words and the judgement: a replay makes them again."""
_FINITE = 1e9
"""Stands for an endless history: JSON has no infinity."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What the grounds were asked for."""

    service: str
    against: tuple[str, ...]
    proposed: bool

    @classmethod
    def about(cls, hypotheses: Sequence[Hypothesis], *, proposed: bool) -> "Ask":
        """The question about the first hypothesis."""
        leading = hypotheses[0] if hypotheses else None
        service = leading.entity.get("service.name", "") if leading else ""
        return cls(service, tuple(leading.contradicting) if leading else (), proposed)


@dataclass(slots=True)
class Judged:
    """The record. Texts in it are masked."""

    ask: Ask
    grounds: Grounds
    by_rule: list[Hypothesis]
    claimed: dict[str, bool] = field(default_factory=dict)
    """Services the model put first, and whether code has a claim for them."""
    rows: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    """Mechanism rows and discriminating rows of each service the model named."""
    summary: Summary | None = None
    steps: list[NextStep] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    """What came back when a row was asked again."""
    report: dict[str, Any] = field(default_factory=dict)
    """The diagnosis without the parts that are made again."""

    @classmethod
    def of(
        cls,
        findings: Findings,
        by_rule: Sequence[Hypothesis],
        told: Told,
        asked: tuple[Ask, Grounds],
        clean: Callable[[str], str],
    ) -> "Judged":
        """Before the grades are set."""
        names = dict.fromkeys(one.entity.get("service.name", "") for one in told.hypotheses)
        named = [name for name in names if name]
        masked = [
            one.model_copy(
                update={
                    "statement": clean(one.statement),
                    "mechanism": clean(one.mechanism) if one.mechanism else None,
                },
                deep=True,
            )
            for one in by_rule
        ]
        return cls(
            *asked,
            masked,
            claimed={name: grounds(findings, name, proposed=True).claimed for name in named},
            rows={name: (mechanism_rows(findings, name), discriminating_rows(findings, name)) for name in named},
        )

    def complete(
        self, made: Summary, steps: Sequence[NextStep], ledger: Ledger, diagnosis: Diagnosis
    ) -> Mapping[str, Any]:
        """The record with what was known only after the judgement, as plain values."""
        report = diagnosis.model_dump(mode="json", by_alias=True)
        self.report = {key: value for key, value in report.items() if key not in REMADE}
        self.summary, self.steps = made, list(steps)
        self.states = {row.id: row.verification.state for row in ledger if row.verification.state != "unverified"}
        plain: dict[str, Any] = TypeAdapter(Judged).dump_python(self, mode="json", by_alias=True)
        windows = plain["grounds"]["history_windows"]
        plain["grounds"]["history_windows"] = (
            windows if isinstance(windows, float) and math.isfinite(windows) else _FINITE
        )
        return plain

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> "Judged":
        """The record from a transcript.

        Raises:
            ValidationError: it is not one.
        """
        plain = {key: value for key, value in record.items() if key not in {"kind", "at"}}
        return TypeAdapter(Judged).validate_python(plain)
