"""What the loop tells while it works: one record before and one after each call of the model and of a tool."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from logagent.analysis.sanitise import sanitise, sanitise_block
from logagent.analysis.trim import cut, tokens_in
from logagent.errors import ModelError
from logagent.events import (
    LoopEnded,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    OnEvent,
    Purpose,
    ToolFinished,
    ToolStarted,
)
from logagent.llm._wire import Reply
from logagent.tools._base import WHY_LENGTH, ToolContext
from logagent.tools._registry import Job, ToolResult

_REASONING = 4_000
_ERROR = 300


@dataclass(slots=True)
class Recorder:
    """Numbers the steps of a run and tells `on_event` of each. All texts are masked and without control characters."""

    context: ToolContext
    on_event: OnEvent
    price: Callable[[int, int], float]
    """Money for input and output tokens."""
    _step: int = 0
    _turn: int = 0
    _purpose: Purpose = "answer"
    _open: dict[int, int] = field(default_factory=dict)
    """Step of a call that runs, by the identity of its job."""

    def asks(self, turn: int, messages: int, tokens: int, *, forced: bool = False, purpose: Purpose = "answer") -> None:
        """The model is asked."""
        self._turn, self._purpose = turn, purpose
        self._step += 1
        self.on_event(ModelAsked(turn, self._step, messages, tokens, forced, purpose))

    def replied(self, reply: Reply) -> None:
        """The model answered."""
        asked = tuple(
            (sanitise(call.name), self._safe(call.arguments), self._why(call.arguments)) for call in reply.tool_calls
        )
        self.on_event(
            ModelReplied(
                self._turn,
                self._block(reply.text),
                asked,
                reply.input_tokens,
                reply.output_tokens,
                reply.seconds,
                step=self._step,
                cost=self.price(reply.input_tokens, reply.output_tokens),
                finish=reply.finish_reason,
                call_ids=tuple(call.call_id for call in reply.tool_calls),
                reasoning=cut(self._block(reply.reasoning), _REASONING),
                notices=tuple(self._safe(one) for one in reply.notices),
                purpose=self._purpose,
            )
        )

    def failed(self, error: ModelError, seconds: float) -> None:
        """The model gave no answer."""
        said = cut(self._safe(error.message), _ERROR)
        self.on_event(
            ModelFailed(
                self._turn,
                self._step,
                error.code or "",
                said,
                seconds,
                error_class=type(error).__name__,
                purpose=self._purpose,
            )
        )

    def starts(self, job: Job) -> None:
        """A call is about to run."""
        self._step += 1
        self._open[id(job)] = self._step
        call = job.call
        why = self._why(call.arguments)
        self.on_event(
            ToolStarted(self._turn, self._step, call.call_id, sanitise(call.name), self._safe(call.arguments), why)
        )

    def finished(self, job: Job, result: ToolResult, seconds: float) -> None:
        """A call is over."""
        call = job.call
        self.on_event(
            ToolFinished(
                self._turn,
                result.call_id,
                sanitise(call.name),
                self._safe(call.arguments),
                not result.is_error,
                seconds,
                result.text,
                result.evidence,
                step=self._open.pop(id(job), self._step),
                why=self._why(call.arguments),
                summary=cut(result.summary or result.text, 160),
                tokens=tokens_in(result.text),
                lost=result.lost,
                key=self._safe(job.key),
                state="failed" if result.is_error else "done",
            )
        )

    def ended(self, stop: str, turns: int, read: int, written: int, seconds: float) -> None:
        """The loop is over."""
        self.on_event(LoopEnded(stop, turns, read, written, seconds, self.price(read, written)))

    def _safe(self, text: str) -> str:
        return sanitise(self.context.redact(text))

    def _block(self, text: str) -> str:
        return sanitise_block(self.context.redact(text))

    def _why(self, arguments: str) -> str:
        """The reason a call gives."""
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            return ""
        why = given.get("why") if isinstance(given, dict) else None
        return self._safe(why)[:WHY_LENGTH] if isinstance(why, str) else ""
