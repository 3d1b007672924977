"""A day of microservice logs of any size: `python -m benchmarks.data 1000000 /tmp/l.ndjson [seed]`.

24 hours up to 2026-11-30T00:00Z as JSON lines of about 390 bytes: 12 services, 62 % INFO, 4.5 % ERROR, nested fields,
stack traces, and an incident from 14:00 to 14:40 in which the connection pool of payment and checkout is exhausted.
The same arguments give the same bytes.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

END = datetime(2026, 11, 30, tzinfo=UTC)
START = END - timedelta(days=1)
INCIDENT = (START + timedelta(hours=14), START + timedelta(hours=14, minutes=40))
BROKEN = frozenset({"payment", "checkout"})

Text = Callable[["Logs", str], str]

_SERVICES = {
    "api-gateway": 30, "checkout": 10, "payment": 8, "inventory": 9, "user-auth": 12, "search": 10,
    "notification": 6, "recommendation": 7, "shipping": 4, "billing": 4, "catalog": 8, "session": 5,
}  # fmt: skip
_PATHS = ("/api/v1/cart", "/api/v1/orders/{id}", "/api/v1/products/{id}", "/login", "/healthz", "/checkout", "/pay")

_INFO: Sequence[Text] = (
    lambda logs, _: f"GET {logs.path()} completed in {logs.number(2, 900)}ms status=200",
    lambda logs, _: (
        f"Processed order {logs.number(0, 10**7)} for user {logs.user()} total={logs.number(1, 900)}.50 EUR"
    ),
    lambda logs, _: f"Cache hit ratio {logs.dice.random():.3f} for region eu-west-{logs.number(1, 4)}",
    lambda logs, _: f"User {logs.user()} logged in from {logs.address()}",
    lambda logs, _: f"Published event OrderCreated to topic orders.v1 offset {logs.number(0, 10**8)}",
    lambda logs, _: f"Scheduled job cleanup-sessions finished: removed {logs.number(0, 5000)} entries",
    lambda logs, service: f"Started consumer group {service}-cg with {logs.number(1, 16)} partitions",
    lambda logs, service: f"Refreshing configuration from s3://config-prod/{service}/v{logs.number(0, 400)}.yaml",
)
_DEBUG: Sequence[Text] = (
    lambda logs, service: f"Acquired lock lock:{service}:{logs.number(0, 9999)} after {logs.number(0, 40)}ms",
    lambda logs, _: f"SQL: items by id {logs.number(0, 10**6)} -- {logs.number(1, 60)} ms",
    lambda logs, _: f"Serialized payload of {logs.number(100, 90000)} bytes for request {logs.hexes(16)}",
)
_WARN: Sequence[Text] = (
    lambda logs, _: f"Slow query took {logs.number(1000, 9000)}ms: sum of amounts in ledger",
    lambda logs, _: f"Retry {logs.number(1, 5)}/5 calling http://{logs.service()}.prod.svc:8080/internal/v1",
    lambda logs, _: f"Connection pool usage at {logs.number(80, 100)}% (idle={logs.number(0, 20)})",
    lambda logs, _: f"Deprecated header X-Client-Id used by client {logs.address()}",
)
_ERRORS: Sequence[tuple[str, Text]] = (
    (
        "java.sql.SQLTransientConnectionException",
        lambda logs, _: (
            f"HikariPool-1 - Connection is not available, request timed out after {logs.number(30000, 30100)}ms."
        ),
    ),
    (
        "java.net.SocketTimeoutException",
        lambda logs, _: f"Upstream request to {logs.service()} timeout after {logs.number(3000, 30001)}ms",
    ),
    ("java.net.ConnectException", lambda logs, _: f"Connection refused: {logs.address()}:5432"),
    ("NullPointerException", lambda _, service: f'Cannot invoke "com.acme.{service}.Model.getId()"'),
    ("PaymentDeclinedError", lambda logs, _: f"Card declined for user {logs.user()}: code do_not_honor"),
    ("ValidationError", lambda logs, _: f'Invalid request body: field "sku" must not be empty ({logs.hexes(16)})'),
    ("redis.exceptions.TimeoutError", lambda logs, _: f"Timeout reading from socket redis-{logs.number(0, 3)}:6379"),
    ("KafkaException", lambda logs, _: f"Failed to send record to orders.v1-{logs.number(0, 24)}: no leader"),
)
_FATAL: tuple[str, Text] = (
    "OutOfMemoryError",
    lambda logs, service: (
        f"Container {logs.pods[service][0]} OOMKilled: memory limit {logs.number(1, 5) * 512}Mi exceeded"
    ),
)


class Logs:
    """A seeded source of log lines."""

    dice: random.Random
    pods: dict[str, list[str]]

    def __init__(self, seed: int = 7) -> None:
        self.dice = random.Random(seed)
        self.names = list(_SERVICES)
        self.pods = {name: [f"{name}-{self.hexes(9)}" for _ in range(self.number(3, 9))] for name in self.names}
        self.versions = {name: f"{self.number(1, 5)}.{self.number(0, 21)}.0" for name in self.names}
        self.nodes = [f"ip-10-0-{self.number(0, 41)}-{self.number(1, 251)}" for _ in range(24)]

    def lines(self, count: int) -> Iterator[str]:
        """`count` JSON lines, oldest first, spread evenly over the day."""
        services = self.dice.choices(self.names, list(_SERVICES.values()), k=min(count, 100_000))
        step = timedelta(days=1) / max(count, 1)
        for index in range(count):
            service = services[index * 7919 % len(services)]
            yield json.dumps(self._record(START + index * step, service), separators=(",", ":")) + "\n"

    def number(self, low: int, high: int) -> int:
        """A number from `low` on and below `high`."""
        return low + int(self.dice.random() * (high - low))

    def hexes(self, length: int) -> str:
        """That many hexadecimal digits."""
        return f"{self.dice.getrandbits(4 * length):0{length}x}"

    def user(self) -> str:
        """A user id."""
        return f"u-{self.number(0, 200_000)}"

    def address(self) -> str:
        """A private IPv4 address."""
        return f"10.{self.number(0, 256)}.{self.number(0, 256)}.{self.number(1, 255)}"

    def path(self) -> str:
        """A request path."""
        return _PATHS[self.number(0, len(_PATHS))].format(id=self.number(0, 10**6))

    def service(self) -> str:
        """Any service."""
        return self.names[self.number(0, len(self.names))]

    def _record(self, at: datetime, service: str) -> dict[str, Any]:
        level, error, text = self._kind(at, service)
        message = text(self, service)
        record: dict[str, Any] = {
            "@timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": level,
            "service": service,
            "message": message,
            "logger": f"com.acme.{service.replace('-', '')}.Handler",
            "trace_id": self.hexes(32),
            "host": self.nodes[self.number(0, len(self.nodes))],
            "kubernetes": {"pod": {"name": self.pods[service][self.number(0, 3)]}, "namespace": "prod"},
            "version": self.versions[service],
        }
        if error or self.dice.random() < 0.5:
            status = (500, 502, 503, 504) if error else (200, 200, 201, 204, 404)
            record["http"] = {"method": "GET", "status": status[self.number(0, len(status))]}
            record["duration_ms"] = int(self.dice.expovariate(1 / (3_000 if error else 80)))
        if error:
            record["error_class"] = error
            if self.dice.random() < 0.5:
                record["stack_trace"] = self._stack(error, message, service)
        return record

    def _kind(self, at: datetime, service: str) -> tuple[str, str, Text]:
        chance = self.dice.random()
        if service in BROKEN and INCIDENT[0] <= at < INCIDENT[1] and chance < 0.35:
            return ("ERROR", *_ERRORS[0 if self.dice.random() < 0.8 else 1])
        if chance < 0.955:
            level, texts = ("INFO", _INFO) if chance < 0.62 else ("DEBUG", _DEBUG) if chance < 0.85 else ("WARN", _WARN)
            return level, "", texts[self.number(0, len(texts))]
        if chance < 0.9998:
            return ("ERROR", *_ERRORS[self.number(0, len(_ERRORS))])
        return ("FATAL", *_FATAL)

    def _stack(self, error: str, message: str, service: str) -> str:
        frames = [
            f"\tat com.acme.{service.replace('-', '')}.Client.call(Client.java:{self.number(20, 600)})"
            for _ in range(self.number(3, 9))
        ]
        return "\n".join([f"{error}: {message}", *frames, "Caused by: java.io.IOException: broken pipe"])


def write(path: Path, count: int, seed: int = 7) -> None:
    """Write `count` lines to a file."""
    with path.open("w", encoding="utf-8", buffering=1 << 22) as file:
        file.writelines(Logs(seed).lines(count))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("path", type=Path)
    parser.add_argument("seed", type=int, nargs="?", default=7)
    arguments = parser.parse_args()
    write(arguments.path, arguments.count, arguments.seed)


if __name__ == "__main__":
    main()
