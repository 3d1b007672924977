"""The client's own deadlines for one request (llm-endpoints.md 13).

An HTTP read timeout is re-armed by every keep-alive, for ever. These are not.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

from logagent.llm._endpoint import Limits

LimitName = Literal["first_token", "progress", "after_finish", "total", "deadline"]

_WORDS: Final[dict[LimitName, str]] = {
    "first_token": "no first token",
    "progress": "no progress",
    "after_finish": "no end of the answer",
    "total": "no complete answer",
    "deadline": "no complete answer before the deadline of the investigation",
}


@dataclass(frozen=True, slots=True)
class Due:
    """Which limit comes next, and when."""

    name: LimitName
    at: float
    """Instant of the clock."""
    allowed: float
    """Length of the limit in seconds."""

    @property
    def text(self) -> str:
        """What it means when it fires, and which limit to raise."""
        return f"{_WORDS[self.name]} within {self.allowed:.0f} s (limit {self.name})"


class Deadlines:
    """Watches one request."""

    def __init__(self, limits: Limits, start: float, deadline: float | None) -> None:
        self._limits = limits
        self._start = start
        self._deadline = math.inf if deadline is None else deadline
        self._progress = 0
        self._progress_at = start
        self._finish_at: float | None = None

    def note(self, at: float, progress: int, *, finished: bool) -> None:
        """Take over how far the answer has come by `at`."""
        if progress > self._progress:
            self._progress, self._progress_at = progress, at
        if finished and self._finish_at is None:
            self._finish_at = at

    @property
    def due(self) -> Due:
        """The limit that fires first from here on."""
        limits = self._limits
        dues = [
            Due("total", self._start + limits.total, limits.total),
            Due("deadline", self._deadline, max(0.0, self._deadline - self._start)),
        ]
        if self._finish_at is not None:
            dues.append(Due("after_finish", self._finish_at + limits.after_finish, limits.after_finish))
        elif self._progress:
            dues.append(Due("progress", self._progress_at + limits.progress, limits.progress))
        else:
            dues.append(Due("first_token", self._start + limits.first_token, limits.first_token))
        return min(dues, key=lambda due: due.at)
