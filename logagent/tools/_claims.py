"""Is a submitted sentence backed? Ids issued, names shown, no figures of the model's own, known mechanisms."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from logagent.analysis.sanitise import sanitise
from logagent.analysis.sentences import ID_GROUP, sentences
from logagent.analysis.trim import cut
from logagent.expressions import expression
from logagent.tools._base import ToolContext

if TYPE_CHECKING:
    from logagent.tools.submit_diagnosis import Submission, SubmittedHypothesis

HEADLINE = 120
_SENTENCES, _CAUSE_SENTENCES = 4, 2
_TEXT, _STATEMENT = 900, 400
_ID = expression(r"\bE\d{1,6}\b")
_NUMBERED = expression(r"\b[Nn][or]\.\s?\d+\b")
"""`Nr. 5` is the name of a thing."""
_FIGURE = expression(
    r"(?<![\w.:/#=@-])[~≈<>≥≤+-]?\d[\d,.' ]*(?:[kKmM](?![A-Za-z]))?(?:\s?(?:%|percent|ms|s|sec\w*|min\w*|hours?|h|x"
    r"|times|GB|MB|KB|个|次|秒|分钟?|条|倍))?(?![\w.:/-]*\w)"
)
_CLASS = expression(r"(?:[1-5](?:\d\d|xx)|\d+(?:\.\d+){2,})\Z")
"""Status codes, versions and addresses are names."""
OTHER = "other"
"""A mechanism that is none of the list."""


def faults(submitted: "Submission", context: ToolContext) -> list[str]:
    """One line for each fault, in the order of the fields; empty when all is well."""
    found = [*_headline(submitted.headline, context)]
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
            "headline": "" if _unknown_figures(submitted.headline, context) else cut(submitted.headline, HEADLINE),
            "what_is_happening": _kept(submitted.what_is_happening, _SENTENCES, context),
            "probable_cause": cause if cause and hypotheses else None,
            "hypotheses": hypotheses,
            "ruled_out": ruled_out,
            "next_step_ideas": submitted.next_step_ideas[:3],
            "open_questions": submitted.open_questions[:3],
        }
    )


# -- prose ---------------------------------------------------------------------------------------------------------


def _headline(headline: str, context: ToolContext) -> list[str]:
    found = [f"headline: {len(headline)} characters, at most {HEADLINE}"] if len(headline) > HEADLINE else []
    return found + [
        f'headline: "{figure}" is a figure: leave numbers to code' for figure in _figures(headline, context)
    ]


def _prose(name: str, text: str, most: int, context: ToolContext) -> list[str]:
    parts = sentences(text)
    found = [f"{name}: {len(parts)} sentences, at most {most}"] if len(parts) > most else []
    for place, sentence in enumerate(parts, 1):
        ids = _ID.findall(sentence)
        if not ids:
            found.append(f"{name}: sentence {place} has no id")
        found += [f"{name}: {fault}" for fault in _ids(ids, context)]
        found += [f'{name}: "{figure}" is a figure: leave numbers to code' for figure in _figures(sentence, context)]
    return found


def _kept(text: str, most: int, context: ToolContext) -> str:
    """The sentences that cite issued ids only and state no figure that was not shown."""
    good = [
        sentence
        for sentence in sentences(text)
        if (ids := _ID.findall(sentence)) and not _ids(ids, context) and not _unknown_figures(sentence, context)
    ]
    return cut(" ".join(good[:most]), _TEXT)


def _figures(sentence: str, context: ToolContext) -> list[str]:
    """Numbers typed by the model: no ids, no names with digits, no status codes, nothing quoted from a result."""
    plain = ID_GROUP.sub(" ", _ID.sub(" ", _NUMBERED.sub(" ", sentence)))
    plain = re.sub(r"[\"“”'`「」][^\"“”'`「」]{2,120}[\"“”'`「」]", lambda hit: _unquoted(hit[0], context), plain)
    found = (match[0].strip(" ,.'") for match in _FIGURE.finditer(plain))
    return [figure for figure in found if figure and not _CLASS.match(figure)][:3]


def _unquoted(quote: str, context: ToolContext) -> str:
    return " " if context.occurs(quote[1:-1]) else quote


def _unknown_figures(sentence: str, context: ToolContext) -> list[str]:
    """Figures that no result shows, also not rounded."""
    shown = _shown_numbers(context)
    return [figure for figure in _figures(sentence, context) if not _matches(figure, shown)]


def _shown_numbers(context: ToolContext) -> set[float]:
    text = "\n".join(context.shown)
    return {float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def _matches(figure: str, shown: set[float]) -> bool:
    """Whether a figure, as rounded as it is written, is one of the numbers shown."""
    match = re.match(r"[~≈<>≥≤+-]?(\d[\d,]*(?:\.\d+)?)\s?([kKmM]?)", figure.replace(" ", ""))
    if match is None:
        return False
    digits = match[1].replace(",", "")
    unit = {"k": 1e3, "m": 1e6}.get(match[2].lower(), 1.0)
    value = float(digits) * unit
    step = unit * 10.0 ** -len(digits.partition(".")[2])
    return any(abs(value - number) <= step / 2 for number in shown)


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
    found += [f'"{figure}" is a figure: leave numbers to code' for figure in _figures(hypothesis.statement, context)]
    return found


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
    if not supporting or _unknown_figures(hypothesis.statement, context):
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
