"""The digest fits its budget, keeps what is new or strong, and shows nothing unmasked."""

import re
from pathlib import Path

import pytest

from logagent.triage import render_digest
from tests.acceptance.scene import Ran, check, line, run, scenario, settings, write

SINCE, UNTIL = "2026-11-30T12:05:00Z", "2026-11-30T12:10:00Z"
POOL = "HikariPool-1 - Connection is not available, request timed out after 30000ms"
WORDS = [first + last for first in ("ba", "ke", "mo", "ni", "pu", "ra", "so", "tu") for last in ("ler", "mit", "nox", "qua", "sten", "vig")]  # fmt: skip


def flood(kinds: int) -> list[dict[str, object]]:
    """Many steady kinds of long lines, a few new ones, one strong line, one service that stops a line."""
    lines = []
    for kind in range(kinds):
        text = f"{WORDS[kind % 48]} {WORDS[(kind * 7 + 3) % 48]} {WORDS[(kind * 11 + kind // 48) % 48]} step"
        lines += [
            line(second, f"{text} {'detail ' * 40}{second}", "warn", f"svc-{kind % 12}")
            for second in range(kind % 10, 600, 30)
        ]
    for kind in range(8):
        lines += [
            line(420 + n * 10 + kind, f"{WORDS[kind]} gave up on {WORDS[kind + 9]} {n}", "error", "svc-3")
            for n in range(12)
        ]
    lines += [line(420 + n * 5, POOL, "error", "svc-3") for n in range(30)]
    lines += [line(n, f"heartbeat {n} sent to peers", "info", "svc-5") for n in range(0, 300, 5)]
    return sorted(lines, key=lambda one: str(one["@timestamp"]))


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("digest")
    return run(settings(folder), files=(write(folder, flood(300)),), since=SINCE, until=UNTIL)


@pytest.mark.parametrize("budget", [1_500, 2_000, 6_000])
def test_the_digest_fits_and_keeps_the_telling_patterns(crowded: Ran, budget: int) -> None:
    text = render_digest(crowded.findings, budget)
    assert len(text) <= 4 * budget
    assert POOL in text
    new = [p for p in crowded.findings.patterns if p.change == "new"]
    kept = [p for p in new if re.search(rf"^{p.evidence}  new", text, re.MULTILINE)]
    assert len(new) >= 9
    assert kept == new
    assert re.search(r"^E\d+  vanished 0 \| 60 .*heartbeat", text, re.MULTILINE)
    for head in ("SCOPE", "DATA", "ONSET", "SUSPECTS", "PATTERNS", "ABSENT"):
        assert re.search(rf"^{head}\b", text, re.MULTILINE), head


def test_what_was_dropped_is_counted(crowded: Ran) -> None:
    text = render_digest(crowded.findings, 1_500)
    shown = re.search(r"(\d+) of (\d+) shown", text)
    assert shown
    assert int(shown[1]) < len(crowded.findings.patterns) <= int(shown[2])
    assert len(re.findall(r"^E\d+  (?:new|spiking|rising|steady|falling|vanished) ", text, re.MULTILINE)) == int(
        shown[1]
    )


def test_every_row_of_the_digest_is_evidence_of_the_run(crowded: Ran) -> None:
    text = render_digest(crowded.findings)
    ids = set(re.findall(r"\bE\d+\b", text))
    assert ids
    assert all(crowded.ledger.get(one) for one in ids)


def test_the_digest_does_not_grow_with_the_volume(tmp_path: Path) -> None:
    sizes = []
    for name, repeat in (("small", 1), ("large", 8)):
        lines = [line(s + r / 10, f"tick {s} {r}") for s in range(0, 600, 2) for r in range(repeat)]
        lines += [line(s + r / 10, f"no route to host {s}", "error") for s in range(400, 600, 4) for r in range(repeat)]
        lines.sort(key=lambda one: str(one["@timestamp"]))
        ran = run(settings(tmp_path), files=(write(tmp_path, lines, f"{name}.ndjson"),), since=SINCE, until=UNTIL)
        sizes.append(len(render_digest(ran.findings)))
    assert sizes[1] <= sizes[0] + 40


def test_secrets_are_masked_before_anything_is_cut(tmp_path: Path) -> None:
    padding = "x " * 112
    lines = [line(s, f"tick {s}") for s in range(0, 600, 2)]
    lines += [line(s, f"{padding}token=ghp_{'a1B2' * 9} ada@example.com {s}", "error") for s in range(400, 600, 4)]
    lines.sort(key=lambda one: str(one["@timestamp"]))
    ran = run(settings(tmp_path), files=(write(tmp_path, lines),), since=SINCE, until=UNTIL)
    from logagent.analysis.redact import Redactor  # noqa: PLC0415

    text = render_digest(ran.findings, 6_000, Redactor("k7q2"))
    assert "ghp_" not in text
    assert "ada@" not in text
    check(ran)


@pytest.mark.parametrize("name", ["order-outage", "injected", "vanished-heartbeat", "all-quiet"])
def test_a_scenario_fits_the_smallest_budget_without_losing_its_evidence(tmp_path: Path, name: str) -> None:
    ran = scenario(tmp_path, name)
    text = render_digest(ran.findings, 1_500)
    assert len(text) <= 6_000
    facts = [row for row in ran.findings.facts if row.evidence][:2]
    assert all(row.evidence in text for row in facts)


def test_the_services_asked_for_give_the_impact_and_causes_are_looked_for_everywhere(tmp_path: Path) -> None:
    everything, focused = (scenario(tmp_path, "order-outage", **more) for more in ({}, {"services": ("order-api",)}))
    assert focused.findings.focus == ("order-api",)
    assert 0 < focused.findings.volume.events < everything.findings.volume.events
    assert focused.findings.volume.services_failing == 1
    lead = [ran.diagnosis.hypotheses[0].entity["service.name"] for ran in (everything, focused)]
    assert lead == ["payment-api", "payment-api"]
    assert focused.diagnosis.outcome == everything.diagnosis.outcome
    assert focused.diagnosis.request.scope.fields == {"service.name": ["order-api"]}
    check(focused)


def test_a_healthy_service_asked_for_is_said_to_be_healthy(tmp_path: Path) -> None:
    ran = scenario(tmp_path, "order-outage", services=("order-worker",))
    assert ran.findings.volume.failing == 0
    check(ran)
