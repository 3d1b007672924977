"""The table of patterns: rows and the others add up to all lines, with every level and the true first line."""

from pathlib import Path

from logagent.triage._table import pattern_table
from tests.acceptance.scene import line, run, settings, write

SINCE, UNTIL = "2026-11-30T12:05:00Z", "2026-11-30T12:10:00Z"
WORDS = [first + last for first in ("ka", "lo", "mi", "nu", "pe", "ra", "si", "to") for last in ("bel", "dor", "fen")]


def test_rows_and_the_others_add_up_and_the_most_frequent_text_is_among_them(tmp_path: Path) -> None:
    lines = [line(second, "heartbeat") for second in range(600) for _ in range(3)]
    for place, one in enumerate(one + two for one in WORDS for two in WORDS[:3]):
        lines += [line(300 + place, f"{one} failed after {place} ms", "error")]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    total = sum(1 for one in lines if "12:05" <= str(one["@timestamp"])[11:16] < "12:10")
    table = pattern_table(ran.findings, total, str)
    assert sum(row.count for row in table.rows) + table.lines == total
    assert table.others
    assert next(row for row in table.rows if row.template == "heartbeat").count == 900


def test_a_row_states_all_levels_and_the_first_line_of_all(tmp_path: Path) -> None:
    lines = [line(second, f"hello {second}", "error" if second % 5 == 0 else "info") for second in range(600)]
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    table = pattern_table(ran.findings, 300, str)
    assert [row.count for row in table.rows] == [300]
    assert table.rows[0].fields["log.level"] == ["INFO", "ERROR"]
    assert table.rows[0].first_seen == "2026-11-30T12:00:00Z"
    assert (table.others, table.lines) == (0, 0)
