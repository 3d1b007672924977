"""Cases are private, whole, in order of time, and easy to find again."""

import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from logagent.cases import CaseStore, write_private
from logagent.diagnosis import (
    Confidence,
    DataQuality,
    Diagnosis,
    Request,
    StoreUse,
    Summary,
    ToolInfo,
    Usage,
    Window,
)
from logagent.errors import StoreUnavailable, UsageError

NOW = datetime(2026, 11, 30, 14, 31, tzinfo=UTC)


def store_at(folder: Path, now: datetime = NOW, **choices: int) -> CaseStore:
    clock: Callable[[], datetime] = lambda: now  # noqa: E731 - a clock that stands still
    return CaseStore(folder, clock, **choices)


def diagnosis(case: str, headline: str = "order-api: 1 in 5 requests fails") -> Diagnosis:
    return Diagnosis(
        id=case,
        created_at="2026-11-30T14:31:40Z",
        tool=ToolInfo(version="0.1.0"),
        language="en",
        request=Request(command="diagnose"),
        window=Window(from_="2026-11-30T14:01:00Z", to="2026-11-30T14:31:00Z", display_time_zone="UTC"),
        outcome="inconclusive",
        status="ongoing",
        confidence=Confidence(level="low"),
        summary=Summary(headline=headline, what_is_happening="\u8ba2\u5355 failed [E1]."),
        data_quality=DataQuality(complete=True),
        usage=Usage(duration_ms=12, store=StoreUse(backend="embedded")),
    )


def test_an_id_carries_its_minute_and_is_never_given_twice(tmp_path: Path) -> None:
    store = store_at(tmp_path / "cases")
    ids = {store.new_id() for _ in range(30)}
    assert len(ids) == 30
    assert all(case.startswith("20261130-1431-") for case in ids)


def test_a_saved_diagnosis_comes_back_as_it_was(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    saved = diagnosis(store.new_id())
    path = store.save(saved)
    assert store.load(saved.id) == saved
    assert store.load("last") == saved
    assert store.load(str(path)) == saved


def test_files_and_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    store = store_at(tmp_path / "cases")
    case = store.new_id()
    path = store.save(diagnosis(case))
    store.append(case, {"step": 1})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((path.parent / "transcript.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "cases").stat().st_mode) == 0o700


def test_a_folder_that_others_could_read_is_closed_again(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    folder.mkdir(mode=0o755)
    store_at(folder).new_id()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_saving_again_replaces_and_leaves_nothing_behind(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    case = store.new_id()
    store.save(diagnosis(case, "first"))
    store.save(diagnosis(case, "second"))
    assert store.load(case).summary.headline == "second"
    assert [entry.name for entry in (tmp_path / case).iterdir()] == ["diagnosis.json"]


def test_a_failed_write_keeps_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_private(target, "before")
    with pytest.raises(TypeError):
        write_private(target, None)  # type: ignore[arg-type]
    assert target.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


def test_a_lone_surrogate_is_written_as_an_escape(tmp_path: Path) -> None:
    write_private(tmp_path / "r.txt", "a\ud800b")
    assert (tmp_path / "r.txt").read_text() == "a\\ud800b"


def test_the_transcript_keeps_its_order_and_survives_a_cut_last_line(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    case = store.new_id()
    store.save(diagnosis(case))
    for step in range(3):
        store.append(case, {"step": step, "at": NOW, "text": "\u8d85\u65f6\nline"})
    with (tmp_path / case / "transcript.jsonl").open("a") as file:
        file.write('{"step": 3, "te')
    steps = list(store.transcript("last"))
    assert [step["step"] for step in steps] == [0, 1, 2]
    assert steps[0]["at"] == "2026-11-30T14:31:00Z"
    assert steps[0]["text"] == "\u8d85\u65f6\nline"


def test_the_newest_case_is_last_also_within_a_minute(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    older, newer = store.new_id(), store.new_id()
    store.save(diagnosis(older, "older"))
    path = store.save(diagnosis(newer, "newer"))
    later = path.stat().st_mtime + 1
    import os  # noqa: PLC0415 - only to set a file's time

    os.utime(path, (later, later))
    assert store.load("last").summary.headline == "newer"
    assert [case.headline for case in store.list()] == ["newer", "older"]


def test_an_unknown_id_names_the_closest_ones(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    case = store.new_id()
    store.save(diagnosis(case))
    wrong = case[:-1] + ("0" if case[-1] != "0" else "1")
    with pytest.raises(UsageError) as refused:
        store.load(wrong)
    assert refused.value.code == "LA707"
    assert case in refused.value.hint
    assert refused.value.values["closest"] == case


def test_without_any_case_last_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case last") as refused:
        store_at(tmp_path / "none").load("last")
    assert "no saved cases" in refused.value.hint


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "20261130-1431-7f3a/../x", "", "/nonexistent/report.json"])
def test_names_do_not_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    store = store_at(tmp_path / "cases")
    with pytest.raises(UsageError):
        store.remove(name)
    with pytest.raises(UsageError):
        store.append(name, {})


def test_a_file_that_is_no_diagnosis_is_refused_with_the_place(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(json.dumps({"kind": "diagnosis"}))
    with pytest.raises(UsageError, match="holds no diagnosis"):
        store_at(tmp_path).load(str(file))
    file.write_bytes(b"\x00\xff")
    with pytest.raises(UsageError, match="holds no diagnosis"):
        store_at(tmp_path).load(str(file))


def test_a_broken_case_does_not_hide_the_others(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    good, bad = store.new_id(), store.new_id()
    store.save(diagnosis(good))
    (tmp_path / bad / "diagnosis.json").write_text("{")
    assert [case.id for case in store.list()] == [good]


def test_remove_deletes_one_case(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    kept, gone = store.new_id(), store.new_id()
    store.save(diagnosis(kept))
    store.save(diagnosis(gone))
    store.remove(gone)
    assert store.ids() == (kept,)
    with pytest.raises(UsageError):
        store.remove(gone)


def test_saving_a_case_deletes_those_that_are_too_old_and_nothing_else(tmp_path: Path) -> None:
    old = store_at(tmp_path, NOW - timedelta(days=31))
    gone = old.new_id()
    old.save(diagnosis(gone))
    old.append(gone, {"step": 1})
    young = store_at(tmp_path, NOW - timedelta(days=29))
    kept = young.new_id()
    young.save(diagnosis(kept))
    (tmp_path / "notes").mkdir()
    store = store_at(tmp_path, keep_days=30)
    fresh = store.new_id()
    store.save(diagnosis(fresh))
    assert {entry.name for entry in tmp_path.iterdir()} == {kept, fresh, "notes"}


def test_a_case_is_never_deleted_by_its_own_saving(tmp_path: Path) -> None:
    case = store_at(tmp_path, NOW - timedelta(days=31)).new_id()
    store = store_at(tmp_path)
    store.save(diagnosis(case))
    assert store.ids() == (case,)


def test_with_0_days_all_cases_are_kept(tmp_path: Path) -> None:
    old = store_at(tmp_path, NOW - timedelta(days=400))
    kept = old.new_id()
    old.save(diagnosis(kept))
    store = store_at(tmp_path, keep_days=0)
    store.save(diagnosis(store.new_id()))
    assert len(store.ids()) == 2
    with pytest.raises(UsageError) as missing:
        store.load("20260101-0000-0000")
    assert "days" not in missing.value.values


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "cases").write_text("a file")
    with pytest.raises(StoreUnavailable) as refused:
        store_at(tmp_path / "cases").new_id()
    assert "--no-save" in refused.value.hint


def test_a_line_that_a_crash_cut_off_is_lost_alone(tmp_path: Path) -> None:
    store = CaseStore(tmp_path)
    case = store.new_id()
    store.append(case, {"step": 1}, sync=False)
    with (tmp_path / case / "transcript.jsonl").open("ab") as file:
        file.write(b'{"step": 2, "text": "cut he')
    store.append(case, {"step": 3})
    assert [record["step"] for record in store.transcript(case)] == [1, 3]


def test_what_is_no_record_in_a_transcript_is_left_out(tmp_path: Path) -> None:
    store = CaseStore(tmp_path)
    case = store.new_id()
    store.append(case, {"step": 1})
    with (tmp_path / case / "transcript.jsonl").open("ab") as file:
        file.write(b'[1, 2]\n"text"\nnull\n\xff\xfe\n\n')
    store.append(case, {"step": 2})
    assert [record["step"] for record in store.transcript(case)] == [1, 2]
