"""What happens to logs on their way: each mutation makes an incident poorer and must make no other cause of it."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from evals._windows import Line

Mutation = Callable[[list[Line], str, random.Random], list[Line]]
"""(lines oldest first, service with the fault, random) -> lines."""

NOISY = 3
"""Lines of the giant service for each line of the rest."""


def _all_info(lines: list[Line], _: str, __: random.Random) -> list[Line]:
    """Every level is info."""
    return [replace(line, level="INFO") for line in lines]


def _shuffled(lines: list[Line], _: str, rng: random.Random) -> list[Line]:
    """The lines stand in another order; their times are right."""
    return rng.sample(lines, len(lines))


def _shifted(lines: list[Line], _: str, rng: random.Random) -> list[Line]:
    """All times moved by the same amount, up to 400 days."""
    by = rng.uniform(-400, 400) * 86_400
    return [replace(line, time=line.time + by) for line in lines]


def _half_services(lines: list[Line], root: str, rng: random.Random) -> list[Line]:
    """Half the services do not log here; the one with the fault does, or the answer is not in the logs."""
    names = sorted({line.service for line in lines} - {root})
    kept = {root, *rng.sample(names, (len(names) + 1) // 2)}
    return [line for line in lines if line.service in kept]


def _tenth(lines: list[Line], _: str, rng: random.Random) -> list[Line]:
    """A tenth of the lines, at random."""
    return [line for line in lines if rng.random() < 0.1] or lines[:1]


def _doubled(lines: list[Line], _: str, rng: random.Random) -> list[Line]:
    """A third of the lines stand twice, as after a restart of a shipper."""
    return [line for one in lines for line in (one, *([one] if rng.random() < 1 / 3 else []))]


def _giant(lines: list[Line], _: str, rng: random.Random) -> list[Line]:
    """One more service writes more than all others, steadily, some of it as errors."""
    span = lines[-1].time - lines[0].time
    noise = []
    for _place in range(min(30_000, NOISY * len(lines))):
        failed = rng.random() < 0.05
        words = "cannot index page: unsupported media type" if failed else "page fetched"
        text = f"{words} number={rng.randint(1, 99_999)} bytes={rng.randint(200, 90_000)}"
        at = lines[0].time + rng.random() * span
        noise.append(Line(at, "crawler-batch", "ERROR" if failed else "INFO", text, "", "", {}))
    return sorted([*lines, *noise], key=lambda line: line.time)


MUTATIONS: Mapping[str, Mutation] = {
    "all_info": _all_info,
    "shuffled": _shuffled,
    "shifted": _shifted,
    "half_services": _half_services,
    "tenth": _tenth,
    "doubled": _doubled,
    "giant": _giant,
}
