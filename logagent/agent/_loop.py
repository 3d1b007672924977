"""The loop: ask the model, run its calls, until it submits or something ends the run. Every end is an Outcome."""

import enum
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from logagent.agent._calls import Calls, said
from logagent.agent._prompt import say, system_prompt, user_message
from logagent.agent._record import Recorder
from logagent.agent._talk import SHARE, Talk, Turn
from logagent.analysis.redact import ModelText
from logagent.analysis.sanitise import sanitise_block
from logagent.analysis.trim import cut, tokens_in
from logagent.errors import ModelError
from logagent.events import OnEvent, Purpose, ignore
from logagent.llm._wire import ChatModel, Message, Reply, ToolDeclaration
from logagent.tools._base import ToolContext
from logagent.tools._registry import SUBMIT, ToolRegistry
from logagent.tools.submit_diagnosis import Submission

_DEFAULT_WINDOW = 32_768
_SHORTENINGS = 12
_CHATTER = 2
_LOST = 2
_MARGIN_S = 0.05
_WORTH_SUMMING_UP = 250
"""Tokens of lines about earlier calls from which a summary is shorter."""
_SUMMARY = 800
"""Most characters of it."""


class StopReason(enum.Enum):
    """Why a run ended."""

    SUBMITTED = "submitted"
    OUT_OF_TURNS = "out_of_turns"
    BUDGET = "budget"
    DEADLINE = "deadline"
    STUCK = "stuck"
    MODEL_LOST = "model_lost"
    STORE_LOST = "store_lost"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """What a run may cost. None is no limit; a limit that comes near makes the next turn the last."""

    max_turns: int = 10
    """Replies of the model; one more is asked for where the last one did not submit."""
    deadline: float | None = None
    """Instant of the clock (`time.monotonic`)."""
    max_tokens: int | None = None
    """Input and output of all requests together."""
    max_requests: int | None = None
    """Round trips to the log store, those of the survey included."""
    max_cost: float | None = None
    price_input: float = 0.0
    """Money for a million input tokens, in the currency of `max_cost`."""
    price_output: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended and what it leaves. Evidence found stays in the ledger of the context, whatever the reason."""

    stop: StopReason
    submission: Submission | None
    messages: tuple[Message, ...]
    turns: int
    input_tokens: int
    output_tokens: int
    seconds: float
    error: ModelError | None = None
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class Agent:
    """One investigation by a model. Not reusable: `investigate` once."""

    model: ChatModel
    registry: ToolRegistry
    context: ToolContext
    limits: AgentLimits = AgentLimits()
    on_event: OnEvent = ignore
    clock: Callable[[], float] = time.monotonic
    language: str = "English"
    _turn: int = 0
    _input: int = 0
    _output: int = 0
    _chatter: int = 0
    _longest: float = 0.0
    _notices: list[str] = field(default_factory=list)
    _summed_up: bool = False
    _record: Recorder = field(init=False)
    _tools: tuple[ToolDeclaration, ...] = ()

    def investigate(self, question: str, digest: str) -> Outcome:
        """Answer a question from the digest and the tools.

        Both texts are masked and sanitised here, whatever was done to them before.

        Mistakes of the model go back to it, to read and mend; whatever ends the run is an Outcome.
        """
        started = self.clock()
        context = self.context
        digest = sanitise_block(context.redact(digest))
        context.shown.append(digest)
        self._tools = self.registry.declarations
        system = system_prompt(context, language=self.language, turns=self.limits.max_turns)
        talk = Talk(system, user_message(question, digest, context), context.ledger)
        self._record = Recorder(context, self.on_event, self._price)
        calls = Calls(self.registry, context, self.clock, self._record.starts, self._record.finished)
        error: ModelError | None = None
        try:
            stop = self._turns(talk, calls)
        except ModelError as lost:
            error, stop = lost, StopReason.DEADLINE if self._late() else StopReason.MODEL_LOST
        except KeyboardInterrupt:
            stop = StopReason.INTERRUPTED
        self._record.ended(stop.value, self._turn, self._input, self._output, self.clock() - started)
        submission = context.submission or context.draft  # what was right of one that was sent back
        return Outcome(
            stop, submission, tuple(talk.messages()), self._turn, self._input, self._output,
            self.clock() - started, error, tuple(dict.fromkeys(self._notices)),
        )  # fmt: skip

    def _turns(self, talk: Talk, calls: Calls) -> StopReason:
        """Turn by turn. The last one asks for the submission, forced where the endpoint allows; then once unforced."""
        while True:
            ending = self._ending(talk, calls)
            if ending and self._spent():
                return ending
            if ending:
                talk.nudge(say("nudge.last", why=self._why(ending, talk)))
            elif self._turn == self.limits.max_turns - _LOST:
                talk.nudge(say("nudge.two_left"))
            if self._take_turn(talk, calls, force=ending is not None):
                return StopReason.SUBMITTED
            if ending:
                talk.nudge(say("nudge.last", why=self._why(ending, talk)))
                again = not self._spent() and self._take_turn(talk, calls, force=False)
                return StopReason.SUBMITTED if again else ending

    def _take_turn(self, talk: Talk, calls: Calls, *, force: bool) -> bool:
        """One reply and the results of its calls; True when the diagnosis was accepted."""
        self._turn += 1
        self._tools = self.registry.declarations  # the same but for a group that was asked for in the turn before
        reply = self._complete(self._fitting(talk), self._tools, force=SUBMIT if force else "")
        if not reply.tool_calls:
            self._no_call(talk, reply)
            return False
        self._chatter = 0
        deadline = self.limits.deadline if self.limits.deadline is not None else float("inf")
        done = calls.answer(reply.tool_calls, self._turn, deadline)
        talk.turns.append(Turn(reply.message, [result for _, result, _ in done], [said(job) for job, _, _ in done]))
        return any(result.final for _, result, _ in done)

    def _complete(
        self,
        messages: Sequence[Message],
        tools: tuple[ToolDeclaration, ...],
        *,
        force: str = "",
        purpose: Purpose = "answer",
    ) -> Reply:
        """One request, on record before and after."""
        began, estimated = self.clock(), self.model.estimate(messages, tools)
        self._record.asks(self._turn, len(messages), estimated, forced=bool(force), purpose=purpose)
        try:
            reply = self.model.complete(messages, tools, force=force, deadline=self.limits.deadline)
        except ModelError as error:
            self._record.failed(error, self.clock() - began)
            raise
        self._count(reply)
        self._record.replied(reply)
        return reply

    def _no_call(self, talk: Talk, reply: Reply) -> None:
        """Chatter is kept and answered; an empty reply leaves no message, only the nudge in the last one."""
        self._chatter += 1
        if reply.message.text.strip():
            talk.turns.append(Turn(reply.message))
        talk.nudge(say("nudge.cut" if reply.finish_reason == "length" else "nudge.no_call"))

    # -- limits ----------------------------------------------------------------------------------------------------

    def _ending(self, talk: Talk, calls: Calls) -> StopReason | None:
        """Why the next turn is the last one, or None."""
        if calls.lost >= _LOST:
            return StopReason.STORE_LOST
        if calls.stuck or self._chatter >= _CHATTER:
            return StopReason.STUCK
        limits = self.limits
        if limits.deadline is not None and self.clock() + 2 * self._longest >= limits.deadline:
            return StopReason.DEADLINE
        if self._short_of(talk):
            return StopReason.BUDGET
        return StopReason.OUT_OF_TURNS if self._turn + 1 >= limits.max_turns else None

    def _short_of(self, talk: Talk) -> str:
        """What two more requests of the present size would use up, or ""."""
        limits, ahead = self.limits, 0
        if limits.max_tokens is not None or limits.max_cost is not None:
            ahead = self.model.estimate(talk.messages(), self._tools)
        if limits.max_tokens is not None and self._input + self._output + 2 * ahead > limits.max_tokens:
            return "tokens"
        if limits.max_cost is not None and self._cost(2 * ahead) > limits.max_cost:
            return "money"
        if limits.max_requests is not None and self.context.store.usage.requests >= limits.max_requests:
            return "requests to the logs"
        return ""

    def _why(self, ending: StopReason, talk: Talk) -> str:
        """Why a turn is the last one, for the model."""
        left = (self.limits.deadline or 0.0) - self.clock()
        return say(
            f"last.{ending.value}",
            turns=self.limits.max_turns,
            what=self._short_of(talk),
            left=max(0, round(left)),
            longest=max(1, round(self._longest)),
        )

    def _spent(self) -> bool:
        """Whether a limit is passed: nothing more is asked."""
        limits = self.limits
        tokens = limits.max_tokens is not None and self._input + self._output >= limits.max_tokens
        cost = limits.max_cost is not None and self._cost() >= limits.max_cost
        return tokens or cost or self._late()

    def _late(self) -> bool:
        return self.limits.deadline is not None and self.clock() >= self.limits.deadline - _MARGIN_S

    def _cost(self, ahead: int = 0) -> float:
        return self._price(self._input + ahead, self._output)

    def _price(self, read: int, written: int) -> float:
        return (read * self.limits.price_input + written * self.limits.price_output) / 1e6

    def _fitting(self, talk: Talk) -> Sequence[Message]:
        """The messages, shortened until they take at most 60 % of the window."""
        most = SHARE * (self.model.window or _DEFAULT_WINDOW)
        messages = talk.messages()
        for _ in range(_SHORTENINGS):
            if self.model.estimate(messages, self._tools) <= most or not talk.shorten():
                break
            messages = talk.messages()
        for further in (self._sum_up, Talk.fold):
            if self.model.estimate(messages, self._tools) > most and further(talk):
                messages = talk.messages()
        return messages

    def _sum_up(self, talk: Talk) -> bool:
        """The second step of shortening, once a run: the model sums up what is left of earlier calls."""
        lines = talk.lines_of_earlier_calls
        if self._summed_up or tokens_in(lines) < _WORTH_SUMMING_UP:
            return False
        self._summed_up = True
        messages = [Message("system", talk.system), Message("user", ModelText(say("nudge.summarise", lines=lines)))]
        try:
            reply = self._complete(messages, (), purpose="summary")
        except ModelError:  # the next request tells whether the model is lost
            return False
        summary = cut(sanitise_block(self.context.redact(reply.text.strip())), _SUMMARY)
        if summary:
            talk.sum_up(ModelText(summary))
        return bool(summary)

    def _count(self, reply: Reply) -> None:
        self._input += reply.input_tokens
        self._output += reply.output_tokens
        self._longest = max(self._longest, reply.seconds)
        self._notices += reply.notices
