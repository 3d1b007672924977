"""What the positional names of a command are: files, standard input or services (ux.md 2.1)."""

import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from logagent.errors import StoreUnavailable

_LOG_SUFFIXES = (".log", ".json", ".jsonl", ".ndjson", ".gz", ".txt", ".out", ".err", ".csv", ".zst", ".bz2")


@dataclass(frozen=True, slots=True)
class Targets:
    """The names, sorted. `stdin` is the stream to read when `-` is among the files."""

    files: tuple[str, ...]
    services: tuple[str, ...]
    stdin: BinaryIO | None = None


def read_targets(names: Sequence[str], services: Sequence[str], *, has_cluster: bool) -> Targets:
    """Sort positional names.

    Args:
        names: as typed.
        services: names given by -S, which are always services.
        has_cluster: whether a cluster is configured; without one, a name can hardly be a service.

    Raises:
        StoreUnavailable: LA307, a name looks like a file that cannot be read.
    """
    files: list[str] = []
    found: list[str] = list(services)
    stdin: BinaryIO | None = None
    for name in dict.fromkeys(names):
        kind = _kind(name, has_cluster=has_cluster)
        if kind == "service":
            found.append(name)
        elif kind == "stream":
            stdin = _open_stream(name, stdin)
            files.append("-")
        else:
            files.append(name)
    return Targets(tuple(dict.fromkeys(files)), tuple(dict.fromkeys(found)), stdin)


def _kind(name: str, *, has_cluster: bool) -> str:
    if name == "-":
        return "stream"
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if _looks_like_file(name):
            raise unreadable(name, _reason(error)) from error
        return "service"
    if stat.S_ISDIR(mode):
        if has_cluster and os.sep not in name:
            return "service"
        raise unreadable(name, "is a directory", "name the files in it, for example with *.log; nothing was read")
    if not os.access(path, os.R_OK):
        denied = unreadable(name, "permission denied", f"mode {stat.S_IMODE(mode):04o}; nothing was read")
        denied.values["locked"] = denied.values["path"]
        raise denied
    return "file" if stat.S_ISREG(mode) else "stream"


def _looks_like_file(name: str) -> bool:
    return "/" in name or os.sep in name or "\0" in name or name.lower().endswith(_LOG_SUFFIXES)


def _open_stream(name: str, already: BinaryIO | None) -> BinaryIO:
    if already is not None:
        raise unreadable(name, "only one stream can be read", "name one pipe or -, and files besides it")
    if name != "-":  # a named pipe, as in: logagent diagnose <(zcat old.gz)
        return Path(name).open("rb")
    if sys.stdin.isatty():
        raise unreadable("-", "standard input is a terminal", "pipe something into it")
    return sys.stdin.buffer


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or "cannot be read").lower() if isinstance(error, OSError) else "not a file name"


def unreadable(path: str, reason: str, detail: str = "") -> StoreUnavailable:
    """LA307 with what is known."""
    shown = "".join(char if char.isprintable() else "?" for char in path)
    values = {"path": shown, "reason": reason, "detail": detail or None}
    return StoreUnavailable(f"cannot read {shown} ({reason})", code="LA307", values=values)
