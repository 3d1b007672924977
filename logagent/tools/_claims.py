"""Is a submitted sentence backed? Ids issued, names shown, no figures of the model's own, known mechanisms."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from logagent.analysis.prose import stated
from logagent.analysis.sanitise import sanitise
from logagent.analysis.sentences import sentences
from logagent.analysis.trim import cut
from logagent.tools._backing import ID, Backing
from logagent.tools._base import ToolContext

if TYPE_CHECKING:
    from logagent.tools.submit_diagnosis import Submission, SubmittedHypothesis

HEADLINE = 120
_SENTENCES, _CAUSE_SENTENCES = 4, 2
_TEXT, _STATEMENT = 900, 400
OTHER = "other"
"""A mechanism that is none of the list."""


def faults(submitted: "Submission", context: ToolContext) -> list[str]:
    """One line for each fault, in the order of the fields; empty when all is well."""
    found = [*_headline(submitted.headline)]
    found += _prose("what_is_happening", submitted.what_is_happening, _SENTENCES, context)
    if submitted.probable_cause:
        found += _prose("probable_cause", submitted.probable_cause, _CAUSE_SENTENCES, context)
    for place, hypothesis in enumerate(submitted.hypotheses, 1):
        found += [f"hypothesis {place}: {fault}" for fault in _hypothesis(hypothesis, context)]
    found += _allowed(submitted, context)
    for place, excluded in enumerate(submitted.ruled_out, 1):
        found += [f"ruled_out {place}: {fault}" for fault in _ids(excluded.ids, context, needed=True)]
    limits = (("hypotheses", 5), ("next_step_ideas", 3), ("open_questions", 3))
    found += [f"{name}: at most {most}" for name, most in limits if len(getattr(submitted, name)) > most]
    return list(dict.fromkeys(found))


def without_faults(submitted: "Submission", context: ToolContext) -> "Submission":
    """The same without its bad sentences, ids, names and surplus; what is left is backed."""
    hypotheses = []
    for hypothesis in submitted.hypotheses[:5]:
        mended = _mended(hypothesis, context)
        if mended is not None:
            hypotheses.append(mended)
    ruled_out = [
        excluded.model_copy(update={"ids": kept})
        for excluded in submitted.ruled_out
        if (kept := _issued(excluded.ids, context))
    ]
    cause = _kept(submitted.probable_cause or "", _CAUSE_SENTENCES, context)
    return submitted.model_copy(
        update={
            "headline": "" if stated(submitted.headline).quantities else cut(submitted.headline, HEADLINE),
            "what_is_happening": _kept(submitted.what_is_happening, _SENTENCES, context),
            "probable_cause": cause if cause and hypotheses else None,
            "hypotheses": hypotheses,
            "ruled_out": ruled_out,
            "next_step_ideas": submitted.next_step_ideas[:3],
            "open_questions": submitted.open_questions[:3],
        }
    )


# -- prose ---------------------------------------------------------------------------------------------------------


def _headline(headline: str) -> list[str]:
    found = [f"headline: {len(headline)} characters, at most {HEADLINE}"] if len(headline) > HEADLINE else []
    told = stated(headline)
    figures = [one.text for one in told.quantities] + [one.text for one in told.clocks]
    return found + [f'headline: "{figure}" is a figure: leave numbers to code' for figure in figures]


def _prose(name: str, text: str, most: int, context: ToolContext) -> list[str]:
    parts = sentences(text)
    found = [f"{name}: {len(parts)} sentences, at most {most}"] if len(parts) > most else []
    for place, sentence in enumerate(parts, 1):
        ids = ID.findall(sentence)
        if not ids:
            found.append(f"{name}: sentence {place} has no id")
        found += [f"{name}: {fault}" for fault in _ids(ids, context)]
        found += [f"{name}: {fault}" for fault in Backing(ids, context).unbacked(sentence)]
    return found


def _kept(text: str, most: int, context: ToolContext) -> str:
    """The sentences that cite issued ids only and state nothing that these do not show."""
    good = [
        sentence
        for sentence in sentences(text)
        if (ids := ID.findall(sentence)) and not _ids(ids, context) and not Backing(ids, context).unbacked(sentence)
    ]
    return cut(" ".join(good[:most]), _TEXT)


# -- ids, names, mechanisms ----------------------------------------------------------------------------------------


def _ids(ids: Iterable[str], context: ToolContext, *, needed: bool = False) -> list[str]:
    given = list(ids)
    found = [f"{_named(one)} was not issued in this run" for one in given if context.ledger.get(_bare(one)) is None]
    return ["no ids", *found] if needed and not given else found


def _issued(ids: Iterable[str], context: ToolContext) -> list[str]:
    return list(dict.fromkeys(bare for one in ids if context.ledger.get(bare := _bare(one)) is not None))


def _bare(evidence_id: str) -> str:
    return evidence_id.strip().strip("[]()").upper()


def _named(text: str) -> str:
    return cut(sanitise(text), 40)


def _hypothesis(hypothesis: "SubmittedHypothesis", context: ToolContext) -> list[str]:
    found = _ids(hypothesis.supporting, context, needed=True) + _ids(hypothesis.contradicting, context)
    if _mechanism(hypothesis.mechanism, context) is None:
        near = context.catalogue.near(hypothesis.mechanism)
        nearest = f"; nearest: {', '.join(near)}" if near else ""
        found.append(f"no mechanism {_named(hypothesis.mechanism)!r}{nearest}")
    for name, value in _entity(hypothesis).items():
        nameless = name == "service" and not context.fields.roles.get("service")  # code knows none either
        if not nameless and not context.occurs(value):
            found.append(f"{name} {_named(value)!r} occurs in no result")
    return found + _stated_in(hypothesis, context).misstated(hypothesis.statement)


def _stated_in(hypothesis: "SubmittedHypothesis", context: ToolContext) -> Backing:
    """The rows that a statement may rest on."""
    own = ID.findall(hypothesis.statement)
    return Backing(map(_bare, [*own, *hypothesis.supporting, *hypothesis.contradicting]), context)


def _mechanism(given: str, context: ToolContext) -> str | None:
    """The id as the catalogue writes it, or None."""
    plain = given.strip().lower()
    if plain in {OTHER, ""}:
        return OTHER
    return plain if plain in context.catalogue.ids else None


def _allowed(submitted: "Submission", context: ToolContext) -> list[str]:
    """What a mechanism may be, once, where one is unknown."""
    if all(_mechanism(one.mechanism, context) is not None for one in submitted.hypotheses):
        return []
    inferred = list(context.catalogue.inferred)
    families = dict.fromkeys(one.split(".", 1)[0] for one in context.catalogue.ids if one not in inferred)
    told = f"mechanism without a line: {', '.join(inferred)}; else the id beside a line, of {', '.join(families)}"
    return [f"{told}; else {OTHER}"]


def _entity(hypothesis: "SubmittedHypothesis") -> dict[str, str]:
    return {} if hypothesis.entity is None else hypothesis.entity.model_dump(exclude_none=True)


def _mended(hypothesis: "SubmittedHypothesis", context: ToolContext) -> "SubmittedHypothesis | None":
    """The hypothesis without what is not backed; None where nothing supports it."""
    supporting = _issued(hypothesis.supporting, context)
    if not supporting or _stated_in(hypothesis, context).misstated(hypothesis.statement):
        return None
    entity = hypothesis.entity
    if entity is not None:
        known = {name: value for name, value in _entity(hypothesis).items() if context.occurs(value)}
        entity = type(entity)(**known) if known else None
    return hypothesis.model_copy(
        update={
            "statement": cut(hypothesis.statement, _STATEMENT),
            "supporting": supporting,
            "contradicting": _issued(hypothesis.contradicting, context),
            "mechanism": _mechanism(hypothesis.mechanism, context) or OTHER,
            "entity": entity,
        }
    )
