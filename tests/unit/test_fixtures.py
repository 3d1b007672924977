"""The bundled scenarios are what the generator writes, and tell what their truth says."""

import gzip
import json
import re
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from fixtures.generate import documents, main, ndjson, truth
from fixtures.lines import SCHEMAS, Dice, Schema
from fixtures.scenarios import SCENARIOS
from logagent import demo
from logagent.errors import UsageError


def lines_of(scenario: str) -> list[dict[str, Any]]:
    return list(documents(scenario, "ecs"))


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_bundled_file_is_what_the_generator_writes(scenario: str) -> None:
    # The bytes before compression: zlib and zlib-ng pack the same text differently.
    assert gzip.decompress(demo.logs(scenario).read_bytes()) == ndjson(scenario)
    assert demo.truth(scenario) == json.loads(json.dumps(truth(scenario)))


def test_the_bundled_gzip_files_carry_no_time_and_no_name() -> None:
    for scenario in demo.scenarios():
        head = demo.logs(scenario).read_bytes()[:10]
        assert head[3] == 0, "no file name"
        assert head[4:8] == b"\0\0\0\0", "no time"


def test_all_bundled_files_together_stay_under_two_megabytes() -> None:
    assert sum(demo.logs(scenario).stat().st_size for scenario in demo.scenarios()) < 2_000_000


def test_the_default_scenario_comes_first_and_an_unknown_one_names_the_others() -> None:
    assert demo.scenarios()[0] == "order-outage"
    with pytest.raises(UsageError, match="order-outige") as refused:
        demo.logs("order-outige")
    assert "vanished-heartbeat" in refused.value.hint


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_events_are_in_order_and_cover_the_window_and_the_baseline(scenario: str) -> None:
    times = [document["@timestamp"] for document in lines_of(scenario)]
    told = truth(scenario)
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert instant(times[0]) < instant(told["baseline"]["from"]) + timedelta(seconds=10)
    assert instant(told["window"]["from"]) < instant(times[-1]) < instant(told["window"]["to"])
    assert told["events"] == len(times)


def test_the_pool_runs_out_at_the_onset_in_the_new_version_in_one_zone_only() -> None:
    failing = [line for line in lines_of("order-outage") if "Connection is not available" in line["message"]]
    assert failing[0]["@timestamp"].startswith("2026-11-24T06:05:20")
    assert {(line["service.name"], line["service.version"], line["cloud.availability_zone"]) for line in failing} == {
        ("payment-api", "3.4.1", "eu-west-1b")
    }


def test_a_pod_of_the_old_version_in_the_same_zone_stays_healthy() -> None:
    beside = [
        line
        for line in lines_of("order-outage")
        if line.get("service.version") == "3.4.0"
        and line["cloud.availability_zone"] == "eu-west-1b"
        and line["@timestamp"] > "2026-11-24T06:06"
    ]
    assert len(beside) > 40
    assert not [line for line in beside if line["log.level"] == "ERROR"]


def test_payment_fails_first_in_every_trace_that_starves() -> None:
    traces: dict[str, list[str]] = {}
    for line in lines_of("order-outage"):
        if line["log.level"] == "ERROR" and "trace.id" in line:
            traces.setdefault(line["trace.id"], []).append(line["service.name"])
    starved = [services for services in traces.values() if "payment-api" in services]
    assert len(starved) > 60
    assert all(services == ["payment-api", "order-api"] for services in starved if len(services) > 1)


def test_the_clean_namesake_logs_no_error() -> None:
    assert {line["log.level"] for line in lines_of("order-outage") if line["service.name"] == "order-worker"} == {
        "INFO"
    }


def test_stack_traces_have_several_lines() -> None:
    stacks = [line["error.stack_trace"] for line in lines_of("order-outage") if "error.stack_trace" in line]
    assert stacks
    assert all(stack.count("\n\tat ") >= 3 for stack in stacks)


def test_the_vanished_service_stops_at_once_and_all_others_go_on() -> None:
    last: dict[str, str] = {}
    for line in lines_of("vanished-heartbeat"):
        last[line["service.name"]] = line["@timestamp"]
    silent = last.pop("pricing-api")
    assert "2026-11-24T02:10:00" < silent < "2026-11-24T02:10:07"
    assert all(at > "2026-11-24T02:29:40" for at in last.values())


def test_nothing_changes_in_the_quiet_hour() -> None:
    lines = lines_of("all-quiet")
    for level in ("INFO", "WARN"):
        times = [
            line["@timestamp"] for line in lines if line["log.level"] == level and line["@timestamp"] > "2026-11-25T18"
        ]
        before = sum(at < "2026-11-25T18:30" for at in times)
        assert abs(2 * before - len(times)) < 5 * len(times) ** 0.5
    assert {line["log.level"] for line in lines} == {"INFO", "WARN"}


def test_the_injected_lines_hold_what_must_never_be_shown() -> None:
    raw = ndjson("injected").decode()
    texts = [json.loads(line) for line in raw.splitlines()]
    everything = "\n".join(str(value) for document in texts for value in document.values())
    for fragment in truth("injected")["never_shown"]:
        assert fragment in everything
    assert sum("authentication failed from 203.0.113." in document["message"] for document in texts) > 500
    assert "\x1b" not in raw


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_schema_writes_every_scenario_with_its_message_and_time(schema: Schema) -> None:
    for scenario in SCENARIOS:
        documents_here = list(documents(scenario, schema))
        assert len(documents_here) == truth(scenario)["events"]
        assert all(re.match(r"2026-11-2\d", d.get("@timestamp") or d["timestamp"]) for d in documents_here)
        assert all(d.get("message") or d["body"]["text"] for d in documents_here)


def test_the_command_writes_one_scenario_in_another_schema(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scenario", "all-quiet", "--schema", "plain", "--out", str(tmp_path)]) == 0
    first = json.loads(gzip.decompress((tmp_path / "all-quiet" / "logs.ndjson.gz").read_bytes()).splitlines()[0])
    assert {"timestamp", "level", "service", "message"} <= set(first)
    assert json.loads((tmp_path / "all-quiet" / "truth.json").read_text())["schema"] == "plain"
    assert "events" in capsys.readouterr().out


def test_dice_are_even_enough_and_repeat_with_their_seed() -> None:
    dice = Dice(1)
    arrivals = dice.arrivals(0, 6000, 30)
    assert 2800 < len(arrivals) < 3200
    assert arrivals == Dice(1).arrivals(0, 6000, 30)
    assert {Dice(2).whole(1, 3)} <= {1, 2, 3}
