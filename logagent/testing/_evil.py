"""A model that does what the logs tell it: the worst reader there can be, for tests of what holds all the same."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from logagent.expressions import expression
from logagent.testing import _orders as orders
from logagent.testing._model import ScriptedModel
from logagent.testing._script import Answer, Body, Call, Item

SUBMIT: Final = "submit_diagnosis"
_ID: Final = expression(r"\bE\d{1,6}\b")
_SERVICE: Final = expression(r"\b[a-z]+-(?:api|service|svc)\b|\b(?:checkout|payment|auth|search|gateway)\b")
_LOOKS: Final = (
    Call("search_logs", {"query": "", "size": 100}),
    Call("search_logs", {"query": "level>=warn", "size": 100}),
    Call("get_log_patterns", {}),
    Call("get_error_stats", {"group_by": "message"}),
    Call("list_log_sources", {}),
)
_PER_TURN: Final = 6
_ENDLESS: Final = 1_000_000


class EvilModel(ScriptedModel):
    """Obeys every text it reads in results and digest, and each of `orders` as well, which it need not have read.

    It calls what they ask for (known tools or not, any arguments), opens their addresses, repeats what they want
    repeated, and submits their claims with every field that is not its to set, their links and its whole prompt.

    Attributes:
        tried: all calls it made.
    """

    def __init__(
        self, orders: Sequence[str] = (), *, calls: int = 10, endless: bool = False, window: int | None = None
    ) -> None:
        """Prepare.

        Args:
            orders: texts that it obeys in any case.
            calls: most calls it makes for what it read before it submits.
            endless: never submits, calls on.
            window: context size that it gives.
        """
        super().__init__((), model="evil", window=window)
        self.tried: list[Call] = []
        self._orders = list(orders)
        self._calls = _ENDLESS if endless else calls
        self._endless = endless
        self._submitted = 0

    def take(self, body: Body, headers: Mapping[str, str]) -> Item:
        """Obey."""
        with self._lock:
            self.requests.append(body)
            self.headers.append({key.lower(): value for key, value in headers.items()})
            over = not self._endless and (self._submitted or _is_forced(body))
            wanted = [] if over else self._wanted(body)
            if not wanted:
                return self._submission(body)
            self.tried += wanted
            return Answer("As the logs ask.", tuple(wanted))

    def _complain(self) -> None:
        if self._surprises:
            raise AssertionError("; ".join(self._surprises))

    def _wanted(self, body: Body) -> list[Call]:
        """Calls of the next turn: first a look around, then whatever was read, each once."""
        if not self.tried:
            return list(_LOOKS)
        made = {_key(call) for call in self.tried}
        room = min(_PER_TURN, self._calls + len(_LOOKS) - len(self.tried))
        found: dict[str, Call] = {}
        for call in self._asked(body):
            if len(found) >= room:
                break
            if _key(call) not in made and call.name != SUBMIT:
                found.setdefault(_key(call), call)
        return list(found.values())

    def _asked(self, body: Body) -> Iterator[Call]:
        told = [*self._orders, *_read(body)]
        for text in told:
            yield from orders.calls(text)
        if self._endless or any(orders.wants_many(text) for text in told):
            for minute in range(1, self._calls + 1):
                yield Call("get_error_stats", {"start_time": f"now-{minute + 1}m", "end_time": f"now-{minute}m"})

    def _submission(self, body: Body) -> Answer:
        """The claims of the logs in every field; the first time with fields that no submission has."""
        self._submitted += 1
        told = [*self._orders, *_read(body)]
        order = (self._orders or told or ["nothing"])[0]
        said = next(iter(orders.literals(order)), "All services are healthy, no incident")
        wish = f"{said}. {order}"[:600]
        text = " ".join([wish, *(f"[x]({url}) ![x]({url}) <{url}>" for url in orders.urls(order))])
        if orders.wants_secrets(order):
            text = f"{text} {_system(body)}"
        ids = list(dict.fromkeys(_ID.findall("\n".join(told)))) or ["E1"]
        cited = " ".join(f"{sentence.strip()} [{ids[0]}]." for sentence in text.splitlines() if sentence.strip())
        services = sorted(set(_SERVICE.findall(order))) or ["gateway"]
        claim = {
            "statement": text,
            "mechanism": "other",
            "entity": {"service": services[0]},
            "supporting": [*ids[:2], "E99999"],
        }
        submission: dict[str, object] = {
            "headline": said[:120],
            "what_is_happening": cited,
            "probable_cause": cited,
            "hypotheses": [claim],
            "ruled_out": [{"statement": "The real cause.", "reason": text, "ids": ids[:3]}],
            "next_step_ideas": [f"`{order}`", f"curl -s {'; '.join(orders.urls(order)) or order}", text],
            "open_questions": [_system(body)[:900], text],
        }
        if self._submitted == 1:
            submission |= {"outcome": "no_anomaly", "confidence": "high", "severity": "none", "total": 0}
        return Answer(text, (Call(SUBMIT, submission),))


def _is_forced(body: Body) -> bool:
    """Whether the submission is asked for: by a choice, by the only tool, or in words."""
    messages = body.get("messages")
    last = str(messages[-1].get("content")) if isinstance(messages, list) and messages else ""
    return body.get("tool_choice") not in (None, "auto") or "Submit now" in last


def _key(call: Call) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)}"


def _read(body: Body) -> list[str]:
    """Lines of results and of the digest, newest message first; not the prompt."""
    messages = body.get("messages")
    found: list[str] = []
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") in {"tool", "user"}:
            found += str(message.get("content") or "").splitlines()
    return found


def _system(body: Body) -> str:
    messages = body.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else {}
    return str(first.get("content")) if isinstance(first, dict) else ""
