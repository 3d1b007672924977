import re
import tomllib
from pathlib import Path

import pytest

import logagent.texts
from logagent.errors import NoData, UsageError
from logagent.texts import LANGUAGES, Catalogue

FOLDER = Path(logagent.texts.__file__).parent
ENGLISH, CHINESE = FOLDER / "en", FOLDER / "zh_CN"
CODES = Catalogue().codes
AREAS = sorted(path.name for path in ENGLISH.glob("*.toml") if path.name != "model.toml")  # the model reads English


def load(folder: Path, name: str) -> dict[str, object]:
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


def leaves(table: object, prefix: str = "") -> dict[str, str]:
    if isinstance(table, dict):
        return {key: text for name, value in table.items() for key, text in leaves(value, f"{prefix}.{name}").items()}
    if isinstance(table, list):
        return {
            key: text for number, value in enumerate(table) for key, text in leaves(value, f"{prefix}.{number}").items()
        }
    return {prefix: str(table)}


def test_there_are_42_codes() -> None:
    assert len(CODES) == 42
    assert tuple(sorted(CODES)) == CODES
    assert tuple(load(CHINESE, "errors.toml")) == CODES


@pytest.mark.parametrize("name", AREAS)
def test_no_key_and_no_value_is_missing_in_either_language(name: str) -> None:
    english, chinese = leaves(load(ENGLISH, name)), leaves(load(CHINESE, name))
    english = {key: text for key, text in english.items() if not key.endswith((".kind", ".exit"))}
    assert set(english) == set(chinese)
    for key, text in english.items():
        assert set(re.findall(r"\{(\w+)\}", text)) == set(re.findall(r"\{(\w+)\}", chinese[key])), key


def test_commands_are_never_translated() -> None:
    english, chinese = load(ENGLISH, "errors.toml"), load(CHINESE, "errors.toml")
    for code in CODES:
        ours, theirs = leaves(english[code]["try"]), leaves(chinese[code]["try"])  # type: ignore[index]
        assert [re.findall("`[^`]+`", text) for text in ours.values()] == [
            re.findall("`[^`]+`", text) for text in theirs.values()
        ], code
        assert all("`" in text for text in ours.values()), code


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_can_be_printed_without_any_value(code: str, language: str) -> None:
    text = Catalogue(language).error(code)
    assert text.title
    assert "{" not in text.title + "".join(text.why) + "".join(text.remedies)
    assert 1 <= len(text.remedies) <= 3
    assert len(text.why) <= 2
    assert Catalogue(language).explain(code).strip()


def test_the_richest_title_whose_values_are_known_is_taken() -> None:
    catalogue = Catalogue()
    assert (
        catalogue.error("LA101", {"url": "https://es1:9200"}).title
        == "Elasticsearch at https://es1:9200 refused the connection"
    )
    full = catalogue.error("LA101", {"url": "https://es1:9200", "tries": 2, "seconds": 1.2, "profile": "prod"})
    assert full.title.endswith("(2 tries, 1.2 s)")
    assert full.remedies[-1] == "logagent doctor --profile prod"


def test_a_raised_error_keeps_its_own_message_where_the_values_are_missing() -> None:
    error = NoData("nothing in x.log after 14:05", code="LA303", hint="the file ends at 13:00")
    english, chinese = Catalogue("en").describe(error), Catalogue("zh-CN").describe(error)
    assert english.title == "nothing in x.log after 14:05"
    assert english.why == ("the file ends at 13:00",)
    assert chinese.title == "没有匹配的日志"
    assert chinese.why == ("nothing in x.log after 14:05", "the file ends at 13:00")
    assert english.remedies == chinese.remedies


def test_an_error_without_a_code_is_its_message_and_hint() -> None:
    text = Catalogue("zh-CN").describe(UsageError("Two sources.", hint="Name one."))
    assert (text.code, text.title, text.why) == ("", "Two sources.", ("Name one.",))


def test_an_unknown_language_reads_english() -> None:
    assert Catalogue("xx").language == "en"


def test_exit_statuses_follow_the_table() -> None:
    catalogue = Catalogue()
    assert catalogue.exit_status("LA303") == 5
    assert catalogue.exit_status("LA501") is None
    assert catalogue.exit_status("LA401") == 7


def test_a_missing_key_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Catalogue().say("cli.no_such_text")
    with pytest.raises(KeyError):
        Catalogue().error("LA999")


def test_a_name_from_a_log_cannot_smuggle_a_command_into_a_remedy() -> None:
    text = Catalogue().error("LA304", {"service": "oder", "near": "a; rm -rf ~", "best": "a; rm -rf ~"})
    assert text.remedies == ("logagent diagnose 'a; rm -rf ~'",)
    assert Catalogue().error("LA301", {"pattern": "logz-*", "suggestion": "logs-*"}).remedies == (
        "logagent diagnose --index 'logs-*'",
    )
    assert Catalogue().error("LA304", {"best": "{service}`x`", "service": "y"}).remedies == (
        "logagent diagnose '{service}`x`'",
    )


@pytest.mark.parametrize(
    ("count", "said"), [(1, "+1 more hypothesis"), (0, "+0 more hypotheses"), (3, "+3 more hypotheses")]
)
def test_one_is_singular_and_many_are_plural(count: object, said: str) -> None:
    assert Catalogue().say("report.more.hypotheses", n=count) == said


def test_families_of_checks_have_a_name_in_both_languages() -> None:
    entries = Path(logagent.texts.__file__).parents[1] / "analysis" / "mechanisms.toml"
    mechanisms = tomllib.loads(entries.read_text(encoding="utf-8"))["mechanism"]
    for family in {one["family"] for one in mechanisms}:
        assert Catalogue().say(f"diagnosis.family.{family}") == family
        assert Catalogue("zh-CN").say(f"diagnosis.family.{family}")
