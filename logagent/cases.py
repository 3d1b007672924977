"""Saved cases: one folder a case with the diagnosis and the transcript, readable by its owner only.

CASES/20261130-1431-7f3a/diagnosis.json     written whole or not at all, mode 0600
CASES/20261130-1431-7f3a/transcript.jsonl   one record a step, written as it happens
"""

import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from logagent.diagnosis import Diagnosis
from logagent.errors import StoreUnavailable, UsageError
from logagent.expressions import expression

KEEP_DAYS = 30
"""How long a case is kept where the settings say nothing."""
LAST = "last"
"""The name of the newest case."""
DIAGNOSIS, TRANSCRIPT = "diagnosis.json", "transcript.jsonl"
LARGEST = 50_000_000
"""Bytes of the largest report file that is read."""
_ID = expression(r"\d{8}-\d{4}-[0-9a-f]{4}")
_EMBEDDED = expression(rb'<script type="application/json" id="diagnosis">(.*?)</script>', re.DOTALL)
"""What `report.html` embeds."""
_TRIES = 50
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class CaseInfo:
    """One line of `logagent cases list`."""

    id: str
    created_at: str
    outcome: str
    headline: str
    question: str | None = None


class CaseStore:
    """The cases in one folder.

    Safe for several processes at once: a case has its own folder, a diagnosis replaces the one before in one step,
    and a transcript is only appended to.
    """

    def __init__(
        self, folder: Path, clock: Callable[[], datetime] | None = None, *, keep_days: int = KEEP_DAYS
    ) -> None:
        self._folder = folder
        self._clock = clock or _now
        self.keep_days = keep_days

    def new_id(self, now: datetime | None = None) -> str:
        """A free id that sorts by time, such as `20261130-1431-7f3a` (UTC); its folder is made and so reserved.

        Raises:
            StoreUnavailable: the folder cannot be written.
        """
        stamp = f"{(now or self._clock()).astimezone(UTC):%Y%m%d-%H%M}"
        try:
            self._private(self._folder)
            for _ in range(_TRIES):
                case = f"{stamp}-{secrets.token_hex(2)}"
                if not (self._folder / case).exists():
                    (self._folder / case).mkdir(mode=0o700)
                    return case
        except OSError as error:  # also where another process took the id in between
            raise _unwritable(self._folder, error) from error
        raise StoreUnavailable(f"No free case id for {stamp} in {self._folder}.")

    def save(self, diagnosis: Diagnosis) -> Path:
        """Write the diagnosis of its case, whole or not at all; the one before is replaced.

        Other cases that are older than `keep_days` are deleted.

        Raises:
            UsageError: its id is no case id.
            StoreUnavailable: the folder cannot be written.
        """
        folder = self._case(diagnosis.id)
        target = folder / DIAGNOSIS
        try:
            self._private(folder)
            write_private(target, diagnosis.to_json() + "\n")
        except OSError as error:
            raise _unwritable(folder, error) from error
        with contextlib.suppress(OSError):
            self._prune(diagnosis.id)
        return target

    def append(self, case: str, record: Mapping[str, Any], *, sync: bool = True) -> None:
        """Add one record to the transcript.

        With `sync` it is on the disk when this returns. Without, the system has it: it outlives this process, killed
        or not, but not a power cut.

        Raises:
            UsageError: no case id.
            StoreUnavailable: the folder cannot be written.
        """
        folder = self._case(case)
        file = folder / TRANSCRIPT
        line = orjson.dumps(dict(record), option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z, default=str)
        try:
            self._private(folder)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            torn = _is_torn(file)
            handle = os.open(file, flags, 0o600)
            try:
                os.write(handle, b"\n" + line if torn else line)
                if sync:
                    os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise _unwritable(folder, error) from error

    def load(self, name: str) -> Diagnosis:
        """The diagnosis of a case (`last` is the newest), or of a report file at a path.

        Raises:
            UsageError: LA707 with the closest ids, or a file that holds no diagnosis.
        """
        if name != LAST and not _ID.fullmatch(name):
            return _read(self._path(name), name)
        case = self._newest() if name == LAST else name
        file = self._folder / case / DIAGNOSIS
        if not case or not file.is_file():
            raise self._missing(name)
        return _read(file, case)

    def transcript(self, name: str) -> Iterator[dict[str, Any]]:
        """The steps of a case in order. A last line that was cut off by a crash is left out.

        Raises:
            UsageError: LA707, there is no such case.
        """
        case = self._newest() if name == LAST else name
        if not case or not _ID.fullmatch(case) or not (self._folder / case).is_dir():
            raise self._missing(name)
        file = self._folder / case / TRANSCRIPT
        for line in file.read_bytes().splitlines() if file.is_file() else []:
            with contextlib.suppress(orjson.JSONDecodeError):
                record = orjson.loads(line)
                if isinstance(record, dict):
                    yield record

    def list(self) -> tuple[CaseInfo, ...]:
        """All cases with a diagnosis, newest first; one that cannot be read is left out."""
        found = []
        for case in self.ids():
            with contextlib.suppress(UsageError):
                one = _read(self._folder / case / DIAGNOSIS, case)
                found.append(CaseInfo(case, one.created_at, one.outcome, one.summary.headline, one.request.question))
        return tuple(found)

    def ids(self) -> tuple[str, ...]:
        """Ids of all cases with a diagnosis, newest first."""
        if not self._folder.is_dir():
            return ()
        every = (entry.name for entry in self._folder.iterdir() if _ID.fullmatch(entry.name))
        kept = (case for case in every if (self._folder / case / DIAGNOSIS).is_file())
        return tuple(sorted(kept, key=self._age, reverse=True))

    def interrupted(self) -> tuple[str, ...]:
        """Ids of runs that were killed before they had a diagnosis, newest first; empty folders are no runs."""
        if not self._folder.is_dir():
            return ()
        every = (entry for entry in self._folder.iterdir() if _ID.fullmatch(entry.name) and not entry.is_symlink())
        killed = (one for one in every if not (one / DIAGNOSIS).exists() and (one / TRANSCRIPT).is_file())
        return tuple(sorted((one.name for one in killed), reverse=True))

    def remove(self, case: str) -> None:
        """Delete a case with its transcript.

        Raises:
            UsageError: LA707, there is no such case.
        """
        case = self._newest() if case == LAST else case
        folder = self._folder / case
        if not _ID.fullmatch(case) or not folder.is_dir() or folder.is_symlink():
            raise self._missing(case)
        shutil.rmtree(folder)

    def export(self, name: str, folder: Path) -> tuple[str, Path]:
        """Write a case into a new folder of its name: report, transcript, and an incident for `evals.incidents`.

        The incident is the lines of the evidence (masked as they were saved) and a `truth.json` to fill in.

        Returns:
            The id, and the folder.

        Raises:
            UsageError: LA707, there is no such case.
            StoreUnavailable: the folder cannot be written, or is there already.
        """
        diagnosis = self.load(name)
        target = folder / diagnosis.id
        try:
            target.mkdir(mode=0o700, parents=True)
            write_private(target / DIAGNOSIS, diagnosis.to_json() + "\n")
            write_private(target / "logs.ndjson", "".join(_lines(diagnosis)))
            write_private(target / "truth.json", orjson.dumps(_truth(diagnosis), option=orjson.OPT_INDENT_2).decode())
            steps = self._folder / diagnosis.id / TRANSCRIPT
            if steps.is_file():
                write_private(target / TRANSCRIPT, steps.read_text(encoding="utf-8", errors="backslashreplace"))
        except OSError as error:
            raise _unwritable(target, error) from error
        return diagnosis.id, target

    def take_in(self, source: Path) -> str:
        """Save a case that was exported, or a report file; the id stays.

        Raises:
            UsageError: LA707, it holds no diagnosis, or there is a case of this id already.
            StoreUnavailable: the folder cannot be written.
        """
        report = source / DIAGNOSIS if source.is_dir() else source
        diagnosis = _read(self._path(str(report)), str(source))
        if (self._case(diagnosis.id) / DIAGNOSIS).is_file():
            raise _no_report(str(source), f"is {diagnosis.id}, which is here already: logagent cases rm {diagnosis.id}")
        self.save(diagnosis)
        steps = source / TRANSCRIPT if source.is_dir() else None
        if steps is not None and steps.is_file() and not steps.is_symlink() and steps.stat().st_size <= LARGEST:
            write_private(
                self._folder / diagnosis.id / TRANSCRIPT, steps.read_text(encoding="utf-8", errors="backslashreplace")
            )
        return diagnosis.id

    def _prune(self, current: str) -> None:
        """Delete the cases that are older than `keep_days`, but never the current one; 0 days keeps all."""
        if self.keep_days <= 0:
            return
        limit = f"{self._clock().astimezone(UTC) - timedelta(days=self.keep_days):%Y%m%d-%H%M}"
        names = (entry.name for entry in self._folder.iterdir() if entry.is_dir() and not entry.is_symlink())
        for name in [name for name in names if _ID.fullmatch(name) and name[:13] < limit and name != current]:
            shutil.rmtree(self._folder / name, ignore_errors=True)

    def _newest(self) -> str:
        return next(iter(self.ids()), "")

    def _age(self, case: str) -> tuple[str, int]:
        """Minute of the id, then the time of the file: two cases of one minute sort by when they were written."""
        try:
            return case[:13], (self._folder / case / DIAGNOSIS).stat().st_mtime_ns
        except OSError:
            return case[:13], 0

    def _case(self, case: str) -> Path:
        if not _ID.fullmatch(case):
            raise UsageError(f"{case[:40]!r} is no case id.", hint="They look like 20261130-1431-7f3a.")
        return self._folder / case

    def _path(self, name: str) -> Path:
        try:
            path = Path(name).expanduser()
            size = path.stat().st_size if path.is_file() else -1
        except (OSError, RuntimeError, ValueError):  # too long for a name, no such home, a zero byte
            size = -1
        if size < 0:
            raise self._missing(name)
        if size > LARGEST:
            raise _no_report(name, f"is too large for a report ({size:,} bytes)")
        return path

    def _missing(self, name: str) -> UsageError:
        ids = self.ids()
        near = get_close_matches(name, ids, n=3, cutoff=0.7) or list(ids[:1])
        values: dict[str, object] = {"case": name[:60]}
        if self.keep_days > 0:
            values["days"] = self.keep_days
        if near:
            values |= {"closest": ", ".join(near), "best": near[0]}
        hint = f"closest: {', '.join(near)}" if near else "there are no saved cases yet"
        return UsageError(f"no case {name[:60]}", code="LA707", hint=hint, values=values)

    @staticmethod
    def _private(folder: Path) -> None:
        """Make the folder, for its owner only."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    """The samples of the evidence as JSON lines, each line once, in order of time."""
    samples = {(str(one.get("_index")), str(one.get("_id"))): one for row in diagnosis.evidence for one in row.samples}
    for sample in sorted(samples.values(), key=lambda one: str(one.get("@timestamp", ""))):
        plain = {name: value for name, value in sample.items() if not name.startswith("_")}
        yield orjson.dumps(plain, option=orjson.OPT_APPEND_NEWLINE).decode()


def _truth(diagnosis: Diagnosis) -> dict[str, Any]:
    """What a person fills in; null where only a person knows."""
    window = {"from": diagnosis.window.from_, "to": diagnosis.window.to}
    return {"window": window, "root_cause_service": None, "fault_type": None, "start": None, "end": None, "notes": ""}


def _now() -> datetime:
    return datetime.now(UTC)


def write_private(target: Path, text: str) -> None:
    """Write a file whole or not at all, UTF-8, mode 0600: a temporary file beside it, then a rename.

    Raises:
        OSError: it cannot be written; what was there before is unchanged.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(file: Path, name: str) -> Diagnosis:
    try:
        return Diagnosis.model_validate_json(_document(file.read_bytes()))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = f"{where}: {first['msg']}" if where else str(first["msg"])
        raise _no_report(name, f"holds no diagnosis of schema 1 ({reason[:200]})") from error
    except OSError as error:
        raise _no_report(name, f"cannot be read ({error.strerror})") from error


def _document(content: bytes) -> bytes:
    """The JSON of a report file; of an HTML report what stands in its data element."""
    if not content[:200].lstrip().lower().startswith(b"<!doctype html"):
        return content
    found = _EMBEDDED.search(content)
    return found[1] if found else b""


def _no_report(name: str, reason: str) -> UsageError:
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
    return UsageError(f"{shown} {reason}", code="LA707", values={"report": shown, "reason": reason})


def _is_torn(file: Path) -> bool:
    """Whether the last line of a transcript has no end: a crash cut it off, and nothing may be glued to it."""
    try:
        with file.open("rb") as opened:
            opened.seek(-1, os.SEEK_END)
            return opened.read(1) != b"\n"
    except OSError:  # there is none yet, or it is empty
        return False


def _unwritable(folder: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"cannot write cases in {folder} ({error.strerror})", hint="--no-save goes on without a case"
    )
