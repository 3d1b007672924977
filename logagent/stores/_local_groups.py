"""Records that stand for all: grouped samples, and the complete lines of sampled traces."""

from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Any

from logagent.logs import WeightedRecord
from logagent.query import LogQuery
from logagent.stores._base import Sample
from logagent.stores._local_rows import Rows
from logagent.stores._local_sql import Compiler, Condition, both

Run = Callable[[str, str, Sequence[object]], list[tuple[Any, ...]]]

MASK = (
    r"(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})"
    r"|(?:\b[a-z][a-z0-9+]{1,9}://[^\s,;'\"\])>]+)"
    r"|(?:\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
    r"|(?:\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b)"
    r"|(?:/?(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?)"
    r"|(?:\b0[xX][0-9a-fA-F]+\b)"
    r"|(?:\bblk_-?\d+)"
    r"|(?:(?:/[\w.@%+=~-]+){2,}/?)"
    r"|(?:\b[0-9a-f]*[0-9][0-9a-f]{7,}\b)"
    r"|(?:[-+]?\d+(?:[.,]\d+)*(?:ms|us|ns|s|m|h|d|[KMGT]i?B?|B|%)?)"
)
"""What varies from line to line, for RE2: ids, addresses, times, paths, numbers with their unit."""
_MASKED_CHARACTERS = 2_000


def sample(run: Run, compiler: Compiler, rows: Rows, query: LogQuery, size: tuple[int, int]) -> Sample:
    """Group all matches by (service, severity, status class, mask, bucket); `size` is the limit and the buckets."""
    raise NotImplementedError


def traced(run: Run, compiler: Compiler, query: LogQuery, size: tuple[int, int]) -> Condition | None:
    """Matches that belong to the sampled trace ids; `size` is slices and ids. None: there are no trace ids."""
    raise NotImplementedError
