"""Every error logagent raises on purpose, sorted by who has to act.

LogAgentError
├── UsageError              the engineer: fix the command or the settings (exit 2)
├── SourceError             the engineer: look at the log source
│   ├── StoreUnavailable    (transient) no answer, TLS, unreadable file (exit 3)
│   ├── StoreDenied         not authenticated or not allowed (exit 4)
│   ├── NoData              index, field or events missing (exit 5)
│   └── StoreQueryError     the store understood us and said no (exit 3; inside the loop: for the model)
├── ModelError              the engineer: look at the model endpoint (exit 6 with --require-llm)
│   ├── ModelUnavailable    (transient) timeout, 429, 5xx
│   ├── ModelRejected       another 4xx: key, model name, or too much text
│   └── ModelProtocolError  an answer that is not a chat completion
├── BudgetExceeded          deadline or budget reached before anything usable (exit 8)
└── ToolError               the model: read the message, try something else

A ToolError never leaves the agent loop: it becomes a tool result. A ModelError
ends the loop as an Outcome. All others reach the CLI, which prints code, text
and remedies (texts/, ux.md 2.9) and exits with `exit_code`.
"""

from collections.abc import Mapping
from typing import ClassVar


class LogAgentError(Exception):
    """Base of all errors below.

    Attributes:
        code: `LA303`; its wording stands in `texts/`. Empty where no text of its own exists.
        message: one English sentence, no trailing newline, safe to show (already redacted).
        hint: what the reader can do next; empty when there is nothing to say.
        values: what the wording of `code` fills in; numbers and names, already safe to show.
        exit_code: process exit status of the CLI.
        transient: whether the same call may succeed if repeated.
    """

    exit_code: ClassVar[int] = 1
    transient: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        hint: str = "",
        values: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.values: dict[str, object] = dict(values or {})


class UsageError(LogAgentError):
    """Wrong usage or invalid configuration (LA7xx, LA106, LA107)."""

    exit_code = 2


class SourceError(LogAgentError):
    """Base of what a log source can answer."""

    exit_code = 3


class StoreUnavailable(SourceError):
    """Nothing usable came back: unreachable, TLS, timeout, unreadable file (LA1xx, LA307, LA404)."""

    exit_code = 3
    transient = True


class StoreDenied(SourceError):
    """Not authenticated or not allowed (LA201 to LA203)."""

    exit_code = 4


class NoData(SourceError):
    """Index, field or events missing (LA301 to LA304)."""

    exit_code = 5


class StoreQueryError(SourceError):
    """The store understood the request and refused it; `message` is its innermost reason, sanitised."""

    exit_code = 3


class ModelError(LogAgentError):
    """Base of what a model endpoint can do wrong."""

    exit_code = 6


class ModelUnavailable(ModelError):
    """Timeout, 429, 5xx, refused connection after all tries (LA503, LA506)."""

    transient = True


class ModelRejected(ModelError):
    """Another 4xx: key, model name, balance, content filter, or too much text (LA502)."""


class ModelProtocolError(ModelError):
    """An answer that is not a chat completion."""


class BudgetExceeded(LogAgentError):
    """Deadline or budget reached before anything usable (LA601)."""

    exit_code = 8


class ToolError(LogAgentError):
    """A mistake of the model inside the loop; the text goes back to it as a tool result."""
