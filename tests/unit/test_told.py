"""The head of a report with a model's words in it: one report, one suspect."""

from logagent.diagnosis import Hypothesis, ModelUse, Summary
from logagent.verify import Judgement
from logagent.wiring._told import Told

RULE = Summary(headline="h", what_is_happening="w", strongest_lead="Strongest lead: food-api, steady errors [E3].")
OPEN = Judgement("inconclusive", "possible", "low")


def told(service: str, **more: str) -> Told:
    guess = Hypothesis(
        id="H1",
        rank=1,
        statement=f"{service} is starved.",
        entity={"service.name": service} if service else {},
        state="open",
        supporting=["E5", "E6"],
    )
    return Told(ModelUse(), hypotheses=[guess], **more)


def test_without_a_cause_the_first_hypothesis_of_the_model_is_the_lead() -> None:
    assert told("booking").summary(RULE, OPEN).strongest_lead == "booking is starved. [E5] [E6]"


def test_what_the_model_says_of_the_same_service_is_the_lead_as_it_may_have_ruled_out_what_the_rule_names() -> None:
    assert told("food-api").summary(RULE, OPEN).strongest_lead == "food-api is starved. [E5] [E6]"


def test_the_lead_by_rule_stays_where_it_says_the_same() -> None:
    rule = RULE.model_copy(update={"strongest_lead": "food-api is starved. A line of it would prove it."})
    assert told("food-api").summary(rule, OPEN).strongest_lead == rule.strongest_lead


def test_a_hypothesis_without_a_service_does_not_replace_the_lead() -> None:
    assert told("").summary(RULE, OPEN).strongest_lead == RULE.strongest_lead


def test_a_cause_that_the_outcome_does_not_allow_is_told_as_the_lead() -> None:
    made = told("booking", cause="booking waits for its store [E5].").summary(RULE, OPEN)
    assert (made.probable_cause, made.strongest_lead) == (None, "booking waits for its store [E5].")


def test_nothing_is_a_lead_where_nothing_is_wrong() -> None:
    quiet = Judgement("no_anomaly", "possible", "low")
    assert told("booking").summary(RULE, quiet).strongest_lead == RULE.strongest_lead
