"""Real search nodes for the tests, from Maven artifacts and a JDK; no Docker, no archive.

    python -m tests.nodes.nodes es9                          # prints its URL, ends with its standard input
    python -m tests.nodes.nodes os2 --nodes 2 search.max_buckets=500

A JDK 17 (os2, es8) or 21 (os3, es9) is needed, Maven and the network for the first run only: class path and classes are
kept under ~/.cache/logagent-test-nodes. Licences: OpenSearch and its runner Apache-2.0; Elasticsearch
AGPLv3/SSPL/ELv2, fetched for tests and never shipped.
"""

# ruff: noqa: TID251 - tests may read the environment, and must wait for another process
import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

HERE = Path(__file__).resolve().parent
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


class Flavour(NamedTuple):
    """How one server line is started."""

    source: str
    main: str
    oldest_jdk: int


FLAVOURS = {
    "os2": Flavour("OsNode.java", "OsNode", 17),
    "os3": Flavour("OsNode.java", "OsNode", 21),
    "es8": Flavour("EsNode.java", "org.elasticsearch.node.EsNode", 17),
    "es9": Flavour("EsNode.java", "org.elasticsearch.node.EsNode", 21),
}


class NotStarted(RuntimeError):
    """A node could not be started; the text says what to install, or ends with the server's own words."""


class SearchNode:
    """A server process (one JVM, with one or more nodes) that ends with this process, whatever ends it."""

    def __init__(
        self, flavour: str, *, port: int = 0, nodes: int = 1, heap: str = "512m", settings: Sequence[str] = ()
    ) -> None:
        if nodes != 1 and not flavour.startswith("os"):
            raise ValueError("only the OpenSearch launcher takes more than one node")
        self.flavour = flavour
        self.name = flavour
        jdk = find_jdk(FLAVOURS[flavour].oldest_jdk)
        classpath, cache = _prepare(flavour, jdk)
        self._folder = Path(tempfile.mkdtemp(prefix=f"logagent-{flavour}-"))
        self._log = self._folder / "node.log"
        command = _command(flavour, jdk, classpath, cache, self._folder, heap)
        command += [
            str(self._folder / "data"),
            str(port),
            *([str(nodes)] if flavour.startswith("os") else []),
            *settings,
        ]
        with self._log.open("wb") as log:  # a file: an unread pipe would stop the server when it is full
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            )
        self.ports: list[int] = []
        self.url = ""

    def wait(self, seconds: float = 120.0) -> Self:
        """Until the server answers. Stops it when it does not."""
        try:
            self.ports = self._word("READY", 0, seconds)
            self.url = f"http://127.0.0.1:{self.ports[0]}"
            _until(self._healthy, 60, f"{self.flavour} is not healthy")
        except BaseException:
            self.stop()
            raise
        return self

    def command(self, line: str, answer: str) -> list[int]:
        """OpenSearch only: "stop 2" -> STOPPED, "start 2" -> STARTED; the ports, 0 for a stopped node."""
        offset = self._log.stat().st_size
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self._word(answer, offset, 60)

    def stop(self) -> None:
        """End the server by its own process: end of input first, then signals; remove its data."""
        if self.process.stdin:
            with suppress(OSError):
                self.process.stdin.close()
        for end in (lambda: None, self.process.terminate, self.process.kill):
            end()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(15)
                break
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.wait() if not self.ports else self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def _word(self, word: str, offset: int, seconds: float) -> list[int]:
        found: list[int] = []

        def said() -> bool:
            text = self._log.read_bytes()[offset:].decode(errors="replace")
            match = re.search(rf"^{word}((?: \d+)+)$", text, re.MULTILINE)
            found.extend(int(port) for port in match[1].split()) if match else None
            if not match and self.process.poll() is not None:
                raise NotStarted(f"{self.flavour} ended ({self.process.poll()}):\n{text[-4000:]}")
            return bool(match)

        _until(said, seconds, f"{self.flavour} did not say {word}")
        return found

    def _healthy(self) -> bool:
        health = f"{self.url}/_cluster/health?wait_for_status=yellow&timeout=10s"
        with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(health, timeout=15) as answer:  # noqa: S310
            return json.load(answer)["status"] in {"yellow", "green"}
        return False


def find_jdk(oldest: int) -> Path:
    """Home of the oldest JDK that will do: LOGAGENT_TEST_JDK, JAVA_HOME, the usual folders, the one on PATH."""
    for name in ("LOGAGENT_TEST_JDK", "JAVA_HOME"):
        home = os.environ.get(name)
        if home and _jdk_version(Path(home)) >= oldest:
            return Path(home)
    homes = [
        home for folder in ("/usr/lib/jvm", "/opt/java") if Path(folder).is_dir() for home in Path(folder).iterdir()
    ]
    homes += Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home")
    javac = shutil.which("javac")
    if javac:
        homes.append(Path(javac).resolve().parent.parent)
    fitting = sorted((_jdk_version(home), home) for home in homes if _jdk_version(home) >= oldest)
    if not fitting:
        raise NotStarted(f"no JDK {oldest} or newer: install one, or set LOGAGENT_TEST_JDK to its folder")
    return fitting[0][1]


def _jdk_version(home: Path) -> int:
    """Major version of a JDK folder, 0 if it is none."""
    try:
        text = (home / "release").read_text()
    except OSError:
        return 0
    found = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', text)
    return int(found[1]) if found and (home / "bin" / "javac").exists() else 0


def _prepare(flavour: str, jdk: Path) -> tuple[str, Path]:
    """Resolve the class path and compile the launcher once; (class path, cache folder)."""
    source = HERE / FLAVOURS[flavour].source
    pom = HERE / f"{flavour}.pom.xml"
    told = pom.read_bytes() + source.read_bytes() + str(_jdk_version(jdk)).encode()
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "logagent-test-nodes"
    folder = root / f"{flavour}-{hashlib.sha256(told).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("w") as lock:  # Maven's repository is not safe against parallel writers
        fcntl.flock(lock, fcntl.LOCK_EX)
        listing = folder / "classpath.txt"
        if not listing.exists() or not all(map(os.path.exists, listing.read_text().split(os.pathsep))):
            _resolve(pom, listing, jdk)
        if not (folder / "compiled").exists():
            options = ["-nowarn", "-proc:none", "-Xlint:none", "-cp", listing.read_text().strip()]
            subprocess.run([jdk / "bin" / "javac", *options, "-d", folder / "classes", source], check=True)
            (folder / "compiled").touch()
        _link_zstd(folder / "native")
    return f"{folder / 'classes'}{os.pathsep}{listing.read_text().strip()}", folder


def _resolve(pom: Path, listing: Path, jdk: Path) -> None:
    if not shutil.which("mvn"):
        raise NotStarted("Maven is needed for the first run: install `mvn`, or set LOGAGENT_TEST_ES_URL to a server")
    environment = dict(os.environ) if shutil.which("java") else {**os.environ, "JAVA_HOME": str(jdk)}
    goal = [f"{PLUGIN}:build-classpath", f"-Dmdep.outputFile={listing}"]
    done = subprocess.run(
        ["mvn", "-q", "-B", "-f", pom, *goal], check=False, capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise NotStarted(f"Maven could not fetch {pom.stem}:\n{done.stdout[-2000:]}")


def _link_zstd(native: Path) -> None:
    """ES 9 compresses logsdb and best_compression by zstd, and looks for it in a folder of its own."""
    native.mkdir(exist_ok=True)
    libraries = [*Path("/usr/lib").glob("*/libzstd.so.1"), Path("/usr/lib64/libzstd.so.1")]
    for library in [*libraries, Path("/opt/homebrew/lib/libzstd.dylib")]:
        link = native / f"libzstd{'.dylib' if library.suffix == '.dylib' else '.so'}"
        if library.exists() and not link.exists():
            link.symlink_to(library)


def _command(flavour: str, jdk: Path, classpath: str, cache: Path, folder: Path, heap: str) -> list[str]:
    command = [
        f"{jdk}/bin/java",
        f"-Xms{heap}",
        f"-Xmx{heap}",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:+ExitOnOutOfMemoryError",  # else a search whose thread died is never answered
        "-Dorg.elasticsearch.nativeaccess.enableVectorLibrary=false",
        f"-Des.nativelibs.path={cache / 'native'}",
        f"-Djava.io.tmpdir={folder}",
    ]
    version = _jdk_version(jdk)
    command += ["--enable-native-access=ALL-UNNAMED"] if version >= 21 else []
    command += ["--sun-misc-unsafe-memory-access=allow"] if version >= 24 else []
    return [*command, "-cp", classpath, FLAVOURS[flavour].main]


def _until(done: Callable[[], bool], seconds: float, otherwise: str) -> None:
    """Poll a state of another process, which nothing but polling can show."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise NotStarted(otherwise)
        time.sleep(0.05)


def main() -> None:
    """Run one node until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flavour", choices=sorted(FLAVOURS))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--heap", default="512m")
    parser.add_argument("settings", nargs="*")
    options = parser.parse_args()
    started = time.monotonic()
    node = SearchNode(
        options.flavour, port=options.port, nodes=options.nodes, heap=options.heap, settings=options.settings
    )
    with node:
        print(
            "URL",
            *(f"http://127.0.0.1:{port}" for port in node.ports),
            f"({time.monotonic() - started:.1f} s)",
            flush=True,
        )
        with suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main()
