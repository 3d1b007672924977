"""Search bodies and their answers: sorting, aggregations, buckets. Pure functions."""

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any, Literal

from logagent.logs import Bucket, TimeWindow, instant
from logagent.stores._es_compile import Clause
from logagent.stores._es_fields import ClusterFields

MOST_BUCKETS = 500
"""Of one series."""
MOST_FILTERS = 100
MOST_MEASURES = 200
MOST_COUNTS = 900
"""Of one request; counts alone are cheaper."""
_GOLDEN = 0.618
ALL_BUCKETS = 50_000
"""Of one request; search.max_buckets is 65,535."""


def sorting(fields: ClusterFields, order: Literal["newest", "oldest"]) -> list[dict[str, Any]]:
    """By time, ties by sequence number (the same on each copy of a shard, other than `_doc`)."""
    direction = "desc" if order == "newest" else "asc"
    by_time: dict[str, Any] = {"order": direction, "unmapped_type": "date"}
    if fields.epoch_nanos:
        by_time["numeric_type"] = "date"
    return [{fields.time: by_time}, {"_seq_no": {"order": direction, "unmapped_type": "long"}}]


def documents(fields: ClusterFields) -> dict[str, Any]:
    """What to answer of each document: an explicit list of names."""
    body: dict[str, Any] = {"_source": {"includes": list(fields.source_names)}}
    if fields.fetched_names:
        body["fields"] = list(fields.fetched_names)
    return body


def histogram(time: str, seconds: int) -> Clause:
    """Counts per bucket; empty ones are left out, the caller fills them in."""
    return {"date_histogram": {"field": time, "fixed_interval": f"{seconds}s", "min_doc_count": 1}}


def bucket_starts(window: TimeWindow, seconds: int) -> list[int]:
    """Epoch seconds of all bucket starts of a window, multiples of the interval.

    Raises:
        ValueError: an interval below 1 s, or more than 500 buckets.
    """
    if seconds < 1:
        raise ValueError("an interval is at least 1 second")
    first = math.floor(window.start.timestamp() / seconds) * seconds
    last = window.end.timestamp()
    count = max(0, math.ceil((last - first) / seconds))
    if count > MOST_BUCKETS:
        raise ValueError(f"{count} buckets are asked for; at most {MOST_BUCKETS} are possible")
    return [first + number * seconds for number in range(count)]


def filled(aggregation: Mapping[str, Any] | None, starts: Sequence[int]) -> tuple[Bucket, ...]:
    """The buckets of an answer at all starts, 0 where there were none."""
    counts = {int(one["key"]) // 1_000: int(one["doc_count"]) for one in (aggregation or {}).get("buckets") or ()}
    return tuple(Bucket(instant(start), counts.get(start, 0)) for start in starts)


def hull(windows: Sequence[TimeWindow]) -> TimeWindow:
    """The smallest window that holds all."""
    return TimeWindow(min(one.start for one in windows), max(one.end for one in windows))


def slices_of(window: TimeWindow, count: int) -> list[TimeWindow]:
    """Equal parts of a window."""
    step = timedelta(seconds=window.seconds / count)
    ends = [window.start + step * number for number in range(count)] + [window.end]
    return [TimeWindow(start, max(start, end)) for start, end in pairwise(ends)]


def piece_of(window: TimeWindow, share: float, place: int) -> TimeWindow:
    """A part of a window of that share; pieces of neighbours begin at odd offsets, not all on the hour.

    >>> day = TimeWindow(instant(0), instant(86_400))
    >>> piece_of(day, 0.25, 1).seconds == day.seconds / 4 and piece_of(day, 3.0, 1) == day
    True
    """
    if share >= 1:
        return window
    start = window.start + timedelta(seconds=window.seconds * (1 - share) * (_GOLDEN * (place + 1) % 1))
    return TimeWindow(start, start + timedelta(seconds=window.seconds * share))
