"""Counts of pattern rows against an independent count: no overlap, no duplicate, none larger than the truth."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.scene import run, settings, write

TEXTS = (
    "payment {n} done",
    "payment {n} failed: timeout after {n} ms",
    "cache miss key=user:{n}",
    "retry {n} of {n}",
    "retry {n} of {n} given up",
    "请求 {n} 超时",
    "iban DE89370400440532013000 failed",
    "iban DE89 3704 0044 0532 0130 00 failed",
    "card 4111 1111 1111 1111",
    "card=4111111111111111",
    "GET /api/items/{n} 200 in {n}ms",
    "GET /api/items/{n} 503 in {n}ms",
    "",
)
SINCE, UNTIL = "2026-11-30T12:00:00Z", "2026-11-30T13:00:00Z"
_SLOT = re.compile(r"<[a-z*]+>")


def lines_of(total: int) -> list[dict[str, Any]]:
    return [
        {
            "@timestamp": f"2026-11-30T12:{at * 55 // total:02d}:{at * 3300 // total % 60:02d}Z",
            "log.level": "ERROR" if at % 5 == 0 else "INFO",
            "service.name": "pay",
            "message": TEXTS[at % len(TEXTS)].format(n=at),
            "http.response.status_code": 500 if at % 5 == 0 else 200,
        }
        for at in range(total)
    ]


def told(line: dict[str, Any]) -> tuple[str, bool]:
    """The text of a line without what varies, and whether it failed."""
    message = str(line["message"])
    failed = line["http.response.status_code"] == 500 or " 503 in" in message
    return plain(message if failed else message.replace(" 200 in", " 2xx in")), failed


def plain(text: str) -> str:
    text = re.sub(r"DE89[\d ]*\d", "<iban>", _SLOT.sub("0", text) if "<" in text else text)
    text = text.replace("<iban>", "0").replace("/api/items/", "/")
    return re.sub(r"/?\d+(?:ms| ms)?(?!xx)", "#", text)


@pytest.mark.parametrize("total", [3_000, 30_000, 60_000])
def test_each_row_counts_the_lines_of_its_own_text(tmp_path: Path, total: int) -> None:
    lines = lines_of(total)
    truth = Counter(map(told, lines))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    rows = ran.findings.patterns
    assert sum(row.count + row.baseline_count for row in rows) == total, [(r.template, r.count) for r in rows]
    found: Counter[tuple[str, int]] = Counter()
    for row in rows:
        found[plain(row.template), row.count + row.baseline_count] += 1
    assert found == Counter((text, count) for (text, _), count in truth.items())
    assert json.loads(ran.diagnosis.to_json())["patterns"]
