"""Grouped samples of the embedded store: what stands for all matches."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from logagent.logs import TimeWindow
from logagent.query import LogQuery
from logagent.stores.local import LocalOptions, open_local

START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ("apple", "birch", "cedar", "daisy", "elder", "fern", "grape", "hazel", "iris", "juniper")


def test_groups_that_are_equally_frequent_are_all_kept_where_they_fit(tmp_path: Path) -> None:
    path = tmp_path / "ties.ndjson"
    records = [
        {"@timestamp": (START + timedelta(seconds=at)).isoformat(), "level": level, "message": f"{word} {other}"}
        for at, (word, other, level) in enumerate(
            (word, other, ("info", "error")[place % 2]) for word in WORDS for place, other in enumerate(WORDS)
        )
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    store = open_local(LocalOptions(paths=(str(path),)))
    try:
        window = TimeWindow(START, START + timedelta(hours=1))
        sample = store.sample(LogQuery(window), limit=len(records) + 20)
    finally:
        store.close()
    assert sample.exact
    assert sorted(row.record.message for row in sample.rows) == sorted(str(record["message"]) for record in records)
