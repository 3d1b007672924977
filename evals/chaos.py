"""Whole runs against a model server that answers at random: `python -m evals.chaos [--runs 500] [--sockets 36]`.

Each run has a seed. It must end without an exception, at most two seconds after its deadline, with a diagnosis that
the schema accepts and, where the model's was not accepted, with the reason. Prints one JSON object; status 1 where a
run did not.
"""

import argparse
import json
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import jsonschema

from evals._chaos_wire import ChaosTransport, Clock, chaos_server
from logagent.diagnosis import Diagnosis
from logagent.events import LoopEnded, RunEvent
from logagent.evidence import Ledger
from logagent.llm import ChatClient, Endpoint, Timing
from logagent.settings import RunOptions, load
from logagent.triage import Findings
from logagent.wiring import Session, open_session

GRACE_S = 2.0
DEADLINE_S = 15.0
SOCKET_DEADLINE_S = 2.0
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(__file__).parent / "diagnosis.schema.json").read_text(encoding="utf-8"))
)
_LINE = '{"@timestamp":"2026-11-30T14:%02d:%02dZ","log.level":"%s","service.name":"%s","message":"%s"}'


@dataclass(slots=True)
class Tally:
    """What came of the runs."""

    runs: int = 0
    stops: Counter[str] = field(default_factory=Counter)
    played: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    worst_overrun_s: float = 0.0
    slowest_s: float = 0.0
    faults: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "runs": self.runs,
            "faults": len(self.faults),
            "stops": dict(self.stops.most_common()),
            "outcomes": dict(self.outcomes.most_common()),
            "played": dict(self.played.most_common()),
            "worst_overrun_s": round(self.worst_overrun_s, 2),
            "slowest_s": round(self.slowest_s, 2),
            "first_faults": self.faults[:10],
        }


@dataclass(slots=True)
class Stage:
    """One incident, surveyed once; each run asks the model anew."""

    session: Session
    findings: Findings
    ended: list[LoopEnded]
    _rows: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self._rows = Ledger(dict(self.session.ledger.rows), len(self.session.ledger) + 1)

    def diagnose(self, client: ChatClient, clock: Clock | None) -> Diagnosis:
        """One run from the survey on."""
        session = self.session
        session.ledger = Ledger(dict(self._rows.rows), len(self._rows) + 1)
        session.caveats, session.told = [], None
        session.model = client
        session.clock = clock or time.monotonic
        self.ended.clear()
        try:
            return session.conclude(self.findings)
        finally:
            client.close()


@contextmanager
def stage(deadline: float) -> Iterator[Stage]:
    """A small incident: charges fail from 14:20 on."""
    ended: list[LoopEnded] = []

    def note(event: RunEvent) -> None:
        if isinstance(event, LoopEnded):
            ended.append(event)

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "app.log"
        log.write_text("\n".join(_lines()) + "\n", encoding="utf-8")
        settings = load({"llm.base_url": "http://127.0.0.1:9/v1", "llm.model": "chaos"}, {})
        options = RunOptions(files=(str(log),), save=False, deadline_seconds=deadline, effort="standard")
        with open_session(settings, options, note) as session:
            yield Stage(session, session.survey(), ended)


def _lines() -> Iterator[str]:
    for minute in range(30):
        for second in range(0, 60, 15):
            yield _LINE % (minute, second, "info", "web", f"GET /cart 200 {second} ms")
            yield _LINE % (minute, second, "info", "pay", f"charged order={second}")
            if minute >= 20:
                yield _LINE % (minute, second, "error", "pay", f"Connection refused: db:5432 attempt={second}")


def run_in_fake_time(one: Stage, seed: int, tally: Tally) -> None:
    """One run over the transport: the waits of the client take no time."""
    rng = random.Random(seed)
    clock = Clock()
    transport = ChaosTransport(rng, clock)
    timing = Timing(clock, clock.advance, clock, rng.random)
    client = ChatClient(Endpoint("http://127.0.0.1:9/v1", "chaos"), timing=timing, transport=transport)
    one.session.progress.restart()
    _judge(one, client, clock, seed, tally)
    tally.played.update(transport.played)


def run_over_sockets(one: Stage, seed: int, tally: Tally) -> None:
    """One run against a server on loopback, in real time."""
    with chaos_server(random.Random(seed)) as url:
        one.session.progress.restart()
        _judge(one, ChatClient(Endpoint(url, "chaos")), None, seed, tally)


def _judge(one: Stage, client: ChatClient, clock: Clock | None, seed: int, tally: Tally) -> None:
    now = clock or time.monotonic
    began, began_real = now(), time.monotonic()
    tally.runs += 1
    try:
        diagnosis = one.diagnose(client, clock)
    except Exception:  # noqa: BLE001 - that there is none is what is measured
        tally.faults.append(f"seed {seed}: {traceback.format_exc(limit=-4)}")
        return
    allowed = one.session.options.deadline_seconds or 0.0
    over = now() - began - allowed
    tally.worst_overrun_s = max(tally.worst_overrun_s, over)
    tally.slowest_s = max(tally.slowest_s, time.monotonic() - began_real)
    tally.outcomes[diagnosis.outcome] += 1
    stop = one.ended[-1].stop if one.ended else "none"
    tally.stops[stop] += 1
    tally.faults += [f"seed {seed}: {fault}" for fault in _faults(diagnosis, stop, over)]


def _faults(diagnosis: Diagnosis, stop: str, over: float) -> Iterator[str]:
    if over > GRACE_S:
        yield f"ended {over:.1f} s after its deadline"
    for error in SCHEMA.iter_errors(json.loads(diagnosis.to_json())):
        yield f"schema: {error.message[:160]}"
    reasons = [one.text for one in diagnosis.data_quality.caveats if (one.code or "").startswith("LA50")]
    if stop != "submitted" and not any(stop in reason for reason in reasons):
        yield f"ended with {stop}, and the diagnosis does not say so"


def measure(runs: int, sockets: int, first: int = 0) -> dict[str, object]:
    """The whole measurement."""
    began = time.monotonic()
    fast, slow = Tally(), Tally()
    with stage(DEADLINE_S) as one:
        for seed in range(first, first + runs):
            run_in_fake_time(one, seed, fast)
        one.session.options = replace(one.session.options, deadline_seconds=SOCKET_DEADLINE_S)
        for seed in range(first, first + sockets):
            run_over_sockets(one, seed, slow)
    seconds = round(time.monotonic() - began, 1)
    return {"eval": "chaos", "seconds": seconds, "transport": fast.as_dict(), "sockets": slow.as_dict()}


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="evals.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--sockets", type=int, default=36)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    options = parser.parse_args(arguments)
    answer = measure(options.runs, options.sockets, options.first)
    print(json.dumps(answer, ensure_ascii=False, indent=1))
    parts = (answer["transport"], answer["sockets"])
    return 1 if any(isinstance(part, dict) and part["faults"] for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main())
