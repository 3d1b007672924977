"""`logagent compare`: what differs between two windows, values and files."""

import json
from pathlib import Path

import pytest
from wcwidth import wcswidth

from logagent import demo
from logagent.analysis.comparison import Tally, change_of, contrast, shift
from tests.cli.conftest import Cli

OUTAGE = str(demo.logs("order-outage"))
ONSET = "2026-11-24T06:05:20Z"


def rows(text: str, kind: str) -> list[dict[str, object]]:
    return [row for row in json.loads(text)["rows"] if row["kind"] == kind]


def test_before_and_after_an_instant_shows_what_is_new_and_how_the_error_share_moved(cli: Cli) -> None:
    found = cli("compare", OUTAGE, "--before", ONSET, "--json", "-q")
    assert found.code == 0
    failing = rows(found.out, "failing")[0]
    assert failing["change"] == "spiking"
    assert failing["share_b"] > 5 * failing["share_a"]  # type: ignore[operator]
    new = [row for row in rows(found.out, "pattern") if row["change"] == "new"]
    assert any("HikariPool" in str(row["name"]) and row["service"] == "payment-api" for row in new)
    assert json.loads(found.out)["numbers"][0]["name"] == "duration_ms"


def test_every_figure_names_the_query_that_gives_it_again(cli: Cli) -> None:
    found = json.loads(cli("compare", OUTAGE, "--before", ONSET, "--json", "-q").out)
    evidence = {one["id"]: one for one in found["evidence"]}
    row = next(one for one in found["rows"] if one["kind"] == "failing")
    ask = evidence[row["evidence"][1]]["query"]
    again = cli("logs", OUTAGE, "-f", ask["text"], "-s", ask["from"], "-u", ask["to"], "--json", "-q", "-n", "1")
    assert json.loads(again.out)["total"] == row["b"] == evidence[row["evidence"][1]]["value"]


def test_versions_without_names_are_the_two_newest_of_one_service(cli: Cli) -> None:
    found = json.loads(cli("compare", OUTAGE, "--by", "service.version", "--json", "-q").out)
    assert (found["a"]["name"], found["b"]["name"], found["basis"]) == ("3.4.0", "3.4.1", "events")
    assert {row["service"] for row in found["rows"] if row["kind"] == "pattern"} == {"payment-api"}


def test_two_hosts_are_compared_by_what_each_of_them_logs(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "hosts.jsonl"
    lines = []
    for i in range(240):
        host = "web-1" if i % 3 else "web-2"
        level, text = ("error", "disk full on volume data") if host == "web-2" and i % 2 else ("info", f"GET /cart {i}")
        at = f"2026-11-30T14:{i // 8:02d}:{i % 8 * 7:02d}Z"
        lines.append(json.dumps({"@timestamp": at, "log.level": level, "host.name": host, "message": text}))
    file.write_text("\n".join(lines))
    found = json.loads(cli("compare", str(file), "--by", "host.name", "web-1", "web-2", "--json", "-q").out)
    assert next(row for row in found["rows"] if row["kind"] == "volume")["a"] == 160
    disk = next(row for row in found["rows"] if "disk full" in row["name"])
    assert (disk["change"], disk["a"], disk["b"]) == ("new", 0, 40)


def test_two_files_are_two_sides_each_over_its_own_time(cli: Cli, tmp_path: Path) -> None:
    for name, day, text in (("good.jsonl", 29, "order stored"), ("bad.jsonl", 30, "order rejected")):
        lines = [
            json.dumps({"@timestamp": f"2026-11-{day}T14:{i // 2:02d}:{i % 2 * 30:02d}Z", "message": f"{text} {i}"})
            for i in range(60)
        ]
        (tmp_path / name).write_text("\n".join(lines))
    found = json.loads(cli("compare", str(tmp_path / "good.jsonl"), str(tmp_path / "bad.jsonl"), "--json", "-q").out)
    changes = {row["name"].split(" <")[0]: row["change"] for row in found["rows"] if row["kind"] == "pattern"}
    assert changes == {"order stored": "vanished", "order rejected": "new"}


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_screen_has_at_most_forty_lines_of_eighty_columns(
    cli: Cli, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = cli("compare", OUTAGE, "--before", ONSET, "-q", "--lang", language)
    lines = found.out.splitlines()
    assert len(lines) <= 40
    assert all(wcswidth(line) <= 80 for line in lines if not line.startswith(("B/A", "B 中", "words")))


def test_markdown_holds_every_row_and_its_queries(cli: Cli) -> None:
    found = cli("compare", OUTAGE, "--before", ONSET, "-F", "md", "-q")
    assert "HikariPool" in found.out
    assert "<details>" in found.out
    assert found.out.count("\n- E") >= 50


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--by", "no.such.field"), "LA702"),
        (("--by", "host.name", "only-one"), "LA702"),
        (("--before", "1999-01-01T00:00:00Z"), "LA701"),
        (("a..b", "c..d", "e..f"), "LA702"),
        (("rubbish..now",), "LA701"),
    ],
)
def test_sides_that_cannot_be_told_are_refused_with_a_reason(cli: Cli, arguments: tuple[str, ...], code: str) -> None:
    found = cli("compare", OUTAGE, *arguments, "-q")
    assert (found.code, found.out) == (2, "")
    assert code in found.err


def test_one_burst_is_one_event_and_a_steady_rise_is_many() -> None:
    calm = Tally((2.0,) * 20, (60.0,) * 20)
    burst = Tally((2.0,) * 19 + (42.0,), (60.0,) * 20)
    rise = Tally((4.0,) * 20, (60.0,) * 20)
    assert contrast(calm, burst).p > 0.05 > contrast(calm, rise).p
    assert change_of(calm, rise, contrast(calm, rise), stands=True) == "rising"
    assert change_of(calm, burst, contrast(calm, burst), stands=False) == "steady"


def test_a_number_shifts_where_most_slices_of_time_do_and_not_where_one_does() -> None:
    before = [(float(at), 10.0 + at % 5) for at in range(600)]
    slower = [(at, value * 2) for at, value in before]
    one_burst = [(at, value * 50 if at < 40 else value) for at, value in before]
    assert shift(before, slower) < 0.001
    assert shift(before, one_burst) > 0.05
