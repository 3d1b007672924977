"""The head of a report with a model's words in it: one report, one suspect."""

import pytest

from logagent.analysis.facts import UNNAMED
from logagent.diagnosis import Hypothesis, ModelUse, Summary
from logagent.verify import Judgement
from logagent.wiring._choose import choose_hypotheses
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


CAUSED = Summary(headline="h", what_is_happening="w", probable_cause="Cache refuses writes in inventory [E2].")
CONFIRMED = Judgement("confirmed", "confirmed", "high")


def claims(cause: str) -> Told:
    made = told("inventory", cause=cause)
    made.hypotheses[0].mechanism_lines, made.hypotheses[0].discriminating = ["E2"], ["E7"]
    return made


@pytest.mark.parametrize(
    "cause",
    ["Redis is full [E2].", "Redis is full since version 3.8.1 came [E2, E7].", "3.8.1 版本之后缓存写满 [E2] [E7]。"],
)
def test_a_cause_of_the_model_stands_where_the_rows_of_the_outcome_show_it(cause: str) -> None:
    assert claims(cause).summary(CAUSED, CONFIRMED).probable_cause == cause


@pytest.mark.parametrize(
    "cause",
    ["Redis is full after the start of version 3.8.1 [E2].", "Redis is full [E9].", "由于 3.8.1 版本缓存写满 [E2]。"],
)
def test_what_no_row_of_the_outcome_shows_is_told_as_a_reading_and_not_as_the_cause(cause: str) -> None:
    made = claims(cause).summary(CAUSED, CONFIRMED)
    assert made.probable_cause == CAUSED.probable_cause
    assert made.what_is_happening == f"w {cause}"
    both = claims(f"Redis is full [E2]. {cause}").summary(CAUSED, CONFIRMED)
    assert both.probable_cause == "Redis is full [E2]."


def test_a_model_leads_where_records_name_no_service() -> None:
    rule = Hypothesis(
        id="H1", rank=1, statement="r", entity={"service.name": UNNAMED}, state="leading", supporting=["E2"],
        mechanism_lines=["E2"], discriminating=["E7"],
    )  # fmt: skip
    for named in ("", "mailer"):
        made = told(named, cause="The certificate expired [E2].", headline="Mail fails")
        (first,) = choose_hypotheses([rule], made, lambda _one: False)
        assert (made.cause, made.headline) == ("The certificate expired [E2].", "Mail fails")
        assert first.statement == f"{named} is starved."
        assert first.entity["service.name"] == UNNAMED
        assert first.mechanism_lines == ["E2"]
