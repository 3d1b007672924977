"""Every known quirk of an endpoint, played to the real client; streams also cut at every byte."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.quirks import chunkings, find_problems

DOCUMENT = json.loads((Path(__file__).parent / "quirks.json").read_text(encoding="utf-8"))
CASES = [{**case, **variant} for case in DOCUMENT["cases"] for variant in (case, *case.get("variants", []))]
NAMES = [f"{case['id']}-{number}" for number, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_client_meets_a_quirk_as_expected(case: dict[str, Any]) -> None:
    assert find_problems(case, DOCUMENT["tools"]) == []


STREAMS = [(case, name) for case, name in zip(CASES, NAMES, strict=True) if case["kind"] == "sse"]


@pytest.mark.parametrize("case", [case for case, _ in STREAMS], ids=[name for _, name in STREAMS])
def test_a_stream_reads_the_same_wherever_it_is_cut(case: dict[str, Any]) -> None:
    cuts, right = chunkings(case)
    assert right == cuts
