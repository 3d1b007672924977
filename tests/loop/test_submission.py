import pytest

from logagent.llm import ToolCall
from logagent.tools import ToolContext, ToolRegistry
from logagent.tools._claims import sentences
from tests.loop.scene import GOOD, call, context


@pytest.fixture
def made() -> ToolContext:
    """A run that has read four rows: E1 to E4."""
    ready = context()
    call(ready, "search_logs", query="level:error", size=4)
    return ready


def submit(made: ToolContext, **changes: object) -> str:
    return call(made, "submit_diagnosis", **{**GOOD, **changes}).text


def hypothesis(**changes: object) -> dict[str, object]:
    return {"statement": "The pool ran dry.", "mechanism": "pool.exhausted", "supporting": ["E2"], **changes}


def test_what_is_backed_is_accepted_at_once(made: ToolContext) -> None:
    entity = {"service": "payment-api"}
    text = submit(made, hypotheses=[hypothesis(entity=entity)], probable_cause="The pool of payment-api is dry [E2].")
    assert text == "Accepted."
    assert made.submission is not None
    assert made.submission.probable_cause == "The pool of payment-api is dry [E2]."


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"what_is_happening": "Orders fail."}, "what_is_happening: sentence 1 has no id"),
        ({"what_is_happening": "Orders fail [E9]."}, "E9 was not issued in this run"),
        (
            {"what_is_happening": "28 orders fail [E1]."},
            '"28" is a figure that E1 does not show: leave numbers to code',
        ),
        ({"what_is_happening": "A [E1]. B [E1]. C [E1]. D [E1]. F [E1]."}, "5 sentences, at most 4"),
        ({"headline": "Checkout " * 20}, "at most 120"),
        ({"headline": "Checkout fails 30 % of the time"}, '"30 %" is a figure'),
        ({"hypotheses": [hypothesis(supporting=["E77"])]}, "hypothesis 1: E77 was not issued"),
        ({"hypotheses": [hypothesis(supporting=[])]}, "hypothesis 1: no ids"),
        (
            {"hypotheses": [hypothesis(mechanism="pool.exausted")]},
            "no mechanism 'pool.exausted'; nearest: pool.exhausted",
        ),
        ({"hypotheses": [hypothesis(entity={"service": "billing-api"})]}, "'billing-api' occurs in no result"),
        ({"next_step_ideas": ["a", "b", "c", "d"]}, "next_step_ideas: at most 3"),
        ({"ruled_out": [{"statement": "DNS", "reason": "no line", "ids": []}]}, "ruled_out 1: no ids"),
    ],
)
def test_what_is_not_backed_comes_back_with_its_fault(
    made: ToolContext, changes: dict[str, object], fault: str
) -> None:
    text = submit(made, **changes)
    assert text.startswith("Not accepted.")
    assert fault in text
    assert made.submission is None


def test_an_unknown_mechanism_comes_back_once_with_those_that_are_known(made: ToolContext) -> None:
    unknown = {"hypotheses": [hypothesis(mechanism="network_delay"), hypothesis(mechanism="gremlins")]}
    text = submit(made, **unknown)
    assert "hypothesis 1: no mechanism 'network_delay'; nearest: network.latency" in text
    assert "hypothesis 2: no mechanism 'gremlins'\n" in text
    listed = "mechanism without a line: network.latency; else the id beside a line, of pool, upstream; else other"
    assert text.count(listed) == 1
    assert submit(made, **unknown) == "Accepted."
    assert made.submission is not None
    assert [one.mechanism for one in made.submission.hypotheses] == ["other", "other"]


@pytest.mark.parametrize("mechanism", ["network.latency", " Other ", "POOL.exhausted"])
def test_a_mechanism_may_be_inferred_or_none_of_the_list(made: ToolContext, mechanism: str) -> None:
    assert submit(made, hypotheses=[hypothesis(mechanism=mechanism)]) == "Accepted."
    assert made.submission is not None
    assert made.submission.hypotheses[0].mechanism == mechanism.strip().lower()


@pytest.mark.parametrize(
    "extra", [{"severity": "SEV1"}, {"confidence": 0.9}, {"outcome": "confirmed"}, {"services": []}]
)
def test_what_code_sets_is_no_argument(made: ToolContext, extra: dict[str, object]) -> None:
    result = call(made, "submit_diagnosis", **{**GOOD, **extra})
    assert result.is_error
    assert "no argument" in result.text


@pytest.mark.parametrize(
    "sentence",
    [
        "order-api answers 503 [E1].",
        "HikariPool-1 of payment-api gives no connection (E2).",
        "Version 3.4.1 on node-1 fails [E1][E2].",
        'The lines say "request timed out after 30012ms" [E2].',
        "支付服务连接池耗尽【E2】。",
        "All 5xx come from one host [E1, E2].",
    ],
)
def test_names_codes_and_quotes_are_no_figures(made: ToolContext, sentence: str) -> None:
    assert submit(made, what_is_happening=sentence) == "Accepted."


def test_the_second_time_bad_sentences_ids_and_names_are_left_out(made: ToolContext) -> None:
    bad = {
        "headline": "Orders fail",
        "what_is_happening": "Orders fail [E1]. 9,999 users suffer [E1]. All is lost [E50].",
        "probable_cause": "Nobody knows.",
        "hypotheses": [
            hypothesis(
                supporting=["e2", "E60"], mechanism="pool.dry", entity={"service": "payment-api", "host": "moon"}
            ),
            hypothesis(supporting=["E61"]),
        ],
    }
    assert submit(made, **bad).startswith("Not accepted.")
    assert submit(made, **bad) == "Accepted."
    assert made.submission is not None
    assert made.submission.what_is_happening == "Orders fail [E1]."
    assert made.submission.probable_cause is None
    (kept,) = made.submission.hypotheses
    assert (kept.supporting, kept.mechanism) == (["E2"], "other")
    assert kept.entity is not None
    assert kept.entity.model_dump(exclude_none=True) == {"service": "payment-api"}


def test_a_figure_stays_under_the_id_that_shows_it_rounded_as_written(made: ToolContext) -> None:
    call(made, "get_error_stats")
    (total,) = (row.id for row in made.ledger if row.value == 48)
    right = f"48 events fail, about 50 [{total}]."
    text = f"{right} About 50k events fail [{total}]. 48 events fail [E1]."
    assert submit(made, what_is_happening=text).startswith("Not accepted.")
    submit(made, what_is_happening=text)
    assert made.submission is not None
    assert made.submission.what_is_happening == right


def test_a_submission_of_which_nothing_is_left_is_none(made: ToolContext) -> None:
    empty = {"headline": "x", "what_is_happening": "No ids here.", "hypotheses": []}
    submit(made, **empty)
    assert submit(made, **empty) == "Accepted."
    assert made.submission is None


def test_nothing_unusual_is_a_good_answer(made: ToolContext) -> None:
    assert submit(made, what_is_happening="Errors are as frequent as before [E1].", hypotheses=[]) == "Accepted."
    assert made.submission is not None


def test_arrays_written_as_text_are_read(made: ToolContext) -> None:
    arguments = (
        '{"headline": "h", "what_is_happening": "Orders fail [E1].", "hypotheses": '
        '"[{\\"statement\\": \\"s\\", \\"mechanism\\": \\"other\\", \\"supporting\\": \\"E1\\"}]"}'
    )
    assert ToolRegistry().call(ToolCall("c", "submit_diagnosis", arguments), made).text == "Accepted."


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One [E1]. Two [E2].", 2),
        ("One. [E1] Two. [E2]", 2),
        ("Version 3.4.1 fails [E1]. Then order-api [E2].", 2),
        ("连接池耗尽 [E1]。订单失败 [E2]。", 2),
        ("One [E1]\nTwo [E2]", 2),
        ("", 0),
        ("certificate of smtp.mail.example expired [E2].", 1),
        ("Values of application.yml [E1] hide svc.cluster.local. Then service.version changed [E2].", 2),
        ("node.js 3.8.1 fails, e.g. Orders and queue Nr. 5 [E1]. The rest runs [E2]!", 2),
        ("See https://wiki.example/a.b?c=d.e and mail.example. order-api fails [E1].", 1),
        ("The pool is dry [E1]. order-api fails [E2].", 2),
        ("Dry? Yes [E1]. (Orders wait [E2].) Users see it [E2].", 3),
        ("smtp.mail.example的证书已过期[E2]。application.yml未变[E1]！订单为何失败？[E2]", 3),
        ("使用smtp.mail.example.证书过期 [E2]", 1),
        ("连接池耗尽 [E1].订单失败 [E2].", 2),
        ("他说“连接池耗尽。”随后订单失败 [E2]。", 1),
    ],
)
def test_sentences_end_where_readers_say(text: str, parts: int) -> None:
    assert len(sentences(text)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "The certificate of smtp.mail.example expired [E2].",
        "Values of application.yml and service.version, e.g. those of svc.cluster.local, are old [E2].",
        "smtp.mail.example的证书已过期[E2]。",
        "Worker Nr. 5 of node.js is gone [E1].",
    ],
)
def test_a_dot_inside_a_name_neither_refuses_nor_cuts_a_sentence(made: ToolContext, text: str) -> None:
    assert submit(made, what_is_happening=text, probable_cause=text) == "Accepted."
    assert made.submission is not None
    assert made.submission.what_is_happening == made.submission.probable_cause == text
