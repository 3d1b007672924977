"""The search servers of a test session: which there are, started once, stopped with the tests.

In this order: the server of LOGAGENT_TEST_ES_URL (with LOGAGENT_TEST_ES_API_KEY where it wants one), containers where a
Docker engine answers, else four real nodes from Maven artifacts, started in parallel.
"""

# ruff: noqa: TID251 - tests may read the environment
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from tests.nodes.nodes import FLAVOURS, NotStarted, SearchNode

EXTERNAL = "LOGAGENT_TEST_ES_URL"
BULK = 2_000
"""Documents of one bulk request."""
CONTAINERS = {
    "es9-container": (
        "docker.elastic.co/elasticsearch/elasticsearch:9.2.1",
        {"discovery.type": "single-node", "xpack.security.enabled": "false", "ES_JAVA_OPTS": "-Xms1g -Xmx1g"},
    ),
    "es8-container": (
        "docker.elastic.co/elasticsearch/elasticsearch:8.19.4",
        {"discovery.type": "single-node", "xpack.security.enabled": "false", "ES_JAVA_OPTS": "-Xms1g -Xmx1g"},
    ),
    "os3-container": (
        "opensearchproject/opensearch:3.3.2",
        {"discovery.type": "single-node", "DISABLE_SECURITY_PLUGIN": "true", "OPENSEARCH_JAVA_OPTS": "-Xms1g -Xmx1g"},
    ),
}


@dataclass(frozen=True)
class Server:
    """A server to test against. Tests write to it here; the product never can."""

    name: str
    url: str
    api_key: str = ""

    @property
    def is_opensearch(self) -> bool:
        """Whether this is OpenSearch."""
        return self.name.startswith("os") or "opensearch" in str(self.request("GET", "/")[1]).lower()

    def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send JSON (or ready NDJSON bytes); (status, decoded answer)."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.url}{path}", data=data, method=method)  # noqa: S310
        request.add_header("Content-Type", "application/x-ndjson" if isinstance(body, bytes) else "application/json")
        if self.api_key:
            request.add_header("Authorization", f"ApiKey {self.api_key}")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"{}")

    def create(
        self, index: str, *, mappings: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Make an index, and wait for its shards where they can be placed at all."""
        body = {"mappings": mappings or {}, "settings": {"number_of_replicas": 0, **(settings or {})}}
        stuck = any("routing" in name for name in settings or {})
        status, answer = self.request("PUT", f"/{index}?wait_for_active_shards={0 if stuck else 'all'}", body)
        assert status == 200, answer

    def load(self, index: str, documents: Iterable[Mapping[str, Any]], ids: Sequence[str] = ()) -> None:
        """Put documents into an index, and make them visible. A document is refused: the test fails."""
        lines = []
        for number, document in enumerate(documents):
            action = {"create": {"_index": index, **({"_id": ids[number]} if ids else {})}}
            lines.append(f"{json.dumps(action)}\n{json.dumps(document)}\n")
        for start in range(0, len(lines), BULK):
            status, answer = self.request("POST", "/_bulk", "".join(lines[start : start + BULK]).encode())
            refused = [item for item in answer.get("items", ()) if "error" in next(iter(item.values()))]
            assert status == 200, answer
            assert not refused, refused[0]
        self.request("POST", f"/{index}/_refresh")

    def delete(self, *indices: str) -> None:
        """Delete indices by name."""
        for index in indices:
            self.request("DELETE", f"/{index}?ignore_unavailable=true")


class _Startable(Protocol):
    url: str

    def stop(self) -> None: ...


class Pool:
    """Starts servers when one is first needed: all that the session will need, at the same time."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._running: dict[str, _Startable] = {}
        self._failed: dict[str, str] = {}
        self._started = False

    def get(self, name: str) -> Server:
        """The server of that name.

        Raises:
            NotStarted: it cannot be started here; the text says what to install.
        """
        if name == "external":
            return Server(name, os.environ[EXTERNAL].rstrip("/"), os.environ.get("LOGAGENT_TEST_ES_API_KEY", ""))
        if not self._started:
            self._started = True
            self._start()
        if name in self._failed:
            raise NotStarted(self._failed[name])
        return Server(name, self._running[name].url)

    def stop(self) -> None:
        """Stop all that was started."""
        while self._running:
            self._running.popitem()[1].stop()

    def _start(self) -> None:
        nodes: dict[str, SearchNode] = {}
        for name in self._names:
            try:
                if name in CONTAINERS:
                    self._running[name] = _Container(name)
                elif name in FLAVOURS:
                    nodes[name] = SearchNode(name)
            except (NotStarted, OSError, subprocess.CalledProcessError) as error:
                self._failed[name] = str(error)
        for name, node in nodes.items():
            try:
                self._running[name] = node.wait()
            except NotStarted as error:
                self._failed[name] = str(error)


class _Container:
    """A server in a container; Docker's own clean-up ends it should the tests die."""

    def __init__(self, name: str) -> None:
        from testcontainers.core.container import DockerContainer  # noqa: PLC0415

        image, environment = CONTAINERS[name]
        self._container = DockerContainer(image).with_exposed_ports(9200)
        for key, value in environment.items():
            self._container = self._container.with_env(key, value)
        self._container.start()
        self.url = f"http://{self._container.get_container_host_ip()}:{self._container.get_exposed_port(9200)}"
        deadline = time.monotonic() + 180
        while Server(name, self.url) and not _answers(self.url):
            if time.monotonic() > deadline:
                self.stop()
                raise NotStarted(f"the container of {image} does not answer")
            time.sleep(0.5)

    def stop(self) -> None:
        """Remove the container."""
        self._container.stop()


def server_names() -> list[str]:
    """Names of the servers of this session; known before anything is started."""
    if os.environ.get(EXTERNAL):
        return ["external"]
    return list(CONTAINERS) if _docker_answers() else list(FLAVOURS)


def is_ci() -> bool:
    """Whether a missing server is a failure and not a reason to skip."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def _docker_answers() -> bool:
    """Whether containers can be started: testcontainers is installed and an engine answers."""
    if not shutil.which("docker"):
        return False
    try:
        import testcontainers.core.container  # noqa: F401, PLC0415
    except ImportError:
        return False
    with suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(["docker", "info"], check=False, capture_output=True, timeout=10).returncode == 0
    return False


def _answers(url: str) -> bool:
    with suppress(OSError, urllib.error.URLError), urllib.request.urlopen(f"{url}/", timeout=5):  # noqa: S310
        return True
    return False
