import threading
import time
from dataclasses import replace
from typing import Any

from logagent.agent import Agent, AgentLimits, StopReason
from logagent.agent._calls import Calls
from logagent.errors import StoreUnavailable
from logagent.events import ModelReplied, RunEvent, ToolFinished
from logagent.llm import ChatClient, Endpoint, Reply, ToolCall
from logagent.testing import ScriptedModel, calls, hangs, http, raw, says, several, submit
from logagent.tools import Tool, ToolRegistry
from logagent.tools._base import Answer, ToolArgs
from tests.loop.scene import GOOD, context, incident, investigate, texts
from tests.loop.stores import ListStore

UNWILLING = (says("hm"), says("hm"), says("hm"))
"""Forced, then asked, then (by the client) asked in words."""
FIND = calls("search_logs", query="level:error", size=2, why="read the errors")


def test_a_run_searches_submits_and_ends() -> None:
    events: list[RunEvent] = []
    made = context()
    with ScriptedModel([FIND, submit(GOOD)]) as model:
        outcome = investigate(model, made, events=events)
    assert outcome.stop is StopReason.SUBMITTED
    assert outcome.submission is not None
    assert outcome.submission.headline == "Orders fail at checkout"
    assert outcome.turns == 2
    assert outcome.input_tokens > 0
    assert [message.role for message in outcome.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    replied = [event for event in events if isinstance(event, ModelReplied)]
    assert replied[0].calls[0][0] == "search_logs"
    assert replied[0].calls[0][2] == "read the errors"
    finished = [event for event in events if isinstance(event, ToolFinished)]
    assert [event.tool for event in finished] == ["search_logs", "submit_diagnosis"]
    assert finished[0].evidence == ("E1", "E2")


def test_each_call_is_answered_under_its_own_id_in_the_order_of_the_calls() -> None:
    both = several(FIND, calls("get_timeline"), calls("list_log_sources"))
    with ScriptedModel([both, submit(GOOD)]) as model:
        investigate(model)
    messages = model.requests[1]["messages"]
    assert isinstance(messages, list)
    asked = [one["id"] for one in messages[2]["tool_calls"]]
    assert [one["tool_call_id"] for one in messages if one["role"] == "tool"] == asked
    first, second, third = texts(model, "tool", 1)
    assert "newest first" in first
    assert "events per" in second
    assert "sources" in third


def test_calls_of_one_turn_run_beside_each_other_and_are_numbered_in_call_order() -> None:
    meet = threading.Barrier(2, timeout=5)
    store = ListStore(incident(), before_each=lambda: None if store.asked else (meet.wait(), None)[1])
    two = several(calls("search_logs", size=1), calls("search_logs", size=1, order="oldest"))
    with ScriptedModel([two, submit(GOOD)]) as model:
        outcome = investigate(model, context(store))
    assert outcome.stop is StopReason.SUBMITTED
    newest, oldest = texts(model, "tool", 1)
    assert "E1 12:19:50" in newest
    assert "E2 12:00:00" in oldest or "E2 12:10:00" in oldest


def test_an_identical_call_is_not_run_again_and_the_third_ends_the_search() -> None:
    store = ListStore(incident())
    same = calls("search_logs", query="level:error", size=2)
    spelled = calls("search_logs", query=" level:error  ", size="2", why="again")
    with ScriptedModel([same, spelled, same, submit(GOOD)]) as model:
        outcome = investigate(model, context(store))
    assert outcome.stop is StopReason.SUBMITTED
    assert store.asked.count("search") == 1
    assert texts(model, "tool", 2)[1].startswith("same call as turn 1: see E1-E2")
    assert "Submit now" in texts(model, "tool", 3)[-1]


def test_going_round_in_circles_ends_in_a_forced_submission() -> None:
    a, b = FIND, calls("get_timeline")
    with ScriptedModel([a, b, a, b, *UNWILLING]) as model:
        outcome = investigate(model)
    assert outcome.stop is StopReason.STUCK
    assert outcome.submission is None
    assert "Submit now: the last turns brought nothing new." in texts(model, "tool", 4)[-1]


def test_a_call_that_failed_twice_is_not_run_a_third_time() -> None:
    store = ListStore(incident())
    wrong = calls("get_log_context", evidence_id="E99")
    with ScriptedModel([wrong, wrong, wrong, submit(GOOD), submit(GOOD)]) as model:
        investigate(model, context(store))
    assert "failed twice" in texts(model, "tool", 3)[2]


def test_wrong_arguments_come_back_with_what_is_allowed() -> None:
    mistakes = several(
        calls("search_logs", query="svc:x"),
        calls("search_logs", limit=3),
        calls("get_error_stats", group_by="pod"),
        calls("find_logs"),
    )
    with ScriptedModel([mistakes, FIND, submit(GOOD)]) as model:
        investigate(model)
    query, unknown, group, tool = texts(model, "tool", 1)
    assert 'no field "svc"; near: service' in query
    assert "no argument 'limit'" in unknown
    assert "error_class" in group
    assert "no tool 'find_logs'" in tool
    assert "search_logs" in tool


def test_words_without_a_call_are_answered_once_then_the_run_ends() -> None:
    with ScriptedModel([says("I think it is the database."), says("Really."), submit(GOOD), submit(GOOD)]) as model:
        outcome = investigate(model)
    assert outcome.stop is StopReason.SUBMITTED
    assert "Text alone is not delivered" in texts(model, "user", 1)[-1]
    assert "Submit now" in texts(model, "user", 2)[-1]


def test_an_empty_answer_leaves_no_message() -> None:
    with ScriptedModel([FIND, says(""), submit(GOOD)]) as model:
        outcome = investigate(model)
    assert outcome.stop is StopReason.SUBMITTED
    messages = model.requests[-1]["messages"]
    assert isinstance(messages, list)
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "tool"]


def test_an_answer_cut_by_its_length_is_told_so() -> None:
    with ScriptedModel([says("Let me think about every", finish="length"), submit(GOOD), submit(GOOD)]) as model:
        investigate(model)
    assert "cut by its length limit" in texts(model, "user", 1)[-1]


def test_the_last_turn_asks_for_the_submission_and_an_unwilling_model_is_out_of_turns() -> None:
    script = [FIND, calls("get_timeline"), says("hm"), says("hm"), says("hm")]
    with ScriptedModel(script) as model:
        outcome = investigate(model, limits=AgentLimits(max_turns=3))
    assert outcome.stop is StopReason.OUT_OF_TURNS
    assert outcome.submission is None
    assert "Two turns left" in texts(model, "tool", 1)[-1]
    assert "Submit now" in texts(model, "tool", 2)[-1]
    assert outcome.turns == 4


def test_a_faulty_submission_goes_back_once_and_then_loses_its_bad_sentences() -> None:
    bad = {
        **GOOD,
        "what_is_happening": "Orders are refused [E1]. It began at 3 in the night [E1]. 4,312 users suffer [E77].",
        "probable_cause": "The pool is dry [E1]. Nobody knows why.",
    }
    with ScriptedModel([FIND, submit(bad), submit(bad)]) as model:
        outcome = investigate(model)
    returned = texts(model, "tool", 2)[-1]
    assert "E77 was not issued in this run" in returned
    assert '"4,312" is a figure: leave numbers to code' in returned
    assert "probable_cause: sentence 2 has no id" in returned
    assert outcome.stop is StopReason.SUBMITTED
    assert outcome.submission is not None
    assert "E77" not in outcome.submission.what_is_happening
    assert outcome.submission.probable_cause == "The pool is dry [E1]."


def test_a_model_that_dies_in_the_middle_leaves_what_its_calls_found() -> None:
    made = context()
    with ScriptedModel([FIND, http(401)]) as model:
        outcome = investigate(model, made)
    assert outcome.stop is StopReason.MODEL_LOST
    assert outcome.error is not None
    assert list(made.ledger.rows) == ["E1", "E2"]


def test_what_was_right_of_a_submission_that_was_sent_back_outlives_the_model() -> None:
    faulty = {**GOOD, "what_is_happening": "Orders are refused [E1]. The moon is full [E999]."}
    with ScriptedModel([FIND, submit(faulty), http(401)]) as model:
        outcome = investigate(model)
    assert outcome.stop is StopReason.MODEL_LOST
    assert outcome.submission is not None
    assert outcome.submission.what_is_happening == "Orders are refused [E1]."


def test_an_endpoint_that_answers_html_is_a_lost_model() -> None:
    page = raw(b"<html><body>Sign in</body></html>", content_type="text/html")
    with ScriptedModel([page]) as model:
        outcome = investigate(model)
    assert outcome.stop is StopReason.MODEL_LOST


def test_silence_ends_at_the_deadline() -> None:
    started = time.monotonic()
    with ScriptedModel([FIND, hangs()]) as model:
        outcome = investigate(model, limits=AgentLimits(deadline=started + 1.5))
    assert outcome.stop is StopReason.DEADLINE
    assert time.monotonic() - started < 3.5


def test_a_turn_that_is_the_last_for_want_of_time_says_how_much_is_left() -> None:
    def slow(_body: object) -> object:
        threading.Event().wait(0.8)
        return FIND

    with ScriptedModel([slow, submit(GOOD)]) as model:  # type: ignore[list-item]
        outcome = investigate(model, limits=AgentLimits(deadline=time.monotonic() + 2.2))
    assert outcome.stop is StopReason.SUBMITTED
    said = "Submit now: 1 s are left of the time for this run, and an answer takes up to 1 s."
    assert said in texts(model, "tool", 1)[-1]


def test_a_spent_token_budget_makes_the_next_turn_the_last() -> None:
    with ScriptedModel([FIND, submit(GOOD)]) as model:
        outcome = investigate(model, limits=AgentLimits(max_tokens=6_000))
    assert outcome.stop is StopReason.SUBMITTED
    assert "Submit now: the budget of tokens is nearly used up." in texts(model, "tool", 1)[-1]
    with ScriptedModel([FIND]) as model:
        outcome = investigate(model, limits=AgentLimits(max_tokens=1_000))
    assert outcome.stop is StopReason.BUDGET


def test_money_and_requests_are_budgets_too() -> None:
    with ScriptedModel([FIND]) as model:
        outcome = investigate(model, limits=AgentLimits(max_cost=0.001, price_input=4.0))
    assert outcome.stop is StopReason.BUDGET
    with ScriptedModel([FIND, *UNWILLING]) as model:
        outcome = investigate(model, limits=AgentLimits(max_requests=1))
    assert outcome.stop is StopReason.BUDGET


def test_a_log_source_that_dies_ends_the_run_with_what_was_found() -> None:
    store = ListStore(incident())
    made = context(store)

    def break_down(_body: object) -> object:
        store.fail = StoreUnavailable("the node does not answer")
        return calls("get_timeline")

    with ScriptedModel([FIND, break_down, calls("get_log_patterns"), submit(GOOD)]) as model:  # type: ignore[list-item]
        outcome = investigate(model, made)
    assert outcome.stop is StopReason.SUBMITTED
    assert "does not answer" in texts(model, "tool", 2)[1]
    assert "Submit now" in texts(model, "tool", 3)[-1]
    assert list(made.ledger.rows) == ["E1", "E2"]


def test_a_slow_log_source_does_not_hold_the_run_beyond_its_deadline() -> None:
    hold = threading.Event()
    store = ListStore(incident(), before_each=lambda: (hold.wait(10), None)[1])
    started = time.monotonic()
    with ScriptedModel([FIND]) as model:
        outcome = investigate(model, context(store), AgentLimits(deadline=started + 1.0))
    hold.set()
    assert outcome.stop is StopReason.DEADLINE
    assert time.monotonic() - started < 3


def test_forty_turns_fit_into_a_window_of_eight_thousand_tokens() -> None:
    made = context()
    script = [calls("search_logs", query=f"order OR {n}", size=8) for n in range(38)]
    with ScriptedModel([*script, submit(GOOD)]) as model:
        outcome = investigate(model, made, AgentLimits(max_turns=40), window=8_192)
    assert outcome.stop is StopReason.SUBMITTED
    assert outcome.turns == 39
    last = model.requests[-1]["messages"]
    assert isinstance(last, list)
    assert sum(len(str(one)) for one in last) / 4 < 8_192 * 0.7
    assert "Why do orders fail?" in last[1]["content"]
    assert "E0 digest row" in last[1]["content"]
    assert "EARLIER CALLS" in last[1]["content"]


def test_where_lines_of_earlier_calls_are_too_long_the_model_sums_them_up_once() -> None:
    made = context()
    looks = [several(*(calls("search_logs", query=f"order OR {n}{m}", size=8) for m in range(7))) for n in range(8)]
    summary = says("Orders fail at noon [E3]. \x1b[2J")
    answers: list[Any] = [*looks, submit(GOOD)]
    asked: list[str] = []

    def step(body: dict[str, object]) -> Any:
        asked.append("answer" if "tools" in body else "summary")
        return answers.pop(0) if "tools" in body else summary

    with ScriptedModel([step] * 10) as model:
        outcome = investigate(model, made, AgentLimits(max_turns=12), window=4_000)
    assert outcome.stop is StopReason.SUBMITTED
    assert asked.count("summary") == 1
    (user,) = texts(model, "user")
    assert "Orders fail at noon [E3]." in user
    assert "\x1b" not in user
    assert f"E1-E{len(made.ledger)}" in user or "calls before: rows E1" in user


def test_a_call_that_may_not_run_beside_others_keeps_its_place() -> None:
    order: list[str] = []

    def noted(name: str) -> Any:
        def handle(_args: Any, _context: Any) -> Answer:
            order.append(name)
            return Answer(name)

        return handle

    tools = {**ToolRegistry().tools}
    for name, parallel in (("read_a", True), ("change", False), ("read_b", True)):
        tools[name] = Tool(ToolArgs, noted(name), name, parallel=parallel)
    made = context()
    job = [ToolCall(name, name, "{}") for name in ("read_a", "change", "read_b")]
    done = Calls(ToolRegistry(tools), made, time.monotonic).answer(job, 1, float("inf"))
    assert order == ["read_a", "change", "read_b"]
    assert [result.call_id for _, result, _ in done] == order


def test_the_fixed_part_of_the_prompt_and_the_tools_are_the_same_in_every_request() -> None:
    with ScriptedModel([FIND, calls("get_timeline"), submit(GOOD)]) as model:
        investigate(model)
    assert len({str(request["tools"]) for request in model.requests}) == 1
    assert len({texts(model, "system", place)[0] for place in range(3)}) == 1


def test_a_secret_in_logs_question_or_arguments_never_reaches_the_endpoint() -> None:
    records = incident()
    records[-1] = replace(records[-1], message="login failed password=Tr0ub4dor-3 for jane.doe@shop.de")
    made = context(ListStore(records))
    asks = calls("search_logs", query='"login failed"')
    again = calls("search_logs", query='"<email:k7q2:2>"', why="same person?")
    with ScriptedModel([asks, again, submit(GOOD)]) as model:
        investigate(model, made)
    sent = str(model.requests)
    assert "Tr0ub4dor-3" not in sent
    assert "jane.doe" not in sent
    assert "1 matched" in texts(model, "tool", 2)[1]


class _Interrupted:
    """A person presses Ctrl-C while the second answer is awaited."""

    name, window = "interrupted", 32_768

    def __init__(self, model: ChatClient) -> None:
        self._model = model
        self._asked = 0

    def complete(self, *arguments: Any, **options: Any) -> Reply:
        self._asked += 1
        if self._asked > 1:
            raise KeyboardInterrupt
        return self._model.complete(*arguments, **options)

    def estimate(self, *arguments: Any) -> int:
        return self._model.estimate(*arguments)

    def close(self) -> None:
        self._model.close()


def test_an_interrupt_keeps_what_was_found() -> None:
    made = context()
    with ScriptedModel([FIND]) as model:
        client = _Interrupted(ChatClient(Endpoint(model.url, "scripted")))
        outcome = Agent(client, ToolRegistry(), made).investigate("Why?", "digest")
        client.close()
    assert outcome.stop is StopReason.INTERRUPTED
    assert list(made.ledger.rows) == ["E1", "E2"]
    assert outcome.turns == 2
