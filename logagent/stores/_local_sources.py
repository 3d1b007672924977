"""What the user names -> files of JSON lines that DuckDB can read. Temporary copies live as long as the context."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NoReturn

from logagent.errors import NoData, StoreUnavailable
from logagent.stores._local_bytes import compression_of, decoded, decompress, unwound
from logagent.stores._local_convert import convert
from logagent.stores._local_load import JsonLines

STDIN = "-"
_LOG_ENDINGS = (".log", ".json", ".jsonl", ".ndjson", ".txt", ".out", ".err", ".gz", ".bz2", ".zst", ".xz")
_SHOWN = 8
_GLOB = frozenset("*?[]{}")


@dataclass(slots=True)
class Opened:
    """What was opened."""

    folder: Path
    """For copies, as long as the sources are open."""
    files: list[JsonLines] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    """What each source is: `JSON lines, gzip`."""
    parsed: set[str] = field(default_factory=set)
    """Sources whose records carry the number of their line."""
    unparsed: dict[str, int] = field(default_factory=dict)
    """Lines that could not be read as records, by source, where DuckDB did not meet them."""
    notes: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    """Sources whose compressed stream breaks off."""


@contextmanager
def open_sources(paths: Sequence[str], stdin: BinaryIO | None, now: datetime) -> Iterator[Opened]:
    """Make all sources readable.

    Raises:
        StoreUnavailable: LA307, a path cannot be read.
        NoData: nothing holds a line.
    """
    with tempfile.TemporaryDirectory(prefix="logagent-") as folder:
        opened = Opened(Path(folder))
        opener = _Opener(Path(folder), now, opened)
        for path in paths:
            if path == STDIN:
                opener.stdin(stdin)
            else:
                opener.path(Path(path), path)
        if not opened.files:
            raise NoData(f"{', '.join(paths)}: no log line in it", code="LA303", values={"source": ", ".join(paths)})
        yield opened


class _Opener:
    def __init__(self, folder: Path, now: datetime, opened: Opened) -> None:
        self._folder = folder
        self._now = now
        self._opened = opened
        self._copies = 0
        self._seen: set[tuple[int, int]] = set()

    def stdin(self, stream: BinaryIO | None) -> None:
        """Read standard input to its end."""
        if stream is None:
            _unreadable(STDIN, "no standard input")
        copy = self._fresh()
        with copy.open("wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        self._add(copy, "stdin")

    def path(self, path: Path, name: str) -> None:
        """Take a file, a pipe, or the log files of a folder."""
        try:
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):
                self._directory(path, name)
            elif stat.S_ISREG(mode):
                self._regular(path, name)
            else:
                copy = self._fresh()
                with path.open("rb") as stream, copy.open("wb") as file:
                    shutil.copyfileobj(stream, file, 1 << 20)
                self._add(copy, name)
        except (OSError, ValueError) as error:
            _unreadable(name, _reason(error), error, path)

    def _directory(self, path: Path, name: str) -> None:
        entries = sorted(child for child in path.iterdir() if child.is_file() and not child.name.startswith("."))
        logs = [child for child in entries if child.name.lower().endswith(_LOG_ENDINGS) or ".log." in child.name]
        if not logs:
            shown = ", ".join(child.name for child in entries[:_SHOWN]) or "nothing that is a file"
            _unreadable(name, "a directory without log files", detail=f"it holds {shown}")
        self._opened.notes.append(f"{name} is a directory; read: {', '.join(child.name for child in logs)}")
        for child in logs:
            self._regular(child, os.path.join(name, child.name))  # noqa: PTH118 - the name as the user wrote it

    def _regular(self, path: Path, name: str) -> None:
        with path.open("rb"):
            pass
        if _GLOB & set(str(path)):  # DuckDB would read these as patterns
            link = self._fresh()
            link.symlink_to(path.absolute())
            path = link
        self._add(path, name)

    def _add(self, path: Path, name: str) -> None:
        if name in self._opened.kinds or self._is_known(path):
            self._opened.notes.append(f"{name} was named twice and read once")
            return
        compression = compression_of(path)
        if compression:
            copy = self._fresh()
            cut = decompress(path, copy, compression)
            if cut:
                self._opened.notes.append(f"{name}: {cut}; what came before was read")
                self._opened.cut.append(name)
            path = copy
        if not path.stat().st_size:
            self._opened.notes.append(f"{name} is empty")
            return
        text = self._decoded(path, name)
        lines = self._fresh()
        text = lines if unwound(text, lines) else text
        converted = convert(text, self._fresh(), self._now)
        if converted.records is None:
            self._opened.files.append(JsonLines(name, text))
        elif converted.records == 0:
            self._opened.notes.append(f"{name} holds no log line")
            return
        else:
            self._opened.files.append(JsonLines(name, converted.path, parsed=True))
            self._opened.parsed.add(name)
            self._opened.unparsed[name] = converted.unparsed
        self._opened.kinds[name] = ", ".join(filter(None, (converted.title, compression)))
        self._opened.notes += [f"{name}: {note}" for note in converted.notes]

    def _is_known(self, path: Path) -> bool:
        """Whether this very file was read before, under another name."""
        found = path.stat()
        identity = (found.st_dev, found.st_ino)
        if identity in self._seen:
            return True
        self._seen.add(identity)
        return False

    def _decoded(self, path: Path, name: str) -> Path:
        copy = self._fresh()
        encoding = decoded(path, copy)
        if encoding == "binary":
            _unreadable(name, "a binary file", detail="it holds bytes that are no text; nothing was read")
        if encoding == "utf-8":
            return path
        self._opened.notes.append(f"{name}: read as {encoding}")
        return copy

    def _fresh(self) -> Path:
        self._copies += 1
        return self._folder / f"{self._copies}.ndjson"


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno:
        return {errno.ENOENT: "no such file", errno.EACCES: "permission denied"}.get(
            error.errno, os.strerror(error.errno).lower()
        )
    return str(error)


def _unreadable(
    name: str, reason: str, cause: BaseException | None = None, path: Path | None = None, *, detail: str = ""
) -> NoReturn:
    values: dict[str, object] = {"path": name, "reason": reason}
    if path is not None and reason == "permission denied":
        values["locked"] = name
        detail = _owner(path)
    if detail:
        values["detail"] = detail
    raise StoreUnavailable(f"cannot read {name} ({reason})", code="LA307", values=values) from cause


def _owner(path: Path) -> str:
    try:
        return f"owner {path.owner()}, mode {stat.S_IMODE(path.stat().st_mode):04o}; nothing was read"
    except (OSError, KeyError):
        return "nothing was read"
