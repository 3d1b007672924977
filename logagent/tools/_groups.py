"""Which tools are declared: the eight of logs always, others within a budget, the rest by group once asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import Field

from logagent.analysis.trim import tokens_in
from logagent.errors import ToolError
from logagent.llm._wire import ToolDeclaration
from logagent.tools._base import Answer, Tool, ToolArgs, ToolContext

CORE: Final = frozenset({
    "compare_windows", "get_error_stats", "get_log_context", "get_log_patterns", "get_timeline", "list_log_sources",
    "search_logs", "submit_diagnosis",
})  # fmt: skip
"""The eight of security.md S2: declared on every request."""
OPEN: Final = "open_tools"
BUDGET: Final = 600
"""Tokens that the declarations of all other tools may take together before they are grouped."""
_NAMES: Final = 500


class OpenArgs(ToolArgs):
    """Arguments."""

    group: str = Field(description="Name of the group.")


@dataclass(slots=True)
class Groups:
    """Tools that are not declared yet, by group. `opened` takes effect when the next request is made."""

    hidden: Mapping[str, tuple[str, ...]]
    opened: list[str] = field(default_factory=list)

    def open(self, args: OpenArgs, _context: ToolContext) -> Answer:
        """Note a group; its tools are declared from the next turn on."""
        name = args.group.strip()
        if name not in self.hidden:
            raise ToolError(f"no group {name!r}; groups: {', '.join(self.hidden)}")
        if name not in self.opened:
            self.opened.append(name)
        return Answer(f"Declared from the next turn on: {', '.join(self.hidden[name])}", plain=True)

    def group_of(self, tool: str) -> str:
        """The group that must be opened before a tool can be called; empty for a tool that is declared."""
        return next((group for group, names in self.hidden.items() if tool in names and group not in self.opened), "")

    def tool(self) -> Tool:
        """What opens a group."""
        listed = "; ".join(f"{group}: {', '.join(names)}" for group, names in self.hidden.items())
        told = f"Declares a group of further tools for the next turn. Groups: {listed}"
        return Tool(OpenArgs, self.open, told[:_NAMES], parallel=False, cost="none", result_tokens=300)


def hide(tools: Mapping[str, Tool], costs: Mapping[str, int], budget: int) -> Groups:
    """The groups that do not fit, whole: the first ones in order of name stay declared while there is room."""
    groups: dict[str, list[str]] = {}
    for name in tools:
        if name not in CORE:
            groups.setdefault(tools[name].group, []).append(name)
    if sum(costs[name] for names in groups.values() for name in names) <= budget:
        return Groups({})
    hidden: dict[str, tuple[str, ...]] = {}
    room = budget
    for group, names in sorted(groups.items()):
        cost = sum(costs[name] for name in names)
        if cost > room:
            hidden[group] = tuple(names)
        else:
            room -= cost
    return Groups(hidden)


def declared_tokens(declared: ToolDeclaration) -> int:
    """Estimated cost of a declaration in every request."""
    whole = {"name": declared.name, "description": declared.description, "parameters": declared.parameters}
    return tokens_in(json.dumps(whole, ensure_ascii=False, separators=(",", ":")))
