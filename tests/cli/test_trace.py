"""`logagent trace`: the lines of one id in order, across services."""

import json
from pathlib import Path

import pytest

from logagent import demo
from logagent.analysis.journey import journey
from tests.cli.conftest import Cli

OUTAGE = str(demo.logs("order-outage"))
FAILED = "ccfba756c265addb4411f5e8436f29e2"


def write(path: Path, rows: list[tuple[str, str, str, dict[str, object]]]) -> str:
    lines = [
        json.dumps({"@timestamp": at, "service.name": service, "message": message} | more)
        for at, service, message, more in rows
    ]
    path.write_text("\n".join(lines))
    return str(path)


def test_a_failing_request_is_told_in_order_with_gaps_and_where_it_failed_first(cli: Cli) -> None:
    found = json.loads(cli("trace", FAILED, OUTAGE, "--json", "-q").out)
    one = found["journeys"][0]
    assert [service["name"] for service in one["services"]][:3] == ["order-api", "inventory-api", "payment-api"]
    first = one["stops"][one["first_failure"]]
    assert (first["service"], round(first["gap_seconds"], 1)) == ("payment-api", 3.0)
    assert found["total"] == one["lines"] == 8


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_screen_marks_the_first_failure_and_keeps_to_the_width(
    cli: Cli, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("trace", FAILED, OUTAGE, "-q", "--lang", language).out.splitlines()
    marked = [line for line in lines if line.startswith("!")]
    assert len(marked) == 1
    assert "payment-api" in marked[0]
    assert max(map(len, lines)) <= 80


def test_an_id_that_stands_only_in_the_text_is_found(cli: Cli, tmp_path: Path) -> None:
    file = write(
        tmp_path / "text.jsonl",
        [
            ("2026-11-30T14:00:00Z", "web", "job ORD-20771 accepted", {}),
            ("2026-11-30T14:00:01Z", "pay", "other job ORD-20772", {}),
            ("2026-11-30T14:00:02Z", "pay", "charged for ORD-20771", {}),
        ],
    )
    found = json.loads(cli("trace", "ORD-20771", file, "--json", "-q").out)
    assert found["found_in"] == ["message"]
    assert [stop["service"] for stop in found["journeys"][0]["stops"]] == ["web", "pay"]


def test_repeats_in_a_row_are_one_line_with_their_number(cli: Cli, tmp_path: Path) -> None:
    rows = [("2026-11-30T14:00:00Z", "web", "start", {"trace.id": "aaaa1111bbbb2222"})]
    rows += [
        (f"2026-11-30T14:00:{i:02d}Z", "web", f"retry {i} of 9", {"trace.id": "aaaa1111bbbb2222"}) for i in range(1, 8)
    ]
    file = write(tmp_path / "retry.jsonl", rows)
    stops = json.loads(cli("trace", "aaaa1111bbbb2222", file, "--json", "-q").out)["journeys"][0]["stops"]
    assert [stop["repeats"] for stop in stops] == [1, 7]


def test_ids_that_each_process_counts_for_itself_are_kept_apart(cli: Cli, tmp_path: Path) -> None:
    rows = []
    for number in range(1, 30):
        for service, minute in (("web", number), ("pay", (number * 7) % 29 + 1)):
            at = f"2026-11-30T14:{minute:02d}:10Z"
            rows.append((at, service, f"handled {service}", {"trace.id": f"req-{number}", "host.name": f"{service}-1"}))
    file = write(tmp_path / "local.jsonl", rows)
    found = json.loads(cli("trace", "req-5", file, "--json", "-q").out)
    assert found["ids_are_per_process"]
    assert sorted(one["process"] for one in found["journeys"]) == ["pay pay-1", "web web-1"]


def test_an_id_that_was_cut_when_copied_brings_up_the_whole_one(cli: Cli) -> None:
    found = cli("trace", FAILED[:-4], OUTAGE, "-q")
    assert (found.code, found.out) == (5, "")
    assert FAILED in found.err


def test_an_id_outside_of_the_window_says_when_it_is(cli: Cli) -> None:
    found = cli("trace", FAILED, OUTAGE, "--since", "5m", "-q")
    assert found.code == 5
    assert "8 lines" in found.err
    assert "--since 2026-11-24T06:05:17" in found.err


def test_an_empty_id_is_refused(cli: Cli) -> None:
    assert cli("trace", " ", OUTAGE, "-q").code == 2


def test_a_journey_without_lines_is_empty() -> None:
    assert journey([]).stops == ()
