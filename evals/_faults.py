"""Faults put into healthy windows: what a service that returns errors, slows down or dies would have written."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from evals._windows import Line

Pair = tuple[str, str]
Spoil = Callable[[Sequence[Line], str, Pair], list[Line] | None]

TOUCHED = 6
"""Requests that a fault must touch to be one."""


def inject(lines: Sequence[Line], service: str, kind: str, at: float, rng: random.Random) -> list[Line] | None:
    """The window with a fault in `service` from `at` on; None where the service is not busy enough.

    Args:
        lines: A healthy window, oldest first.
        service: Who fails.
        kind: One of `KINDS`.
        at: Seconds since the epoch; requests that began earlier stay as they are.
        rng: Chooses the statement that fails.
    """
    pairs = _pairs(lines, service)
    if not pairs and kind in {"return", "skip"}:
        return None
    pair = rng.choice(pairs) if pairs else ("", "")
    requests: defaultdict[str, list[Line]] = defaultdict(list)
    for place, line in enumerate(lines):
        requests[line.trace or f"line {place}"].append(line)
    touched, out = 0, []
    for rows in requests.values():
        concerned = rows[0].time >= at and any(line.service == service for line in rows)
        spoilt = KINDS[kind](rows, service, pair) if concerned else None
        touched += spoilt is not None
        out += spoilt or rows
    return sorted(out, key=lambda line: line.time) if touched >= TOUCHED else None


def _pairs(lines: Sequence[Line], service: str) -> list[Pair]:
    """The three most frequent pairs of statements that follow each other within a request of the service."""
    last: dict[str, Line] = {}
    pairs: Counter[Pair] = Counter()
    for line in lines:
        before = last.get(line.trace)
        if before and before.service == line.service == service and not (before.failed or line.failed):
            pairs[before.site, line.site] += 1
        last[line.trace] = line
    return [pair for pair, _ in pairs.most_common(3)]


def _places(rows: Sequence[Line], service: str, pair: Pair) -> set[int]:
    return {
        place + 1
        for place, (a, b) in enumerate(pairwise(rows))
        if a.service == b.service == service and (a.site, b.site) == pair
    }


def _return(rows: Sequence[Line], service: str, pair: Pair) -> list[Line] | None:
    """An error stands where the usual line stood."""
    places = _places(rows, service, pair)
    text = "lookup gave no result for the given key"
    out = [
        replace(line, level="ERROR", message=text, site=line.site.split("#")[0] + "#999") if place in places else line
        for place, line in enumerate(rows)
    ]
    return out if places else None


def _skip(rows: Sequence[Line], service: str, pair: Pair) -> list[Line] | None:
    """The usual line is left out."""
    places = _places(rows, service, pair)
    return [line for place, line in enumerate(rows) if place not in places] if places else None


def _slowed(rows: Sequence[Line], service: str, cross: float, own: float) -> list[Line]:
    late, out = 0.0, [rows[0]]
    for before, line in pairwise(rows):
        if before.service != line.service and service in (before.service, line.service):
            late += cross
        elif before.service == line.service == service:
            late += own
        out.append(replace(line, time=line.time + late))
    return out


def _delay(rows: Sequence[Line], service: str, _: Pair) -> list[Line] | None:
    """A second on the way in and out."""
    return _slowed(rows, service, 1.0, 0.0)


def _cpu(rows: Sequence[Line], service: str, _: Pair) -> list[Line] | None:
    """80 ms on every step."""
    return _slowed(rows, service, 0.08, 0.08)


def _stack(rows: Sequence[Line]) -> list[str]:
    """Services that are inside each other at the end of these lines, outermost first."""
    stack: list[str] = []
    for line in rows:
        if line.service in stack:
            del stack[stack.index(line.service) + 1 :]
        else:
            stack.append(line.service)
    return stack


def _error(after: Line, service: str, text: str, wait: float = 0.001) -> Line:
    return replace(
        after, time=after.time + wait, service=service, level="ERROR", message=text, site="handler#1", document={}
    )


def _abort(rows: Sequence[Line], service: str, _: Pair) -> list[Line] | None:
    """An exception, and every caller relays a 500."""
    first = next(place for place, line in enumerate(rows) if line.service == service)
    place = min(first + 1, len(rows) - 1)
    text = f"java.lang.NullPointerException: null at com.acme.{service}.Impl.run(Impl.java:77)"
    out = [*rows[:place], _error(rows[max(0, place - 1)], service, text)]
    relayed = "Request processing failed; nested exception is HttpServerErrorException$InternalServerError: 500"
    for caller in reversed(_stack(rows[: place + 1])[:-1]):
        out.append(_error(out[-1], caller, relayed))
    return out


def _unanswered(rows: Sequence[Line], service: str, entered: int, text: str, wait: float) -> list[Line] | None:
    first = next(place for place, line in enumerate(rows) if line.service == service)
    stack = _stack(rows[: first + 1])
    if len(stack) < 2:
        return None
    out = list(rows[: first + entered])
    return [*out, _error(out[-1], stack[-2], text, wait)]


def _down(rows: Sequence[Line], service: str, _: Pair) -> list[Line] | None:
    """Nobody listens: the caller says so."""
    text = f'I/O error on POST request for "http://{service}:8080/api": Connection refused'
    return _unanswered(rows, service, 0, text, 0.01)


def _timeout(rows: Sequence[Line], service: str, _: Pair) -> list[Line] | None:
    """The service begins and its caller gives up after 5 s."""
    return _unanswered(rows, service, 1, f"Read timed out calling {service}", 5.0)


KINDS: Mapping[str, Spoil] = {
    "return": _return,
    "skip": _skip,
    "abort": _abort,
    "delay": _delay,
    "cpu": _cpu,
    "down": _down,
    "timeout": _timeout,
}
