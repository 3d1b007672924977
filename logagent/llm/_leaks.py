"""Tool calls that leaked into the text as markup (llm-endpoints.md 10).

Log lines are written by attackers too, and a model quotes them. So a call is recovered only
if the markup starts a line outside code, ends the text, names a known tool with arguments
that fit its schema, and does not occur in any tool result.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from logagent.expressions import expression
from logagent.llm._arguments import ArgumentsError, parse_arguments, to_text
from logagent.llm._coerce import coerce, misfits
from logagent.llm._leak_forms import BAR, FORMS, LeakedCall
from logagent.llm._wire import ToolDeclaration

_MARKER = expression(
    rf"""
      <tool_calls?>                                     # Hermes, Qwen, GLM
    | <function=                                        # Qwen XML; the tag around it is often missing
    | <\s*{BAR}DSML\s*{BAR}                           # DeepSeek V3.2, V4
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
_FENCE = expression(r"^[ \t]*(```|~~~)", re.MULTILINE)


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
    for form in FORMS:
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
