"""The words of the head: headline, what is happening, cause or lead, next step; every figure filled in by code."""

from logagent.analysis.facts import Suspect
from logagent.diagnosis import Hypothesis, OutcomeName, Summary
from logagent.logs import instant, iso
from logagent.triage._findings import Findings, PatternFinding, Volume
from logagent.triage._hypotheses import Words, fact_words, mechanism_of, rows_of
from logagent.triage._latency import slowness
from logagent.triage._standing import standing
from logagent.triage._statements import percent

HEADLINE = 120
ONE_IN_MOST = 20
MOST = 0.45
HONEST = 0.07
"""How far a fraction may be from the share that it stands for."""
_FRACTIONS = (*((n, 1) for n in range(2, ONE_IN_MOST + 1)), (5, 2))
QUOTE = 100
WORTH_SAYING = 0.005
GROWN = 1.25
"""A share of failing requests below this is printed as a count."""
"""`1 in n` reads well up to here; beyond it the share is printed."""


def summary(findings: Findings, words: Words, outcome: OutcomeName, leading: Hypothesis | None, step: str) -> Summary:
    """The summary by rule. A cause stands in it only where the outcome allows (ux.md 3.1)."""
    caused = outcome in {"confirmed", "probable"} and leading is not None
    suspect = _suspect(findings, leading)
    return Summary(
        headline=fit(_headline(findings, words, outcome, suspect), HEADLINE),
        what_is_happening=_what(findings, words, None if outcome == "no_anomaly" else suspect),
        probable_cause=leading.statement if caused and leading is not None else None,
        recommended_next=step or None,
        strongest_lead=_lead(findings, words, suspect, leading) if outcome == "inconclusive" and suspect else None,
    )


def _suspect(findings: Findings, leading: Hypothesis | None) -> Suspect | None:
    ranking = findings.conclusion.ranking
    name = leading.entity.get("service.name", "") if leading else ""
    return next((one for one in ranking if one.service == name), ranking[0] if ranking else None)


def symptom_of(findings: Findings, suspect: str) -> str:
    """The service in which the trouble is seen: the loudest failing one that is not the suspect, else the suspect."""
    series = findings.timeline.series[1:] if findings.timeline else []
    loud = {one.name: sum(point.count for point in one.points) for one in series}
    others = {name: n for name, n in loud.items() if name != suspect and name in findings.anomalous_services}
    if not others:
        return suspect
    best = max(others, key=lambda name: others[name])
    return best if others[best] >= 0.1 * loud.get(suspect, 0) else suspect


def impact_words(findings: Findings, words: Words, suspect: Suspect | None) -> str:
    """How bad, in a few words without a claim."""
    volume = findings.volume
    if (slow := slowness(findings, suspect)) is not None:
        return slow.words(words)
    kinds = {fact.kind for fact in suspect.facts[:2]} if suspect else set()
    ratio, before = volume.ratio, volume.ratio_before
    if findings.symptom is not None:
        ratio, before = findings.symptom.ratio, findings.symptom.ratio_before
    grown = ratio is not None and ratio > GROWN * (before or 0)
    chronic = standing(findings) == "chronic"
    if volume.unit == "requests" and ratio and (grown or chronic) and ratio >= WORTH_SAYING:
        said = _share_words(words, ratio)
        return words.say("impact.chronic", impact=said) if chronic else said
    if volume.failing:
        return _count_words(words, volume, chronic=chronic)
    if (grown_pattern := changed_pattern(findings, suspect)) is not None:
        return words.say(
            "impact.few" if grown_pattern.count > 1 else "impact.few_one", count=f"{grown_pattern.count:,}"
        )
    if "silent" in kinds and suspect is not None:
        return words.say("impact.silent", suspect=suspect.service)
    return words.say("impact.slower" if any(kind.startswith("slow") for kind in kinds) else "impact.none")


def changed_pattern(findings: Findings, suspect: Suspect | None) -> PatternFinding | None:
    """The first new or spiking pattern that a suspect's facts rest on."""
    rows = rows_of(findings, suspect) if suspect is not None else []
    by_row = {pattern.evidence: pattern for pattern in findings.patterns}
    found = [by_row[row] for row in rows if row in by_row]
    return next((one for one in found if one.change in {"new", "spiking"}), None)


def _count_words(words: Words, volume: Volume, *, chronic: bool) -> str:
    """How many events fail; and how many of them are nothing new."""
    said = words.say("impact.events" if volume.failing > 1 else "impact.events_one", count=f"{volume.failing:,}")
    if chronic:
        return words.say("impact.chronic", impact=said)
    return words.say("impact.steady", impact=said, steady=f"{volume.steady:,}") if volume.steady else said


def _share_words(words: Words, ratio: float) -> str:
    if 1 / ONE_IN_MOST <= ratio < MOST:
        n, part = min(_FRACTIONS, key=lambda one: abs(one[1] / one[0] - ratio))
        if abs(part / n - ratio) <= HONEST * ratio:
            return words.say("impact.one_in" if part == 1 else "impact.some_in", n=n, part=part)
    return words.say("impact.most", share=percent(ratio))


def _headline(findings: Findings, words: Words, outcome: OutcomeName, suspect: Suspect | None) -> str:
    if outcome == "no_anomaly":
        return _quiet_headline(findings, words)
    impact = impact_words(findings, words, suspect)
    if outcome == "insufficient_data":
        return words.say(
            "headline.insufficient",
            why=words.say("reason.data_incomplete" if not findings.worst.complete else "reason.no_means"),
        )
    if suspect is None:
        return words.say("headline.inconclusive", impact=impact)
    slow = slowness(findings, suspect)
    if outcome == "inconclusive":
        key = "inconclusive_lead" if slow is None else f"slow_{slow.told}"
        values = {"pair": slow.name, "every": ", ".join(slow.every)} if slow is not None else {}
        return words.say(f"headline.{key}", impact=impact, suspect=suspect.service, **values)
    if slow is not None and mechanism_of(findings, suspect) not in findings.analysis.window.catalogue.entries:
        return words.say("headline.slow", impact=impact, suspect=suspect.service)
    return _cause(findings, words, outcome, suspect, impact)


def _quiet_headline(findings: Findings, words: Words) -> str:
    """Nothing unusual; or what failed before the window and no longer does."""
    last = findings.volume.last_before
    if standing(findings) == "over" and last is not None:
        return words.say("headline.over", before=percent(findings.volume.ratio_before), ended=iso(last))
    return words.say("headline.no_anomaly", scope=scope_words(findings))


def _cause(findings: Findings, words: Words, outcome: OutcomeName, suspect: Suspect, impact: str) -> str:
    title = words.titles.get(mechanism_of(findings, suspect), "") or fact_words(words, suspect)
    title = title.split(" (", 1)[0].split("（", 1)[0]
    title = title[:1].lower() + title[1:] if title[1:2].islower() else title
    symptom = symptom_of(findings, suspect.service)
    same = "_same" if symptom == suspect.service else ""
    kind = "confirmed" if outcome == "confirmed" else "probable"
    return words.say(
        f"headline.cause{same}_{kind}", symptom=symptom, impact=impact, suspect=suspect.service, title=title
    )


def scope_words(findings: Findings) -> str:
    """Name of what was looked at: the only service, else sources; of a file its name, the folder is told elsewhere."""
    services = findings.analysis.window.services
    sources = findings.scope.indices or tuple(one.name for one in findings.description.sources)
    return services[0] if len(services) == 1 else ", ".join(name.rsplit("/", 1)[-1] for name in sources[:2])


def _what(findings: Findings, words: Words, suspect: Suspect | None) -> str:
    text = _what_fails(findings, words, suspect)
    slow = slowness(findings, suspect)
    if slow is None:
        return text
    return f"{words.say('what.slow', suspect=slow.service, impact=slow.words(words), row=slow.row)} {text}"


def _what_fails(findings: Findings, words: Words, suspect: Suspect | None) -> str:
    volume, symptom = findings.volume, findings.symptom
    requests, row = volume.unit == "requests", findings.volume_row
    part = volume.failing_requests if requests else volume.failing
    whole = volume.requests if requests else volume.events
    unit, ratio, before = words.say(f"unit.{volume.unit}"), volume.ratio, volume.ratio_before
    if findings.failing is None:
        return words.say("what.events", part=f"{volume.events:,}", row=row)
    if symptom is not None:
        part, whole, row, ratio, before = symptom.part, symptom.whole, symptom.row, symptom.ratio, symptom.ratio_before
        unit = words.say("unit.requests_of", service=symptom.service)
    values = {"part": f"{part:,}", "whole": f"{whole:,}", "unit": unit, "ratio": percent(ratio), "row": row}
    if not findings.good:
        text = words.say("what.ratio_only", **values)
    else:
        text = words.say("what.ratio", before=percent(before), **values)
    if volume.services > 1 and volume.failing:
        text += " " + words.say("what.services", hit=volume.services_failing, all=volume.services)
    told = changed_pattern(findings, suspect)
    if told is not None and suspect is not None:
        quote = fit(told.template, QUOTE)
        values = {"count": f"{told.count:,}", "service": suspect.service, "template": quote, "row": told.evidence}
        text += " " + words.say(f"what.{told.change}", before=f"{told.baseline_count:,}", **values)
    return text


def _lead(findings: Findings, words: Words, suspect: Suspect, leading: Hypothesis | None) -> str:
    rows = " ".join(rows_of(findings, suspect)[:3])
    onset = findings.conclusion.onset
    named = (leading.entity.get("service.name") if leading else "") or suspect.service
    prove = words.say("lead.prove", suspect=named)
    if onset and findings.conclusion.onset_kind == "before_window":
        prove = words.say("lead.ends", suspect=named, onset=iso(instant(onset[1])))
    if not suspect.facts:
        said = leading.statement if leading else suspect.service
        return f"{said} {prove}"
    return words.say("lead.service", suspect=suspect.service, fact=fact_words(words, suspect), rows=rows, prove=prove)


def fit(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a blank, with an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut) + "…"
