"""Tool calls that leaked into the text as markup (llm-endpoints.md 10).

Log lines are written by attackers too, and a model quotes them. So a call is recovered only
if the markup starts a line outside code, ends the text, names a known tool with arguments
that fit its schema, and does not occur in any tool result.
"""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from logagent.llm._arguments import ArgumentsError, coerce, misfits, parse_arguments, to_text
from logagent.llm._wire import ToolDeclaration

_BAR = r"[|｜]+\s*"
_MARKER = re.compile(
    rf"""
      <tool_calls?>                                     # Hermes, Qwen, GLM
    | <function=                                        # Qwen XML; the tag around it is often missing
    | <\s*{_BAR}DSML\s*{_BAR}                           # DeepSeek V3.2, V4
    | <｜tool▁calls?▁begin｜>                            # DeepSeek V3
    | <\|tool_calls?(?:_section)?_begin\|>              # Kimi
    | <\|python_tag\|>                                  # Llama
    | \[TOOL_CALLS\]                                    # Mistral
    | <(?:antml:)?function_calls> | <(?:antml:)?invoke\s+name=  # Anthropic style
    | <minimax:tool_call>                               # MiniMax M2
    | <\|tool_call>                                     # Gemma
    | <call:                                            # Gemini lite
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_END_NOISE = re.compile(r"(?:\s|<\|[a-z_▁]+\|>|</s>|</?tool_calls?>|</?minimax:tool_call>|<｜end▁of▁sentence｜>)*")
_NAME: Final = r"[\"']?([\w.:/-]+)[\"']?"


class LeakedCall(NamedTuple):
    """A call read from the text; `id` as it stood there, mostly empty."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Leak:
    """What a text holds: calls that may be run, or markup that may not."""

    calls: tuple[LeakedCall, ...] = ()
    before: str = ""
    """What the model said before the markup."""
    markup: bool = False
    """Whether there is markup at the start of a line that was not recovered."""


def find_leak(text: str, tools: Sequence[ToolDeclaration], results: Sequence[str] = ()) -> Leak:
    """Look for leaked calls in a text without reasoning.

    Args:
        text: what the model said.
        tools: the tools that were offered; none means that nothing is recovered.
        results: all tool results of the conversation, where markup may have been planted.
    """
    start = _marker(text)
    if start is None:
        return Leak()
    markup = text[start:].strip()
    if not tools or _occurs(markup, results):
        return Leak(before=text)
    for form in _FORMS:
        found = form(markup, tools)
        if found is not None:
            calls = tuple(_checked(found, tools))
            if calls and len(calls) == len(found):
                return Leak(calls, text[:start].strip())
    return Leak(before=text[:start].strip(), markup=True)


def has_markers(text: str) -> bool:
    """Whether any markup of calls occurs in the text, anywhere."""
    return bool(_MARKER.search(text))


def defused(text: str) -> str:
    """The text with the markup of calls visibly altered, so that no parser takes it for a call."""
    return _MARKER.sub(lambda mark: mark[0].replace("<", "‹").replace("[", "("), text)


def _marker(text: str) -> int | None:
    """Where the first markup starts that begins a line and stands in no fence."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    for match in _MARKER.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        if not text[line : match.start()].strip() and sum(at < match.start() for at in fences) % 2 == 0:
            return match.start()
    return None


def _occurs(markup: str, results: Sequence[str]) -> bool:
    """Whether the markup, or the call inside it, stands in a tool result; blanks are not compared."""
    needle = "".join(markup.split())
    inner = re.sub(r"<[^<>]*>|\[/?TOOL_CALLS\]", "", needle)
    for result in results:
        hay = "".join(html.unescape(result).replace('\\"', '"').split())
        if needle in hay or (len(inner) > 2 and inner in hay and has_markers(result)):  # noqa: PLR2004 - `{}`
            return True
    return False


def _checked(calls: Sequence[LeakedCall], tools: Sequence[ToolDeclaration]) -> Iterator[LeakedCall]:
    """Calls with a known name and arguments that fit the schema."""
    for call in calls:
        tool = next((each for each in tools if each.name == call.name.removeprefix("functions.")), None)
        if tool is None:
            continue
        try:
            arguments = coerce(parse_arguments(call.arguments), tool.parameters)
        except ArgumentsError:
            continue
        if not any(misfits(arguments, tool.parameters)):
            yield LeakedCall(tool.name, to_text(arguments), call.id)


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


_QWEN_CALL = re.compile(rf"\s*(?:<tool_call>\s*)?<function={_NAME}\s*>(.*?)</function>\s*(?:</tool_call>)?", re.DOTALL)
_QWEN_VALUE = re.compile(rf"\s*<parameter={_NAME}\s*>(.*?)</parameter>", re.DOTALL)


def _qwen(markup: str, tools: Sequence[ToolDeclaration]) -> Found:
    return _tagged(markup, _QWEN_CALL, _QWEN_VALUE, tools)


_GLM_CALL = re.compile(r"\s*<tool_call>\s*([\w.:/-]+)\s*((?:<arg_key>.*?</arg_value>\s*)*)</tool_call>", re.DOTALL)
_GLM_VALUE = re.compile(r"\s*<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)


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


_INVOKE_OPEN = re.compile(rf"<\s*(?:{_BAR}DSML\s*{_BAR}|antml:)?invoke\s+name=[\"']([^\"'>]+)[\"']\s*>", re.DOTALL)
_INVOKE_CLOSE = re.compile(rf"</\s*(?:{_BAR}DSML\s*{_BAR}|antml:)?invoke\s*>")
_INVOKE_VALUE = re.compile(
    rf"\s*<\s*(?:{_BAR}DSML\s*{_BAR}|antml:)?parameter\s+name=[\"']([^\"'>]+)[\"']"
    rf"(?:\s+string=[\"'](true|false)[\"'])?\s*>(.*?)</\s*(?:{_BAR}DSML\s*{_BAR}|antml:)?parameter\s*>",
    re.DOTALL,
)
_BLOCK_CLOSE = re.compile(
    rf"</\s*(?:{_BAR}DSML\s*{_BAR}|antml:)?(?:function_calls|tool_calls|calls)\s*>|</minimax:tool_call>"
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


_KIMI_CALL = re.compile(
    r"\s*<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(:\d+)?\s*"
    r"<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>",
    re.DOTALL,
)
_DEEPSEEK_CALL = re.compile(
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


_MISTRAL_CALL = re.compile(r"\[TOOL_CALLS\]\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*(\w+)\s*)?(?:\[ARGS\])?\s*(?=\{)")


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


_FORMS: Final[tuple[Form, ...]] = (_hermes, _qwen, _glm, _invoke, _kimi, _deepseek, _llama, _mistral)
