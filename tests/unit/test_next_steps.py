"""What a cause rests on and what to do next, where a service is refused by the cache that it calls."""

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.scene import Ran, at, line, run, settings, write

OOM = "reserve failed: redis: OOM command not allowed when used memory > 'maxmemory'"
SINCE, UNTIL = at(0), at(600)


def outage(hosts: tuple[str, ...], lead: float = 0.0) -> list[dict[str, object]]:
    """inventory is refused by its cache from 300 s on and checkout with it; its own first error comes `lead` earlier."""
    lines: list[dict[str, object]] = []
    for place, second in enumerate(range(-1200, 600, 2)):
        host: dict[str, Any] = {"host.name": hosts[place % len(hosts)]} if hosts else {}
        own = {"trace.id": f"{place:032x}"}
        if second >= 300 and place % 3:
            lines.append(line(second, OOM, "error", "inventory", **host, **own))
            lines.append(line(second + 0.02, "checkout failed: inventory answered", "error", "checkout", **own))
        else:
            lines.append(line(second, f"reserved in {place % 9} ms", service="inventory", **host, **own))
            lines.append(line(second + 0.02, f"order {place} placed", service="checkout", **own))
    if lead:
        lines.append(line(300 - lead, "lost the connection to its cache, trying again", "error", "inventory"))
    return sorted(lines, key=lambda one: str(one["@timestamp"]))


def ran(folder: Path, lines: list[dict[str, object]]) -> Ran:
    return run(settings(folder), files=(write(folder, lines),), since=SINCE, until=UNTIL)


@pytest.mark.parametrize("hosts", [(), ("inv-1",), ("inv-1", "inv-2")])
def test_the_cache_is_looked_at_and_not_the_host_of_a_service_that_calls_it(
    tmp_path: Path, hosts: tuple[str, ...]
) -> None:
    first = ran(tmp_path, outage(hosts)).diagnosis.next_steps[0]
    assert first.purpose == "Read used memory, limit and eviction policy of the cache"
    assert not first.command


def test_one_host_of_several_that_fail_alike_is_not_named(tmp_path: Path) -> None:
    full = [{**one, "message": str(one["message"]).replace(OOM, "write failed: No space left on device")} for one in
            outage(("inv-1", "inv-2"))]  # fmt: skip
    steps = ran(tmp_path, full).diagnosis.next_steps
    assert not any("inv-" in f"{step.purpose} {step.command}" for step in steps)
    one_host = [{**one, "host.name": "inv-1"} if "host.name" in one else one for one in full]
    assert "(on inv-1)" in ran(tmp_path, one_host).diagnosis.next_steps[0].purpose


def test_the_first_of_the_lines_that_say_how_it_broke_is_no_second_row(tmp_path: Path) -> None:
    found = ran(tmp_path, outage(())).diagnosis
    leading = found.hypotheses[0]
    assert leading.entity["service.name"] == "inventory"
    assert leading.mechanism_lines
    assert leading.discriminating == []
    assert (found.outcome, found.confidence.capped_by) == ("probable", "single_row")


def test_an_earlier_failure_of_the_suspect_in_other_words_is_one(tmp_path: Path) -> None:
    found = ran(tmp_path, outage((), lead=6)).diagnosis
    assert found.hypotheses[0].discriminating
    assert found.outcome == "confirmed"
