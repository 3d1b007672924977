"""Tool calls as plain text, for endpoints without native ones (llm-endpoints.md 18).

The format is a fence with an info word of our own. No tag of any server parser occurs in it:
some crash on plain text that looks like their markup.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from logagent.analysis.redact import ModelText
from logagent.expressions import expression
from logagent.llm._arguments import ArgumentsError, parse_arguments, to_text
from logagent.llm._coerce import coerce
from logagent.llm._leaks import defused, find_leak
from logagent.llm._schema import wire_schema
from logagent.llm._wire import Message, ToolCall, ToolDeclaration

INFO: Final = "logagent-call"
STOP: Final = "\n<result"

REMINDER: Final = (
    "That was no readable tool call. Write one fenced block that starts with ```"
    + INFO
    + " and holds one JSON object: "
    '{"tool": "<name>", "args": {...}}. Then stop.'
)

_BLOCK = expression(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w-]*)[ \t]*\r?\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_TICKS = expression(r"`{3,}")
_NAMED: Final = ({"tool", "args"}, {"name", "arguments"}, {"tool", "arguments"}, {"name", "args"})


class TextCall(NamedTuple):
    """One call read from text; `arguments` are JSON text, the model's own where they cannot be read."""

    name: str
    arguments: str


class TextReply(NamedTuple):
    """What a reply in the text protocol says: at most one call, and the words before it."""

    call: TextCall | None
    text: str
    malformed: bool = False
    """Whether it tried to call a tool and failed."""


def read_reply(text: str, tools: Sequence[ToolDeclaration], results: Sequence[str] = ()) -> TextReply:
    """Read a reply without its reasoning. Only the first call counts: what follows it is invented."""
    known = {tool.name: tool for tool in tools}
    for block in _BLOCK.finditer(text):
        info, body = block[2].lower(), block[3].strip()
        if info == INFO:
            call = _call(body, known)
            return TextReply(call, text[: block.start()].strip(), malformed=call is None)
        if info in {"", "json"}:
            call = _bare_call(body, known)
            if call is not None:
                return TextReply(call, text[: block.start()].strip())
    leak = find_leak(text, tools, results)
    if leak.calls:
        return TextReply(TextCall(leak.calls[0].name, leak.calls[0].arguments), leak.before)
    return TextReply(None, text, malformed=leak.markup)


def _call(body: str, known: Mapping[str, ToolDeclaration]) -> TextCall | None:
    try:
        value = parse_arguments(body)
    except ArgumentsError:
        return None
    name = value.get("tool") or value.get("name")
    arguments = next((value[key] for key in ("args", "arguments", "parameters") if key in value), {})
    if not isinstance(name, str):
        return None
    return TextCall(name, _arguments(arguments, known.get(name)))


def _arguments(value: object, tool: ToolDeclaration | None) -> str:
    try:
        arguments = parse_arguments(value)
    except ArgumentsError:
        return value if isinstance(value, str) else json.dumps(value)
    return to_text(coerce(arguments, tool.parameters) if tool else arguments)


def _bare_call(body: str, known: Mapping[str, ToolDeclaration]) -> TextCall | None:
    """An object in a plain fence counts only with exactly the two keys and a known tool."""
    try:
        value = parse_arguments(body)
    except ArgumentsError:
        return None
    if set(value) not in _NAMED:
        return None
    call = _call(body, known)
    return call if call and call.name in known else None


def instructions(tools: Sequence[ToolDeclaration]) -> str:
    """What the system message says about tools: a short list, the format, one full example."""
    lines = [
        "You can use these tools, one call in a message:",
        "",
        *(line for tool in tools for line in _described(tool)),
        "",
        "To call a tool, write exactly one block of this form, then stop and wait for its result:",
        "",
        _block(tools[0].name, _example(tools[0])),
        "",
        "A message without such a block is taken as your answer.",
    ]
    return "\n".join(lines)


def _described(tool: ToolDeclaration) -> Iterator[str]:
    schema = wire_schema(tool.parameters)
    yield f"- {tool.name}: {' '.join(tool.description.split())}"
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, dict) else ():
        about = " ".join(str(each.get("description", "")).split())
        words = f" of {', '.join(each['enum'])}" if each.get("enum") else ""
        yield f"    {name} ({_type(each)}{words}{', required' if name in needed else ''}): {about}".rstrip(": ")


def _type(schema: Mapping[str, object]) -> str:
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, Mapping):
        return f"list of {_type(items)}"
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        return f"object with {', '.join(f'{name}: {_type(each)}' for name, each in properties.items())}"
    return str(schema.get("type", "string"))


def _example(tool: ToolDeclaration) -> dict[str, object]:
    schema = wire_schema(tool.parameters)
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return {}
    names = list(required) if isinstance(required, list) else list(properties)[:2]
    return {name: _sample(name, properties[name]) for name in names}


def _sample(name: str, schema: Mapping[str, object]) -> object:
    words = schema.get("enum")
    if isinstance(words, list) and words:
        return words[0]
    samples: dict[str, object] = {"integer": 10, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return samples.get(str(schema.get("type")), _STRING_SAMPLES.get(name, "..."))


_STRING_SAMPLES: Final = {"query": "level:error", "q": "level:error", "index_pattern": "logs-*", "start_time": "now-1h"}


def _block(name: str, arguments: Mapping[str, object]) -> str:
    return f"```{INFO}\n{json.dumps({'tool': name, 'args': arguments}, ensure_ascii=False)}\n```"


def as_text(messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> list[Message]:
    """The conversation without native calls: tools explained in the system message, calls and results as text."""
    told: list[Message] = []
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "tool":
            told.append(Message("user", ModelText(_result(names.get(message.call_id, "tool"), message.text))))
        else:
            names.update({call.call_id: call.name for call in message.tool_calls})
            told.append(_told(message))
    return _with_instructions(told, tools)


def _told(message: Message) -> Message:
    """A message in words, with all markup of calls altered; what stood after a call was invented, and is gone."""
    blocks = [_block(call.name, _readable(call)) for call in message.tool_calls]
    text = "\n\n".join(part for part in (defused(message.text), *blocks) if part)
    return Message(message.role, ModelText(text))


def _readable(call: ToolCall) -> dict[str, object]:
    try:
        return parse_arguments(call.arguments)
    except ArgumentsError:
        return {}


def _result(name: str, text: str) -> str:
    """A result as data: in a fence longer than any run of ticks in it, with all markup of calls altered."""
    data = defused(text).replace(INFO, INFO.replace("-", "·"))
    fence = "`" * max((len(run) + 1 for run in _TICKS.findall(data)), default=3)
    return f"Result of {name}:\n{fence}\n{data}\n{fence}"


def _with_instructions(messages: list[Message], tools: Sequence[ToolDeclaration]) -> list[Message]:
    if not tools:
        return messages
    text = instructions(tools)
    if messages and messages[0].role == "system":
        return [replace(messages[0], text=ModelText(f"{messages[0].text}\n\n{text}")), *messages[1:]]
    return [Message("system", ModelText(text)), *messages]
