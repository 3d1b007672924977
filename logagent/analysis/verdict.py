"""Verdict, onset, mechanism and grade: what the analysis answers (analysis.md 6 and 7)."""

from collections.abc import Sequence
from typing import Literal

from logagent.analysis import figures
from logagent.analysis.cause import cause_text, cleared
from logagent.analysis.changes import Setting, changes_before
from logagent.analysis.facts import Conclusion, Event, Fact, GradeName, Suspect
from logagent.analysis.limits import EDGE, ERROR
from logagent.analysis.mechanisms import Catalogue
from logagent.analysis.rank import OWN, claimable, rank
from logagent.analysis.status import TRENDS, State, failing, state
from logagent.analysis.study import Study

MARGIN = 1.25
"""Lead over the next service with a claimable fact."""
FAINT = 0.3
"""Score below which the first of the ranking says nothing."""
_OPENS = 0.02
_SAME_TIME_S = 60.0
_WARNING_SHARE, _WARNING_S = 0.25, 600.0
_SMALL, _SMALL_TRANSITION = 5, 20
_MECHANISMS = frozenset({"mechanism", "mechanism_weak", "ramp"})
_NOT_OWN = frozenset({"relay", "relay_episode", "branch"})
_SYMPTOMS = frozenset({"episode", "relay", "relay_episode", "needle", "own_error", "mechanism"})
_MADE_CLAIM = frozenset({"mechanism", "episode", "needle", "ramp", "slow_shift"})
_NO_LINE = TRENDS | {"stops", "silent", "branch"}
_DISCRIMINATING = OWN | {"unreachable", "slow"}

Onset = tuple[float, float]


def decide(study: Study, facts: Sequence[Fact], settings: Sequence[Setting]) -> Conclusion:
    """The whole answer: ranking, verdict, onset, mechanism, status, changes, grade, and the text of the cause."""
    conclusion = conclude(study, facts)
    if not conclusion.ranking:
        conclusion.cause_text = cleared(study)
        return conclusion
    top = conclusion.ranking[0]
    claims = [fact for fact in top.facts if claimable(fact)] or top.facts
    _name_mechanism(study, conclusion, top)
    bad = failing(study, top.service, claims)
    end = state(study, top.service, claims, bad)
    conclusion.status, conclusion.period = end.status, end.period
    conclusion.ended = end.last if end.status == "recovered" else None
    _move_to_ramp(conclusion, top)
    _place_in_window(study, conclusion, top)
    begin = conclusion.onset[1] if conclusion.onset else None
    conclusion.changes = changes_before(study, begin, top.service, bad, settings)
    if conclusion.verdict == "cause":
        supported = any(change.supported for change in conclusion.changes)
        conclusion.grade = _grade(top.service, claims, facts, supported=supported)
        _withdraw_if_over(study, conclusion, end, bad)
    conclusion.cause_text = cause_text(study, conclusion)
    return conclusion


def conclude(study: Study, facts: Sequence[Fact]) -> Conclusion:
    """The verdict: a cause only on claimable facts with a margin over the next unexplained service."""
    ranking = rank(study, facts)
    if not ranking or (ranking[0].score < FAINT and not any(map(claimable, facts))):
        if _errors_asked(study):
            reason = "errors without a change, an onset or a mechanism"
            return Conclusion("inconclusive", ranking, None, "unknown", reason)
        return Conclusion("no_anomaly", ranking, None, "unknown", "nothing outside the usual")
    top = ranking[0]
    onset = _onset(study, top)
    kind: Literal["interval", "unknown"] = "interval" if onset else "unknown"
    own = [fact for fact in top.facts if claimable(fact)]
    if not own:
        return Conclusion("inconclusive", ranking, onset, kind, "no claimable fact for the leading service")
    rival = next((suspect for suspect in ranking[1:] if any(map(claimable, suspect.facts))), None)
    if rival is not None and top.score < MARGIN * rival.score and not _names(rival, top):
        return Conclusion("inconclusive", ranking, onset, kind, f"{rival.service} is as likely")
    return Conclusion("cause", ranking, onset, kind, own[0].text)


def _errors_asked(study: Study) -> bool:
    """Whether there is an error line in the span that was asked about."""
    begin = study.asked[0] if study.asked else study.window.start
    return bool(study.errors) and study.errors[-1].time >= begin


def _names(rival: Suspect, top: Suspect) -> bool:
    return any(top.service in fact.blames for fact in rival.facts)


def _onset(study: Study, top: Suspect) -> Onset | None:
    """(last good, first bad) of the earliest strong fact of the leading service.

    What it passes on dates the trouble only where no other service writes here, whose facts would tell it better.
    """
    dated = [fact for fact in top.facts if fact.onset and fact.kind not in _NOT_OWN]
    if not dated and len(study.window.services) == 1:
        dated = [fact for fact in top.facts if fact.onset and fact.kind == "relay_episode"]
    if not dated:
        return None
    best = min(dated, key=lambda fact: (not claimable(fact), fact.kind not in OWN | {"needle"}, fact.p))
    begin, near = _begin(best), EDGE * study.window.length
    close = [fact for fact in dated if claimable(fact) and abs(_begin(fact) - begin) <= near]
    return min(close, key=_begin, default=best).onset


def _begin(fact: Fact) -> float:
    """First bad time of a dated fact."""
    return fact.onset[1] if fact.onset else float("inf")


def mechanism_of(catalogue: Catalogue, facts: Sequence[Fact]) -> Fact | None:
    """The fact whose mechanism names the suspect: strong, new, no echo, within a minute of the earliest, list order."""
    stated = [fact for fact in facts if fact.kind in _MECHANISMS and figures.word(fact, "id")]
    begin = min((_begin(fact) for fact in stated if fact.onset), default=0.0)
    needle = any(fact.kind == "needle" for fact in facts)

    def order(fact: Fact) -> tuple[bool, bool, bool, bool, bool, float]:
        weak = figures.flag(fact, "weak")
        rare = needle and not weak and figures.word(fact, "novelty") == "rare"
        return (
            fact.kind == "mechanism_weak" and not rare,
            fact.kind == "ramp",
            weak,
            catalogue.entries[figures.word(fact, "id") or ""].echo,
            fact.onset is None or _begin(fact) - begin > _SAME_TIME_S,
            figures.number(fact, "rank", 999),
        )

    return min(stated, key=order, default=None)


def _name_mechanism(study: Study, conclusion: Conclusion, top: Suspect) -> None:
    """Set mechanism and entity, and move the onset back to the first line that states it or warns of it."""
    catalogue = study.window.catalogue
    main = mechanism_of(catalogue, top.facts)
    conclusion.entity = top.service
    if main is None:
        found = (figures.word(fact, "inferred") for fact in top.facts)
        conclusion.mechanism = next((name for name in found if name in catalogue.inferred), None)
        return
    conclusion.mechanism = figures.word(main, "id")
    conclusion.entity = figures.word(main, "entity") or top.service
    if conclusion.onset is None:
        return
    if main.kind == "mechanism" and main.onset and main.onset[1] < conclusion.onset[1] - 1:
        conclusion.onset = main.onset
    if conclusion.verdict != "cause" or main.kind == "ramp":
        return
    kin = _kin(catalogue, conclusion.mechanism or "")
    reach = conclusion.onset[1] - _WARNING_SHARE * study.window.length - _WARNING_S
    early = [fact for fact in top.facts if _warns(fact, kin) and reach <= _begin(fact) < conclusion.onset[1]]
    if early:
        conclusion.onset = min(early, key=_begin).onset


def _kin(catalogue: Catalogue, mechanism: str) -> frozenset[str]:
    """A mechanism, its rivals either way, and its family."""
    own = catalogue.entries[mechanism]
    related = (e.id for e in catalogue.entries.values() if e.family == own.family or mechanism in e.rivals)
    return frozenset({mechanism, *own.rivals, *related})


def _warns(fact: Fact, kin: frozenset[str | None]) -> bool:
    """Whether a fact is about the same matter and not there all the time."""
    if fact.kind not in ("mechanism", "mechanism_weak") or fact.onset is None:
        return False
    return figures.word(fact, "id") in kin and figures.word(fact, "novelty") in ("rare", "small", "new")


def _move_to_ramp(conclusion: Conclusion, top: Suspect) -> None:
    """What grew before the failure began is the beginning of it."""
    if conclusion.onset is None:
        return
    grown = [fact for fact in top.facts if fact.kind == "ramp" and _begin(fact) < conclusion.onset[1]]
    if grown:
        conclusion.onset = min(grown, key=_begin).onset


def _place_in_window(study: Study, conclusion: Conclusion, top: Suspect) -> None:
    """Set the kind of the onset; an event may tell of a beginning before the window."""
    window = study.window
    main = mechanism_of(window.catalogue, top.facts)
    if main is not None and figures.flag(main, "event") and _begin(main) < window.start:
        conclusion.onset, conclusion.onset_kind = main.onset, "before_window"
        return
    if conclusion.onset is None:
        return
    begin = conclusion.onset[1]
    first = next((fact for fact in top.facts if fact.onset == conclusion.onset), None)
    opens = begin - window.start <= _OPENS * window.length
    there = opens and first is not None and _already_there(first)
    if begin < study.asked[0] if study.asked else there:
        conclusion.onset_kind = "before_window"
    elif first is not None and _is_first_line(study, first, begin):
        conclusion.onset_kind = "exact"


def _already_there(fact: Fact) -> bool:
    """Whether a fact that opens the window says nothing about a beginning inside it."""
    return fact.kind in ("episode", "needle") or figures.word(fact, "novelty") == "present"


def _is_first_line(study: Study, fact: Fact, begin: float) -> bool:
    """Whether an onset is the first line of a pattern that was not there before."""
    if fact.template is None or fact.kind in _NO_LINE:
        return False
    events = study.events_with(fact.template)
    return bool(events) and events[0].time >= begin


def _grade(top: str, claims: Sequence[Fact], facts: Sequence[Fact], *, supported: bool) -> GradeName:
    """Confirmed: a mechanism line and a second, discriminating fact; likely: one of them, or what made the claim."""
    line = any(fact.kind == "mechanism" and not figures.flag(fact, "weak") for fact in claims)
    second = supported or any(fact.kind in _DISCRIMINATING for fact in claims) or _comes_first(top, claims, facts)
    if line and second:
        return "confirmed"
    return "likely" if line or second or any(fact.kind in _MADE_CLAIM for fact in claims) else "possible"


def _comes_first(top: str, claims: Sequence[Fact], facts: Sequence[Fact]) -> bool:
    """Whether the errors of all others begin later, or not earlier and one of them names the service."""
    begin = min((fact.onset[1] for fact in claims if fact.onset), default=None)
    others = [fact for fact in facts if fact.onset and fact.kind in _SYMPTOMS and fact.service != top]
    if begin is None or not others:
        return False
    earliest = min(_begin(fact) for fact in others)
    named = any(top in fact.blames for fact in others)
    return earliest >= begin + 0.5 or (earliest >= begin and named)


def _withdraw_if_over(study: Study, conclusion: Conclusion, end: State, bad: Sequence[Event]) -> None:
    """What was over before the end is no cause when it was a transition or small, or lay before the span asked."""
    reason = _over(study, conclusion, end, bad)
    if reason is not None:
        conclusion.verdict, conclusion.grade = "inconclusive", "possible"
        conclusion.reason = f"{reason}; was: {conclusion.reason}"


def _over(study: Study, conclusion: Conclusion, end: State, bad: Sequence[Event]) -> str | None:
    """Why a trouble that has ended is no cause, or None."""
    if end.status != "recovered" or end.last is None:
        return None
    if study.asked and end.last < study.asked[0]:
        return "over before the span asked about"
    if end.healed is None or _alerted(study, conclusion, end.last):
        return None
    impact = sum(event.count * event.weight for event in bad if study.window.severity[event.template] >= ERROR)
    if impact < _SMALL or (end.explained and impact < _SMALL_TRANSITION):
        return f'over before the end: "{end.healed[:120]}"'
    return None


def _alerted(study: Study, conclusion: Conclusion, last: float) -> bool:
    """Whether the alert falls into the trouble."""
    if study.alert is None or conclusion.onset is None:
        return False
    return conclusion.onset[1] - study.reach <= study.alert <= last
