"""The eight steps of a run, with the seconds since its start."""

import time
from collections.abc import Callable
from typing import Literal

from logagent.events import OnEvent, StepFinished, StepStarted

STEPS = ("scope", "volume", "errors", "patterns", "onset", "spread", "hypotheses", "verify")
Word = Literal["ok", "warn", "fail", "skip"]


class Progress:
    """Tells `on_event` where a run stands, in masked words; the next step starts when one is done."""

    def __init__(self, on_event: OnEvent, clean: Callable[[str], str]) -> None:
        self._on_event = on_event
        self._clean = clean
        self._began = time.monotonic()

    def start(self, name: str) -> None:
        """A step begins."""
        self._on_event(StepStarted(STEPS.index(name) + 1, len(STEPS), name))

    def done(self, name: str, text: str, word: Word = "ok") -> None:
        """A step is over, and the next one begins."""
        place = STEPS.index(name)
        self._on_event(StepFinished(place + 1, len(STEPS), name, word, self.seconds, self._clean(text)))
        if place + 1 < len(STEPS):
            self.start(STEPS[place + 1])

    def restart(self) -> None:
        """Count seconds from now on."""
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began
