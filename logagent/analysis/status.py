"""How the trouble goes on: still there, over, told to be over, or coming and going (analysis.md 3.11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from logagent.analysis import figures
from logagent.analysis.cycles import period_of
from logagent.analysis.episodes import long_words
from logagent.analysis.facts import Event, Fact, StatusName
from logagent.analysis.lexicon import HEALTHY_AGAIN, RECOVERY, TRANSITION
from logagent.analysis.limits import ERROR, STATED
from logagent.analysis.study import Study
from logagent.expressions import expression

TRENDS = frozenset({"ramp", "slow_shift", "slow", "own_gone", "entry_gone", "slow_endpoint"})
"""Facts that say by themselves whether they last."""
_LINELESS = TRENDS | {"stops", "slow_hint", "slow_number", "silent"}
"""Facts whose template is not the failing line."""
_STARTED = expression(r"(?:Normal )?Started\b")
_QUIET, _QUIET_CAP_S = 0.03, 600.0
_LONG, _LONGER = 0.1, 0.2
_USUAL_GAPS = 6
_HEALTHY, _HEALTHY_OF_FEW, _FEW = 5, 20, 3
_LEAD_S, _TAIL_S = 180.0, 5.0
_RARE, _RARER, _RAREST = 10, 8, 3
_STARTS_WITHIN_S, _STARTING_S = 30.0, 120.0
_COMMON_WORDS = 2


@dataclass(frozen=True, slots=True)
class State:
    """How the trouble ends."""

    status: StatusName
    last: float | None = None
    """Time of the last failing line."""
    healed: str | None = None
    """The line that tells of recovery."""
    explained: bool = False
    """The whole was a transition (restart, failover, start-up) with an end."""
    period: float | None = None
    """Seconds between bursts."""


@dataclass(slots=True)
class _Scene:
    """What the rules look at: failing lines, healthy lines of the service, and the facts about trends."""

    study: Study
    near: set[str]
    """The service and what is blamed by its lines, in lower case."""
    bad: list[Event]
    healthy: list[Event]
    trends: list[Fact]

    @property
    def last(self) -> float:
        return self.bad[-1].time

    @property
    def quiet(self) -> float:
        """Seconds from the last failing line to the end."""
        return self.study.window.end - self.last

    @property
    def usual(self) -> float:
        """Usual distance of failing lines: the upper decile of the gaps."""
        gaps = sorted(b.time - a.time for a, b in pairwise(self.bad)) or [0.0]
        return gaps[int(0.9 * (len(gaps) - 1))]

    @property
    def after(self) -> int:
        """Healthy lines after the last failing one."""
        return sum(event.time > self.last for event in self.healthy)


def failing(study: Study, top: str, facts: Sequence[Fact]) -> list[Event]:
    """Events that the facts of a service rest on, and errors of others that name it; oldest first."""
    window = study.window
    templates = {fact.template for fact in facts if fact.template is not None and fact.kind not in _LINELESS}
    found = [event for fact in facts for event in figures.events(fact)]
    for template in sorted(templates):
        if window.severity[template] >= 1:
            found += study.events_with(template)
    found += [event for event in study.errors if top in window.blames(event)[0]]
    return sorted({id(event): event for event in found}.values(), key=lambda event: event.time)


def state(study: Study, top: str, facts: Sequence[Fact], bad: list[Event]) -> State:
    """Status by the failing lines `bad` of a service and its facts, by the first rule that holds."""
    window = study.window
    trends = [fact for fact in facts if fact.kind in TRENDS]
    if not bad:
        lasts = all(fact.persists for fact in trends)
        return State(("ongoing" if lasts else "recovered") if trends else "unknown", window.end)
    entities = {entity for fact in facts if (entity := figures.word(fact, "entity"))}
    healthy = [event for event in study.events_of(top) if window.severity[event.template] == 0]
    scene = _Scene(study, {name.lower() for name in {top} | entities}, bad, healthy, trends)
    period = period_of(bad, healthy)
    if period:
        return State("intermittent", scene.last, period=period)
    return _by_trend(scene) or _by_words(scene) or _by_quiet(scene)


def _by_trend(scene: _Scene) -> State | None:
    trends = scene.trends
    if not trends:
        return None
    if all(fact.persists for fact in trends):
        grows = any(fact.kind == "ramp" for fact in trends)
        return State("ongoing", scene.last) if grows and scene.quiet > 0 else None
    over = not any(fact.persists for fact in trends) and scene.after >= _HEALTHY
    return State("recovered", scene.last) if over else None


def _by_words(scene: _Scene) -> State | None:
    """Recovered, when a line says so and it is quiet since."""
    length = scene.study.window.length
    line, explained = _healed(scene)
    told = line is not None and scene.quiet >= min(max(2 * scene.usual, _QUIET * length), _QUIET_CAP_S)
    if told or (explained and scene.quiet > _QUIET * length):
        return State("recovered", scene.last, line, explained)
    return None


def _by_quiet(scene: _Scene) -> State:
    """By how long it is quiet: recovered, ongoing, or unknown."""
    window, last = scene.study.window, scene.last
    platform = any(event.event for event in scene.bad)
    stated = any(window.severity[event.template] >= STATED and not event.event for event in scene.bad)
    if platform and not stated:
        return State("ongoing", last)
    after = scene.after
    needed = _HEALTHY if len(scene.bad) >= _FEW else _HEALTHY_OF_FEW
    if scene.quiet > max(_USUAL_GAPS * scene.usual, _LONG * window.length) and after >= needed:
        return State("recovered", last)
    if platform or after < _FEW or scene.quiet <= max(_USUAL_GAPS * scene.usual, _LONGER * window.length):
        return State("ongoing", last)
    return State("unknown", last)


@dataclass(slots=True)
class _Story:
    """What happens around the failing lines: a transition on purpose, or a program that waits at its start."""

    started: bool
    """A restart, rollout or failover began shortly before."""
    starting: bool
    """The service itself was starting."""
    words: set[str]


def _healed(scene: _Scene) -> tuple[str | None, bool]:
    """(the line that tells of recovery, whether the whole was a transition with an end)."""
    rare = _rare_events(scene.study)
    story = _Story(_transition(scene, rare), _starting(scene), long_words(scene.bad[-20:]))
    severity = scene.study.window.severity
    later = (event for event in rare if event.time > scene.last and severity[event.template] < ERROR)
    line = next((event.message for event in later if _tells(scene, story, event)), None)
    return line, line is not None and (story.started or story.starting)


def _rare_events(study: Study) -> list[Event]:
    """Events of templates with at most ten lines, oldest first."""
    found = [
        study.window.events[i]
        for template, indices in study.window.by_template.items()
        if study.rare(template, _RARE)
        for i in indices
    ]
    return sorted(found, key=lambda event: event.time)


def _transition(scene: _Scene, rare: Sequence[Event]) -> bool:
    """Whether a transition begins shortly before or during the failing lines."""
    study, first = scene.study, min(event.first or event.time for event in scene.bad)
    return any(
        first - _LEAD_S <= event.time <= scene.last + _TAIL_S
        and study.window.severity[event.template] <= ERROR
        and study.rare(event.template, _RARER)
        and TRANSITION.search(event.message)
        and not HEALTHY_AGAIN.search(event.message)
        for event in rare
    )


def _starting(scene: _Scene) -> bool:
    """Whether the failing lines are those of a program that waits, at its start, for what it needs."""
    window, first = scene.study.window, min(event.first or event.time for event in scene.bad)
    begin = next((event.time for event in window.events if event.service.lower() in scene.near), first)
    early = first - begin <= _STARTS_WITHIN_S and scene.last - begin <= _STARTING_S
    return early and scene.quiet > 0.3 * window.length


def _tells(scene: _Scene, story: _Story, event: Event) -> bool:
    """Whether a later line says that the trouble is over."""
    message = event.message
    again = HEALTHY_AGAIN.search(message) is not None
    if event.service.lower() in scene.near or any(name in message.lower() for name in scene.near):
        if again or _same_matter(story, event):
            return True
        if _ready(scene, story, message):
            return True
        if story.starting and RECOVERY.search(message) and scene.study.rare(event.template, _RAREST):
            return True
    return story.started and again and TRANSITION.search(message) is not None


def _same_matter(story: _Story, event: Event) -> bool:
    return RECOVERY.search(event.message) is not None and len(story.words & long_words([event])) >= _COMMON_WORDS


def _ready(scene: _Scene, story: _Story, message: str) -> bool:
    """A start or ready line, where something was started, is starting, or a platform event failed."""
    awaited = story.started or story.starting or any(event.event for event in scene.bad)
    if not awaited:
        return False
    return "change.start" in scene.study.window.catalogue.change(message) or _STARTED.match(message) is not None
