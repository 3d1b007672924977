"""Small seeded scenarios: faults of eight kinds and what only looks like one, and requests over four services.

Every scenario is a function of a random generator that answers (events, what a right answer says); the seed chooses
wording, names, times and volumes. A look-alike has no answer: a cause must not be claimed for it.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources

from logagent.analysis.events import from_record
from logagent.analysis.facts import Event
from logagent.analysis.mechanisms import Catalogue
from logagent.logs import LogRecord, RecordId, Severity

START = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
T0 = START.timestamp()
INFO, WARN, ERROR = Severity.INFO, Severity.WARN, Severity.ERROR


@dataclass(frozen=True)
class Want:
    """A right answer: the service (or the entity), the onset in seconds from the start, and what is known beside it."""

    root: str
    onset: float | None = None
    mechanisms: tuple[str, ...] = ()
    status: str = "ongoing"
    tolerance: float = 90.0


Made = tuple[list[Event], Want | None]
Scenario = Callable[[random.Random], Made]
FAULTS: list[Scenario] = []
LOOKALIKES: list[Scenario] = []


def fault(make: Scenario) -> Scenario:
    """Register a scenario with a fault."""
    FAULTS.append(make)
    return make


def lookalike(make: Scenario) -> Scenario:
    """Register a scenario that only looks like a fault."""
    LOOKALIKES.append(make)
    return make


@cache
def catalogue() -> Catalogue:
    """The mechanism list of the package."""
    data = resources.files("logagent.analysis").joinpath("mechanisms.json").read_bytes()
    return Catalogue.from_index(json.loads(data))


def line(at: float, service: str, severity: Severity | None, message: str, **fields: str | float | bool) -> Event:
    """One event by way of a record, as a store would answer it."""
    trace = str(fields.pop("trace", ""))
    logger = str(fields.pop("logger", ""))
    record = LogRecord(
        RecordId("test", f"{service}-{at}"),
        START + timedelta(seconds=at),
        message,
        service=service,
        severity=severity,
        trace_id=trace,
        logger=logger,
        fields=fields,
    )
    return from_record(record)


def sort(events: list[Event]) -> list[Event]:
    """Oldest first."""
    return sorted(events, key=lambda event: event.time)


def times(rng: random.Random, start: float, end: float, number: int) -> list[float]:
    """Random times in a span."""
    return sorted(rng.uniform(start, end) for _ in range(number))


def traffic(rng: random.Random, service: str, start: float, end: float, every: float) -> list[Event]:
    """Ordinary requests at a mean distance in seconds."""
    style = rng.choice(["{m} /{p}/{n} -> 200 in {d} ms", "answered {p} {n} (200) after {d} ms", "{p} {n} done"])
    found, at = [], start
    while (at := at + rng.expovariate(1 / every)) < end:
        text = style.format(
            m=rng.choice(["GET", "PUT"]),
            p=rng.choice(["rooms", "guests", "bills"]),
            n=rng.randint(1000, 99999),
            d=rng.randint(4, 60),
        )
        found.append(line(at, service, INFO, text))
    return found


def app(rng: random.Random) -> str:
    """Name of a service."""
    return rng.choice(["booking", "checkin", "housekeeping", "minibar"]) + rng.choice(["-api", "-svc", ""])


def stated(*texts: str, mechanisms: tuple[str, ...], root: str = "") -> Scenario:
    """Errors with one of several wordings from a random time on, with less traffic since."""

    def make(rng: random.Random) -> Made:
        service, begin = app(rng), rng.uniform(600, 1200)
        text = rng.choice(texts)
        calm = traffic(rng, service, 0, begin, 4) + traffic(rng, service, begin, 1800, 7)
        bad = [line(at, service, ERROR, text) for at in [begin, *times(rng, begin, 1790, rng.randint(18, 40))]]
        return sort(calm + bad), Want(root or service, begin, mechanisms)

    make.__name__ = mechanisms[0]
    return make


# 1: lines that state a mechanism

fault(
    stated(
        "could not open session: connect to ledger-db:5432 failed: Connection refused",
        "dial tcp 10.8.0.3:5432: connect: connection refused while opening ledger-db",
        mechanisms=("net.refused", "db.unavailable"),
    )
)
fault(
    stated(
        "HikariPool-3 - Connection is not available, request timed out after 20000ms.",
        "timeout acquiring a connection from the pool, all 30 in use",
        mechanisms=("pool.exhausted",),
    )
)
fault(
    stated(
        "write /data/segments/17: no space left on device",
        "java.io.IOException: No space left on device",
        mechanisms=("disk.full",),
    )
)


@fault
def the_deepest_cause_of_a_chain_names_the_mechanism(rng: random.Random) -> Made:
    """The outer exception is bland, the innermost one is not."""
    service, begin = app(rng), rng.uniform(700, 1100)
    text = (
        "could not store the bill\nPersistenceException: flush failed\nCaused by: ResourceException: no session\n"
        "Caused by: java.net.UnknownHostException: ledger.internal"
    )
    bad = [line(at, service, ERROR, text) for at in [begin, *times(rng, begin, 1790, 25)]]
    return sort(traffic(rng, service, 0, 1800, 4) + bad), Want(service, begin, ("dns.not_found",))


@lookalike
def a_mechanism_at_the_same_low_rate_all_through(rng: random.Random) -> Made:
    """Background: it was there before and goes on."""
    service = app(rng)
    text = rng.choice(["read tcp 10.8.0.9:443: connection reset by peer", "duplicate key value violates constraint u7"])
    bad = [line(at, service, ERROR, text) for at in times(rng, 5, 3590, 24)]
    return sort(traffic(rng, service, 0, 3600, 3) + bad), None


@lookalike
def alarming_words_in_harmless_lines(rng: random.Random) -> Made:
    """Words of failure that state none."""
    service = app(rng)
    words = [
        "0 errors, 0 failures in 41 checks",
        "handler for OutOfMemoryError registered",
        "retry budget: 3, timeout 9s",
    ]
    lines = [line(at, service, INFO, rng.choice(words)) for at in times(rng, 5, 1790, 25)]
    return sort(traffic(rng, service, 0, 1800, 4) + lines), None


# 2: events of a platform


def event(at: float, kind: str, reason: str, target: str, text: str, count: int = 1) -> Event:
    """A Kubernetes event about a pod."""
    fields: dict[str, str | float | bool] = {
        "type": kind,
        "reason": reason,
        "involvedObject.kind": "Pod",
        "involvedObject.name": target,
        "count": count,
    }
    return line(at, "kubelet", None, text, **fields)


@fault
def a_container_is_killed_for_memory_again_and_again(rng: random.Random) -> Made:
    """The event stands for several kills and names the pod, whose workload is the cause."""
    service, begin = app(rng), rng.uniform(600, 1000)
    pod = f"{service}-7d9fc5b6c4-x2k8p"
    kills = [
        event(
            begin + i * 90, "Warning", "OOMKilling", pod, "Memory cgroup out of memory: Killed process 77 (java)", i + 1
        )
        for i in range(4)
    ]
    mates = traffic(rng, "frontdesk", 0, 1800, 5)
    return sort(mates + traffic(rng, service, 0, begin, 5) + kills), Want(service, begin, ("memory.oom_kill",))


@lookalike
def probes_fail_while_pods_are_told_to_stop(rng: random.Random) -> Made:
    """A rollout."""
    service = app(rng)
    found = traffic(rng, service, 0, 1800, 4)
    for i in range(3):
        pod, at = f"{service}-7d9fc5b6c4-x2k{i}p", 700 + 60 * i
        found += [
            event(at, "Normal", "Killing", pod, "Stopping container main"),
            event(
                at + 5, "Warning", "Unhealthy", pod, "Readiness probe failed: HTTP probe failed with statuscode: 503"
            ),
            event(at + 9, "Normal", "Started", f"{service}-5b6f9c7d4c-q8w{i}z", "Started container main"),
        ]
    return sort(found), None


# 3: over, and told so


@lookalike
def a_failover_ends_after_seconds(rng: random.Random) -> Made:
    """Four errors between the start and the end of a failover."""
    service, at = app(rng), rng.uniform(700, 1000)
    lines = [line(at, "ledger-db", INFO, "failover started: promoting replica ledger-db-2")]
    lines += [line(at + 2 * i, service, ERROR, "connection to ledger-db lost: server closed it") for i in range(1, 4)]
    lines.append(line(at + 14, "ledger-db", INFO, "failover completed, ledger-db-2 is primary"))
    return sort(traffic(rng, service, 0, 1800, 4) + lines), None


@lookalike
def calls_that_are_retried_with_success(rng: random.Random) -> Made:
    """The line excuses itself."""
    service = app(rng)
    text = "call to tax-office timed out after 2 s, retried successfully"
    lines = [line(at, service, WARN, text) for at in times(rng, 600, 1500, 20)]
    return sort(traffic(rng, service, 0, 1800, 4) + lines), None


@fault
def a_fault_that_is_over_is_recovered(rng: random.Random) -> Made:
    """Many failing lines, then the service says that it is back."""
    service, begin = app(rng), rng.uniform(500, 700)
    text = "connect to ledger-db:5432 failed: Connection refused"
    bad = [line(at, service, ERROR, text) for at in [begin, *times(rng, begin, begin + 300, 45)]]
    back = [line(begin + 310, service, INFO, "connection to ledger-db restored")]
    calm = traffic(rng, service, 0, begin, 4) + traffic(rng, service, begin + 310, 2400, 4)
    return sort(calm + bad + back), Want(service, begin, ("net.refused", "db.unavailable"), "recovered")


# 4: ramps


@fault
def memory_grows_until_the_limit(rng: random.Random) -> Made:
    """A gauge in a text with its limit."""
    service, begin = app(rng), rng.uniform(1000, 1500)
    lines = [
        line(
            at,
            service,
            INFO,
            f"heap used {int(700 + max(0.0, at - begin) * 0.55 + rng.uniform(-15, 15))} MB of 2000 MB",
        )
        for at in range(20, 3600, 40)
    ]
    return sort(traffic(rng, service, 0, 3600, 6) + lines), Want(service, begin, ("memory.near_limit",), tolerance=200)


@lookalike
def memory_follows_the_traffic(rng: random.Random) -> Made:
    """Twice the requests, less than twice the memory."""
    service = app(rng)
    calm = traffic(rng, service, 0, 1800, 6)
    for i in range(12):
        calm += traffic(rng, service, 1800 + 150 * i, 1950 + 150 * i, 6 / (1 + 0.35 * i))
    lines = [
        line(at, service, INFO, f"heap used {int(600 + max(0.0, at - 1800) * 0.25 + rng.uniform(-9, 9))} MB")
        for at in range(20, 3600, 40)
    ]
    return sort(calm + lines), None


@lookalike
def memory_saws_with_every_collection(rng: random.Random) -> Made:
    """Up and down, as heaps do."""
    service = app(rng)
    lines = [line(at, service, INFO, f"heap used {400 + (at % 600) * 2} MB of 2000 MB") for at in range(15, 3600, 30)]
    return sort(traffic(rng, service, 0, 3600, 5) + lines), None


# 5: numbers and settings


@fault
def a_query_slows_from_one_level_to_another(rng: random.Random) -> Made:
    """A duration in a field."""
    service, begin = app(rng), rng.uniform(800, 1000)
    lines = [
        line(
            at,
            service,
            INFO,
            "tariffs loaded",
            duration_ms=rng.uniform(20, 45) if at < begin else rng.uniform(900, 1500),
        )
        for at in times(rng, 5, 1795, 90)
    ]
    return sort(traffic(rng, service, 0, 1800, 5) + lines), Want(service, begin)


@fault
def a_setting_is_lowered_and_the_pool_runs_dry(rng: random.Random) -> Made:
    """The change is a value of the same line."""
    service, begin = app(rng), rng.uniform(900, 1200)
    told = [
        line(50, service, INFO, "configuration reloaded: pool size 60"),
        line(begin - 45, service, INFO, "configuration reloaded: pool size 3"),
    ]
    text = "timeout acquiring a connection from the pool, all in use"
    bad = [line(at, service, ERROR, text) for at in [begin, *times(rng, begin, 1790, 35)]]
    return sort(traffic(rng, service, 0, 1800, 4) + told + bad), Want(service, begin, ("pool.exhausted",))


@lookalike
def numbers_that_only_count(rng: random.Random) -> Made:
    """Sequence numbers and sizes grow; nothing is wrong."""
    service = app(rng)
    lines = [
        line(at, service, INFO, f"flushed segment {900 + at} seq={at * 7} bytes written {at * 31}")
        for at in range(5, 1800, 25)
    ]
    return sort(traffic(rng, service, 0, 1800, 4) + lines), None


# 6: changes


@lookalike
def a_deployment_without_consequences(rng: random.Random) -> Made:
    """A release, and all goes on."""
    service = app(rng)
    told = [
        line(900, service, INFO, f"deployment started: {service} 4.1.0 -> 4.2.0"),
        line(930, service, INFO, "ready"),
    ]
    return sort(traffic(rng, service, 0, 1800, 3) + told), None


@fault
def a_release_breaks_what_its_errors_name(rng: random.Random) -> Made:
    """The failing lines carry the new version."""
    service, begin = app(rng), rng.uniform(900, 1200)
    told = [line(begin - 40, service, INFO, f"deployment finished: {service} 8.3.1")]
    text = "TypeError: cannot read properties of undefined (reading 'tariff') in release 8.3.1"
    bad = [line(at, service, ERROR, text) for at in [begin, *times(rng, begin, 1790, 30)]]
    return sort(traffic(rng, service, 0, 1800, 4) + told + bad), Want(service, begin)


# 7: one service, plain text


@fault
def text_without_levels(rng: random.Random) -> Made:
    """Only the shape of the text says that it failed."""
    begin = rng.uniform(700, 1100)
    text = rng.choice(["accept4: too many open files", "open /srv/www/x: too many open files"])
    calm = [line(at, "app", None, f"served page {rng.randint(1, 999)}") for at in times(rng, 0, 1800, 350)]
    bad = [line(at, "app", None, f"error: {text}") for at in [begin, *times(rng, begin, 1790, 40)]]
    return sort(calm + bad), Want("app", begin, ("limits.file_descriptors",))


# 8: intermittent


@fault
def trouble_comes_and_goes_at_even_distances(rng: random.Random) -> Made:
    """Bursts with healthy lines in between."""
    service = app(rng)
    text = rng.choice(["lock wait timeout exceeded; try restarting transaction", "read ECONNRESET from cache-4"])
    bad = [line(t, service, ERROR, text) for at in range(700, 6700, 600) for t in times(rng, at, at + 40, 12)]
    return sort(traffic(rng, service, 0, 7200, 5) + bad), Want(service, 700, status="intermittent")


@lookalike
def a_job_that_warns_every_ten_minutes(rng: random.Random) -> Made:
    """A warning without a mechanism at even distances."""
    service = app(rng)
    lines = [line(at, service, WARN, "cache is cold, warming up") for at in range(300, 7200, 600)]
    return sort(traffic(rng, service, 0, 7200, 5) + lines), None


# Requests over four services


@dataclass(frozen=True)
class Requests:
    """Complete requests of a small system: gate calls orders, orders calls prices and stock."""

    number: int = 150
    span: float = 600.0

    def make(self, rng: random.Random, spoil: Callable[[list[Event]], list[Event]] | None = None) -> list[Event]:
        """All lines; from 45 % of the span on, requests go through `spoil`."""
        found: list[Event] = []
        for i, at in enumerate(times(rng, 0, self.span, self.number)):
            rows = self._one(rng, f"t{i:04}", at)
            found += spoil(rows) if spoil is not None and at >= 0.45 * self.span else rows
        return sort(found)

    @staticmethod
    def _one(rng: random.Random, trace: str, at: float) -> list[Event]:
        steps = [
            ("gate", "request accepted"),
            ("orders", "order received"),
            ("orders", "basket checked"),
            ("prices", "tariff asked for"),
            ("prices", "tariff found"),
            ("orders", "price added"),
            ("stock", "rooms asked for"),
            ("stock", "room held"),
            ("orders", "order stored"),
            ("gate", "request answered"),
        ]
        rows = []
        for service, text in steps:
            rows.append(line(at, service, INFO, text, trace=trace, logger=f"{service}.Main#{len(text)}"))
            at += rng.uniform(0.002, 0.02)
        return rows


def other(like: Event, message: str, severity: Severity = ERROR, service: str = "", later: float = 0.001) -> Event:
    """Another line in the same request."""
    at = like.time - T0 + later
    return line(at, service or like.service, severity, message, trace=like.trace or "", logger="handler#7")
