"""What the user names -> files of JSON lines that DuckDB can read. Temporary copies live as long as the context."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from logagent.stores._local_load import JsonLines


@dataclass(slots=True)
class Opened:
    """What was opened."""

    files: list[JsonLines] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    """What each source is: `JSON lines, gzip`."""
    parsed: set[str] = field(default_factory=set)
    """Sources whose records carry the number of their line."""
    unparsed: dict[str, int] = field(default_factory=dict)
    """Lines that could not be read as records, by source."""
    notes: list[str] = field(default_factory=list)


@contextmanager
def open_sources(paths: Sequence[str], stdin: BinaryIO | None, now: datetime) -> Iterator[Opened]:
    """Make all sources readable.

    Raises:
        StoreUnavailable: LA307, a path cannot be read.
        NoData: a file is empty.
    """
    del stdin, now
    opened = Opened()
    with tempfile.TemporaryDirectory(prefix="logagent-"):
        for path in paths:
            opened.files.append(JsonLines(path, Path(path)))
            opened.kinds[path] = "JSON lines"
        yield opened
