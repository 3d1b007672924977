"""What results show can be asked for: a duration by the name it is told under, the text of an error by its words."""

import pytest

from tests.loop.conftest import Run, line
from tests.loop.scene import call


@pytest.mark.parametrize(
    ("query", "matched"),
    [
        ("getaddrinfo", 4),
        ('"getaddrinfo EAI_AGAIN auth-service"', 4),
        ("EAI_*", 4),
        ("message:getaddrinfo", 4),
        ("fetch AND NOT getaddrinfo", 6),
        ('"failed getaddrinfo"', 0),
        ("NOT getaddrinfo", 16),
    ],
)
def test_words_are_looked_for_in_the_text_of_the_error_too(over: Run, query: str, matched: int) -> None:
    lines = [
        line("fetch failed", "error", err={"message": f"getaddrinfo EAI_AGAIN auth-service {at}"}) for at in range(4)
    ]
    lines += [line("fetch done") for _ in range(6)] + [line("quiet", err={}) for _ in range(10)]
    text = call(over(lines), "search_logs", query=query).text
    assert f"{matched} matched" in text


def test_a_line_with_an_error_text_and_no_message_is_found_by_its_words(over: Run) -> None:
    lines = [{"service": "seat", "error": {"message": f"socket hang up {at}"}} for at in range(4)]
    lines += [line(f"request {at}") for at in range(4)]
    assert "4 matched" in call(over(lines), "search_logs", query="hang").text


@pytest.mark.parametrize("field", ["took_ms", "elapsed", "duration_ms", "responseTime"])
def test_a_duration_can_be_filtered_by_the_name_it_is_told_under(over: Run, field: str) -> None:
    made = over([line(f"request {at} completed", **{field: at * 100}) for at in range(40)])
    if not made.fields.roles.get("duration"):
        pytest.skip(f"{field} plays no duration")
    found = call(made, "search_logs", query="duration_ms>=3000")
    assert "10 matched" in found.text


def test_without_durations_the_name_is_unknown(over: Run) -> None:
    assert call(over([line("tick")]), "search_logs", query="duration_ms>=3000").is_error
