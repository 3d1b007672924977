"""The whole survey over one window: facts, blame and verdict. Pure: events in, conclusion out."""

from collections.abc import Sequence
from dataclasses import dataclass

from logagent.analysis import figures
from logagent.analysis.captures import Capture
from logagent.analysis.changes import changed_settings
from logagent.analysis.episodes import error_episodes, needles, steady_errors
from logagent.analysis.facts import Conclusion, Event, Fact
from logagent.analysis.gauges import gauges
from logagent.analysis.latency import slow_services
from logagent.analysis.mechanism_lines import mechanism_lines
from logagent.analysis.mechanisms import Catalogue
from logagent.analysis.numbers import slow_numbers
from logagent.analysis.partners import partner_drops
from logagent.analysis.ramps import error_ramps, ramps
from logagent.analysis.shifts import slow_endpoints, slow_shifts
from logagent.analysis.siblings import sibling_errors
from logagent.analysis.silence import silent_services, stops_in_silence, unreachable, unreachable_by_counts
from logagent.analysis.steps import request_steps
from logagent.analysis.study import Question, Study
from logagent.analysis.verdict import decide
from logagent.analysis.window import Window


@dataclass(frozen=True, slots=True)
class Survey:
    """What the analysis found: the window it read, all facts, and the conclusion."""

    window: Window
    facts: list[Fact]
    conclusion: Conclusion
    captures: list[Capture]
    """Parts of the logs that have no service and no time in common; empty where they are all one."""


def survey(  # noqa: PLR0913  # the questions one can ask about events
    events: list[Event],
    catalogue: Catalogue,
    *,
    trace_events: list[Event] | None = None,
    alert: float | None = None,
    reach: float = 120.0,
    use_traces: bool = True,
    window: tuple[float, float] | None = None,
    exact: bool = True,
) -> Survey:
    """Survey events and conclude what broke, since when, and who is the likely cause, or that nothing tells.

    Args:
        events: at least one, sorted by time. Their `template` is set here.
        catalogue: reads mechanisms and changes.
        trace_events: a separate sample of complete traces, sorted by time; without it traces are taken from `events`.
        alert: time of an alert (seconds); changes are then looked for within `reach` seconds of it only.
        reach: see `alert`; at least 5 % of the window.
        use_traces: False reads counts only.
        window: the span asked about, when the events also hold an earlier stretch of the same logs as a baseline. What
            was over before it is no cause; what began before it and goes on has an onset `before_window`.
        exact: False when weights are estimates from a sample: tests then count the events read.
    """
    view = Window(events, catalogue, trace_events=trace_events, keep_traces=use_traces)
    study = Study(view, Question(alert, reach, window, exact))
    facts = [fact for fact in _facts(study) if _concerns(study, fact)]
    return Survey(view, facts, decide(study, facts, changed_settings(study)), study.captures)


def _facts(study: Study) -> list[Fact]:
    """All facts. Their order is that of the ranking among equals."""
    episodes = error_episodes(study)
    found = request_steps(study)
    found += unreachable(study, found)
    found += silent_services(study)
    if not study.window.traces:
        found += sibling_errors(study) + partner_drops(study) + unreachable_by_counts(study, episodes)
        stops_in_silence(study, found)
    found += episodes + needles(study) + steady_errors(study) + slow_services(study) + slow_numbers(study)
    lines = mechanism_lines(study, episodes)
    _blame_nodes(found, lines)
    found += lines
    if not study.window.traces:
        numbers = gauges(study)
        found += ramps(study, numbers) + error_ramps(study) + slow_shifts(study, numbers) + slow_endpoints(study)
    return found


def _blame_nodes(facts: Sequence[Fact], lines: Sequence[Fact]) -> None:
    """Pods that were evicted from a node in trouble blame it, also as needles."""
    moved = {f.service: f.blames for f in lines if f.blames and f.figures.get("id") == "deploy.evicted"}
    for fact in facts:
        if fact.kind == "needle" and fact.service in moved:
            fact.blames = moved[fact.service]


def _concerns(study: Study, fact: Fact) -> bool:
    """Whether a fact reaches into the span asked about."""
    if study.asked is None:
        return True
    stated = figures.events(fact)
    last = stated[-1].time if stated else figures.number(fact, "last", study.window.end)
    return last >= study.asked[0]
