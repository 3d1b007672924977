"""The words of a diagnosis: those of the rules, with those of the model where they were accepted."""

from collections.abc import Callable, Sequence

from logagent.diagnosis import Hypothesis, NextStep, Summary
from logagent.triage import Story
from logagent.verify import Judgement
from logagent.wiring._told import Told

_STEPS = 5


def compose(
    made: Summary,
    steps: Sequence[NextStep],
    hypotheses: list[Hypothesis],
    judgement: Judgement,
    told: Told | None,
    clean: Callable[[str], str],
) -> Story:
    """Summary and steps by rule (`made`, `steps`), then what the model adds; all of it masked."""
    if told is not None:
        made = told.summary(made, judgement)
    shown = made.model_copy(update={k: clean(v) for k, v in made.model_dump().items() if isinstance(v, str)})
    for hypothesis in hypotheses:
        hypothesis.statement = clean(hypothesis.statement)
        hypothesis.mechanism = clean(hypothesis.mechanism) if hypothesis.mechanism else None
    ideas = told.next_steps if told else []
    numbered = [step.model_copy(update={"order": n}) for n, step in enumerate([*steps, *ideas][:_STEPS], 1)]
    return Story(shown, hypotheses, numbered, told.open_questions if told else [], told.cited if told else [])


def grade(hypotheses: Sequence[Hypothesis], judgement: Judgement, *, claimed: bool) -> None:
    """The grade is code's: of the first hypothesis by the judgement, of the others `possible`."""
    for place, hypothesis in enumerate(hypotheses):
        if hypothesis.state in {"ruled_out", "untested"}:
            hypothesis.grade = None
        elif place == 0:
            hypothesis.grade = judgement.grade
            hypothesis.state = "leading" if claimed else "open"
        else:
            hypothesis.grade, hypothesis.state = "possible", "open"
