"""The table of errors (ux.md 2.9): each code with its kind and exit status, which are API and never renumbered."""

import re

import pytest

from logagent.texts import LANGUAGES, Catalogue

GOES_ON = None
TABLE = (
    *((code, "error", 3) for code in ("LA101", "LA102", "LA103", "LA104", "LA105")),
    *((code, "error", 2) for code in ("LA106", "LA107")),
    *((code, "error", 4) for code in ("LA201", "LA202", "LA203")),
    ("LA204", "warning", GOES_ON),
    *((code, "error", 5) for code in ("LA301", "LA302", "LA303", "LA304")),
    *((code, "warning", GOES_ON) for code in ("LA305", "LA306")),
    ("LA307", "error", 3),
    ("LA308", "notice", GOES_ON),
    *((code, "warning", 7) for code in ("LA401", "LA402", "LA403")),
    ("LA404", "error", 3),
    ("LA501", "notice", GOES_ON),
    *((code, "warning", GOES_ON) for code in ("LA502", "LA503", "LA505", "LA506")),
    ("LA504", "notice", GOES_ON),
    ("LA601", "error", 8),
    *((f"LA70{number}", "error", 2) for number in range(1, 10)),
    ("LA801", "error", 1),
    ("LA901", "error", 9),
    ("LA902", "error", 2),
)
COMMAND = re.compile(r"`([^`]+)`")


def test_the_table_is_whole() -> None:
    assert sorted(code for code, _, _ in TABLE) == sorted(Catalogue().codes)


@pytest.mark.parametrize(("code", "kind", "status"), TABLE)
def test_kind_and_exit_status_are_those_of_the_table(code: str, kind: str, status: int | None) -> None:
    catalogue = Catalogue()
    assert catalogue.error(code).kind == kind
    assert catalogue.exit_status(code) == status


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", [code for code, _, _ in TABLE])
def test_each_has_a_remedy_that_can_be_run_and_names_no_class_of_python(code: str, language: str) -> None:
    text = Catalogue(language).error(code)
    commands = [one for line in text.remedies for one in COMMAND.findall(line)] or list(text.remedies)
    assert commands
    assert not re.search(r"\b[A-Z]\w+(?:Error|Exception)\b|Traceback", " ".join((text.title, *text.why)))
    assert len(text.title) <= 160


@pytest.mark.parametrize("code", [code for code, _, _ in TABLE])
def test_the_long_text_differs_from_the_short_one_and_is_in_the_language(code: str) -> None:
    english, chinese = Catalogue("en"), Catalogue("zh-CN")
    assert english.explain(code).strip() != english.error(code).title
    assert re.search("[\u4e00-\u9fff]", chinese.explain(code))
    assert re.search("[\u4e00-\u9fff]", chinese.error(code).title)
