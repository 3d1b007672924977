"""What a model told, checked: its hypotheses, sentences and ideas, in the form the diagnosis takes."""

import re
from dataclasses import dataclass, field

from logagent.analysis.sentences import sentences
from logagent.diagnosis import Hypothesis, ModelUse, NextStep, Summary
from logagent.expressions import expression
from logagent.triage import fit
from logagent.verify import Judgement

_FIGURE = expression(r"(?<![\w.-])\d[\d,.]*(?: ?%)?(?![\w-])")
_CAUSE_WORD = expression(r"\b(?:because|caused? by|due to|root cause)\b|导致|因为|由于", re.IGNORECASE)
_ID = expression(r"\bE\d{1,6}\b")
_SECOND_CLAIM = expression(
    r"\b(?:after|since|because|following|once|due to|caused by|triggered by)\b|(?<![\w.-])v?\d+(?:\.\d+)+(?![\w-])"
    r"|之后|以后|以来|因为|由于|导致",
    re.IGNORECASE,
)
"""What makes a sentence about a cause say more than that something broke: why, after what, in which version."""
HEADLINE = 120


@dataclass(slots=True)
class Told:
    """An accepted submission, or why there is none (`use` is set in both cases)."""

    use: ModelUse
    headline: str = ""
    what: str = ""
    cause: str = ""
    hypotheses: list[Hypothesis] = field(default_factory=list)
    next_steps: list[NextStep] = field(default_factory=list)
    open_questions: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)

    def summary(self, rule: Summary, judgement: Judgement) -> Summary:
        """The summary by rule with the model's words where they keep the rules of ux.md 3.1.

        The headline takes no figure and no cause; a cause stands only where the outcome allows one, else it is a lead.
        What the rows behind the outcome do not show is no part of it: it is told behind what happens, as its reading.
        """
        changes: dict[str, str | None] = {}
        caused = judgement.outcome in {"confirmed", "probable"}
        if self.headline and not caused and not _FIGURE.search(self.headline) and not _CAUSE_WORD.search(self.headline):
            changes["headline"] = fit(self.headline, HEADLINE)
        if self.what:
            changes["what_is_happening"] = f"{rule.what_is_happening} {self.what}"
        if self.cause and caused:
            shown = [one for one in sentences(self.cause) if self._is_shown(one, rule)]
            read = [one for one in sentences(self.cause) if one not in shown]
            changes["probable_cause"] = " ".join(shown) or rule.probable_cause
            told = changes.get("what_is_happening") or rule.what_is_happening
            changes["what_is_happening"] = " ".join([told, *(one for one in read if one not in told)])
        elif self.cause and judgement.outcome == "inconclusive":
            changes["strongest_lead"] = self.cause
        elif judgement.outcome == "inconclusive" and (lead := self._other_lead(rule)):
            changes["strongest_lead"] = lead
        return rule.model_copy(update=changes)

    def _is_shown(self, sentence: str, rule: Summary) -> bool:
        """Whether a sentence about the cause says no more than the rows behind the outcome.

        A second claim in it (`after ...`, a version) needs a discriminating row beside the line that says how it broke.
        """
        leading = self.hypotheses[0] if self.hypotheses else None
        second = set(leading.discriminating) if leading else set()
        lines = set(leading.mechanism_lines) if leading else set()
        ids = set(_ID.findall(sentence))
        if not ids <= second | lines | set(_ID.findall(rule.probable_cause or "")):
            return False
        return not _SECOND_CLAIM.search(sentence) or bool(ids & second)

    def _other_lead(self, rule: Summary) -> str:
        """The first hypothesis, where the lead by rule does not say it: the model may have ruled that one out."""
        first = self.hypotheses[0] if self.hypotheses else None
        if first is None or not first.entity.get("service.name") or first.statement in (rule.strongest_lead or ""):
            return ""
        return f"{first.statement} {' '.join(f'[{one}]' for one in first.supporting[:3])}"
