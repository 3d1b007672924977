import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logagent.settings import assign, written
from logagent.settings._edit import line_of

FILE = """\
# of the on-call team
default_profile = "prod"

[ui]
lang = "en"  # not zh-CN

[profiles.prod.es]
url = "https://es1.prod:9200"   # the old one
index = [
  "logs-*",  # ours
  "filebeat-*",
]

[profiles.test.es]
url = "https://es.test:9200"
"""
SCALARS = st.one_of(st.text(), st.booleans(), st.integers(-(2**62), 2**62))
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3))
NAMES = st.lists(
    st.one_of(st.sampled_from(["es", "profiles", "a b", "ui"]), st.text(max_size=4)), min_size=1, max_size=3
)


@pytest.mark.parametrize(
    ("name", "value", "old", "new"),
    [
        (["ui", "lang"], "zh-CN", 'lang = "en"  # not zh-CN', 'lang = "zh-CN"  # not zh-CN'),
        (["profiles", "prod", "es", "url"], "https://b", '"https://es1.prod:9200"   # the', '"https://b"  # the'),
        (["profiles", "test", "es", "url"], "https://b", '"https://es.test:9200"', '"https://b"'),
        (["profiles", "prod", "es", "index"], ["a"], '[\n  "logs-*",  # ours\n  "filebeat-*",\n]', '["a"]'),
        (["ui", "tz"], "utc", "# not zh-CN\n", '# not zh-CN\ntz = "utc"\n'),
        (["default_profile"], "test", '"prod"', '"test"'),
        (["llm", "model"], "m", '9200"\n', '9200"\n\n[llm]\nmodel = "m"\n'),
    ],
)
def test_one_setting_changes_and_every_other_line_stays(name: list[str], value: object, old: str, new: str) -> None:
    before, after = FILE.rpartition(old)[::2]
    assert assign(FILE, name, value) == before + new + after


@pytest.mark.parametrize(
    "text",
    [
        'es.url = "a"\n',
        '[es]\n"url" = "a"\n',
        "[es]\nurl = '''\na\n'''\n",
        '["es"]\nurl = "a"\n',
        '[ es ] # x\nurl="a"\n[[other]]\nurl = 1\n',
    ],
)
def test_every_way_to_write_a_setting_is_changed(text: str) -> None:
    before = tomllib.loads(text)
    assert tomllib.loads(assign(text, ["es", "url"], "b")) == {**before, "es": {"url": "b"}}


def test_what_only_a_person_can_change_is_refused() -> None:
    with pytest.raises(ValueError, match="only you can change"):
        assign('es = { url = "a" }\n', ["es", "url"], "b")


@settings(max_examples=50)
@given(name=NAMES, value=VALUES)
def test_what_was_set_is_what_is_read(name: list[str], value: object) -> None:
    found = tomllib.loads(assign("# nothing\n[other]\nkey = 1\n", ["top", *name], value))
    for part in ("top", *name):
        found = found[part]
    assert found == value


@given(value=VALUES)
def test_a_value_is_written_as_toml(value: object) -> None:
    assert tomllib.loads(f"v = {written(value)}")["v"] == value


def test_the_line_of_a_setting_is_that_of_its_own_section() -> None:
    assert line_of(FILE, ["profiles", "test", "es", "url"]) == 15
    assert line_of(FILE, ["profiles", "prod", "es", "url"]) == 8
    assert line_of(FILE, ["default_profile"]) == 2
    assert line_of(FILE, ["kibana", "url"]) == 0
