"""The survey on a search node, beside an error search by hand: `python -m benchmarks.cluster URL [--docs N] [-v]`.

Loads `--docs` documents of one day (`benchmarks.data`; by default 1,000,000, about 2 minutes) into the index
`logs-bench-N`, unless they are there from an earlier run; with `--keep-out` nothing is loaded. Then a whole day, half a
day and the 40 minutes of an incident are surveyed as `logagent diagnose --no-llm` does: from the first look at the
source to the digest, and on to the verified diagnosis. Nothing is answered from a cache: those of the index are emptied
before each run (by the benchmark; the package cannot).

The yardstick, in turns with the survey, is the search that a person with a dashboard sends first: errors by service and
over time, and the newest ten. The first round is not counted, since a node that was just started compiles its code.
`took` is the server's own time of all requests, of which up to four run at once. `-v` adds the requests of the fastest
survey, `--json` one object as the last line. On a busy machine trust the fastest run, and look at the ratio.

Any node will do. Without Docker, one in the foreground, with Java 21 and Maven only (the variable lets it compile as a
real server does; test nodes do not, to start fast):

    _JAVA_OPTIONS=-XX:TieredStopAtLevel=4 python -m tests.nodes.nodes es9 --port 9200 --heap 1g
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.data import END, INCIDENT, START, write
from fixtures.load import Target, load
from logagent.events import ignore
from logagent.logs import iso
from logagent.settings import RunOptions
from logagent.settings import load as settings
from logagent.wiring import open_session

DOCS, RUNS = 1_000_000, 5
MOST_SECONDS, MOST_REQUESTS = 5.0, 25
"""What the survey may take over 1,000,000 documents."""
WINDOWS: Mapping[str, tuple[datetime, datetime]] = {
    "day": (START, END),
    "half day": (START + timedelta(hours=12), END),
    "incident": INCIDENT,
}


@dataclass(frozen=True, slots=True)
class Survey:
    """One run: seconds to the digest and to the verified diagnosis, requests and server time up to each."""

    seconds: float
    requests: int
    took_ms: int
    whole_seconds: float
    whole_requests: int
    log: tuple[str, ...]
    """What each request was, and what the server says it took."""


@dataclass(slots=True)
class Measured:
    """All runs over one window."""

    window: str
    surveys: list[Survey] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    """Seconds of the yardstick."""

    @property
    def fastest(self) -> Survey:
        """The run that the machine disturbed least."""
        return min(self.surveys, key=lambda one: one.seconds)

    def row(self) -> dict[str, Any]:
        """One row of the result."""
        seconds = [one.seconds for one in self.surveys]
        return {
            "window": self.window,
            "runs": len(seconds),
            "requests": max(one.requests for one in self.surveys),
            "min_s": round(min(seconds), 2),
            "median_s": round(statistics.median(seconds), 2),
            "max_s": round(max(seconds), 2),
            "took_ms": round(statistics.median(one.took_ms for one in self.surveys)),
            "diagnosis_median_s": round(statistics.median(one.whole_seconds for one in self.surveys), 2),
            "diagnosis_requests": max(one.whole_requests for one in self.surveys),
            "search_min_s": round(min(self.searches), 3),
            "search_median_s": round(statistics.median(self.searches), 3),
            "ratio": round(statistics.median(seconds) / statistics.median(self.searches), 1),
        }


def fill(target: Target, index: str, docs: int, *, keep_out: bool) -> None:
    """Make and load the documents, unless as many are there.

    Raises:
        SystemExit: they are missing and nothing may be written, or the node did not take all.
    """
    query = "ignore_unavailable=true"
    if target.send("GET", f"/{index}/_count?{query}").get("count") == docs:
        return
    if keep_out:
        sys.exit(f"{index} does not hold {docs:,} documents, and --keep-out forbids to load them.")
    print(f"making and loading {docs:,} documents", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "logs.ndjson"
        write(path, docs)
        taken = load(target, path, schema="ecs", index=index)
    if taken != docs:
        sys.exit(f"{index} took {taken:,} of {docs:,} documents.")


def survey(target: Target, index: str, window: tuple[datetime, datetime], key_file: str | None) -> Survey:
    """One diagnosis without a model, with the time at which its survey was done."""
    given = {"es.url": target.url, "es.api_key_file": key_file, "es.ca_cert": target.ca_cert}
    options = RunOptions(
        indices=(index,), since=iso(window[0]), until=iso(window[1]), use_model=False, save=False, effort="quick"
    )
    began = time.perf_counter()
    with open_session(settings(given, {}), options, ignore) as session:
        findings = session.survey()
        seconds, usage = time.perf_counter() - began, session.store.usage
        requests, took, log = usage.requests, usage.took_ms, tuple(usage.log)
        session.conclude(findings)
        return Survey(seconds, requests, took, time.perf_counter() - began, usage.requests, log)


def search(target: Target, index: str, window: tuple[datetime, datetime]) -> float:
    """Seconds of the yardstick: errors by service and over time, and the newest ten."""
    start, end = (iso(one) for one in window)
    step = max(1, round((window[1] - window[0]).total_seconds() / 60))
    body = {
        "size": 10,
        "track_total_hits": True,
        "sort": [{"@timestamp": "desc"}],
        "query": {
            "bool": {
                "filter": [
                    {"range": {"@timestamp": {"gte": start, "lt": end}}},
                    {"terms": {"level": ["ERROR", "FATAL"]}},
                ]
            }
        },
        "aggs": {
            "services": {"terms": {"field": "service", "size": 20}},
            "time": {"date_histogram": {"field": "@timestamp", "fixed_interval": f"{step}s"}},
        },
    }
    began = time.perf_counter()
    target.send("POST", f"/{index}/_search", json.dumps(body).encode())
    return time.perf_counter() - began


def measure(target: Target, index: str, runs: int, key_file: str | None) -> list[Measured]:
    """All windows in turns, each run with empty caches; the first round is not counted."""
    found = [Measured(name) for name in WINDOWS]
    for number in range(runs + 1):
        for one in found:
            window = WINDOWS[one.window]
            target.send("POST", f"/{index}/_cache/clear")
            seconds = search(target, index, window)
            target.send("POST", f"/{index}/_cache/clear")
            surveyed = survey(target, index, window, key_file)
            if number:
                one.searches.append(seconds)
                one.surveys.append(surveyed)
    return found


def table(found: Sequence[Measured], *, verbose: bool) -> str:
    """The result for people."""
    head = ("window", "requests", "best", "median", "took", "diagnosis", "error search", "ratio")
    lines = ["{:<10}{:>9}{:>9}{:>9}{:>9}{:>11}{:>14}{:>7}".format(*head)]
    for one in found:
        row = one.row()
        lines.append(
            f"{row['window']:<10}{row['requests']:>9}{row['min_s']:>7.2f} s{row['median_s']:>7.2f} s"
            f"{row['took_ms'] / 1000:>7.2f} s{row['diagnosis_median_s']:>9.2f} s{row['search_median_s']:>12.3f} s"
            f"{row['ratio']:>7.1f}"
        )
        lines += [f"    {line}" for line in one.fastest.log if verbose]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and with `--json` one object as the last line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", help="such as http://127.0.0.1:9200")
    parser.add_argument("--docs", type=int, default=DOCS, help=f"documents of the day (default: {DOCS:,})")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"counted runs for each window (default: {RUNS})")
    parser.add_argument("--index", default="", help="index to use (default: logs-bench-N)")
    parser.add_argument("--keep-out", action="store_true", help="never load: the index must hold the documents")
    parser.add_argument("--api-key-file", help="file with an encoded API key that may write")
    parser.add_argument("--ca-cert", help="certificate of the authority that signed the node's")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the requests of the fastest survey")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    chosen = parser.parse_args(arguments)
    began = time.perf_counter()
    key = Path(chosen.api_key_file).read_text("utf-8").strip() if chosen.api_key_file else ""
    target, index = Target(chosen.url, key, chosen.ca_cert), chosen.index or f"logs-bench-{chosen.docs}"
    fill(target, index, chosen.docs, keep_out=chosen.keep_out)
    found = measure(target, index, max(1, chosen.runs), chosen.api_key_file)
    print(table(found, verbose=chosen.verbose))
    rows = [one.row() for one in found]
    slowest, most = max(row["median_s"] for row in rows), max(row["requests"] for row in rows)
    print(
        f"{chosen.docs:,} documents: at most {slowest:.1f} s and {most} requests to the digest"
        f" (aim at 1,000,000: {MOST_SECONDS:.0f} s, {MOST_REQUESTS}); {os.cpu_count()} cores"
    )
    if chosen.json:
        metrics = {"slowest_median_s": slowest, "requests": most, "docs": chosen.docs, "cores": os.cpu_count()}
        seconds = round(time.perf_counter() - began, 1)
        print(json.dumps({"eval": "cluster", "cases": len(rows), "seconds": seconds, "metrics": metrics, "rows": rows}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
