"""What a sentence may state: only what the rows it cites show."""

import pytest

from evals.lies import main
from logagent.tools import ToolContext
from tests.loop.scene import GOOD, call, context


@pytest.fixture
def made() -> ToolContext:
    """Lines E1 to E4, then counts: what fails, by service."""
    ready = context()
    call(ready, "search_logs", query="level:error", size=4)
    call(ready, "get_error_stats", group_by="service")
    return ready


def row(made: ToolContext, service: str) -> str:
    """The id of the count of a service."""
    (found,) = (one.id for one in made.ledger if one.query.figure.op == "count" and service in one.statement)
    return found


def submit(made: ToolContext, sentence: str) -> str:
    return call(made, "submit_diagnosis", **{**GOOD, "what_is_happening": sentence}).text


@pytest.mark.parametrize(
    "sentence",
    [
        "payment-api logs 24 errors [{pay}].",
        "Twenty-four errors come from payment-api [{pay}].",
        "payment-api 有二十四条错误 [{pay}]。",
        "About 20 lines of payment-api fail [{pay}].",
        "payment-api and order-api fail alike [{pay}][{order}].",
        'payment-api says "Connection is not available" [{line}].',
        "A call waited 30 s [{line}].",
        "A call waited 30,012 ms [{line}].",
        "等待了30012毫秒 [{line}]。",
    ],
)
def test_what_the_cited_rows_show_is_accepted_at_once(made: ToolContext, sentence: str) -> None:
    line = next(one.id for one in made.ledger if one.samples and "HikariPool" in one.samples[0].message)
    ids = {"pay": row(made, "payment-api"), "order": row(made, "order-api"), "line": line}
    assert submit(made, sentence.format(**ids)) == "Accepted."


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("payment-api logs 42 errors [{pay}].", '"42" is a figure that {pay} does not show: leave numbers to code'),
        ("payment-api 有四十二条错误 [{pay}]。", '"四十二条" is a figure that {pay} does not show'),
        ("order-api logs 24 errors [{pay}].", "'order-api' is not in {pay}: cite a row that shows it"),
        ("It began at 17:45 [{pay}].", '"17:45" is no time of {pay}: leave times to code'),
        ('It says "Connection is not awailable" [{line}].', '"Connection is not awailable" is not what {line} says'),
        ("50 % of all users are hit [{pay}].", "no share of users is in {pay}: leave numbers to code"),
        ("30 % of the lines fail [{pay}].", '"30 %" is a figure that {pay} does not show'),
    ],
)
def test_what_they_do_not_show_comes_back_and_is_left_out(made: ToolContext, sentence: str, fault: str) -> None:
    line = next(one.id for one in made.ledger if one.samples and "HikariPool" in one.samples[0].message)
    ids = {"pay": row(made, "payment-api"), "line": line}
    text = sentence.format(**ids)
    assert fault.format(**ids) in submit(made, text)
    submit(made, text)
    assert made.submission is None or text not in made.submission.what_is_happening


def test_a_full_stop_inside_a_quote_ends_no_sentence(made: ToolContext) -> None:
    sentence = 'The pool says "HikariPool-1 - Connection is not available, request timed out. Really" [E1].'
    assert "has no id" not in submit(made, sentence)


def test_lies_are_caught_and_true_wordings_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """The gate is below the target of `evals.lies`, which is measured on many more."""
    assert main(["--n", "40", "--only", "order", "--json"]) == 0
    printed = capsys.readouterr().out
    assert '"truths_kept": {"right": 40, "of": 40}' in printed
    assert '"caught": {"right": 4' in printed or '"caught": {"right": 39' in printed
