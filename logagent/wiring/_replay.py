"""A run with a model once more from its transcript: the real loop and the real checks, no model and no log source.

What the model wrote and what the tools answered is read from the records; everything that follows from them is done
again: repeats and limits, the checks of the submission, the choice of hypotheses, the judgement, the words.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, cast

from pydantic import ValidationError

from logagent import errors
from logagent.agent import Agent, AgentLimits, Outcome
from logagent.analysis.redact import ModelText, Redactor
from logagent.analysis.sanitise import sanitise
from logagent.diagnosis import Diagnosis, ModelUse
from logagent.errors import LogAgentError, ModelError, ModelUnavailable, UsageError
from logagent.evidence import Evidence, EvidenceQuery, Figure, Ledger, State, Verification
from logagent.fields import FieldMap
from logagent.llm._wire import Message, Reply, ToolCall, ToolDeclaration
from logagent.logs import TimeWindow
from logagent.query import Scope
from logagent.stores._base import LogStore
from logagent.tools import ToolContext, ToolRegistry, ToolResult
from logagent.tools._base import Answer
from logagent.tools._registry import SUBMIT, Job
from logagent.triage import confidence
from logagent.verify import Grounds, judge
from logagent.wiring import _resources as resources
from logagent.wiring._choose import choose_hypotheses
from logagent.wiring._judged import Ask, Judged
from logagent.wiring._model import language_name
from logagent.wiring._reader import Reader
from logagent.wiring._story import compose, grade
from logagent.wiring._told import Told

Record = Mapping[str, Any]
_INCOMPLETE = "the transcript of {case} cannot be replayed: {reason}"


def replay(case: str, records: Sequence[Record]) -> Diagnosis:
    """The diagnosis of a case from its transcript.

    Raises:
        UsageError: the case had no model, was cut off before its verdict, or its transcript was damaged.
    """
    begun, verdict = _last(records, "LoopBegan"), _last(records, "Judged")
    if begun is None or verdict is None:
        reason = "it ran without a model" if begun is None else "the run ended before its verdict"
        raise UsageError(_INCOMPLETE.format(case=case, reason=reason))
    try:
        judged = Judged.read(verdict)
        redactor, ledger = Redactor(str(begun["nonce"])), _ledger(begun["issued"])
        outcome = _loop(records, begun, ledger, redactor)
        return _diagnosis(begun, judged, outcome, ledger, redactor)
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        reason = f"a record is damaged ({type(error).__name__}: {str(error)[:120]})"
        raise UsageError(_INCOMPLETE.format(case=case, reason=reason)) from error


_LINKS: Final[Any] = {"links": True, "evidence": {"__all__": {"links"}}}


def differences(saved: Diagnosis, again: Diagnosis) -> list[str]:
    """Names of the parts in which two diagnoses differ, but for links: those are of the settings, not of the run."""
    one, other = (each.model_dump(mode="json", exclude=_LINKS) for each in (saved, again))
    return [name for name in one if one[name] != other[name]]


# -- the loop ------------------------------------------------------------------------------------------------------


def _loop(records: Sequence[Record], begun: Record, ledger: Ledger, redactor: Redactor) -> Outcome:
    """The loop over recorded replies and results; it ends where they end, for the reason on record."""
    scope = Scope(
        _window(begun["window"]),
        _window(begun["reach"]),
        datetime.fromisoformat(begun["now"]),
        indices=tuple(begun["sources"]) or ("*",),
        zone=str(begun["zone"]),
    )
    context = ToolContext(
        store=cast("LogStore", None),  # nothing in a replay may ask it
        fields=FieldMap(),
        scope=scope,
        ledger=ledger,
        redact=redactor,
        catalogue=resources.mechanisms(),
        nonce=str(begun["nonce"]),
    )
    asked = (one for one in records if one.get("kind") in {"ModelReplied", "ModelFailed"})
    model = _Recorded(deque(one for one in asked if one.get("purpose") != "summary"))
    registry = _RecordedTools(results=deque(one for one in records if one.get("kind") == "ToolFinished"))
    limits = AgentLimits(max_turns=int(begun["turns"]))
    agent = Agent(model, registry, context, limits, language=language_name(str(begun["language"])))
    return agent.investigate(str(begun["question"]), str(begun["digest"]))


@dataclass(slots=True)
class _Recorded:
    """A model that says again what it said."""

    replies: deque[Record]
    name: str = "recorded"
    window: int | None = None

    def complete(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - what was asked is on record already
        tools: Sequence[ToolDeclaration],  # noqa: ARG002
        *,
        force: str = "",  # noqa: ARG002
        deadline: float | None = None,  # noqa: ARG002
    ) -> Reply:
        """The next reply of the transcript.

        Raises:
            ModelError: there the model was lost, or the transcript ends.
        """
        if not self.replies:
            raise ModelUnavailable("the transcript ends here")
        record = self.replies.popleft()
        if record["kind"] == "ModelFailed":
            raise _error(record)
        ids, calls = record["call_ids"], record["calls"]
        made = tuple(ToolCall(str(i), str(name), str(text)) for i, (name, text, _) in zip(ids, calls, strict=True))
        text = ModelText(str(record["text"]))
        return Reply(
            Message("assistant", text, made), text, made, str(record["finish"]), int(record["input_tokens"]),
            int(record["output_tokens"]), estimated=False, seconds=float(record["seconds"]),
        )  # fmt: skip

    def estimate(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> int:  # noqa: ARG002
        """Nothing is sent, so nothing has to fit."""
        return 0

    def close(self) -> None:
        """Nothing is open."""


def _error(record: Record) -> ModelError:
    kind = getattr(errors, str(record["error_class"]), ModelUnavailable)
    known = isinstance(kind, type) and issubclass(kind, ModelError)
    return (kind if known else ModelUnavailable)(str(record["error"]))


@dataclass(slots=True)
class _RecordedTools(ToolRegistry):
    """Tools that answer again what they answered; only `submit_diagnosis` is run."""

    results: deque[Record] = field(default_factory=deque)
    _by_job: dict[int, Record] = field(default_factory=dict)

    def prepare(self, call: ToolCall, context: ToolContext) -> Job:
        """The call with its result on record, in the order of the calls."""
        if not self.results:
            raise KeyError(f"no result of {call.name}")
        record = self.results.popleft()
        if record["tool"] != sanitise(call.name):
            raise KeyError(f"a result of {call.name}")
        if call.name.strip() == SUBMIT:
            return ToolRegistry.prepare(self, call, context)
        key = str(record["key"])
        job = Job(call, self.tools.get(call.name.strip()), refusal="" if key else str(record["result"]), key=key)
        self._by_job[id(job)] = record
        return job

    def permit(self, job: Job) -> Job:
        """What a person said is on record."""
        return job

    def run(self, job: Job, context: ToolContext) -> Answer | LogAgentError:
        """Nothing but the submission is run."""
        return ToolRegistry.run(self, job, context) if job.call.name.strip() == SUBMIT else Answer("")

    def deliver(self, job: Job, outcome: Answer | LogAgentError, context: ToolContext) -> ToolResult:
        """The result on record; its ids are issued again."""
        record = self._by_job.get(id(job))
        if record is None:
            return ToolRegistry.deliver(self, job, outcome, context)
        text, ids = str(record["result"]), tuple(str(one) for one in record["evidence"])
        for one in ids:
            context.ledger.rows[one] = _row(one)
        lines = text.split("\n")
        if lines[0].startswith(f"<<{context.nonce}|"):
            context.shown.append("\n".join(lines[2:-1]))  # without the marks and the head, as when it was made
        return ToolResult(
            job.call.call_id, ModelText(text), not record["ok"], ids, str(record["summary"]), lost=bool(record["lost"])
        )


# -- the verdict ---------------------------------------------------------------------------------------------------


def _diagnosis(begun: Record, judged: Judged, outcome: Outcome, ledger: Ledger, redactor: Redactor) -> Diagnosis:
    catalogue = resources.mechanisms()

    def clean(text: str) -> str:
        return sanitise(redactor(text))

    report = dict(judged.report)
    use = ModelUse.model_validate(report["usage"]["llm"])
    reader = Reader(clean, ledger, catalogue.ids, lambda name: judged.rows.get(name, ([], [])))
    told = Told(use) if outcome.submission is None else reader.told(outcome.submission, use)
    for one, state in judged.states.items():
        ledger.replace((ledger.get(one) or _row(one)).checked(Verification(cast("State", state), "requery")))
    hypotheses = choose_hypotheses(judged.by_rule, told, lambda name: judged.claimed.get(name, False))
    grounds = _grounds(judged, Ask.about(hypotheses, proposed=bool(told.hypotheses)))
    judgement = judge(grounds, ledger)
    grade(hypotheses, judgement, claimed=grounds.claimed)
    if judgement.outcome == "no_anomaly":
        hypotheses = []
    if judged.summary is None:
        raise ValueError("no summary")
    story = compose(judged.summary, judged.steps, hypotheses, judgement, told, clean)
    words = resources.words(str(begun["language"]), catalogue, str(begun["zone"]), clean)
    parts = {
        "outcome": judgement.outcome,
        "confidence": confidence(judgement, story, words),
        "summary": story.summary,
        "hypotheses": story.hypotheses,
        "next_steps": story.next_steps,
        "open_questions": story.open_questions,
    }
    return Diagnosis.model_validate({**report, **{key: _plain(value) for key, value in parts.items()}})


def _grounds(judged: Judged, ask: Ask) -> Grounds:
    """The grounds on record where they are those of this suspect; else none, so that nothing is claimed."""
    if ask == judged.ask:
        return judged.grounds
    return Grounds(judged.grounds.anomaly, completeness=judged.grounds.completeness)


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.model_dump(mode="json", by_alias=True) if hasattr(value, "model_dump") else value


# -- small things --------------------------------------------------------------------------------------------------


def _last(records: Iterable[Record], kind: str) -> Record | None:
    found = None
    for record in records:
        if record.get("kind") == kind:
            found = record
    return found


def _window(pair: Sequence[str]) -> TimeWindow:
    start, end = pair
    return TimeWindow(datetime.fromisoformat(start), datetime.fromisoformat(end))


def _ledger(ids: Iterable[str]) -> Ledger:
    ledger = Ledger()
    for one in ids:
        ledger.rows[str(one)] = _row(str(one))
    return ledger


def _row(evidence_id: str) -> Evidence:
    """A row of which only its id matters: that it was issued, and what came of asking again."""
    moment = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
    query = EvidenceQuery("*", TimeWindow(moment, moment), Figure("documents"))
    return Evidence("metadata", "", query, id=evidence_id)
