"""What a report rests on is read again, and what only clients write confirms nothing."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from logagent.evidence import Claim, EvidenceQuery, Figure, Ledger, Verification
from logagent.logs import RecordId, TimeWindow
from logagent.query import LogQuery
from logagent.report import formats
from logagent.stores._base import LogStore
from logagent.stores.local import LocalOptions, open_local
from logagent.verify import Grounds, judge, requery
from tests.cli.conftest import Cli
from tests.integration.wire import Reply, Wire
from tests.security.test_output import report

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOUR = TimeWindow(NOON, NOON + timedelta(hours=1))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogStore]:
    path = tmp_path_factory.mktemp("evidence") / "logs.ndjson"
    rows = ({"@timestamp": f"2026-11-30T12:00:{n:02d}Z", "level": "error", "service": "a", "message": f"pool {n} is dry"} for n in range(20))  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    opened = open_local(LocalOptions(paths=(str(path),)))
    yield opened
    opened.close()


def quoted(store: LogStore, message: str | None = None, source: str | None = None) -> str:
    """State of a row that quotes the first line, with another text or from another source."""
    record = store.search(LogQuery(HOUR), limit=1, order="oldest").records[0]
    sample = replace(record, message=message or record.message, id=RecordId(source or record.id.source, record.id.id))
    made = Ledger()
    made.add(Claim("sample", "a line", EvidenceQuery("", HOUR, Figure("documents")), value=1, samples=(sample,)))
    requery(store, made, ["E1"], NOON)
    return made.rows["E1"].verification.state


def test_s006_a_document_of_another_source_is_not_read(store: LogStore) -> None:
    assert quoted(store, source="tenant-b") == "contradicted"


def test_s007_a_quote_of_what_is_no_more_there_is_no_quote(store: LogStore) -> None:
    assert quoted(store) == "verified"
    assert quoted(store, "pool 99 is dry") == "contradicted"


def test_s008_a_quote_that_differs_by_one_letter_does_not_hold(store: LogStore) -> None:
    assert quoted(store, "pool 0 is dri") == "contradicted"


def ledger() -> Ledger:
    made = Ledger()
    for name in ("line", "second"):
        row = made.add(Claim("count", name, EvidenceQuery("x", HOUR, Figure("count")), value=1))
        made.replace(row.checked(Verification("verified")))
    return made


GROUNDS = Grounds(anomaly=True, claimed=True, mechanism_rows=("E1",), discriminating_rows=("E2",))


def test_s010_a_cause_that_only_clients_write_is_not_confirmed() -> None:
    judged = judge(replace(GROUNDS, client_controlled=True), ledger())
    assert judged.outcome != "confirmed"
    assert "client_controlled" in judged.reasons


def test_s011_a_cause_with_a_second_row_of_the_platform_is_confirmed() -> None:
    judged = judge(GROUNDS, ledger())
    assert judged.outcome == "confirmed"
    assert "second_row" in judged.reasons


@pytest.mark.skipif(CHROMIUM is None or "html" not in formats(), reason="no Chromium here, or no HTML report")
def test_s032_a_browser_that_opens_the_report_asks_nobody(cli: Cli, tmp_path: Path) -> None:
    with Wire([Reply({})]) as wire:
        hostile = f"<img src={wire.url}/a.gif> <script>fetch('{wire.url}/b')</script> ![x]({wire.url}/c.png)"
        page = tmp_path / "report.html"
        page.write_text(report(cli, tmp_path, hostile, "-F", "html"), encoding="utf-8")
        done = subprocess.run(
            [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}",
             "--virtual-time-budget=1000", "--dump-dom", page.as_uri()],
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0
        assert b"payment" in done.stdout
        assert wire.requests == []
