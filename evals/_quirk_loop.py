"""Cases that are the loop's business: unknown tools, and the same call again."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import create_model

from evals._quirk_player import Case, Talk, content_answer, declarations, opening, respond
from logagent.agent._calls import Calls
from logagent.analysis.redact import Redactor
from logagent.evidence import Ledger
from logagent.fields import FieldMap
from logagent.llm import Reply
from logagent.logs import TimeWindow
from logagent.query import Scope
from logagent.tools._base import Answer, Tool, ToolArgs, ToolContext
from logagent.tools._registry import ToolRegistry

_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "array": list,
}
_LOOP_OUTCOMES = {"error_result", "pointer_to_first_result", "stuck"}


def needs_loop(case: Case) -> bool:
    """Whether a case speaks of what the loop does with calls."""
    outcome = str(case.get("check", {}).get("outcome", ""))
    return outcome in _LOOP_OUTCOMES or "same_call" in case.get("given", {})


def loop_problems(case: Case, tools: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What the loop's handling of the case's calls does not fulfil."""
    payload = content_answer(case["payload"]) if case["kind"] == "content" else case["payload"]
    kind = "response" if case["kind"] == "content" else case["kind"]
    reply = Talk(declarations(tools), [respond(kind, payload)]).ask(opening()).reply
    if reply is None:
        yield "no reply"
        return
    ran: list[str] = []
    calls = Calls(_registry(tools, ran), _context(), time.monotonic)
    check, given = case.get("check", {}), case.get("given", {})
    nth = int(given.get("same_call", 1))
    for turn in range(1, nth):
        calls.answer(reply.tool_calls, turn, float("inf"))
    ran.clear()
    results = calls.answer(reply.tool_calls, nth, float("inf"))
    if len(ran) != len(check.get("calls", [])):
        yield f"ran {ran}"
    yield from _text_problems(check, [result.text for _, result, _ in results], reply, set(tools))
    for key in check:
        if key.startswith("at_same_call_"):
            for turn in range(nth + 1, int(key.rpartition("_")[2]) + 1):
                calls.answer(reply.tool_calls, turn, float("inf"))
            yield from [] if calls.stuck else ["not stuck"]


def _text_problems(check: Mapping[str, Any], texts: list[str], reply: Reply, known: set[str]) -> Iterator[str]:
    text = " ".join(texts)
    if not text:
        yield f"no result for {reply.tool_calls}"
    if check.get("outcome") == "error_result" and not ("error" in text and any(name in text for name in known)):
        yield f"names no tool: {text}"
    if check.get("outcome") == "pointer_to_first_result" and "turn 1" not in text and "E1" not in text:
        yield f"does not point to the first result: {text}"


def _registry(tools: Mapping[str, Mapping[str, str]], ran: list[str]) -> ToolRegistry:
    return ToolRegistry({name: _tool(name, given, ran) for name, given in tools.items()})


def _tool(name: str, given: Mapping[str, str], ran: list[str]) -> Tool:
    fields: dict[str, Any] = {key: (_TYPES[word.split()[0]] | None, None) for key, word in given.items()}

    def handler(_args: ToolArgs, _context: ToolContext) -> Answer:
        ran.append(name)
        return Answer(f"{name}: 3 hits")

    return Tool(create_model(f"Args_{name}", __base__=ToolArgs, **fields), handler, f"Tool {name}.")


def _context() -> ToolContext:
    now = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
    window = TimeWindow(now, now)
    return ToolContext(
        store=None,  # type: ignore[arg-type]  # the tools of the cases read nothing
        fields=FieldMap(),
        scope=Scope(window, window, now),
        ledger=Ledger(),
        redact=Redactor("0000"),
        catalogue=None,  # type: ignore[arg-type]
        nonce="0000",
    )
