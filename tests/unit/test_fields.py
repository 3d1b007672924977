"""Fields: which name plays which role, and what a level means."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.errors import UsageError
from logagent.fields import (
    FieldInfo,
    classify_levels,
    error_class_in,
    instant_of,
    milliseconds,
    resolve,
    severity_of_word,
    severity_table,
)
from logagent.logs import Severity
from logagent.schemas import schemas


def chosen(role: str, *infos: FieldInfo) -> list[str]:
    return [choice.name for choice in resolve(infos).roles.get(role, ())]


def info(name: str, sample: str = "", kind: str = "keyword", coverage: float = 1.0) -> FieldInfo:
    return FieldInfo(name, kind, coverage, (sample,) if sample else ())


def test_the_first_candidate_that_exists_plays_the_role() -> None:
    assert chosen("service", info("app", "shop"), info("service.name", "cart")) == ["service.name"]


def test_spelling_does_not_matter() -> None:
    assert chosen("trace_id", info("TraceID", "5b8aa5a2d2c872e8")) == ["TraceID"]


def test_a_candidate_below_a_known_container_counts() -> None:
    assert chosen("message", info("fields.message", "hello there", "text")) == ["fields.message"]


def test_several_schemas_give_several_fields_best_coverage_first() -> None:
    found = chosen("service", info("service.name", "a", coverage=0.2), info("app", "b", coverage=0.7))
    assert found == ["app", "service.name"]


def test_a_field_that_adds_nothing_is_left_out() -> None:
    assert chosen("message", info("message", "hi you", "text"), info("event.original", "raw hi", "text")) == ["message"]


def test_a_weak_candidate_counts_only_alone() -> None:
    assert chosen("service", info("logger_name", "a.B")) == ["logger_name"]
    assert chosen("service", info("logger_name", "a.B"), info("app", "x", coverage=0.5)) == ["app"]


def test_a_field_whose_values_do_not_look_like_the_role_is_left_out() -> None:
    assert chosen("severity", info("level", "Request")) == []
    assert chosen("status", info("status", "ok")) == []
    assert chosen("timestamp", info("time", "soon")) == []


def test_a_date_beats_a_text_that_looks_like_one() -> None:
    infos = [info("@timestamp", "2026-11-30T06:00:00Z", "keyword"), info("ts", "2026-11-30T06:00:00Z", "date")]
    assert chosen("timestamp", *infos) == ["ts"]


def test_words_of_levels_beat_numbers() -> None:
    assert chosen("severity", info("level", "4", "long"), info("levelName", "ERROR")) == ["levelName"]


def test_an_override_wins_and_a_wrong_one_names_the_closest() -> None:
    infos = [info("service.name", "a"), info("team", "blue")]
    assert resolve(infos, {"service": "team"}).roles["service"][0].name == "team"
    with pytest.raises(UsageError) as raised:
        resolve(infos, {"service": "teem"})
    assert "team" in raised.value.hint
    with pytest.raises(UsageError):
        resolve(infos, {"colour": "team"})


def test_text_is_grouped_by_its_keyword_or_not_at_all() -> None:
    infos = [FieldInfo("message", "text", 1.0, ("hi you",), "message.keyword"), FieldInfo("body.text", "text")]
    roles = resolve(infos).roles
    assert roles["message"][0].exact == "message.keyword"
    assert resolve([FieldInfo("message", "text")]).roles["message"][0].exact == ""


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("ERROR", Severity.ERROR),
        ("Information", Severity.INFO),
        ("notice", Severity.INFO),
        ("WRN", Severity.WARN),
        ("[warn]", Severity.WARN),
        ("SEVERE", Severity.ERROR),
        ("Critical", Severity.FATAL),
        ("DEBUG5", Severity.DEBUG),
        ("silly", Severity.TRACE),
        ("错误", Severity.ERROR),
        ("not found", None),
        ("request", None),
        ("", None),
        ("E", None),
        ("3", None),
    ],
)
def test_words_are_read_in_any_case(word: str, severity: Severity | None) -> None:
    assert severity_of_word(word) is severity


def level(name: str, values: str, companions: str = "") -> dict[str, Severity]:
    counts = dict.fromkeys(values.split(), 1)
    return severity_table(classify_levels(name, counts, companions.split()))


@pytest.mark.parametrize(
    ("name", "values", "companions", "value", "severity"),
    [
        ("severity_number", "9 13 17", "", "17", Severity.ERROR),
        ("PRIORITY", "3 4 6", "MESSAGE", "3", Severity.ERROR),
        ("level", "30 40 50", "pid hostname v", "40", Severity.WARN),
        ("level", "20 30 40", "levelname lineno", "40", Severity.ERROR),
        ("level_value", "20000 40000", "level", "40000", Severity.ERROR),
        ("severity", "200 400 500", "logName", "500", Severity.ERROR),
        ("intLevel", "200 400", "", "200", Severity.ERROR),
        ("level", "-4 0 4 8", "", "8", Severity.ERROR),
        ("level", "-1 0 2", "", "2", Severity.ERROR),
        ("LogLevel", "2 3 4", "", "4", Severity.ERROR),
        ("level", "3 6", "short_message", "3", Severity.ERROR),
        ("s", "I W E", "", "E", Severity.ERROR),
        ("s", "I D1 F", "", "D1", Severity.DEBUG),
    ],
)  # fmt: skip
def test_numbers_and_letters_are_read_by_their_scale(
    name: str, values: str, companions: str, value: str, severity: Severity
) -> None:
    assert level(name, values, companions)[value] is severity


@given(st.dictionaries(st.text(max_size=12), st.integers(1, 9), max_size=6), st.text(max_size=12))
def test_any_values_are_sorted_into_at_most_one_class_each(values: dict[str, int], name: str) -> None:
    known = classify_levels(name, values, [])
    listed = [value for found in known.values() for value in found]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(values)


@pytest.mark.parametrize(
    "value",
    ["2023-11-14T22:13:20Z", "2023-11-14 22:13:20", "2023-11-14T23:13:20,000+0100", 1700000000, 1700000000000, "1700000000000000", 1700000000000000000, "14/Nov/2023:22:13:20 +0000"],
)  # fmt: skip
def test_one_instant_in_many_forms(value: object) -> None:
    assert instant_of(value) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@given(st.one_of(st.text(), st.floats(), st.integers(), st.booleans(), st.none()))
def test_no_value_breaks_the_reading_of_times_and_durations(value: object) -> None:
    instant_of(value)
    milliseconds("duration", value)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [("event.duration", 2_000_000, 2.0), ("took", "1.5s", 1500.0), ("duration_ms", "7", 7.0), ("request_time", 0.25, 250.0), ("took", "long", None)],
)  # fmt: skip
def test_durations_have_a_unit(name: str, value: object, found: float | None) -> None:
    assert milliseconds(name, value) == found


def test_an_error_class_is_found_in_text() -> None:
    assert error_class_in("caused by: java.io.IOException: Disk full") == "java.io.IOException"
    assert error_class_in("GET /ErrorPage 200, no errors at all") == ""


def test_every_schema_file_names_fields_for_known_roles_only() -> None:
    from logagent.fields import ECS  # noqa: PLC0415

    assert {"ecs", "otel", "logstash", "plain"} <= {schema.name for schema in schemas()}
    for schema in schemas():
        assert set(schema.roles) | set(schema.weak) <= set(ECS)
        assert schema.roles["timestamp"]
        assert schema.roles["message"]
