"""One run from an open store to a Diagnosis; the same for the CLI, for files and for clusters."""

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import BinaryIO, Literal

from logagent import __version__
from logagent.analysis.mechanisms import Catalogue
from logagent.analysis.redact import Redactor
from logagent.analysis.sanitise import sanitise
from logagent.cases import CaseStore
from logagent.diagnosis import Caveat, Diagnosis, Hypothesis, Pattern, Request, Scope, StoreUse, ToolInfo, Usage
from logagent.errors import BudgetExceeded, LogAgentError
from logagent.events import Notice, OnEvent, StepFinished, StepStarted
from logagent.evidence import Ledger
from logagent.query import to_text
from logagent.settings import RunOptions, Settings
from logagent.stores._base import Description, LogStore, SearchPage
from logagent.triage import Findings, Frame, Run, Story, Words, assemble, grounds, rule_hypotheses, summary, survey
from logagent.verify import Judgement, judge, requery
from logagent.wiring import _resources as resources
from logagent.wiring._focus import check_services, read_question
from logagent.wiring._nodata import explain_nothing
from logagent.wiring._source import Plan, make_plan, open_store
from logagent.wiring._steps import next_steps

STEPS = ("scope", "volume", "errors", "patterns", "onset", "spread", "hypotheses", "verify")
VERIFY_AFTER_INTERRUPT = 2.0
"""Seconds that verification may take after Ctrl-C."""


@dataclass(slots=True)
class Progress:
    """Reports steps with the seconds since the start of the run."""

    on_event: OnEvent
    began: float = field(default_factory=time.monotonic)

    def start(self, name: str) -> None:
        """A step begins."""
        self.on_event(StepStarted(STEPS.index(name) + 1, len(STEPS), name))

    def done(self, name: str, text: str, word: Literal["ok", "warn", "fail", "skip"] = "ok") -> None:
        """A step is over."""
        self.on_event(StepFinished(STEPS.index(name) + 1, len(STEPS), name, word, self.seconds, text))

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began


class Session:
    """An open source with a fixed scope. Use as a context manager; `run` gives the Diagnosis."""

    def __init__(
        self, settings: Settings, options: RunOptions, on_event: OnEvent, stdin: BinaryIO | None = None
    ) -> None:
        self.settings = settings
        self.options = options
        self.on_event = on_event
        self.progress = Progress(on_event)
        self.created_at = datetime.now(UTC)
        self.cases = CaseStore(settings.cases_folder())
        self.id = self.cases.new_id(self.created_at)
        self.ledger = Ledger()
        self.redactor = Redactor(nonce_of(self.id))
        self.catalogue: Catalogue = resources.mechanisms()
        self.words: Words = resources.words(options.language, self.catalogue, options.zone)
        self.findings: Findings | None = None
        self.caveats: list[Caveat] = []
        self.progress.start("scope")
        self.store: LogStore = open_store(settings, options, stdin)
        try:
            self.description: Description = self.store.describe()
            self.plan: Plan = make_plan(
                read_question(options, self.store, self.created_at), self.description, self.created_at
            )
        except BaseException:
            self.store.close()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def clean(self, text: str) -> str:
        """Redacted and without control characters: what may be shown, saved or sent."""
        return sanitise(self.redactor(text))

    def run(self) -> Diagnosis:
        """Survey, model where there is one, verification, judgement.

        Raises:
            LogAgentError: nothing usable could be collected.
        """
        findings = self._survey()
        from logagent.wiring._model import investigate  # noqa: PLC0415  # httpx is only paid for with a model

        told = investigate(self, findings) if self.options.use_model else None
        diagnosis = self._finish(findings, told)
        if self.options.save:
            with suppress(OSError):
                self.cases.save(diagnosis)
        return diagnosis

    def partial(self) -> Diagnosis | None:
        """What is known after an interrupt: judged by rule; None before the survey is complete."""
        if self.findings is None:
            return None
        self.caveats.append(Caveat(code="interrupted", severity="warning", text=self.words.say("caveat.interrupted")))
        diagnosis = self._finish(self.findings, None)
        if self.options.save:
            with suppress(OSError):
                self.cases.save(diagnosis)
        return diagnosis

    def patterns(self) -> list[Pattern]:
        """The pattern table of the window, without a model."""
        findings = self._survey()
        return self._finish(findings, None).patterns

    def search(self, limit: int, order: Literal["newest", "oldest"] = "newest") -> SearchPage:
        """Raw records of the window."""
        page = self.store.search(self.plan.scope.query(), limit=limit, order=order)
        if not page.records:
            raise explain_nothing(self.store, self.plan.scope, self.description, self.options.services)
        return page

    def _survey(self) -> Findings:
        check_services(self.store, self.plan.scope, self.options.services)
        run = Run(
            store=self.store,
            scope=self.plan.scope,
            description=self.description,
            baseline=self.plan.baseline,
            catalogue=self.catalogue,
            ledger=self.ledger,
            report=self.progress.done,
            alert=self.plan.alert,
            focus=self.options.services,
        )
        self.findings = survey(run)
        if not self.findings.volume.events and not self.findings.material.events:
            raise explain_nothing(self.store, self.plan.scope, self.description, self.options.services)
        return self.findings

    def _finish(self, findings: Findings, told: "Told | None") -> Diagnosis:
        self.progress.start("hypotheses")
        hypotheses = told.hypotheses if told and told.hypotheses else rule_hypotheses(findings, self.words)
        leading = hypotheses[0] if hypotheses else None
        service = leading.entity.get("service.name", "") if leading else ""
        against = leading.contradicting if leading else []
        ground = grounds(findings, service, against)
        self.progress.done("hypotheses", leading.statement if leading else "none")
        self._verify([*self._cited(findings, hypotheses), *(told.cited if told else [])])
        judgement = judge(ground, self.ledger)
        grade(hypotheses, judgement, claimed=ground.claimed)
        steps = next_steps(findings, hypotheses, self.words, resources.actions(), self.options)
        story = self._story(findings, hypotheses, judgement, told)
        story.next_steps = [*steps, *(told.next_steps if told else [])][:5]
        self.progress.done("verify", f"{judgement.outcome}, {judgement.level}")
        return assemble(self._frame(), findings, self.ledger, judgement, story, (self.words, self.clean))

    def _story(
        self, findings: Findings, hypotheses: list[Hypothesis], judgement: Judgement, told: "Told | None"
    ) -> Story:
        leading = hypotheses[0] if hypotheses else None
        by_rule = summary(findings, self.words, judgement.outcome, leading, "")
        if told is not None:
            by_rule = told.summary(by_rule, judgement)
        shown = by_rule.model_copy(
            update={name: self.clean(text) for name, text in by_rule.model_dump().items() if isinstance(text, str)}
        )
        for hypothesis in hypotheses:
            hypothesis.statement = self.clean(hypothesis.statement)
        return Story(shown, hypotheses, [], list(told.open_questions) if told else [], list(told.cited) if told else [])

    def _cited(self, findings: Findings, hypotheses: Sequence[Hypothesis]) -> list[str]:
        """Every row that the diagnosis will show."""
        ids = [findings.volume_row, findings.onset_row, *findings.blast_rows.values(), *findings.change_rows]
        ids += [row for _, _, row in findings.first_trouble]
        ids += [pattern.evidence for pattern in findings.patterns[:20]]
        for one in hypotheses:
            ids += [*one.supporting, *one.contradicting, *one.discriminating, *one.mechanism_lines]
        return [one for one in dict.fromkeys(ids) if one]

    def _verify(self, ids: Sequence[str]) -> None:
        self.progress.start("verify")
        requery(self.store, self.ledger, ids, datetime.now(UTC))

    def _frame(self) -> Frame:
        options, usage = self.options, self.store.usage
        base = to_text(self.plan.scope.base)
        replay = options.scenario is not None
        mode: Literal["full", "no_llm", "replay"] = "replay" if replay else "full" if self.model_use else "no_llm"
        return Frame(
            id=self.id,
            created_at=self.created_at,
            tool=ToolInfo(version=__version__, mechanisms=self.catalogue.version, mode=mode),
            language=options.language,
            request=Request(
                command="ask" if options.command == "ask" else "diagnose",
                question=self.clean(options.question) if options.question else None,
                interpretation=self.interpretation(),
                assumptions=list(options.assumptions),
                scope=Scope(
                    indices=[one.name for one in self.description.sources][:20],
                    filter=self.clean(base) if base not in {"", "*"} else None,
                    exclude=list(options.excludes),
                    fields={"service.name": list(options.services)} if options.services else {},
                ),
            ),
            now_from=self.plan.now_from,
            usage=Usage(
                duration_ms=round(self.progress.seconds * 1000),
                store=StoreUse(
                    backend=self.description.backend,
                    requests=usage.requests,
                    took_ms=usage.took_ms,
                    documents_matched=self.findings.volume.events if self.findings else 0,
                ),
                llm=self.model_use,
            ),
            trimmed_seconds=self.plan.trimmed_seconds,
            caveats=list(self.caveats),
            redactions=sum(self.redactor.counts.values()),
            alert=self.plan.alert,
        )
