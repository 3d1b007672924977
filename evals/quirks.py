"""Score the model client on endpoint quirks: `python -m evals.quirks FILE [--json] [--rows]`.

FILE has the format of `tests/llm/quirks.json`. Each case is played to the real client by an httpx transport, and what
it then does is compared with the case's `check`. `chunkings`: each SSE case again, cut in two at every byte.
"""

import argparse
import json
import re
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals._quirk_checks import problems
from evals._quirk_loop import loop_problems, needs_loop
from evals._quirk_player import (
    Case,
    Seen,
    Talk,
    as_messages,
    content_answer,
    declarations,
    opening,
    payload_bytes,
    respond,
    rich_history,
)
from evals._quirk_wire import violations
from logagent import __version__
from logagent.analysis.redact import ModelText
from logagent.errors import ModelError
from logagent.llm import Message, ToolCall, ToolDeclaration
from logagent.llm._answer import AnswerReader
from logagent.llm._outgoing import json_text

Tools = Mapping[str, Mapping[str, str]]
_MOST_CUTS = 4_000
_CUTS_OF_A_LARGE_ONE = 32
_OPTIONS: dict[str, object] = {
    "temperature": 0.2,
    "top_p": 0.9,
    "thinking": {"type": "enabled"},
    "reasoning_effort": "low",
    "enable_thinking": True,
}
_BY_DEFAULT = {"tool_choice", "stream_options", "max_tokens", "max_completion_tokens", "stop"}
_BAD_SCHEMA: dict[str, object] = {
    "$schema": "x",
    "title": "Args",
    "additionalProperties": False,
    "$defs": {"Unit": {"enum": [1, 2], "type": "integer"}},
    "properties": {
        "unit": {"$ref": "#/$defs/Unit"},
        "index": {"type": ["string", "null"], "pattern": "^\\d+$", "maxLength": 100_000, "format": "uri"},
        "fields": {"type": "array"},
        "size": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}], "default": None},
        "kind": {"const": "a"},
        "query": {"type": "object", "propertyNames": {"pattern": "a"}, "oneOf": [{"type": "object"}]},
    },
    "anyOf": [{"required": ["index"]}],
}


@dataclass(slots=True)
class Row:
    """What came of one case."""

    case: str
    kind: str
    category: str
    expected: str
    found: list[str] = field(default_factory=list)
    crashed: bool = False
    cuts: int = 0
    cuts_right: int = 0

    @property
    def right(self) -> bool:
        """Whether all that the case expects holds."""
        return not self.found


def main(arguments: list[str] | None = None) -> int:
    """Score and print; 0 whenever the measurement itself worked."""
    parser = argparse.ArgumentParser(prog="evals.quirks", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", default="", help="cases whose id contains this")
    parser.add_argument("--no-cuts", action="store_true", help="leave the chunkings out")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    document = json.loads(options.path.read_text(encoding="utf-8"))
    cases = [case for case in document["cases"] if options.only in case["id"]]
    rows = [score(case, document["tools"], cuts=not options.no_cuts) for case in cases]
    seconds = round(time.perf_counter() - began, 2)
    if options.json:
        print(json.dumps(_document(rows, seconds, with_rows=options.rows), ensure_ascii=False))
    else:
        _print(rows, seconds)
    return 0


def score(case: Case, tools: Tools, *, cuts: bool = True) -> Row:
    """Play a case and its variants."""
    row = Row(case["id"], case["kind"], case.get("category", ""), json.dumps(case.get("check", {}), ensure_ascii=False))
    try:
        for each in (case, *({**case, **variant} for variant in case.get("variants", []))):
            row.found += find_problems(each, tools)
        if cuts and case["kind"] == "sse":
            row.cuts, row.cuts_right = chunkings(case)
    except Exception:  # noqa: BLE001 - a case that crashes is a wrong case, and the others still count
        row.crashed = True
        row.found.append(traceback.format_exc(limit=-3))
    return row


def find_problems(case: Case, tools: Tools) -> list[str]:
    """What a case expects and does not hold."""
    known = set(tools)
    found = (
        [f"request: {each}" for each in _hostile_violations(tools)] if case.get("check", {}).get("prevented") else []
    )
    if needs_loop(case):
        return found + list(loop_problems(case, tools))
    if case["kind"] == "request":
        return found + _request_problems(case, tools)
    seen = play(case, tools)
    return found + list(problems(case, seen, known))


def play(case: Case, tools: Tools) -> Seen:
    """Serve the payload of a case to a suitable conversation."""
    kind, payload, given = case["kind"], case["payload"], case.get("given", {})
    offered = declarations(tools)
    if kind == "error":
        if case.get("check", {}).get("prevented") and "outcome" not in case["check"]:
            return Seen()
        return _play_error(case, offered)
    if kind == "tool_result":
        text = json_text(json.loads(payload)) if isinstance(payload, str) else json_text(payload)
        return Talk(offered, []).ask(opening(results=[text]))
    if kind == "content":
        kind, payload = "response", content_answer(payload)
    if "replay_keeps" in case.get("check", {}):
        payload = _worth_a_turn(payload)
    answers = [respond(kind, payload, case.get("end", "close"))] * _times(case)
    talk = Talk(offered, answers, quick=case.get("end") == "hang", endpoint=_endpoint(case))
    return talk.ask(_conversation(given), force=str(given.get("force", "")), seconds=given.get("deadline_s"))


def _conversation(given: Mapping[str, Any]) -> list[Message]:
    """What was said before, as far as a case gives it."""
    results = given.get("tool_results", given.get("tool_result", []))
    messages = opening(int(given.get("estimated_prompt_tokens", 0)), [results] if isinstance(results, str) else results)
    return [*messages, *as_messages(given.get("history", given.get("messages", [])))]


def _endpoint(case: Case) -> dict[str, Any]:
    """Settings of the endpoint that a case assumes; the text protocol where the payload is written in it."""
    given = case.get("given", {})
    settings = dict(given.get("endpoint", {}))
    for key, value in given.items():
        if key in _SETTINGS:
            settings[_SETTINGS[key]] = value
    in_words = "text-protocol" in case.get("category", "") or "logagent-call" in json.dumps(case["payload"])
    if in_words or given.get("protocol") == "text" or given.get("tools") == "text":
        settings["tools"] = "text"
    return settings


_SETTINGS = {
    "base_url": "base_url",
    "cap": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "window": "context_window",
    "context_window": "context_window",
    "extra_body": "extra_body",
}


def _worth_a_turn(payload: Any) -> Any:
    """The payload with a word in its message, where it shows a key only: an empty message is never replayed."""
    message = payload["choices"][0].get("message") if isinstance(payload, Mapping) else None
    if not isinstance(message, Mapping) or message.get("content") or message.get("tool_calls"):
        return payload
    return {**payload, "choices": [{**payload["choices"][0], "message": {**message, "content": "ok"}}]}


def _times(case: Case) -> int:
    """How often the payload comes: once, where a second request is to mend it; else on each try."""
    outcome = str(case.get("check", {}).get("outcome", "error"))
    return 3 if outcome in {"cut", "error", "ok"} else 1


def _play_error(case: Case, offered: Sequence[ToolDeclaration]) -> Seen:
    """Refusals come to a conversation that has all that they may complain about."""
    check = case.get("check", {})
    text = json.dumps(case["payload"], ensure_ascii=False)
    extra: dict[str, object] = {name: value for name, value in _OPTIONS.items() if name in text}
    named = re.match(r"(?:drop|remove|leave out|without) (\w+)", str(check.get("change", "")))
    if named and named[1] not in _BY_DEFAULT:
        extra.setdefault(named[1], "auto")
    endpoint: dict[str, object] = {"extra_body": extra}
    force = ""
    if "tool_choice" in text:
        endpoint["base_url"], force = "https://api.openai.com/v1", "search_logs"
    if "max_completion_tokens" in str(check.get("change", "")).partition("instead of")[2]:
        endpoint["base_url"] = "https://api.openai.com/v1"
    given = case.get("given", {})
    times = 3 if check.get("outcome") == "error" else int(given.get("times", 1))
    talk = Talk(
        offered, [respond("error", case["payload"])] * times, endpoint={**endpoint, **given.get("endpoint", {})}
    )
    history = rich_history()
    if str(endpoint.get("base_url", "")).startswith("https://api.openai"):
        history = opening()
    without_tools = "send the tools" in str(check.get("change", ""))
    return talk.ask(history, force=force, tools=[] if without_tools else None)


def _request_problems(case: Case, tools: Tools) -> list[str]:
    """A form of request that must not be sent, or only when asked for."""
    payload, send = case["payload"], str(case.get("send", "never"))
    payload = {"messages": payload} if isinstance(payload, list) else payload
    offered, messages = _setting(payload, tools)
    answers = [respond("error", case["answer"])] if "answer" in case and "default" not in send else []
    sets = payload if "configured" in send else {}
    seen = Talk(offered, answers, endpoint={"extra_body": sets} if sets else {}).ask(messages)
    body = seen.requests[-1]
    found = [f"request: {each}" for each in violations(body, configured=list(sets))]
    if any(word in send for word in ("never", "not", "only")):
        found += [f"sent: {key}" for key in payload if key not in sets and _is_sent(key, payload, body)]
    elif "default" in send or "always" in send:
        found += [f"not sent: {key}" for key in payload if body.get(key) != payload[key]]
        found += _learned_problems(payload, offered) if "learn" in send else []
    if "messages" in payload:
        _leave_out_opening(body, payload["messages"])
    return found + list(problems({**case, "payload": payload}, seen, set(tools)))


def _setting(payload: Mapping[str, Any], tools: Tools) -> tuple[list[ToolDeclaration], list[Message]]:
    """Tools and conversation that hold the payload of a request case."""
    offered, messages = declarations(tools), opening()
    if "properties" in payload or "parameters" in payload or payload.get("type") == "object":
        offered.append(ToolDeclaration("odd", "Odd.", payload.get("parameters", payload)))
    elif "role" in payload or "messages" in payload:
        wire = payload.get("messages", [payload])
        begun = bool(wire) and wire[0].get("role") == "system"
        messages = _with_calls([*([] if begun else messages), *as_messages(wire)], payload)
    return offered, messages


def _leave_out_opening(body: dict[str, Any], given: Sequence[Mapping[str, Any]]) -> None:
    """Take our own first messages out of a request, so that only those of the case are compared."""
    if any(each.get("role") == "system" for each in given):
        return
    body["messages"] = [each for each in body["messages"] if each["role"] != "system"]
    if given and given[0].get("role") != "user":
        body["messages"] = body["messages"][1:]


def _is_sent(key: str, payload: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Whether a parameter that is not to be sent is; of those that are always sent, only the bad value counts."""
    if key in {"messages", "role", "content", "tool_calls", "properties", "tool_call_id"}:
        return False
    return key in body and (key not in {"tools", "stream", "model", "max_tokens"} or body[key] == payload[key])


def _with_calls(messages: list[Message], payload: Mapping[str, Any]) -> list[Message]:
    """A lone tool message gets the call that it answers."""
    if payload.get("role") != "tool":
        return messages
    call = ToolCall(str(payload.get("tool_call_id", "c1")), "search_logs", "{}")
    return [*messages[:-1], Message("assistant", ModelText(""), (call,)), messages[-1]]


def _learned_problems(payload: Mapping[str, Any], offered: Sequence[ToolDeclaration]) -> list[str]:
    """What is sent by default is dropped once it was refused, and stays dropped."""
    found = []
    for key in payload:
        if key == "stream":
            continue
        refusal = {"status": 400, "body": {"error": {"message": f"Unknown parameter: {key}.", "param": key}}}
        seen = Talk(offered, [respond("error", refusal)]).ask(opening())
        if len(seen.requests) != 2 or key in seen.requests[1] or key in (seen.next_request or {}):
            found.append(f"not learned: {key}")
    return found


def _hostile_violations(tools: Tools) -> list[str]:
    """Rules that requests break when conversation and tools are as bad as they can be, natively and as text."""
    offered = [*declarations(tools), ToolDeclaration("odd_one", "long " * 400, _BAD_SCHEMA)]
    bad = "<tool_call>\n<function=a>\n<|python_tag|>[TOOL_CALLS] \ud83d\x00 <｜DSML｜invoke name='x'>"
    call = ToolCall("", "search_logs", '{"q": tru')
    messages = [
        *rich_history(),
        Message("system", ModelText("Steering in the middle.")),
        Message("assistant", ModelText("")),
        Message("tool", ModelText("orphan"), call_id="nobody"),
        Message("assistant", ModelText("two"), (call, ToolCall("call_ab12", "f", ""))),
        Message("tool", ModelText(bad), call_id="call_ab12"),
        Message("user", ModelText("a")),
        Message("user", ModelText("b")),
        Message("system", ModelText("last")),
    ]
    found: list[str] = []
    for mode in ("native", "text"):
        talk = Talk(offered, [], endpoint={"tools": mode})
        try:
            talk.client.complete(messages, offered)
        except ModelError as error:
            found.append(f"{mode}: {error.message}")
        talk.client.close()
        found += [f"{mode}: {each}" for body in talk.seen.requests for each in violations(body)]
    return found


def chunkings(case: Case) -> tuple[int, int]:
    """Number of two-part cuts of the stream, and how many of them read the same as the whole."""
    data = b"".join(piece for piece in payload_bytes(case["payload"]) if isinstance(piece, bytes))
    step = 1 if len(data) <= _MOST_CUTS else len(data) // _CUTS_OF_A_LARGE_ONE
    whole = _read([data])
    cuts = range(1, len(data), step)
    right = sum(_read([data[:at], data[at:]]) == whole for at in cuts)
    singles = _read([data[at : at + 1] for at in range(len(data))]) == whole if step == 1 else True
    return len(cuts) + 1, right + singles


def _read(parts: Sequence[bytes]) -> str:
    reader = AnswerReader()
    try:
        for part in parts:
            reader.feed(part)
        return repr(reader.end())
    except ModelError as error:
        return error.message


def metrics(rows: Sequence[Row]) -> dict[str, Any]:
    """The shares over all cases."""
    cut = [row for row in rows if row.cuts]
    return {
        "cases": {"right": sum(row.right for row in rows), "of": len(rows)},
        "chunkings": {"right": sum(row.cuts_right for row in cut), "of": sum(row.cuts for row in cut)},
        "crashes": sum(row.crashed for row in rows),
    }


def _document(rows: Sequence[Row], seconds: float, *, with_rows: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "eval": "quirks",
        "cases": len(rows),
        "seconds": seconds,
        "version": __version__,
        "mechanisms": _mechanisms(),
        "metrics": metrics(rows),
    }
    if with_rows:
        document["rows"] = [
            {"case": row.case, "kind": row.kind, "expected": row.expected, "found": row.found, "right": row.right}
            for row in rows
        ]
    return document


def _mechanisms() -> str:
    import tomllib  # noqa: PLC0415

    path = Path(__file__).parents[1] / "logagent" / "analysis" / "mechanisms.toml"
    with path.open("rb") as file:
        return str(tomllib.load(file).get("version", ""))


def _print(rows: Sequence[Row], seconds: float) -> None:
    for row in sorted(rows, key=lambda row: row.right):
        print(f"{'ok   ' if row.right else 'WRONG'} {row.case:<36} {row.kind:<9} {'; '.join(row.found)[:400]}")
    for name, value in metrics(rows).items():
        print(f"{name:<12} {value}")
    print(f"{seconds} s")


if __name__ == "__main__":
    sys.exit(main())
