"""The forms in which tool calls leak into text, one reader each (llm-endpoints.md 10)."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from logagent.expressions import expression
from logagent.llm._arguments import to_text
from logagent.llm._coerce import coerce
from logagent.llm._wire import ToolDeclaration

BAR: Final = r"[|｜]+\s*"
"""The bars of DeepSeek's markup, in all spellings."""

_END_NOISE = expression(r"(?:\s|<\|[a-z_▁]+\|>|</s>|</?tool_calls?>|</?minimax:tool_call>|<｜end▁of▁sentence｜>)*")
_NAME: Final = r"[\"']?([\w.:/-]+)[\"']?"


class LeakedCall(NamedTuple):
    """A call read from the text; `id` as it stood there, mostly empty."""

    name: str
    arguments: str
    id: str = ""


Found = list[LeakedCall] | None
Form = Callable[[str, Sequence[ToolDeclaration]], Found]

_DECODER = json.JSONDecoder(strict=False)


def _objects(text: str, *, between: str = " \t\r\n,;") -> tuple[list[object], str]:
    """JSON values one after the other, and what is left."""
    found: list[object] = []
    at = 0
    while at < len(text):
        while at < len(text) and text[at] in between:
            at += 1
        if at >= len(text) or text[at] not in "{[":
            break
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
    return found, text[at:]


def _from_object(value: object) -> LeakedCall | None:
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    body = inner if isinstance(inner, Mapping) else value
    name = body.get("name") or body.get("tool")
    arguments: object = next((body[key] for key in ("arguments", "parameters", "args", "input") if key in body), {})
    if not isinstance(name, str):
        return None
    call_id = value.get("id")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return LeakedCall(name, text, call_id if isinstance(call_id, str) else "")


def _from_objects(values: Sequence[object]) -> Found:
    calls = [_from_object(value) for value in values]
    return [call for call in calls if call is not None] if calls and all(calls) else None


def _ends(rest: str) -> bool:
    return _END_NOISE.fullmatch(rest) is not None


def _hermes(markup: str, _: Sequence[ToolDeclaration]) -> Found:
    """`<tool_call>{json}</tool_call>`, once or more; the last closing tag may be missing."""
    if not markup.startswith(("<tool_call>", "<tool_calls>", "<minimax:tool_call>")):
        return None
    values: list[object] = []
    rest = markup
    while True:
        opened = re.match(r"\s*(?:<minimax:tool_call>|<tool_calls?>\s*)+", rest)
        if not opened:
            break
        found, rest = _objects(rest[opened.end() :])
        if not found:
            return None
        values += [each for value in found for each in (value if isinstance(value, list) else [value])]
        rest = re.sub(r"^\s*(?:</(?:minimax:)?tool_calls?>\s*)+", "", rest)
    return _from_objects(values) if _ends(rest) else None


_QWEN_CALL = expression(rf"\s*(?:<tool_call>\s*)?<function={_NAME}\s*>(.*?)</function>\s*(?:</tool_call>)?", re.DOTALL)
_QWEN_VALUE = expression(rf"\s*<parameter={_NAME}\s*>(.*?)</parameter>", re.DOTALL)


def _qwen(markup: str, tools: Sequence[ToolDeclaration]) -> Found:
    return _tagged(markup, _QWEN_CALL, _QWEN_VALUE, tools)


_GLM_CALL = expression(r"\s*<tool_call>\s*([\w.:/-]+)\s*((?:<arg_key>.*?</arg_value>\s*)*)</tool_call>", re.DOTALL)
_GLM_VALUE = expression(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)


def _glm(markup: str, tools: Sequence[ToolDeclaration]) -> Found:
    return _tagged(markup, _GLM_CALL, _GLM_VALUE, tools)


def _tagged(markup: str, call: re.Pattern[str], value: re.Pattern[str], tools: Sequence[ToolDeclaration]) -> Found:
    """Calls with one tag per argument; each tag must be closed, or a value would be lost."""
    found: list[LeakedCall] = []
    at = 0
    while match := call.match(markup, at):
        body = match[2]
        if value.sub("", body).strip():
            return None
        pairs = ((key.strip(), text) for key, text in value.findall(body))
        found.append(_by_schema(match[1], pairs, tools))
        at = match.end()
    return found if found and _ends(markup[at:]) else None


def _by_schema(name: str, pairs: Iterator[tuple[str, str]], tools: Sequence[ToolDeclaration]) -> LeakedCall:
    """A call from texts: a string stays a string, other types are read as JSON where the schema says so."""
    tool = next((each for each in tools if each.name == name.removeprefix("functions.")), None)
    schema = tool.parameters if tool else {}
    return LeakedCall(name, to_text(coerce({key: _unwrapped(text) for key, text in pairs}, schema)))


def _unwrapped(text: str) -> str:
    """A value without the line breaks that frame it."""
    return text.removeprefix("\r").removeprefix("\n").removesuffix("\n").removesuffix("\r")


_INVOKE_OPEN = expression(rf"<\s*(?:{BAR}DSML\s*{BAR}|antml:)?invoke\s+name=[\"']([^\"'>]+)[\"']\s*>", re.DOTALL)
_INVOKE_CLOSE = expression(rf"</\s*(?:{BAR}DSML\s*{BAR}|antml:)?invoke\s*>")
_INVOKE_VALUE = expression(
    rf"\s*<\s*(?:{BAR}DSML\s*{BAR}|antml:)?parameter\s+name=[\"']([^\"'>]+)[\"']"
    rf"(?:\s+string=[\"'](true|false)[\"'])?\s*>(.*?)</\s*(?:{BAR}DSML\s*{BAR}|antml:)?parameter\s*>",
    re.DOTALL,
)
_BLOCK_CLOSE = expression(
    rf"</\s*(?:{BAR}DSML\s*{BAR}|antml:)?(?:function_calls|tool_calls|calls)\s*>|</minimax:tool_call>"
)


def _invoke(markup: str, tools: Sequence[ToolDeclaration]) -> Found:
    """`<invoke name=..>` in any wrapper. What stands after the first closed block was invented, and is cut."""
    if not _INVOKE_OPEN.search(markup):
        return None
    closed = _BLOCK_CLOSE.search(markup)
    block = markup[: closed.start()] if closed else markup
    found: list[LeakedCall] = []
    at = 0
    while opened := _INVOKE_OPEN.search(block, at):
        close = _INVOKE_CLOSE.search(block, opened.end())
        if close is None:
            return None
        body = block[opened.end() : close.start()]
        if _INVOKE_VALUE.sub("", body).strip():
            return None
        found.append(_invoked(opened[1], body, tools))
        at = close.end()
        if closed is None and not re.match(r"\s*<[^/>]*invoke", block[at:]):
            break
    return found


def _invoked(name: str, body: str, tools: Sequence[ToolDeclaration]) -> LeakedCall:
    values: dict[str, object] = {}
    plain: list[tuple[str, str]] = []
    for key, is_string, text in _INVOKE_VALUE.findall(body):
        if is_string == "false":
            values[key] = _json_or_text(text)
        elif is_string == "true":
            values[key] = text
        else:
            plain.append((key, text))
    call = _by_schema(name, iter(plain), tools)
    return LeakedCall(name, to_text({**json.loads(call.arguments), **values}))


def _json_or_text(text: str) -> object:
    try:
        return json.loads(text.strip())
    except ValueError:
        return text


_KIMI_CALL = expression(
    r"\s*<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(:\d+)?\s*"
    r"<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>",
    re.DOTALL,
)
_DEEPSEEK_CALL = expression(
    r"\s*<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?\s*([\w.-]+)\s*(?:<｜tool▁sep｜>|\n)(.*?)<｜tool▁call▁end｜>",
    re.DOTALL,
)


def _kimi(markup: str, _: Sequence[ToolDeclaration]) -> Found:
    found: list[LeakedCall] = []
    body = re.sub(r"^<\|tool_calls?_section_begin\|>", "", markup)
    at = 0
    while match := _KIMI_CALL.match(body, at):
        call_id = f"functions.{match[1]}{match[2]}" if match[2] else ""
        found.append(LeakedCall(match[1], match[3], call_id))
        at = match.end()
    return found if found and _ends(body[at:]) else None


def _deepseek(markup: str, _: Sequence[ToolDeclaration]) -> Found:
    found: list[LeakedCall] = []
    body = markup.removeprefix("<｜tool▁calls▁begin｜>")
    at = 0
    while match := _DEEPSEEK_CALL.match(body, at):
        found.append(LeakedCall(match[1], match[2]))
        at = match.end()
    rest = body[at:].replace("<｜tool▁calls▁end｜>", "")
    return found if found and _ends(rest) else None


def _llama(markup: str, _: Sequence[ToolDeclaration]) -> Found:
    """`<|python_tag|>` with JSON; Python code is not run."""
    if not markup.startswith("<|python_tag|>"):
        return None
    values, rest = _objects(markup.removeprefix("<|python_tag|>"))
    return _from_objects(values) if _ends(rest) else None


_MISTRAL_CALL = expression(r"\[TOOL_CALLS\]\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*(\w+)\s*)?(?:\[ARGS\])?\s*(?=\{)")


def _mistral(markup: str, _: Sequence[ToolDeclaration]) -> Found:
    """`[TOOL_CALLS]` with an array, or the newer `[TOOL_CALLS]name[ARGS]{..}`."""
    if not markup.startswith("[TOOL_CALLS]"):
        return None
    found: list[LeakedCall] = []
    at = 0
    while match := _MISTRAL_CALL.match(markup, at):
        try:
            value, at = _DECODER.raw_decode(markup, match.end())
        except (ValueError, RecursionError):
            return None
        found.append(LeakedCall(match[1], json.dumps(value), match[2] or ""))
    if found:
        return found if _ends(markup[at:]) else None
    values, rest = _objects(markup.removeprefix("[TOOL_CALLS]"))
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return _from_objects(flat) if _ends(rest.replace("[/TOOL_CALLS]", "")) else None


FORMS: Final[tuple[Form, ...]] = (_hermes, _qwen, _glm, _invoke, _kimi, _deepseek, _llama, _mistral)
