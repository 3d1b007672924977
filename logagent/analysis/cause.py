"""The leading suspect in words with its lines, and the lines that clear an alarm."""

from collections.abc import Iterator

from logagent.analysis.facts import ChangeFact, Conclusion, Event, Suspect
from logagent.analysis.figures import lines
from logagent.analysis.lexicon import HEALTHY_AGAIN
from logagent.analysis.study import Study
from logagent.logs import instant, iso

_CLEARING_LINES = 20
_ROWS = 9
_FACTS, _FACT_CHARS = 6, 420
_LINES, _LINE_CHARS = 3, 300
_SAMPLED_FACTS, _SAMPLES = 4, 6


def cleared(study: Study) -> str:
    """What looks alarming and is not, or says that it is over: the lines behind "no cause"."""
    rows = ["no cause: nothing outside the usual"]
    rows += [f"- cleared by: {_line(event)}" for event in clearing_events(study)]
    return "\n".join(rows[:_ROWS])


def clearing_events(study: Study) -> list[Event]:
    """The last line of every rare pattern that excuses itself or tells of recovery."""
    window = study.window
    found = []
    for template, indices in window.by_template.items():
        event = window.events[indices[-1]]
        excuses = template in window.excused or HEALTHY_AGAIN.search(event.message)
        if study.rare(template, _CLEARING_LINES) and excuses:
            found.append(event)
    return found


def cause_text(study: Study, conclusion: Conclusion) -> str:
    """The leading suspect in words, with its lines and the changes before it."""
    top = conclusion.ranking[0]
    rows = [_head(study, conclusion, top)]
    seen: set[str] = set()
    for fact in top.facts[:_FACTS]:
        rows.append(f"- {fact.kind}: {fact.text[:_FACT_CHARS]}")
        for line in lines(fact)[:_LINES]:
            if line not in seen:
                seen.add(line)
                rows.append(f"  line: {line[:_LINE_CHARS]}")
    for event in list(_samples(study, top))[:_SAMPLES]:
        if event.message not in seen:
            seen.add(event.message)
            rows.append(f"  line: {_line(event)}")
    rows += [_change(change) for change in conclusion.changes]
    return "\n".join(rows)


def _head(study: Study, conclusion: Conclusion, top: Suspect) -> str:
    entry = study.window.catalogue.entries.get(conclusion.mechanism or "")
    title = entry.title["en"] if entry else "fault"
    same = conclusion.entity in (None, top.service)
    where = top.service if same else f"{conclusion.entity} (seen in {top.service})"
    period = f", every {conclusion.period:.0f} s" if conclusion.period else ""
    since = f", since {iso(instant(conclusion.onset[1]))}" if conclusion.onset else ""
    named = conclusion.mechanism or "no mechanism line"
    return f"{title}: {where} [{named}], {conclusion.grade}, {conclusion.status}{period}{since}"


def _samples(study: Study, top: Suspect) -> Iterator[Event]:
    """First and last line of the patterns that the best facts cite."""
    for fact in top.facts[:_SAMPLED_FACTS]:
        indices = study.window.by_template.get(-1 if fact.template is None else fact.template, [])
        if indices:
            yield study.window.events[indices[0]]
            yield study.window.events[indices[-1]]


def _line(event: Event) -> str:
    return f"{instant(event.time):%H:%M:%S} {event.service}: {event.message[:_LINE_CHARS]}"


def _change(change: ChangeFact) -> str:
    support = f"supported: failing lines name {', '.join(change.shared)}" if change.supported else "coincides"
    return f"- change {change.seconds_before:.0f} s before ({change.service}): {change.text} - {support}"
