"""The client: a `ChatModel` over an OpenAI-compatible endpoint."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from logagent.analysis.redact import ModelText
from logagent.llm._capabilities import CapabilityRecord
from logagent.llm._endpoint import Endpoint
from logagent.llm._profile import profile_for
from logagent.llm._reasoning import field_used
from logagent.llm._reply import Meaning
from logagent.llm._run import Run
from logagent.llm._state import Attempt, Compact, State, Timing
from logagent.llm._tokens import looks_cut, request_tokens, text_tokens
from logagent.llm._window import find_window
from logagent.llm._wire import Message, Reply, ToolDeclaration

if TYPE_CHECKING:
    import httpx

_UNREAD_TURNS: Final = 2
_CALIBRATED_FROM: Final = 200
_LABEL: Final = "(The model gave no answer, only its reasoning:)"
_CUT_REMEDY: Final = (
    "The model endpoint seems to have cut the prompt (it counted {counted} tokens of about {estimated}); its context "
    "is too small. For Ollama set OLLAMA_CONTEXT_LENGTH, or num_ctx in a Modelfile."
)


class ChatClient:
    """Asks one endpoint for replies; learns what it can and cannot do.

    Not for several threads at once. Opens no connection before the first request.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        memory: Path | None = None,
        compact: Compact | None = None,
        on_attempt: Callable[[Attempt], None] | None = None,
        timing: Timing | None = None,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        """Open a client.

        Args:
            endpoint: where and who.
            memory: folder for what is learned about endpoints; None keeps it for the life of the client.
            compact: shortens a conversation that does not fit; without one older tool results are cut.
            on_attempt: told of each request that brought no usable answer.
            timing: clock, sleep and chance.
            transport: an httpx transport in place of the network.
        """
        from logagent.llm._connection import Connection  # noqa: PLC0415 - `logagent --help` must not pay for httpx

        timing = timing or Timing()
        profile = profile_for(endpoint)
        self._wanted = ""
        self._state = State(
            endpoint=endpoint,
            profile=profile,
            record=CapabilityRecord(endpoint, profile, memory),
            connection=Connection(endpoint, timing.clock, transport),
            timing=timing,
            compact=compact,
            on_attempt=on_attempt or (lambda _: None),
        )

    @property
    def name(self) -> str:
        """Model name as the endpoint knows it."""
        return self._state.endpoint.model

    @property
    def window(self) -> int:
        """Context window in tokens: set, learned, or assumed by the profile."""
        return self._state.window

    def detect_window(self, seconds: float = 3.0) -> int | None:
        """Ask the endpoint for its context window, where no setting gives it, and remember the answer.

        Args:
            seconds: how long each of the one or two requests may take.
        """
        state = self._state
        if state.endpoint.context_window is None:
            found = find_window(state.endpoint, lambda url: state.connection.get(url, state.headers, seconds))
            if found:
                state.record.learn(replace(state.record.now, window=found))
        return state.known_window

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        force: str = "",
        deadline: float | None = None,
    ) -> Reply:
        """Ask for the next message of the assistant; see `ChatModel.complete`."""
        start = self._state.timing.clock()
        run = Run(self._state, messages, tools, force, deadline)
        meaning = run.meaning()
        if self._wanted and not force and not _calls(meaning, self._wanted):
            run, meaning = self._in_text(run, meaning)
        self._wanted = force if force and not _calls(meaning, force) else ""
        self._learn(run, meaning)
        return self._reply(run, meaning, start)

    def estimate(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> int:
        """Tokens of such a request, estimated on the safe side, from the last count where there is one."""
        return self._state.anchor.estimate(messages, tools, self._state.record.now.token_ratio)

    def close(self) -> None:
        """Release connections. May be called twice."""
        self._state.connection.close()

    def _in_text(self, run: Run, meaning: Meaning) -> tuple[Run, Meaning]:
        """A tool that was demanded twice without effect is asked for once more in plain text."""
        if run.as_text or not run.tools or self._state.endpoint.tools == "native":
            return run, meaning
        text = Run(self._state, run.messages, run.tools, "", run.deadline, as_text=True)
        text.ask = text.ask.nudged(f"Call {self._wanted} now, in the form described above.")
        text.notices += run.notices
        spoken = text.meaning()
        return (text, spoken) if spoken.calls else (run, meaning)

    def _learn(self, run: Run, meaning: Meaning) -> None:
        state = self._state
        now = state.record.now
        used = field_used(meaning.raw)
        if used in {"reasoning", "reasoning_content"}:
            now = replace(now, reasoning_field=used)
        estimated = request_tokens(run.ask.messages, run.tools)
        counted = meaning.usage.input
        if looks_cut(counted, math.ceil(estimated * now.token_ratio)):
            run.notices.append(_CUT_REMEDY.format(counted=counted, estimated=math.ceil(estimated * now.token_ratio)))
        elif counted is not None and counted > meaning.usage.cached and estimated >= _CALIBRATED_FROM:
            now = now.calibrated(estimated, counted)
        state.unread_turns = state.unread_turns + 1 if meaning.markup and not meaning.calls else 0
        if state.unread_turns >= _UNREAD_TURNS and now.native_tools and state.endpoint.tools == "auto":
            now = replace(now, native_tools=False)
            state.unread_turns = 0
            why = "The model writes its tool calls as text; from now on they are asked for as text."
            run.notices.append(f"{why} {state.profile.tools_remedy}".strip())
        state.record.learn(now)

    def _reply(self, run: Run, meaning: Meaning, start: float) -> Reply:
        text, calls = meaning.text, () if meaning.cut else meaning.calls
        if meaning.empty and meaning.reasoning:
            text = f"{_LABEL}\n{meaning.reasoning}"
        origin = self._state.endpoint.origin
        message = Message("assistant", ModelText(text), meaning.calls, raw=meaning.raw, origin=origin)
        estimated = meaning.usage.input is None or meaning.usage.output is None
        used = meaning.usage.input if meaning.usage.input is not None else self._state.estimate(run.ask)
        written = meaning.usage.output
        if written is None:
            written = text_tokens(text + meaning.reasoning + "".join(call.arguments for call in meaning.calls))
        if not estimated and run.ask.messages is run.messages:
            self._state.anchor.set([*run.messages, message], used + written)
        return Reply(
            message=message,
            text=text,
            tool_calls=calls,
            finish_reason="length" if meaning.cut else ("tool_calls" if calls else meaning.finish),
            input_tokens=used,
            output_tokens=written,
            estimated=estimated,
            seconds=self._state.timing.clock() - start,
            notices=tuple(dict.fromkeys(run.notices)),
            reasoning=meaning.reasoning,
            cached_tokens=meaning.usage.cached,
        )


def _calls(meaning: Meaning, name: str) -> bool:
    return any(call.name == name for call in meaning.calls)
