"""After an endpoint has counted once, the client's estimates are near its counts, also of texts that are not English."""

import json
from pathlib import Path

import pytest

from evals import token_estimate
from logagent import demo
from logagent.analysis.redact import ModelText
from logagent.llm import ChatClient, Endpoint, Message
from logagent.testing import Answer, ScriptedModel


def test_estimates_of_a_run_are_within_15_percent_after_the_first_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert token_estimate.main([str(Path(demo.__file__).parent), "--only", "order-outage"]) == 0
    words = json.loads(capsys.readouterr().out)["tokenizers"]["words"]
    assert words["later"]["within_15_percent"] == 1.0


def test_the_count_of_a_chinese_conversation_mends_the_estimate() -> None:
    question = ModelText("支付服务从什么时候开始出错,影响了多少用户?" * 40)
    ask = [Message("user", question)]
    with ScriptedModel([Answer("好", prompt_tokens=700), Answer("好", prompt_tokens=1_404)]) as model:
        client = ChatClient(Endpoint(model.url, "scripted"))
        first = client.estimate(ask, ())
        reply = client.complete(ask, ())
        ask += [reply.message, Message("user", question)]
        second = client.estimate(ask, ())
        client.complete(ask, ())
        client.close()
    assert abs(second - 1_404) / 1_404 <= token_estimate.LIMIT < abs(first - 700) / 700


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="gone"):
        token_estimate.main([str(tmp_path), "x=gone.json"])
