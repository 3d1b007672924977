"""One reply: request, retry, change, shrink, ask again, until there is an answer or an error that says why not."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NoReturn

from logagent.analysis.redact import ModelText
from logagent.llm._adapt import MAX_CHANGES, adapt
from logagent.llm._body import Ask, build_body
from logagent.llm._classify import Kind, allowed_cap, classify, fits_without_cap, learned_window
from logagent.llm._errors import to_error
from logagent.llm._failure import Failure
from logagent.llm._fault import find_fault
from logagent.llm._reply import Meaning, Offer, read_answer
from logagent.llm._retry import MAX_TRIES, MAX_WAIT, POLL, SOON, asked_wait, backoff, demands_retry, forbids_retry
from logagent.llm._shrink import shrink
from logagent.llm._state import Attempt, State
from logagent.llm._text_protocol import REMINDER
from logagent.llm._wire import Message, ToolDeclaration

_NUDGE: Final = (
    "Your last message held a tool call that cannot be read, so nothing was run. Call the tool through the function "
    "interface, or answer in plain words."
)
_PROMISED: Final = (
    "Your last message announced a tool call but held none. Send the call again, or answer in plain words."
)
_NOT_RUN: Final = "(a tool call that could not be read)"
_LEAST_CAP: Final = 64
_FILTERED_STATUS: Final = 400
_ABOUT_SIZE: Final = frozenset({"overflow", "lower_cap"})
_FINAL_LIMITS: Final = frozenset({"deadline", "total"})


@dataclass(slots=True)
class Run:
    """The way to one reply. Everything that happens on the way is told to `state.on_attempt`."""

    state: State
    messages: Sequence[Message]
    tools: Sequence[ToolDeclaration]
    force: str = ""
    deadline: float | None = None
    as_text: bool = False
    """Whether tools are offered in words, whatever the endpoint can do."""
    notices: list[str] = field(default_factory=list)
    ask: Ask = field(init=False)
    _tries: int = 1
    _changes: int = 0
    _warming_since: float | None = None
    _once: set[str] = field(default_factory=set)
    """What is done at most once for one reply."""

    def __post_init__(self) -> None:
        self.ask = Ask(self.messages, self.tools, self.force, as_text=self.as_text)

    def meaning(self) -> Meaning:
        """The answer that is accepted.

        Raises:
            ModelError: none came.
        """
        while True:
            meaning = self._answer()
            if self._accepts(meaning):
                return meaning

    # -- requests ------------------------------------------------------------------------------------------------

    def _answer(self) -> Meaning:
        """Send until something that reads as an answer comes."""
        state = self.state
        while True:
            self._check_deadline()
            body = build_body(self.ask, state)
            offer = self._offer(body)
            text = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
            try:
                answer = state.connection.ask(state.endpoint.chat_url, text, state.headers, self.deadline)
                failure, limit = find_fault(answer, state.endpoint.chat_url_shown), ""
                state.answered = True
            except state.connection.failed as failed:
                failure, limit = failed.failure, failed.limit
            if failure is None:
                return read_answer(answer, offer)
            self._react(failure, body, limit)

    def _check_deadline(self) -> None:
        left = self._left()
        if left is not None and left <= 0:
            self._fail(
                Failure(transport="timeout", message="the deadline of the investigation has passed"), "transient"
            )

    def _offer(self, body: dict[str, object]) -> Offer:
        cap = body.get(self.state.record.now.cap_field)
        return Offer(
            tools=self.tools,
            results=[str(message.text) for message in self.messages if message.role == "tool"],
            native="tools" in body,
            cap=cap if isinstance(cap, int) else self.state.endpoint.max_output_tokens,
            seed=len(self.messages),
        )

    def _react(self, failure: Failure, body: dict[str, object], limit: str) -> None:
        """Prepare the next request, or raise what ends this one."""
        failure = failure.without(self.state.endpoint.api_key)
        kind = classify(failure)
        change = None if kind in _ABOUT_SIZE else adapt(failure, body, self.state.record.now)
        if change is not None and self._changes < MAX_CHANGES:
            self._changes += 1
            self.state.record.learn(change.capabilities)
            if "tool_choice" in change.text and self.force:
                self.ask = self.ask.nudged(f"Call {self.force} now, with what you know.")
            self._tell(change.text, failure)
            self.state.on_attempt(Attempt("adaptable", failure, change=change.text))
            return
        if limit in _FINAL_LIMITS:
            self._fail(failure, kind)
        if kind == "final" and demands_retry(failure):
            kind = "transient"
        reaction = {
            "overflow": self._on_overflow,
            "lower_cap": self._on_cap,
            "warming_up": self._on_warming_up,
            "transient": self._on_transient,
            "rate_limit": self._on_transient,
        }.get(kind, self._fail)
        reaction(failure, kind)

    def _tell(self, change: str, failure: Failure) -> None:
        remedy = self.state.profile.tools_remedy if "as text" in change else ""
        said = failure.said or failure.transport
        self.notices.append(f"The model endpoint refused a request ({said}); changed: {change}. {remedy}".strip())

    def _fail(self, failure: Failure, kind: Kind) -> NoReturn:
        self.state.on_attempt(Attempt(kind, failure))
        raise to_error(failure, kind, self.state.endpoint)

    def _on_transient(self, failure: Failure, kind: Kind) -> None:
        if failure.transport == "tls" or forbids_retry(failure):
            self._fail(failure, kind)
        if failure.transport == "refused":
            self._on_refused(failure, kind)
            return
        now = self.state.timing.wall()
        wait = asked_wait(failure, now)
        if self._tries >= MAX_TRIES or (wait is not None and wait > MAX_WAIT):
            self.state.on_attempt(Attempt(kind, failure, wait_s=wait or 0.0))
            raise to_error(failure, kind, self.state.endpoint, wait_s=wait, left_s=self._left())
        if wait is None:
            wait = backoff(self._tries, failure, self.state.timing.random)
        self._tries += 1
        self._pause(wait, failure, kind)

    def _on_refused(self, failure: Failure, kind: Kind) -> None:
        """Nobody listens: a local server that answered before may be loading its model, any other is soon given up."""
        restarting = self.state.near and self.state.answered
        limits = self.state.endpoint.patience
        if not self._is_starting(limits.warm_up if restarting else limits.refused):
            self._fail(failure, kind)
        self._pause(POLL if restarting else SOON, failure, "warming_up" if self.state.near else kind)

    def _on_warming_up(self, failure: Failure, kind: Kind) -> None:
        limits = self.state.endpoint.patience
        if not self._is_starting(limits.warm_up if self.state.answered else limits.unready):
            self._fail(failure, kind)
        self._pause(max(POLL, asked_wait(failure, self.state.timing.wall()) or 0.0), failure, kind)

    def _is_starting(self, limit: float) -> bool:
        """Whether a server that is not ready may still become so within its limit."""
        now = self.state.timing.clock()
        if self._warming_since is None:
            self._warming_since = now
        return now - self._warming_since < limit

    def _left(self) -> float | None:
        return None if self.deadline is None else self.deadline - self.state.timing.clock()

    def _pause(self, seconds: float, failure: Failure, kind: Kind) -> None:
        left = self._left()
        self.state.on_attempt(Attempt(kind, failure, wait_s=seconds))
        if left is not None and seconds >= left:
            raise to_error(failure, kind, self.state.endpoint, wait_s=seconds, left_s=left)
        self.state.timing.sleep(seconds)

    # -- size ----------------------------------------------------------------------------------------------------

    def _on_overflow(self, failure: Failure, kind: Kind) -> None:
        window = learned_window(failure)
        if fits_without_cap(failure, self._cap()) and self._first("lower_cap"):
            self._on_cap(failure, "lower_cap")
            return
        if window:
            self.state.record.learn(replace(self.state.record.now, window=window))
        if not self._first("shrink"):
            self._fail(failure, kind)
        target = math.floor(0.6 * (window or self.state.window))
        shorter = shrink(self.ask.messages, target, self.state.compact)
        if shorter is None:
            self._fail(failure, kind)
        self.state.on_attempt(Attempt("overflow", failure, change="compact"))
        self.notices.append("The conversation was too long for the model; older tool results were shortened.")
        self.ask = replace(self.ask, messages=shorter)

    def _on_cap(self, failure: Failure, kind: Kind) -> None:
        cap = self._cap()
        allowed = allowed_cap(failure, cap)
        lower = allowed if allowed is not None and allowed < cap else cap // 2
        if lower < _LEAST_CAP or not self._first(f"cap {cap}"):
            self._fail(failure, kind)
        self.state.on_attempt(Attempt("lower_cap", failure, change=f"cap {lower}"))
        self.ask = replace(self.ask, cap=lower, exact=True)
        if lower == allowed and learned_window(failure) is None and "context" not in failure.text:
            self.state.record.learn(replace(self.state.record.now, max_output=lower))

    def _cap(self) -> int:
        return self.state.cap(self.ask)

    # -- judging -------------------------------------------------------------------------------------------------

    def _accepts(self, meaning: Meaning) -> bool:
        """Whether an answer is one; else the next request is prepared, or an error raised."""
        if meaning.ending == "content_filter":
            code = Failure(_FILTERED_STATUS, code="content_filter", message=f"finish reason {meaning.finish}")
            self._fail(code, "final")
        if meaning.ending == "overflow" or (meaning.cut and meaning.empty and meaning.usage.output == 0):
            self._on_overflow(Failure(message=f"finish reason {meaning.finish}", code=meaning.finish), "overflow")
            return False
        if meaning.ending == "error":
            return self._again(f"finish reason {meaning.finish}")
        if meaning.cut and (meaning.calls or meaning.empty or self._has_half_call(meaning)):
            return self._accepts_cut(meaning)
        if meaning.markup or meaning.promised:
            return self._accepts_unread(meaning)
        if meaning.empty:
            return self._accepts_empty(meaning)
        if meaning.ending == "unknown":
            self.notices.append(f"The model endpoint gave an unknown finish reason: {meaning.finish}.")
        return True

    @staticmethod
    def _has_half_call(meaning: Meaning) -> bool:
        return meaning.promised

    def _accepts_cut(self, meaning: Meaning) -> bool:
        """Cut by its length: once more with twice the cap; then calls are reported as not run."""
        before = self._cap()
        if self._first("larger_cap"):
            self.ask = replace(self.ask, cap=2 * before, exact=False)
            if self._cap() > before:
                failure = Failure(message="the answer was cut off by the length limit")
                self.state.on_attempt(Attempt("cut", failure, change=f"cap {self._cap()}"))
                return False
        if meaning.empty:
            words = f"the output of {before} tokens went into reasoning; raise max_output_tokens"
            self._fail(Failure(message=words), "transient")
        return True

    def _accepts_unread(self, meaning: Meaning) -> bool:
        """A call that cannot be read: asked again once; then its text stands as it is."""
        if not self._first("reask"):
            if meaning.promised and meaning.empty:
                self._fail(Failure(message="the answer announced tool calls and held none"), "transient")
            return True
        words = _PROMISED if meaning.promised else (_NUDGE if "tools" in build_body(self.ask, self.state) else REMINDER)
        self.state.on_attempt(Attempt("reask", Failure(message=words)))
        if not meaning.empty:
            self.ask = self.ask.followed(Message("assistant", ModelText(meaning.text or _NOT_RUN)))
        self.ask = self.ask.nudged(words)
        return False

    def _accepts_empty(self, meaning: Meaning) -> bool:
        if meaning.reasoning and not self._first("reasoning"):
            return True
        if meaning.reasoning:
            self.ask = replace(self.ask, cap=2 * self._cap(), exact=False)
            failure = Failure(message="the answer holds reasoning only")
            self.state.on_attempt(Attempt("empty", failure, change=f"cap {self._cap()}"))
            return False
        return self._again("an empty answer")

    def _again(self, why: str) -> bool:
        self._on_transient(Failure(message=why), "transient")
        return False

    def _first(self, what: str) -> bool:
        first = what not in self._once
        self._once.add(what)
        return first
