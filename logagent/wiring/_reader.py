"""From a submission to what the diagnosis takes: masked, with the ids that were issued and the rows code has."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from logagent.diagnosis import Hypothesis, ModelUse, NextStep
from logagent.evidence import Ledger
from logagent.tools.submit_diagnosis import OTHER, Submission, SubmittedHypothesis
from logagent.wiring._told import Told

_MOST, _FEW = 5, 3
_IDEA = 200


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what a model submitted."""

    clean: Callable[[str], str]
    ledger: Ledger
    mechanisms: Container[str]
    rows_of: Callable[[str], tuple[list[str], list[str]]]
    """Mechanism rows and discriminating rows that code has for a service."""

    def told(self, submission: Submission, use: ModelUse) -> Told:
        """An accepted submission in the form the diagnosis takes."""
        told = Told(use)
        told.headline = submission.headline
        told.what = self.clean(submission.what_is_happening)
        told.cause = self.clean(submission.probable_cause or "")
        told.hypotheses = self._hypotheses(submission)
        told.open_questions = [self.clean(one) for one in submission.open_questions[:_FEW]]
        told.next_steps = [self._idea(text) for text in submission.next_step_ideas[:_FEW]]
        told.cited = [one for hypothesis in told.hypotheses for one in hypothesis.supporting]
        return told

    def _idea(self, text: str) -> NextStep:
        """An idea of the model: words only, marked as unverified."""
        words = self.clean(" ".join(text.replace("`", "").split()))[:_IDEA]
        return NextStep(order=1, purpose=words, source="model", command=None, command_kind="none", read_only=True)

    def _hypotheses(self, submission: Submission) -> list[Hypothesis]:
        out = [self._hypothesis(one, place) for place, one in enumerate(submission.hypotheses[:_MOST], 1)]
        for one in submission.ruled_out[:_MOST]:
            out.append(
                Hypothesis(
                    id=f"H{len(out) + 1}",
                    rank=len(out) + 1,
                    statement=self.clean(one.statement),
                    state="ruled_out",
                    supporting=[],
                    contradicting=self._issued(one.ids),
                    ruled_out_because=self.clean(one.reason),
                )
            )
        return out

    def _hypothesis(self, one: SubmittedHypothesis, place: int) -> Hypothesis:
        entity = one.entity
        names = (
            {"service.name": entity.service, "service.version": entity.version, "host.name": entity.host}
            if entity
            else {}
        )
        kept = {key: self.clean(value) for key, value in names.items() if value}
        service = kept.get("service.name", "")
        mechanism_lines, discriminating = self.rows_of(service) if service else ([], [])
        return Hypothesis(
            id=f"H{place}",
            rank=place,
            statement=self.clean(one.statement),
            mechanism_id=one.mechanism if one.mechanism in self.mechanisms else OTHER,
            mechanism_lines=mechanism_lines,
            entity=kept,
            state="open",
            supporting=self._issued(one.supporting),
            contradicting=self._issued(one.contradicting),
            discriminating=discriminating,
            would_refute=self.clean(one.would_refute) if one.would_refute else None,
        )

    def _issued(self, ids: Sequence[str]) -> list[str]:
        """Ids that this run issued, each once."""
        return [one for one in dict.fromkeys(ids) if self.ledger.get(one) is not None]
