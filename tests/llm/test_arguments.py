"""Arguments of calls: repaired where that is certain, never completed."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.llm import ArgumentsError, parse_arguments
from logagent.llm._arguments import is_cut, read_objects
from logagent.llm._coerce import coerce, misfits

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@given(OBJECTS)
def test_valid_json_means_itself(value: dict[str, object]) -> None:
    assert parse_arguments(json.dumps(value)) == value
    assert parse_arguments(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(OBJECTS)
def test_json_in_json_means_the_inner_one(value: dict[str, object]) -> None:
    assert parse_arguments(json.dumps(json.dumps(value))) == value


@given(OBJECTS, st.data())
def test_a_text_that_is_cut_off_is_never_completed(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(ArgumentsError):
        read_objects(text[:at])
    assert is_cut(text[:at])
    assert not is_cut(text)


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(ArgumentsError):
        assert all(isinstance(each, dict) for each in read_objects(text))


@pytest.mark.parametrize("unit", ['{"a":', "{", '"', '\\"', '{"a":1},', ",]", "```json\n"])
def test_reading_is_linear_in_the_length(unit: str) -> None:
    def seconds(count: int) -> float:
        began = time.perf_counter()
        with contextlib.suppress(ArgumentsError):
            read_objects("{" + unit * count)
        return time.perf_counter() - began

    seconds(100)
    assert seconds(20_000) < 2.0


def test_a_bad_text_says_where_and_shows_what_stands_there() -> None:
    with pytest.raises(ArgumentsError, match="character 6") as caught:
        parse_arguments('{"q": bad}')
    assert caught.value.position == 6
    assert "bad}" in caught.value.excerpt


def test_python_code_in_arguments_is_not_run() -> None:
    with pytest.raises(ArgumentsError):
        parse_arguments("{'a': __import__('os').getcwd()}")


SCHEMA = {
    "properties": {
        "n": {"type": "integer"},
        "on": {"type": "boolean"},
        "words": {"type": "array", "items": {"type": "string"}},
        "entity": {"type": "object", "properties": {"size": {"type": "integer"}}},
    },
    "required": ["n"],
}


def test_values_take_the_type_of_the_schema_where_nothing_is_lost() -> None:
    given_values = {"n": "5", "on": "TRUE", "words": "one", "entity": {"size": "7", "gone": None}}
    assert coerce(given_values, SCHEMA) == {"n": 5, "on": True, "words": ["one"], "entity": {"size": 7}}


def test_values_that_would_lose_something_stay_and_are_named() -> None:
    kept = coerce({"n": "5.5", "on": "perhaps", "extra": 1}, SCHEMA)
    assert kept == {"n": 5.5, "on": "perhaps", "extra": 1}
    assert list(misfits(kept, SCHEMA)) == ["n: not of type integer", "on: not of type boolean", "extra: unknown"]


def test_a_missing_required_argument_is_named() -> None:
    assert list(misfits({}, SCHEMA)) == ["n: missing"]
