"""One run from an open store to a Diagnosis; the same for the CLI, for files and for clusters."""

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from logagent import __version__
from logagent.analysis.redact import Redactor
from logagent.analysis.sanitise import sanitise
from logagent.cases import CaseStore
from logagent.diagnosis import (
    Caveat,
    Diagnosis,
    Hypothesis,
    ModelUse,
    Request,
    Scope,
    StoreUse,
    ToolInfo,
    Usage,
)
from logagent.errors import NoData, StoreUnavailable
from logagent.events import (
    LoopEnded,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    OnEvent,
    RunEvent,
    StepFinished,
    ToolFinished,
    ToolStarted,
)
from logagent.evidence import Ledger
from logagent.query import to_text
from logagent.settings import RunOptions, Settings
from logagent.stores._base import Measure, SearchPage
from logagent.triage import (
    Findings,
    Frame,
    PatternTable,
    Run,
    assemble,
    grounds,
    pattern_table,
    rule_hypotheses,
    shown_patterns,
    summary,
    survey,
)
from logagent.verify import judge, requery
from logagent.wiring import _resources as resources
from logagent.wiring._called import support
from logagent.wiring._choose import choose_hypotheses
from logagent.wiring._discover import with_links
from logagent.wiring._focus import check_services, known_services, read_window, services_named
from logagent.wiring._judged import Ask, Judged
from logagent.wiring._masked import masked, masked_rows
from logagent.wiring._nodata import explain_nothing
from logagent.wiring._progress import Progress
from logagent.wiring._rights import warn_of_rights
from logagent.wiring._severity import suggest
from logagent.wiring._source import make_plan, open_store
from logagent.wiring._steps import next_steps
from logagent.wiring._story import compose, grade
from logagent.wiring._told import Told
from logagent.wiring._warnings import data_warnings, tell

if TYPE_CHECKING:
    from logagent.llm import ChatModel
    from logagent.tools import Approve

_RECORDED = ModelAsked | ModelReplied | ModelFailed | ToolStarted | ToolFinished | LoopEnded | StepFinished
"""Events that the transcript keeps."""


class Session:
    """An open source with a fixed scope. Use as a context manager; `run` gives the Diagnosis.

    Attributes:
        store: the open store.
        plan: scope, baseline and what relative times count back from.
        ledger: all evidence of the run.
        caveats: warnings that the diagnosis will carry.
        model: asked in place of the endpoint of the settings, where it is set; it is closed by whoever set it.
        clock: what the deadline of the model is counted by.
        approve: asks a person whether a restricted tool may run with exactly these arguments.
    """

    def __init__(
        self, settings: Settings, options: RunOptions, on_event: OnEvent, stdin: BinaryIO | None = None
    ) -> None:
        self.settings = settings
        self._listener = on_event
        self.progress = Progress(self.on_event, self.clean)
        self.created_at = datetime.now(UTC)
        self.cases = CaseStore(settings.paths.cases, lambda: datetime.now(UTC), keep_days=settings.cases.keep_days)
        self.id, self.saves = case_id(self.cases, self.created_at, save=options.save)
        self.ledger = Ledger()
        self.nonce = hashlib.sha256(self.id.encode()).hexdigest()[:8]
        self.redactor = Redactor(self.nonce, addresses=settings.redact.addresses, custom=settings.redact.custom)
        self.catalogue = resources.mechanisms()
        self.words = resources.words(options.language, self.catalogue, options.zone, self.clean)
        self.findings: Findings | None = None
        self.told: Told | None = None
        self.caveats: list[Caveat] = []
        self.approve: Approve = lambda _name, _arguments: False
        self.model: ChatModel | None = None
        self.clock: Callable[[], float] = time.monotonic
        self.progress.start("scope")
        self.store = open_store(settings, options, stdin)
        try:
            self.description = self.store.describe()
            self._check_rights()
            self.options = read_window(options, self.description, self.created_at)
            self.plan = make_plan(self.options, self.description, self.created_at)
            self.focus = self._focus()
        except BaseException:
            self.store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def on_event(self, event: RunEvent) -> None:
        """Pass an event on, and write steps of model and tools into the transcript of the case."""
        self._listener(event)
        if isinstance(event, _RECORDED):
            ended = not isinstance(event, ModelAsked | ToolStarted)
            self.note(type(event).__name__, asdict(event), sync=ended)

    def note(self, kind: str, record: Mapping[str, object], *, sync: bool = True) -> None:
        """Add a record to the transcript of the case; a disk that says no takes nothing from the run."""
        if self.saves:
            with suppress(StoreUnavailable):
                self.cases.append(self.id, {"kind": kind, "at": datetime.now(UTC), **record}, sync=sync)

    def clean(self, text: str) -> str:
        """Redacted and without control characters: what may be shown, saved or sent."""
        return sanitise(self.redactor(text))

    def run(self) -> Diagnosis:
        """Survey, model where there is one, verification, judgement.

        Raises:
            LogAgentError: nothing usable could be collected.
        """
        return self.conclude(self.survey())

    def conclude(self, findings: Findings) -> Diagnosis:
        """The part of a run after its survey.

        Raises:
            ModelError: the model failed and one is required.
        """
        if self.options.use_model:
            from logagent.wiring._model import investigate  # noqa: PLC0415  # httpx is paid for with a model only

            self._save_by_rule(findings)
            self.told = investigate(self, findings)
        return self._save(self._finish(findings, self.told))

    def _save_by_rule(self, findings: Findings) -> None:
        """The diagnosis by rule goes to the case before a model starts: whatever kills the run, this much is there."""
        if not self.saves or not self.settings.llm.base_url or not self.settings.llm.model:
            return
        self.caveats.append(self.interrupted())
        try:
            self._save(self._finish(findings, None, lambda _name, _text: None))
        finally:
            self.caveats.pop()

    def partial(self) -> Diagnosis | None:
        """What is known after an interrupt, judged by rule; None before the survey is complete."""
        if self.findings is None:
            return None
        self.caveats.append(self.interrupted())
        return self._save(self._finish(self.findings, None))

    def interrupted(self) -> Caveat:
        """Says that the run was stopped before its end."""
        return Caveat(code="interrupted", severity="warning", text=self.words.say("caveat.interrupted"))

    def patterns(self, only: Sequence[str] = ()) -> PatternTable:
        """The pattern table of the window, without a model; with `only`, patterns of these changes."""
        found = self.survey()
        self._finish(found, None)
        total = self.store.count([Measure(found.scope.query(window=found.bad))]).values[0].value
        table = pattern_table(found, total if isinstance(total, int) else 0, self.clean)
        return replace(
            table, rows=masked_rows([one for one in table.rows if not only or one.change in only], self.clean)
        )

    def search(self, limit: int, order: Literal["newest", "oldest"] = "newest") -> SearchPage:
        """Raw records of the window.

        Raises:
            NoData: LA303, there are none.
        """
        page = self.store.search(self.plan.scope.query(), limit=limit, order=order)
        if not page.records:
            raise self.nothing()
        return page

    def interpretation(self) -> str:
        """How the question was read: services and window, in the query language."""
        window = self.plan.scope.window
        who = ", ".join(f"service.name={name}" for name in self.focus) or "all services"
        return f"{who}, {window.start:%Y-%m-%dT%H:%M:%SZ} to {window.end:%Y-%m-%dT%H:%M:%SZ}"

    def _check_rights(self) -> None:
        """Warn of a key that can write, or refuse it (LA204)."""
        caveat = warn_of_rights(self.settings, self.store, self.words.texts, self.on_event)
        self.caveats += [caveat] if caveat else []

    def nothing(self) -> NoData:
        """LA303: why there is nothing here, and what lies around it."""
        words = self.options.source_words
        return explain_nothing(self.store, self.plan.scope, self.description, self.focus, words)

    def _focus(self) -> tuple[str, ...]:
        """The services asked for by name, or named in the question."""
        if self.options.services:
            check_services(self.store, self.plan.scope, self.options.services)
            return self.options.services
        if self.options.question:
            return services_named(self.options.question, known_services(self.store, self.plan.scope))
        return ()

    def survey(self) -> Findings:
        """The fixed questions and what they say, without a model.

        Raises:
            LogAgentError: nothing usable could be collected.
        """
        found = survey(
            Run(
                store=self.store,
                scope=self.plan.scope,
                description=self.description,
                baseline=self.plan.baseline,
                catalogue=self.catalogue,
                ledger=self.ledger,
                report=self.progress.done,
                alert=self.plan.alert,
                focus=self.focus,
            )
        )
        if found is None:
            raise self.nothing()
        self.findings = found
        warnings = data_warnings(self.description, found.worst, self.created_at)
        self.caveats += tell(warnings, self.words.texts, self.on_event)
        return found

    def _finish(
        self, findings: Findings, told: Told | None, report: Callable[[str, str], None] | None = None
    ) -> Diagnosis:
        """Verified, judged, put together; `report` is told of the last two steps, by default the progress."""
        report = report or self.progress.done
        by_rule = rule_hypotheses(findings, self.words)
        hypotheses = choose_hypotheses(by_rule, told, lambda one: grounds(findings, one, proposed=True).claimed)
        ask = Ask.about(hypotheses, proposed=told is not None and bool(told.hypotheses))
        ground = grounds(findings, ask.service, ask.against, proposed=ask.proposed)
        report("hypotheses", hypotheses[0].statement if hypotheses else "none")
        cited = [*self._cited(findings, hypotheses), *(told.cited if told else [])]
        requery(self.store, self.ledger, self._unchecked(cited), datetime.now(UTC))
        if told is not None and not told.hypotheses:
            support(hypotheses, told.cited, self.ledger, self.catalogue)
        judgement = judge(ground, self.ledger)
        record = None if told is None else Judged.of(findings, by_rule, told, (ask, ground), self.clean)
        grade(hypotheses, judgement, claimed=ground.claimed)
        if judgement.outcome == "no_anomaly":
            hypotheses = []
        judged = (judgement.outcome, self.created_at)
        steps = next_steps(findings, hypotheses, self.words, resources.actions(), judged, self.options)
        leading = hypotheses[0] if hypotheses else None
        made = summary(findings, self.words, judgement.outcome, leading, steps[0].purpose if steps else "")
        story = compose(made, steps, hypotheses, judgement, told, self.clean)
        report("verify", f"{judgement.outcome}, confidence {judgement.level}")
        frame = self._frame()
        frame.severity = suggest(self.settings, findings, judgement.outcome)
        assembled = assemble(frame, findings, self.ledger, judgement, story, (self.words, self.clean))
        diagnosis = masked(assembled, self.clean)
        if record is not None:
            self.note("Judged", record.complete(made, steps, self.ledger, diagnosis))
        return with_links(diagnosis, self.settings.kibana, self.description)

    def _cited(self, findings: Findings, hypotheses: Sequence[Hypothesis]) -> list[str]:
        """Every row that the diagnosis may show."""
        symptom = findings.symptom.row if findings.symptom else ""
        deployed = findings.deployment.row if findings.deployment else ""
        ids = [
            findings.volume_row,
            symptom,
            deployed,
            findings.onset_row,
            *findings.blast_rows.values(),
            *findings.change_rows,
        ]
        ids += [row for _, _, row in findings.first_trouble]
        ids += [pattern.evidence for pattern in shown_patterns(findings)]
        for one in hypotheses:
            ids += [*one.supporting, *one.contradicting, *one.discriminating, *one.mechanism_lines]
        return [one for one in dict.fromkeys(ids) if one]

    def _unchecked(self, ids: Sequence[str]) -> list[str]:
        """Rows that were not asked again yet, or without an answer."""
        rows = [row for one in ids if (row := self.ledger.get(one)) is not None]
        return [row.id for row in rows if row.verification.state in {"unverified", "error"}]

    def _save(self, diagnosis: Diagnosis) -> Diagnosis:
        if self.saves:
            with suppress(OSError, StoreUnavailable):  # a full disk must not take the answer away
                self.cases.save(diagnosis)
        return diagnosis

    def _frame(self) -> Frame:
        options, usage, base = self.options, self.store.usage, to_text(self.plan.scope.base)
        use: ModelUse | None = self.told.use if self.told else None
        mode: Literal["full", "no_llm", "replay"] = "replay" if options.scenario else "full" if use else "no_llm"
        scope = Scope(
            indices=[one.name for one in self.description.sources][:20],
            filter=self.clean(base) if base.strip("*") else None,
            exclude=list(options.excludes),
            fields={"service.name": list(self.focus)} if self.focus else {},
        )
        request = Request(
            command="ask" if options.command == "ask" else "diagnose",
            question=self.clean(options.question) if options.question else None,
            interpretation=self.interpretation(),
            assumptions=list(options.assumptions),
            scope=scope,
        )
        store = StoreUse(
            backend=self.description.backend,
            requests=usage.requests,
            took_ms=usage.took_ms,
            documents_matched=self.findings.volume.events if self.findings else 0,
        )
        return Frame(
            id=self.id,
            created_at=self.created_at,
            tool=ToolInfo(version=__version__, mechanisms=self.catalogue.version, mode=mode),
            language=options.language,
            request=request,
            now_from=self.plan.now_from,
            usage=Usage(duration_ms=round(self.progress.seconds * 1000), store=store, llm=use),
            trimmed_seconds=self.plan.trimmed_seconds,
            caveats=list(self.caveats),
            redactions=sum(self.redactor.counts.values()),
        )


def case_id(cases: CaseStore, now: datetime, *, save: bool) -> tuple[str, bool]:
    """(id of the run, whether it is saved): a folder that cannot be written costs the case, not the answer."""
    if save:
        with suppress(StoreUnavailable):
            return cases.new_id(now), True
    return f"{now:%Y%m%d-%H%M}-{secrets.token_hex(2)}", False
