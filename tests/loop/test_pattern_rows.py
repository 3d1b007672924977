"""Pattern rows over the embedded store: no secret in any of them, and no line counted for two."""

import itertools

import pytest

from logagent.query import LogQuery, parse
from logagent.stores._base import Measure
from logagent.tools import ToolContext
from tests.loop.conftest import WINDOW, Run, line
from tests.loop.scene import call

JWT = (
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmZHNlX21pY3Jvc2VydmljZSIsInJvbGVzIjpbIlJPTEVfVVNFUiJdLCJpZCI6IjRkMmE0NmM3In0"
    ".DBYyLmQ9qzZ0Y5nVwAbCdEf"
)
SECRETS = {
    "jwt": (f"[getToken][USER TOKEN: {JWT} USER ID: {{n}}]", "DBYyLmQ", "eyJhbGci", "eyJzdWIi"),
    "jwt that differs": (f"issued token {JWT}{{letters}} to caller", "DBYyLmQ", "eyJhbGci"),
    "api key": ("calling out with sk_live_4eC39HqLyjWDarjtT1zdp7dc for order {n}", "4eC39Hq", "zdp", "HqLyj"),
    "named key": ("connecting with api_key=Zk9fQ2xTrWmN8vB4 try {n}", "Zk9", "fQ", "xTrWmN"),
    "bearer": ("GET upstream Authorization: Bearer mF9B5f41JqMrTtVx.k try {n}", "mF9", "JqMr"),
    "password": ("login of amy with password=correct(Horse)Battery7 try {n} failed", "orrect", "Horse", "Battery"),
    "password that differs": ("login of amy with password={letters}Xhunter then {n}", "Xhunter"),
    "email": ("mail to jane.doe1984x@example7corp.com bounced {n} times", "jane", "doe", "corp"),
    "card": ("charged card 4111 1111 1111 1111 for order {n}", "4111", "1111"),
    "card without blanks": ("charged card 5500005555555559 for order {n}", "5500", "5559"),
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("level", ["info", "error"])
def test_no_pattern_shows_a_secret_that_its_lines_hold(over: Run, kind: str, level: str) -> None:
    text, *pieces = SECRETS[kind]
    lines = [line(text.format(n=at, letters="abcdefghij"[at % 10] * 4), level) for at in range(40)]
    made = over([*lines, *(line(f"request {at} served") for at in range(40))])
    answers = [
        call(made, "get_log_patterns").text,
        call(made, "get_error_stats", group_by="message").text,
        call(made, "compare_windows", query=f"level:{level}", base_query='"request"').text,
    ]
    held = [f"{row.statement} {row.query.text}" for row in made.ledger]
    for piece in pieces:
        assert not any(piece.lower() in said.lower() for said in [*answers, *held]), piece
    assert "<" in answers[0], "the pattern is still told, with a slot"


def test_a_merged_word_is_not_told_with_a_secret_it_stood_for(over: Run) -> None:
    names = [f"{JWT[:40]}{letter * 9}.{JWT[60:]}" for letter in "abcdefgh"]
    lines = [line(f"session {name} of the caller was refused by gate", "error") for name in names * 2]
    text = call(over(lines), "get_log_patterns").text
    assert "16 |" in text
    assert "eyJ" not in text


def counted(made: ToolContext, *, size: int = 25) -> dict[str, int]:
    """Text of each row with its figure; the text may stand once only."""
    call(made, "get_log_patterns", size=size)
    rows = [row for row in made.ledger if row.kind == "count"]
    texts = [row.statement for row in rows]
    assert len(texts) == len(set(texts)), texts
    return {row.statement: int(row.value or 0) for row in rows}


def assert_no_line_counts_twice(made: ToolContext) -> None:
    nodes = [parse(row.query.text, max_length=8_000) for row in made.ledger if row.kind == "count"]
    both = [LogQuery(WINDOW, parse(f"({a}) AND ({b})", max_length=20_000)) for a, b in itertools.combinations(
        [row.query.text for row in made.ledger if row.kind == "count"], 2
    )]  # fmt: skip
    assert nodes
    for start in range(0, len(both), 100):
        values = made.store.count([Measure(query) for query in both[start : start + 100]]).values
        assert [one.value for one in values] == [0] * len(values)


def test_a_row_counts_the_lines_of_its_own_text_and_no_variant(over: Run) -> None:
    lines = [line(f"[left][TrainNumber start with G|D][trainNumber:D{at}]") for at in range(13)]
    lines += [line(f"[left][TrainNumber start with other capital][trainNumber:Z{at}]") for at in range(10)]
    lines += [line("order placed"), line("order placed again")] * 6
    made = over(lines)
    rows = counted(made)
    assert {text.partition(": ")[2]: value for text, value in rows.items()} == {
        "[left][TrainNumber start with G|D][trainNumber:D<num>]": 13,
        "[left][TrainNumber start with other capital][trainNumber:Z<num>]": 10,
        "order placed": 6,
        "order placed again": 6,
    }
    assert sum(rows.values()) == len(lines)
    assert_no_line_counts_twice(made)


def test_what_no_word_tells_apart_is_one_row(over: Run) -> None:
    lines = [line("user login (ok) now", logger="a.B:1"), line("user login [ok] now", logger="a.B:2")] * 5
    assert list(counted(over(lines)).values()) == [10]


def test_lines_of_two_call_sites_with_one_text_are_one_row(over: Run) -> None:
    lines = [line(f"rows loaded: {at}", logger=f"Repo:{at % 2 + 10}") for at in range(20)]
    lines += [line(f"rows dropped at the end of shift: {at}", logger="Repo:10") for at in range(7)]
    assert sorted(counted(over(lines)).values()) == [7, 20]


def test_failed_and_served_requests_of_one_text_are_two_rows_that_add_up(over: Run) -> None:
    field = [line("request completed", status=503 if at % 4 == 0 else 200) for at in range(40)]
    made = over(field)
    call(made, "get_log_patterns")
    assert sorted(int(row.value or 0) for row in made.ledger) == [10, 30]
    assert len({row.statement for row in made.ledger}) == 2
    assert_no_line_counts_twice(made)
    text = [line(f"GET /cart/{at} HTTP/1.1 {503 if at % 4 == 0 else 200}", service="web") for at in range(40)]
    made = over(text)
    call(made, "get_log_patterns")
    assert sorted(int(row.value or 0) for row in made.ledger) == [10, 30]
    assert_no_line_counts_twice(made)


def test_all_rows_of_a_small_service_add_up_to_its_lines(over: Run) -> None:
    shapes = ["a <{n}> began", "a <{n}> began late", "b took {n}ms", "b took {n}ms of which c {n}", "b {n}", "{n} of b"]
    lines = [line(shape.format(n=at * 7)) for at in range(6) for shape in shapes]
    made = over(lines)
    assert sum(counted(made).values()) == len(lines)
    assert_no_line_counts_twice(made)
