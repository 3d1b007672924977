"""The calls of one reply: repeats refused, the rest run, beside each other where that is safe."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from logagent.agent._prompt import say
from logagent.agent._talk import spans
from logagent.analysis.redact import ModelText
from logagent.errors import LogAgentError, ToolError
from logagent.llm._wire import ToolCall
from logagent.tools._base import Answer, ToolContext
from logagent.tools._registry import SUBMIT, Job, ToolRegistry, ToolResult

_MOST_CALLS = 8
_BUGS = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError)
_TWICE = 2
_BAD_IN_A_ROW = 3


@dataclass(slots=True)
class _Past:
    """What became of a call that was made before."""

    turn: int
    evidence: tuple[str, ...] = ()
    failures: int = 0
    refused: int = 0


@dataclass(slots=True)
class Calls:
    """Runs calls and watches for a model that goes in circles."""

    registry: ToolRegistry
    context: ToolContext
    clock: Callable[[], float]
    before: Callable[[Job], None] = lambda _job: None
    """Told of each call just before it is run."""
    after: Callable[[Job, ToolResult, float], None] = lambda _job, _result, _seconds: None
    """Told of each call with its result, in the order of the calls."""
    stuck: bool = False
    lost: int = 0
    """Calls in a row that the log source did not answer."""
    _past: dict[str, _Past] = field(default_factory=dict)
    _bad: int = 0
    _idle: int = 0

    def answer(self, calls: Sequence[ToolCall], turn: int, deadline: float) -> list[tuple[Job, ToolResult, float]]:
        """One result for each call, in the order of the calls, each with its seconds."""
        jobs = [self.registry.prepare(call, self.context) for call in calls]
        refusals = [self._refusal(job, turn, place, jobs) for place, job in enumerate(jobs)]
        early: dict[int, tuple[Answer | LogAgentError, float]] = {}
        done: list[tuple[Job, ToolResult, float]] = []
        for place, (job, refusal) in enumerate(zip(jobs, refusals, strict=True)):
            if refusal is not None:
                self.before(job)
                done.append((job, refusal, 0.0))
            else:
                asked = job if id(job) in early else self.registry.permit(job)
                if id(asked) not in early:
                    early |= self._batch([asked, *jobs[place + 1 :]], refusals[place:], deadline)
                outcome, seconds = early[id(asked)]
                result = self.registry.deliver(asked, outcome, self.context)
                self._note(asked, result, turn)
                done.append((asked, result, seconds))
            self.after(*done[-1])
        self._idle = self._idle + 1 if all(refusal is not None for refusal in refusals) else 0
        self.stuck = self.stuck or self._idle >= _TWICE
        return done

    def _batch(
        self, jobs: Sequence[Job], refusals: Sequence[ToolResult | None], deadline: float
    ) -> dict[int, tuple[Answer | LogAgentError, float]]:
        """Run the first call, and beside it those behind it up to the first one that must run alone."""
        runnable = [job for job, refusal in zip(jobs, refusals, strict=True) if refusal is None]
        batch = list(takewhile(lambda job: job.parallel, runnable)) or runnable[:1]
        for job in batch:
            self.before(job)
        return dict(zip(map(id, batch), self._together(batch, deadline), strict=True))

    def _refusal(self, job: Job, turn: int, place: int, jobs: Sequence[Job]) -> ToolResult | None:
        """Why a call is not run, as its result; None for a call that is."""
        if place >= _MOST_CALLS:
            return _said(job, say("nudge.too_many", most=_MOST_CALLS), is_error=True)
        if job.refusal or job.call.name.strip() == SUBMIT:
            return None
        past = self._past.get(job.key)
        if past is None and any(other.key == job.key for other in jobs[:place]):
            return _said(job, say("nudge.same_call", turn=turn, see=say("nudge.see_result")))
        return None if past is None or past.failures == 1 else self._again(job, past)

    def _again(self, job: Job, past: _Past) -> ToolResult:
        """The answer to a call that was answered before, or that failed twice."""
        past.refused += 1
        self.stuck = self.stuck or past.refused >= _TWICE
        if past.failures:
            return _said(job, say("nudge.failed_twice"), is_error=True)
        see = say("nudge.see", ids=spans(past.evidence)) if past.evidence else say("nudge.see_result")
        return _said(job, say("nudge.same_call", turn=past.turn, see=see))

    def _note(self, job: Job, result: ToolResult, turn: int) -> None:
        self._bad = self._bad + 1 if job.refusal else 0
        self.stuck = self.stuck or self._bad >= _BAD_IN_A_ROW
        self.lost = self.lost + 1 if result.lost else 0
        if job.key:
            past = self._past.setdefault(job.key, _Past(turn))
            past.evidence = result.evidence or past.evidence
            past.failures = past.failures + 1 if result.is_error else 0

    def _together(self, jobs: Sequence[Job], deadline: float) -> list[tuple[Answer | LogAgentError, float]]:
        """Run calls beside each other, each in a thread that nobody waits for longer than its time."""
        started = self.clock()
        slots: list[tuple[Answer | LogAgentError, float] | None] = [None] * len(jobs)

        def work(place: int, job: Job) -> None:
            try:
                outcome = self.registry.run(job, self.context)
            except _BUGS as bug:  # a team's own tool must not take the run with it
                outcome = ToolError(f"the tool failed ({type(bug).__name__}: {bug})")
            slots[place] = (outcome, self.clock() - started)

        threads = [
            threading.Thread(target=work, args=(place, job), daemon=True, name=f"tool-{job.call.name[:20]}")
            for place, job in enumerate(jobs)
        ]
        for thread in threads:
            thread.start()
        found: list[tuple[Answer | LogAgentError, float]] = []
        for place, (thread, job) in enumerate(zip(threads, jobs, strict=True)):
            limit = min(job.tool.timeout_s if job.tool else 1.0, max(0.0, deadline - started))
            thread.join(max(0.0, started + limit - self.clock()))
            late = ToolError(say("nudge.timeout", seconds=round(limit)))
            found.append(slots[place] or (late, self.clock() - started))
        return found


def _said(job: Job, text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(job.call.call_id, ModelText(text), is_error=is_error, summary=text)


def said(job: Job) -> str:
    """Tool and arguments of a call in one short line, without `why`."""
    if job.args is None:
        return job.call.name[:40]
    plain = job.args.model_dump(exclude={"why"}, exclude_none=True, exclude_defaults=True)
    return f"{job.call.name}({json.dumps(plain, ensure_ascii=False)[1:-1][:120]})"
