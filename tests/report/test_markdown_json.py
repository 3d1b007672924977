"""Markdown pings nobody and closes nothing; JSON is one valid document."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from inline_snapshot import snapshot

from logagent.diagnosis import Diagnosis, EvidenceOut, QueryOut, VerificationOut
from logagent.report import render
from logagent.report._escape import code, fence, prose

SCHEMA = Path(__file__).parents[2] / "evals" / "diagnosis.schema.json"


def test_the_markdown_report_reads_as_plain_text(outage: Diagnosis) -> None:
    text = render(outage, "md")
    assert text.splitlines()[:6] == snapshot(
        [
            "## ONGOING: order-api: 1 in 6 requests fails, payment-api: connection pool exhausted (SEV2?)",
            "",
            "**WHAT** 160 of 932 requests failed (17.2 %, normally 0.2 %) [E1]. about 148 users; 3 of 8 services; version 3.4.1 only [E6].  ",
            "**SINCE** 2026-11-24 14:01 to 14:31 +08:00: 2026-11-24 14:05:20 +08:00 (06:05:20Z), within 10 s; still failing at 14:30:58 [E2]  ",
            "**CAUSE** Connection pool exhausted in payment-api 3.4.1. [E2 E4] (confirmed, high confidence: a line says how it broke (E2); nothing contradicts it)  ",
            "**NEXT** compare pool settings of the failing and the healthy version `kubectl -n shop get deploy payment-api -o yaml | grep -i pool`  ",
        ]
    )
    assert "```sh\n   kubectl -n shop get deploy" in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_every_format_says_the_same_sentences(outage: Diagnosis) -> None:
    for sentence in ("160 of 932 requests failed (17.2 %, normally 0.2 %)", "within 10 s", "3 masked"):
        assert sentence in render(outage)
        assert sentence in render(outage, "md")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mention @oncall and @org/team now", "mention `@oncall` and `@org/team` now"),
        ("see #123, owner/repo#7 and GH-9", "see `#123`, `owner/repo#7` and `GH-9`"),
        ("go to https://x.example/a?b=1 or www.x.example", "go to `https://x.example/a?b=1` or `www.x.example`"),
        ("<script>alert(1)</script> [a](b) ![c](d)", r"\<script\>alert(1)\</script\> \[a\](b) !\[c\](d)"),
        ("# heading", r"\# heading"),
        ("1. item", r"\1. item"),
        ("**bold** ~~gone~~ _it_ snake_case", r"\*\*bold\*\* \~\~gone\~\~ \_it\_ snake_case"),
        ("a | b", r"a \| b"),
    ],
)
def test_prose_formats_links_and_notifies_nobody(text: str, shown: str) -> None:
    assert prose(text) == shown


def test_code_holds_any_number_of_backticks() -> None:
    assert code("a `b` ``c``") == "``` a `b` ``c`` ```"
    assert fence(["x ```` y"])[0] == "`````"


def test_hostile_patterns_cannot_close_their_table_or_fence(outage: Diagnosis) -> None:
    outage.patterns[0].template = "| E98 | `` ``` ~~~ </details> \n## forged @channel"
    rows = [line for line in render(outage, "md").splitlines() if "E98" in line]
    assert len(rows) == 1
    inside = re.sub(r"\\\|", "", rows[0])
    assert inside.count("|") == 7, "six cells, no more"


def test_a_long_report_gives_up_samples_first_and_says_so(outage: Diagnosis) -> None:
    outage.evidence = [
        EvidenceOut(
            id=f"E{n}",
            kind="count",
            statement=f"row {n}",
            query=QueryOut(text="level:error"),
            samples=[{"message": "x" * 900}] * 5,
            verification=VerificationOut(state="verified"),
        )
        for n in range(1, 60)
    ]
    text = render(outage, "md")
    assert len(text) <= 60_000
    assert "all of it: --format json, or -vv" in text
    assert "**E59**" in text


def test_json_is_one_valid_document_in_a_fixed_order(
    outage: Diagnosis, quiet: Diagnosis, cannot_tell: Diagnosis
) -> None:
    for diagnosis in (outage, quiet, cannot_tell):
        document = json.loads(render(diagnosis, "json"))
        jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
        assert list(document)[:4] == ["schema_version", "kind", "id", "created_at"]
        assert Diagnosis.model_validate(document) == diagnosis
    assert "\n" not in render(outage, "json")
    assert render(outage, "json", verbose=1).startswith('{\n  "schema_version"')
