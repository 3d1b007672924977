"""Hypotheses by rule, and the grounds on which code judges any hypothesis, whoever proposed it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from logagent.analysis.facts import Fact, Suspect
from logagent.diagnosis import BlastValue, Hypothesis
from logagent.logs import instant, iso
from logagent.texts import Catalogue as Texts
from logagent.triage._findings import FAILING, Findings, PatternFinding
from logagent.triage._standing import standing
from logagent.verify import Grounds

CLAIMABLE = frozenset(
    {
        "own_error", "own_gone", "entry_gone", "unreachable", "slow", "needle", "episode", "mechanism", "ramp",
        "slow_shift", "slow_endpoint",
    }
)  # fmt: skip
DISCRIMINATING = frozenset({"own_error", "own_gone", "entry_gone", "unreachable", "slow"})
SUSPECTS = 3
LIFT, SHARE = 3.0, 0.8
"""Failures separate on a value that holds this share of them at this lift (ux.md 3.1)."""
TWO = 2
FEWEST = 5
"""Failing events from which a separation is more than chance."""
QUOTES, QUOTE = 8, 300
"""Most quoted lines of a hypothesis, and characters of each."""
MOMENT = timedelta(milliseconds=1)
"""Times of one line, as two queries answer them, differ by less."""
LATE = 60.0
"""A mechanism line may come this many seconds after the symptom's onset (ux.md 3.1)."""


@dataclass(frozen=True, slots=True)
class Words:
    """Texts of one language, and the titles of mechanisms in it."""

    texts: Texts
    titles: dict[str, str]
    zone: str = "UTC"
    clean: Callable[[str], str] = str
    """Masks log text; applied before anything is cut."""

    def say(self, key: str, **values: object) -> str:
        """A sentence of `texts/<language>/diagnosis.toml`."""
        return self.texts.say(f"diagnosis.{key}", **values)


def suspect_of(findings: Findings, service: str) -> Suspect | None:
    """The suspect of that name, if the analysis has it."""
    return next((one for one in findings.conclusion.ranking if one.service == service), None)


def rule_hypotheses(findings: Findings, words: Words) -> list[Hypothesis]:
    """One hypothesis for each of the first suspects, best first."""
    conclusion = findings.conclusion
    out: list[Hypothesis] = []
    for place, suspect in enumerate(conclusion.ranking[:SUSPECTS], 1):
        leading = place == 1 and conclusion.verdict == "cause"
        supporting = rows_of(findings, suspect)
        if not supporting:
            continue
        out.append(
            Hypothesis(
                id=f"H{len(out) + 1}",
                rank=len(out) + 1,
                statement=statement(findings, words, suspect),
                mechanism=quotes(findings, words, suspect) or None,
                mechanism_id=mechanism_of(findings, suspect) or None,
                mechanism_lines=mechanism_rows(findings, suspect.service),
                entity=entity(findings, suspect.service),
                state="leading" if leading else "open",
                supporting=supporting,
                contradicting=[],
                discriminating=discriminating_rows(findings, suspect.service),
                would_refute=_refute(findings, words, suspect),
            )
        )
    return out


def rows_of(findings: Findings, suspect: Suspect) -> list[str]:
    """Evidence ids of a suspect's facts, those that can be a cause first, each once."""
    facts = sorted(suspect.facts, key=lambda fact: fact.kind not in CLAIMABLE)
    ids = [findings.row_of(fact) for fact in facts]
    return [one for one in dict.fromkeys(ids) if one][:6]


def mechanism_of(findings: Findings, suspect: Suspect) -> str:
    """Id of the mechanism that names the suspect's trouble, or ""."""
    ranking = findings.conclusion.ranking
    if ranking and suspect is ranking[0] and findings.conclusion.mechanism:
        return findings.conclusion.mechanism
    for fact in suspect.facts:
        found = fact.figures.get("id")
        if isinstance(found, str) and fact.kind in {"mechanism", "ramp"}:
            return found
    return ""


def statement(findings: Findings, words: Words, suspect: Suspect) -> str:
    """What broke, in one sentence without figures."""
    mechanism = mechanism_of(findings, suspect)
    title = words.titles.get(mechanism, "")
    rows = " ".join(rows_of(findings, suspect)[:3])
    entity_name = findings.conclusion.entity if suspect is findings.conclusion.ranking[0] else None
    if title and entity_name and entity_name != suspect.service:
        return words.say("cause.mechanism_of", title=title, entity=entity_name, suspect=suspect.service, rows=rows)
    if title:
        return words.say("cause.mechanism", title=title, suspect=suspect.service, rows=rows)
    return words.say("cause.fact", suspect=suspect.service, fact=fact_words(words, suspect), rows=rows)


def quotes(findings: Findings, words: Words, suspect: Suspect) -> str:
    """The lines that the facts rest on, as they stand in the logs, each behind its fact and its id."""
    seen: dict[str, str] = {}
    for fact in suspect.facts[:6]:
        label = words.say(f"fact.{fact.kind}")
        row = findings.row_of(fact)
        for line in _lines_of(findings, fact):
            flat = " ".join(words.clean(line).split())
            if flat and flat not in seen and len(seen) < QUOTES:
                shown = flat if len(flat) <= QUOTE else f"{flat[:QUOTE]}… [+{len(flat) - QUOTE} chars]"
                seen[flat] = f'{label} [{row}]: "{shown}"' if row else f'{label}: "{shown}"'
        if not fact.kind.startswith(("mechanism", "needle", "episode")) and words.texts.language == "en":
            seen.setdefault(fact.text, f"{label} [{row}]: {fact.text[:QUOTE]}" if row else fact.text[:QUOTE])
    return " · ".join(seen.values())


def _lines_of(findings: Findings, fact: Fact) -> list[str]:
    """Real lines of a fact: those it names, else the first and the last of its pattern."""
    lines = fact.figures.get("lines", ())
    found = [line for line in lines if isinstance(line, str)][:3] if isinstance(lines, list | tuple) else []
    window = findings.analysis.window
    if fact.template is not None and (indices := window.by_template.get(fact.template)):
        found += [window.events[i].message for i in dict.fromkeys((indices[0], indices[-1]))]
    return found


def fact_words(words: Words, suspect: Suspect) -> str:
    """The first fact of a suspect in words."""
    return words.say(f"fact.{suspect.facts[0].kind}") if suspect.facts else ""


def entity(findings: Findings, service: str) -> dict[str, str]:
    """The suspected service; its version where failures separate on it."""
    found = {"service.name": service}
    for radius in findings.blast:
        lead = radius.values[0]
        separates = _separates(lead)
        if radius.dimension == "service.version" and separates:
            found["service.version"] = lead.value
    return found


def mechanism_rows(findings: Findings, service: str) -> list[str]:
    """Rows of lines with a strong cue, new or spiking, of the service or naming it, not later than the symptom."""
    suspect = suspect_of(findings, service)
    facts = suspect.facts if suspect is not None else []
    strong = [fact for fact in facts if fact.kind == "mechanism" and not fact.figures.get("weak")]
    rows = [row for fact in strong if (row := findings.row_of(fact)) and _in_time(findings, fact)]
    by_row = {pattern.evidence: pattern for pattern in findings.patterns}
    kept = [row for row in rows if _changed(findings, by_row.get(row))]
    return list(dict.fromkeys(kept))[:4]


def _changed(findings: Findings, pattern: PatternFinding | None) -> bool:
    """New or spiking; without a baseline the novelty test of the analysis stands alone."""
    if pattern is None or not findings.good:
        return True
    return pattern.change in {"new", "spiking"}


def _in_time(findings: Findings, fact: Fact) -> bool:
    onset = findings.conclusion.onset
    return fact.onset is None or onset is None or fact.onset[1] <= onset[1] + LATE


def discriminating_rows(findings: Findings, service: str) -> list[str]:
    """Independent rows: request steps, time order, separation on the entity, a change that the failures follow."""
    suspect = suspect_of(findings, service)
    facts = suspect.facts if suspect is not None else []
    rows = [findings.row_of(fact) for fact in facts if fact.kind in DISCRIMINATING]
    order = findings.first_trouble
    first = len(order) >= TWO and order[0][1] == service and order[1][0] > order[0][0]
    if first and _begins_first(findings, service) and not _is_own_line(findings, service, order[0][0]):
        rows.append(order[0][2])
    rows += _separating_rows(findings, service)
    deployed = findings.deployment
    if (
        deployed is not None
        and deployed.service == service
        and entity(findings, service).get("service.version") == deployed.version
    ):
        rows.append(deployed.row)
    for change, row in zip(findings.conclusion.changes, findings.change_rows, strict=False):
        if change.supported and change.service == service:
            rows.append(row)
    mechanism = set(mechanism_rows(findings, service))
    return [one for one in dict.fromkeys(rows) if one and one not in mechanism][:4]


def _separates(lead: BlastValue) -> bool:
    """Whether failures separate on a value: most of them, enough of them, and far more than of the healthy events."""
    return lead.affected_events >= FEWEST and (lead.lift or 0) >= LIFT and (lead.share_in_anomaly or 0) >= SHARE


def _begins_first(findings: Findings, service: str) -> bool:
    """Whether the facts of others begin after those of the service.

    The first failing events alone do not tell: they are counted from the suspect's own onset on, so it comes first.
    """
    conclusion = findings.conclusion
    return conclusion.grade == "confirmed" and bool(conclusion.ranking) and conclusion.ranking[0].service == service


def _is_own_line(findings: Findings, service: str, first: datetime) -> bool:
    """Whether the first failing event is a line of the mechanism itself: then it says nothing that this does not."""
    templates = _mechanism_templates(findings, service)
    if any(
        p.first is not None and abs(p.first - first) < MOMENT for p in findings.patterns if templates & set(p.templates)
    ):
        return True
    window = findings.analysis.window
    lines = (window.events[i] for template in templates for i in window.by_template.get(template, []))
    return any(abs(event.time - first.timestamp()) < MOMENT.total_seconds() for event in lines)


def _mechanism_templates(findings: Findings, service: str) -> set[int]:
    """Templates of the lines that `mechanism_rows` shows."""
    suspect, rows = suspect_of(findings, service), set(mechanism_rows(findings, service))
    facts = [fact for fact in (suspect.facts if suspect else []) if findings.row_of(fact) in rows]
    return {fact.template for fact in facts if fact.template is not None}


def _separating_rows(findings: Findings, service: str) -> list[str]:
    """Rows of dimensions on which at least 80 % of the failures lie, lift 3, that belong to the service."""
    rows = []
    for radius in findings.blast:
        lead, row = radius.values[0], findings.blast_rows.get(radius.dimension, "")
        separates = _separates(lead)
        if radius.dimension == "service.name":
            separates = separates and lead.value == service and not _are_own_lines(findings, service, lead)
        elif radius.dimension not in {"service.version", "host.name", "kubernetes.pod.name"}:
            continue
        if separates:
            rows.append(row)
    return rows


def _are_own_lines(findings: Findings, service: str, lead: BlastValue) -> bool:
    """Whether the failing events of the service are mostly the lines of the mechanism, which name it anyway."""
    templates = _mechanism_templates(findings, service)
    own = sum(p.count for p in findings.patterns if templates & set(p.templates) and p.severity >= FAILING)
    return own >= SHARE * lead.affected_events


def grounds(findings: Findings, service: str, contradicting: Sequence[str] = (), *, proposed: bool = False) -> Grounds:
    """What code knows for and against a suspect; the same for a hypothesis by rule and one of the model.

    Where the rules are undecided between suspects, a model's choice (`proposed`) counts if code has a fact that can be
    a cause and a mechanism line or a discriminating row of that very suspect.
    """
    conclusion = findings.conclusion
    suspect = suspect_of(findings, service) if service else None
    leads = bool(conclusion.ranking) and conclusion.ranking[0].service == service and conclusion.verdict == "cause"
    claims = [fact for fact in (suspect.facts if suspect else []) if fact.kind in CLAIMABLE]
    mechanism = mechanism_rows(findings, service) if service else []
    chosen = (
        proposed
        and bool(service)
        and not leads
        and bool(claims)
        and bool(mechanism or discriminating_rows(findings, service))
    )
    history = findings.baseline.history.total_seconds()
    before = sum(one.seconds for one in findings.good)
    length = max(findings.bad.seconds, 1e-6)
    return Grounds(
        anomaly=is_anomalous(findings),
        claimed=leads or chosen,
        claim_rows=tuple(one for one in (findings.row_of(fact) for fact in claims) if one),
        mechanism_rows=tuple(mechanism),
        discriminating_rows=tuple(discriminating_rows(findings, service)) if service else (),
        contradicting_rows=tuple(contradicting),
        completeness=findings.worst,
        onset_before_window=conclusion.onset_kind == "before_window",
        history_windows=max(history, before) / length if findings.good else 0.0,
        checks_possible=_checks_possible(findings),
    )


def _checks_possible(findings: Findings) -> bool:
    """Whether "nothing unusual" can be said: there are events with levels, or at least with times of their own."""
    return findings.volume.events > 0 and (findings.failing is not None or findings.description.has_times)


def is_anomalous(findings: Findings) -> bool:
    """Something is outside the usual: a claim, a series, or a failing pattern that is new or spiking."""
    conclusion = findings.conclusion
    if conclusion.verdict == "cause" or findings.anomalous or findings.anomalous_services:
        return True
    if standing(findings) == "chronic":
        return True
    if conclusion.verdict == "no_anomaly":
        return False
    loud = [p for p in findings.patterns if p.severity >= FAILING]
    if not findings.good:
        return bool(loud)
    return any(p.change in {"new", "spiking"} for p in loud) or bool(conclusion.ranking and conclusion.onset)


def _refute(findings: Findings, words: Words, suspect: Suspect) -> str:
    onset = findings.conclusion.onset
    at = iso(instant(onset[1])) if onset else iso(findings.bad.start)
    if mechanism_of(findings, suspect):
        return words.say("refute.mechanism", suspect=suspect.service, onset=at)
    return words.say("refute.fact", suspect=suspect.service)
