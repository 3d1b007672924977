"""The query of a pattern counts the lines of that pattern: all of them and no others, whatever stands in them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from logagent.query import parse, to_text
from tests.acceptance.scene import Ran, check, impact, line, run, settings, write

SINCE, UNTIL = "2026-11-30T12:05:00Z", "2026-11-30T12:10:00Z"
KINDS: dict[str, Callable[[int], str]] = {
    "plain": lambda n: f"order {n} placed for customer {n * 7}",
    "quotes": lambda n: f'cannot parse "amount" near "{n}": unexpected "}}"',
    "single quotes": lambda n: f"it's not a 'valid' coupon, can't apply {n}",
    "backslashes": lambda n: rf"C:\data\spool\job-{n}.tmp: access denied by \\fileserver\share",
    "control": lambda n: f"\x1b[31mFATAL\x1b[0m terminal\x07 bell {n}\x00 end of\ttape",
    "newlines": lambda n: f"rollback of saga {n}\nreason: compensation missing\n\tat saga.Step.undo(Step.java:{n})",
    "chinese": lambda n: f"订单 {n} 支付失败：余额不足，请稍后重试",
    "chinese joined": lambda n: f"库存服务连接超时（第{n}次）",
    "colons": lambda n: f"redis:6379:GET:session:{n} replica:lagging:behind master",
    "operators": lambda n: f"rule (a AND b) OR NOT c matched {n} times: x >= 5 && y <= 3 || !z",
    "brackets": lambda n: f"slice [1 TO {n}] {{left}} (right) ~fuzzy^2 tail*glob? done",
    "json": lambda n: json.dumps({"event": "webhook.delivery", "attempt": n, "ok": False}),
    "logfmt": lambda n: f'msg="cache miss storm" key=user:{n} ttl=30s shard=7',
    "url": lambda n: f"GET https://shop.example/api/v1/items/{n}?page=2&sort=-price returned nothing",
    "emoji": lambda n: f"🔥 thermal limit 🔥 on rack {n} ✅",
    "combining": lambda n: f"Zu\u0308rich u\u0308bertragung fehlgeschlagen für Auftrag {n}",
    "dotted": lambda n: f"c.e.shop.PriceService - price.lookup.failed for sku-{n}.eu-west",
    "percent": lambda n: f"disk /var is {n % 100}% full, 100% of inodes free",
    "prefix": lambda n: f"orders {n} archived",
    "prefix longer": lambda n: f"orders {n} archived twice by the nightly job",
    "underscores": lambda n: f"worker_pool_{n} state=DRAINING_NOW queue_depth={n}",
    "dashes": lambda n: f"--- begin of dump {n} ---",
    "bidi": lambda n: f"user \u202egnp.exe\u202c uploaded zero\u200bwidth {n}",
    "long": lambda n: f"payload {n} " + "lorem ipsum dolor sit amet " * 200,
}  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Kind k has 7 + k lines before the fifth minute and 2 * (7 + k) after it."""
    lines = []
    for place, make in enumerate(KINDS.values()):
        half = 7 + place
        for number in range(3 * half):
            second = number * 300 / half + place / 100
            second = second if number < half else 300 + (number - half) * 150 / half + place / 100
            lines.append(line(second, make(1000 + number * 13), "warn", ("cart", "mail")[place % 2]))
    lines.sort(key=lambda one: str(one["@timestamp"]))
    folder = tmp_path_factory.mktemp("patterns")
    return run(settings(folder), files=(write(folder, lines),), since=SINCE, until=UNTIL)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_counts_its_lines_in_both_stretches(ran: Ran, kind: str) -> None:
    place = list(KINDS).index(kind)
    make = KINDS[kind]
    own = {make(1000 + number * 13) for number in range(200)}
    found = [p for p in ran.findings.patterns if p.sample is not None and p.sample.message in own]
    assert len(found) == 1, [(p.template, p.count) for p in found]
    assert (found[0].count, found[0].baseline_count) == (2 * (7 + place), 7 + place), to_text(found[0].node)


def test_queries_of_patterns_are_written_so_that_they_are_read_back(ran: Ran) -> None:
    for pattern in ran.findings.patterns:
        assert parse(to_text(pattern.node), max_length=8_000) == pattern.node


def test_the_diagnosis_is_in_order(ran: Ran) -> None:
    check(ran)
    shown = ran.diagnosis.to_json()
    assert not {"\u202e", "\u200b", "\\u001b", "\x1b"} & {
        c for c in ("\u202e", "\u200b", "\\u001b", "\x1b") if c in shown
    }


def test_lines_that_differ_by_status_class_only_are_counted_apart(tmp_path: Path) -> None:
    lines = []
    for second in range(0, 600, 2):
        bad = second >= 300 and second % 4 == 0
        answer: dict[str, Any] = {"http.response.status_code": 503 if bad else 200}
        lines.append(line(second, f"POST /orders {answer['http.response.status_code']} in {second} ms", **answer))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    by_change = {p.change: p for p in ran.findings.patterns}
    assert by_change["new"].count == 75
    assert sum(p.count for p in ran.findings.patterns) == 150
    check(ran)


def test_lines_that_differ_by_error_class_only_are_counted_apart(tmp_path: Path) -> None:
    lines = [line(second, f"tick {second}") for second in range(600)]
    for number in range(20):
        lines.append(line(300 + number, "failed", "error", **{"error.type": "java.io.IOException"}))
        if number < 5:
            lines.append(line(300 + number, "failed", "error", **{"error.type": "java.lang.OutOfMemoryError"}))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    errors = sorted(p.count for p in ran.findings.patterns if "failed" in p.template)
    assert errors in ([5, 20], [25])
    assert impact(ran, "events").value == 25
    check(ran)


def test_patterns_are_new_spiking_vanished_or_steady_against_the_baseline(tmp_path: Path) -> None:
    lines = [line(second, f"heartbeat {second} ok") for second in range(600)]
    lines += [line(second, f"cache warmed in {second} ms", service="mail") for second in range(0, 300, 10)]
    lines += [line(second, f"lock of {second} is stale", "warn") for second in range(0, 300, 50)]
    lines += [line(300 + second, f"lock of {second} is stale", "warn") for second in range(0, 300, 5)]
    lines += [line(300 + second, f"no route to host {second}", "error") for second in range(0, 300, 30)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    changes = {p.template.split()[0]: (p.change, p.count, p.baseline_count) for p in ran.findings.patterns}
    assert changes == {
        "heartbeat": ("steady", 300, 300),
        "cache": ("vanished", 0, 30),
        "lock": ("spiking", 60, 6),
        "no": ("new", 10, 0),
    }
    check(ran)


def test_a_pattern_without_a_word_of_its_own_is_asked_for_by_what_the_others_say(tmp_path: Path) -> None:
    lines = [line(second, f"tick {second}") for second in range(0, 600, 2)]
    lines += [line(second, str(second * 1000), "error") for second in range(301, 600, 3)]
    lines += [line(second, f"job {second} aborted", "error") for second in range(1, 600, 3)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    found = next(p for p in ran.findings.patterns if p.template == "<num>")
    assert (found.count, found.baseline_count, found.change, found.exact) == (100, 0, "new", True)
    row = ran.ledger.get(found.evidence)
    assert row is not None
    assert row.query.figure.op == "count"
    assert ran.findings.volume.failing >= 100
    check(ran)


@pytest.mark.parametrize("secret", ["hunter2-prod", "abc123def456", "correct-horse"])
def test_a_secret_in_a_pattern_is_in_no_query_and_no_template(tmp_path: Path, secret: str) -> None:
    lines = [line(second, f"tick {second}") for second in range(0, 600, 2)]
    lines += [
        line(second, f"login of ada@example.com with password={secret} failed on attempt {second}", "error")
        for second in range(301, 600, 3)
    ]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    check(ran)
    document = ran.diagnosis.to_json()
    for part in (secret, *secret.split("-"), "ada@example", "def"):
        assert part not in document
    assert ran.findings.patterns[0].count == 100
