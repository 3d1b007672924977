"""Which hypotheses a diagnosis shows: those of the model where it has any, led by what code can stand for."""

from collections.abc import Callable

from logagent.analysis.facts import UNNAMED
from logagent.diagnosis import Hypothesis
from logagent.wiring._told import Told


def choose_hypotheses(
    by_rule: list[Hypothesis], told: Told | None, claimed_by_code: Callable[[str], bool]
) -> list[Hypothesis]:
    """Best first, numbered; `claimed_by_code` says whether code has a claim of its own for a service.

    A model may refine and reorder what the rules left open. Where the rules claim a cause and the model names another
    service for which code has no claim of its own, the claim of the rules leads and the model's words about a cause
    are not printed: whatever a log line talked it into, it cannot hide a service. Where records name no service there
    is nothing to hide: the model's first hypothesis is about what the rules found.
    """
    if told is None or not told.hypotheses:
        return by_rule
    first = _service(told.hypotheses[0])
    claimed = by_rule[0] if by_rule and by_rule[0].state == "leading" else None
    if claimed is None or _service(claimed) == first:
        return told.hypotheses
    if _service(claimed) == UNNAMED:
        told.hypotheses[0] = _placed(told.hypotheses[0], claimed)
        return told.hypotheses
    if first and claimed_by_code(first):
        return told.hypotheses
    told.cause = told.headline = ""
    rest = [one for one in told.hypotheses if _service(one) != _service(claimed)]
    told.hypotheses = [one.model_copy(update={"id": f"H{n}", "rank": n}) for n, one in enumerate([claimed, *rest], 1)]
    return told.hypotheses


def _placed(hypothesis: Hypothesis, claimed: Hypothesis) -> Hypothesis:
    """The model's explanation of what the rules found in records without a service, with the rows of the rules."""
    return hypothesis.model_copy(
        update={
            "entity": {**hypothesis.entity, **claimed.entity},
            "mechanism_lines": claimed.mechanism_lines,
            "discriminating": claimed.discriminating,
        }
    )


def _service(hypothesis: Hypothesis) -> str:
    return hypothesis.entity.get("service.name", "")
