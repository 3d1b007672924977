"""The same look again and again, until what was wrong is over. No model; each look opens the source anew."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from logagent.errors import NoData, SourceError
from logagent.events import RunEvent
from logagent.settings import RunOptions, Settings
from logagent.triage._rounds import Novelty, Rounds
from logagent.wiring._session import Session


@dataclass(frozen=True, slots=True)
class Pace:
    """How often is looked, and for how long; `sleep` and `clock` are those of the caller."""

    seconds: float
    sleep: Callable[[float], None]
    most: int | None = None
    """Most looks; None: until it is over."""
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))


Tell = Callable[[datetime, list[Novelty]], None]
"""Called after each look that found something new."""


@dataclass(slots=True)
class Watched:
    """What the looks came to."""

    looks: int = 0
    failed: int = 0
    """Looks that the source did not answer."""
    troubled: bool = False
    recovered: bool = False


def watch(settings: Settings, options: RunOptions, pace: Pace, tell: Tell, watched: Watched) -> Watched:
    """Look until what was wrong is over, or `pace.most` times; `watched` is right also after an interrupt.

    A source that does not answer is asked again at the next look; one that never did is an error.

    Raises:
        LogAgentError: the first look failed.
    """
    rounds, quiet = Rounds(), replace(options, use_model=False, save=False)
    while True:
        try:
            found = _look(settings, quiet, rounds)
        except (SourceError, NoData):
            if not watched.looks:
                raise
            watched.failed, found = watched.failed + 1, []
        watched.looks += 1
        watched.troubled, watched.recovered = rounds.troubled, rounds.recovered
        if found:
            tell(pace.clock(), found)
        if watched.recovered or (pace.most is not None and watched.looks >= pace.most):
            return watched
        pace.sleep(pace.seconds)


def _look(settings: Settings, options: RunOptions, rounds: Rounds) -> list[Novelty]:
    with Session(settings, options, _silent) as session:
        return rounds.look(session.run())


def _silent(_event: RunEvent) -> None:
    """A look says nothing of its steps: what changed is all that counts."""
