"""Every way through a run ends in a valid diagnosis, or in an error that says why."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from logagent.diagnosis import Diagnosis
from logagent.errors import LogAgentError, NoData
from logagent.events import Notice
from logagent.logs import iso
from logagent.settings import RunOptions
from logagent.testing import ScriptedModel, calls, submit
from logagent.wiring import open_session, requery
from tests.acceptance.scene import Ran, at, check, head, line, run, scenario, settings, write

SINCE, UNTIL = "2026-11-30T12:05:00Z", "2026-11-30T12:10:00Z"


def broken(**more: Any) -> list[dict[str, Any]]:
    """A cart that cannot reach its database from 12:07 on."""
    lines = [line(second, f"served page {second}", **more) for second in range(0, 600, 2)]
    lines += [
        line(420 + n, f"Connection refused: db:5432, attempt {n}", "error", "pay", **more) for n in range(0, 180, 2)
    ]
    return sorted(lines, key=lambda one: str(one["@timestamp"]))


def without(lines: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if key not in names} for one in lines]


def ran(folder: Path, lines: list[Any], **options: Any) -> Ran:
    return run(settings(folder), files=(write(folder, lines),), **options)


def test_by_rule(tmp_path: Path) -> None:
    found = ran(tmp_path, broken(), since=SINCE, until=UNTIL)
    assert found.diagnosis.outcome in {"confirmed", "probable"}
    assert found.diagnosis.hypotheses[0].entity["service.name"] == "pay"
    assert found.diagnosis.tool.mode == "no_llm"
    check(found)


def test_the_whole_file_without_a_window(tmp_path: Path) -> None:
    found = ran(tmp_path, broken())
    assert found.diagnosis.window.baseline is not None
    assert found.diagnosis.window.baseline.method == "before_onset"
    assert found.diagnosis.hypotheses[0].entity["service.name"] == "pay"
    check(found)


def test_without_any_baseline(tmp_path: Path) -> None:
    found = ran(tmp_path, broken(), since=SINCE, until=UNTIL, baseline="none")
    assert found.diagnosis.confidence.level != "high"
    assert all(pattern.baseline_count is None for pattern in found.diagnosis.patterns)
    check(found)


def test_nothing_unusual(tmp_path: Path) -> None:
    quiet = [line(second, f"served page {second}") for second in range(-1200, 600, 2)]
    found = ran(tmp_path, quiet, since=SINCE, until=UNTIL)
    assert found.diagnosis.outcome == "no_anomaly"
    assert found.diagnosis.next_steps == []
    check(found)


def test_with_a_model(tmp_path: Path) -> None:
    said = {
        "headline": "Payments fail",
        "what_is_happening": "The payment service cannot reach its database [E2].",
        "probable_cause": "The database refuses connections [E2].",
        "hypotheses": [
            {
                "statement": "The database is down.",
                "mechanism": "other",
                "entity": {"service": "pay"},
                "supporting": ["E2"],
            }
        ],
        "next_step_ideas": ["Ask whether the database was restarted"],
        "open_questions": ["Was there maintenance?"],
    }
    with ScriptedModel([calls("search_logs", query="level:error", size=3), submit(said)]) as model:
        made = settings(tmp_path, llm__base_url=model.url, llm__model="scripted")
        found = run(made, files=(write(tmp_path, broken()),), since=SINCE, until=UNTIL, use_model=True)
    assert found.diagnosis.tool.mode == "full"
    assert found.diagnosis.hypotheses[0].statement == "The database is down."
    assert found.diagnosis.hypotheses[0].mechanism_id == "other"
    assert found.diagnosis.open_questions == ["Was there maintenance?"]
    assert [step.source for step in found.diagnosis.next_steps][-1] == "model"
    assert found.diagnosis.usage.llm is not None
    check(found)


def test_one_event(tmp_path: Path) -> None:
    check(ran(tmp_path, [line(0, "panic: out of memory", "fatal")]))


@pytest.mark.parametrize("number", [2, 3, 7])
def test_a_handful_of_events_at_one_moment(tmp_path: Path, number: int) -> None:
    check(ran(tmp_path, [line(0, f"worker {n} lost", "error") for n in range(number)]))


def test_one_event_asked_for_by_a_window_around_it(tmp_path: Path) -> None:
    check(ran(tmp_path, [line(0, "panic: out of memory", "fatal")], at=at(0)))


def test_no_service_field(tmp_path: Path) -> None:
    found = ran(tmp_path, without(broken(), "service.name"), since=SINCE, until=UNTIL)
    assert "not_possible" in {one.result for one in found.diagnosis.checks}
    assert found.findings.volume.failing == 90
    check(found)


def test_no_severity(tmp_path: Path) -> None:
    found = ran(tmp_path, without(broken(), "log.level"), since=SINCE, until=UNTIL)
    assert found.diagnosis.hypotheses[0].entity["service.name"] == "pay"
    assert found.findings.volume.failing == 90
    check(found)


def test_neither_service_nor_severity(tmp_path: Path) -> None:
    check(ran(tmp_path, without(broken(), "log.level", "service.name"), since=SINCE, until=UNTIL))


def test_only_messages_and_times(tmp_path: Path) -> None:
    lines = [f"{at(second).replace('T', ' ').rstrip('Z')} served page {second}" for second in range(600)]
    check(ran(tmp_path, lines))


def test_no_time_at_all_takes_the_order_of_the_lines_and_says_so(tmp_path: Path) -> None:
    lines = [f"served page {n}" for n in range(300)] + [f"ERROR connection refused {n}" for n in range(50)]
    found = ran(tmp_path, lines)
    assert found.diagnosis.onset is not None
    assert found.diagnosis.onset.started_at == "1970-01-01T00:05:00Z"  # line 301
    assert [one.code for one in found.diagnosis.data_quality.caveats].count("LA308") == 1
    assert [one.code for one in found.events if isinstance(one, Notice)] == ["LA308"]
    check(found)


def test_times_that_look_shifted_by_whole_hours_are_said(tmp_path: Path) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=8)
    lines = [{**one, "@timestamp": iso(ahead - timedelta(seconds=600 - n))} for n, one in enumerate(broken())]
    found = ran(tmp_path, lines)
    caveats = {one.code: one for one in found.diagnosis.data_quality.caveats}
    assert "8 hours" in caveats["LA305"].text
    assert caveats["LA305"].severity == "warning"
    check(found)


def test_odd_lines_between_good_ones(tmp_path: Path) -> None:
    odd: list[Any] = ["", "not json", '{"half": ', "[1, 2]", "null", '{"message": null}', '{"@timestamp": "soon"}']
    found = ran(tmp_path, [*broken(), *odd])
    assert found.diagnosis.hypotheses[0].entity["service.name"] == "pay"
    check(found)


def test_giant_and_empty_messages(tmp_path: Path) -> None:
    lines = [*broken(), line(500, "x" * 1_000_000, "error"), line(501, ""), line(502, " \n "), line(503, "é" * 70_000)]
    found = ran(tmp_path, sorted(lines, key=lambda one: str(one["@timestamp"])), since=SINCE, until=UNTIL)
    assert found.diagnosis.hypotheses[0].entity["service.name"] == "pay"
    assert len(found.diagnosis.to_json()) < 200_000
    check(found)


def test_events_in_reverse_order_and_twice(tmp_path: Path) -> None:
    plain = ran(tmp_path, broken(), since=SINCE, until=UNTIL)
    turned = ran(tmp_path, broken()[::-1], since=SINCE, until=UNTIL)
    assert head(turned.diagnosis) == head(plain.diagnosis)
    twice = [one for pair in zip(broken(), broken(), strict=True) for one in pair]
    doubled = ran(tmp_path, twice, since=SINCE, until=UNTIL)
    assert head(doubled.diagnosis)[4] == "pay"
    assert doubled.findings.volume.failing == 2 * plain.findings.volume.failing
    check(doubled)


def test_three_runs_say_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, broken())
    runs = [run(settings(tmp_path), files=(path,), since=SINCE, until=UNTIL).diagnosis for _ in range(3)]
    assert len({head(one) for one in runs}) == 1
    assert len({json.dumps([row.model_dump() for row in one.patterns]) for one in runs}) == 1


def test_an_empty_window_says_what_lies_around_it(tmp_path: Path) -> None:
    with pytest.raises(NoData) as raised:
        ran(tmp_path, broken(), since="2026-11-30T15:00:00Z", until="2026-11-30T16:00:00Z")
    assert raised.value.code == "LA303"
    assert raised.value.values["newest"] == at(599) or raised.value.values["newest"] == at(598)


def test_an_empty_file_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(LogAgentError) as raised:
        ran(tmp_path, [])
    assert str(raised.value.code).startswith("LA3")


def test_a_service_that_does_not_log_gets_near_names(tmp_path: Path) -> None:
    with pytest.raises(NoData) as raised:
        ran(tmp_path, broken(), services=("payy",))
    assert raised.value.code == "LA304"
    assert raised.value.values["best"] == "pay"


def test_an_interrupted_run_gives_what_is_known(tmp_path: Path) -> None:
    """The interrupt comes with the answer of the model's first request."""
    options = RunOptions(files=(write(tmp_path, broken()),), since=SINCE, until=UNTIL, use_model=False, save=False)
    made = settings(tmp_path)

    def stop(event: object) -> None:
        if getattr(event, "name", "") == "hypotheses" and type(event).__name__ == "StepFinished":
            raise KeyboardInterrupt

    with open_session(made, options, stop) as session:
        assert session.partial() is None
        with pytest.raises(KeyboardInterrupt):
            session.run()
        session._listener = lambda _: None
        partial = session.partial()
        assert partial is not None
        assert [one.code for one in partial.data_quality.caveats].count("interrupted") == 1
        assert session.findings is not None
        check(Ran(partial, session.findings, session.ledger, session.store.usage, made, options, (), 0))


def test_a_compressed_file_says_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, broken())
    packed = tmp_path / "app.ndjson.gz"
    packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    one, other = (run(settings(tmp_path), files=(str(name),), since=SINCE, until=UNTIL) for name in (path, packed))
    assert head(one.diagnosis) == head(other.diagnosis)
    check(other)


def test_a_saved_diagnosis_is_read_back(tmp_path: Path) -> None:
    found = scenario(tmp_path, "injected")
    assert Diagnosis.model_validate_json(found.diagnosis.to_json()) == found.diagnosis


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_both_languages_have_the_same_facts(tmp_path: Path, language: str) -> None:
    found = ran(tmp_path, broken(), since=SINCE, until=UNTIL, language=language)
    plain = ran(tmp_path, broken(), since=SINCE, until=UNTIL)
    assert head(found.diagnosis) == head(plain.diagnosis)
    assert [row.id for row in found.diagnosis.evidence] == [row.id for row in plain.diagnosis.evidence]
    check(found)


def test_a_figure_asked_by_a_masked_value_is_unverified_in_a_report_and_not_contradicted(tmp_path: Path) -> None:
    """Inside the run it was verified; the report alone no longer has the value."""
    lines = [line(n, f"served page {n}", tenant=f"user{n % 7}@example.com") for n in range(0, 600, 2)]
    lines += [line(420 + n, f"no route to ledger {n}", "error", tenant="bob@example.com") for n in range(0, 180, 2)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    found = ran(tmp_path, lines, since=SINCE, until=UNTIL)
    rows = [row for row in found.diagnosis.evidence if "tenant" in row.query.text]
    assert rows
    assert {row.verification.state for row in rows} == {"verified"}
    assert "bob@" not in found.diagnosis.to_json()
    again = requery(Diagnosis.model_validate_json(found.diagnosis.to_json()), found.settings, found.options)
    states = {row.id: row.verification.state for row in again.evidence}
    assert {states.pop(row.id) for row in rows} == {"unverified"}
    assert set(states.values()) == {"verified"}
