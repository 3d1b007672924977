"""The tools of the model: one public module each, exporting `TOOL`; underscore modules are machinery."""

from logagent.tools._base import Tool, ToolContext
from logagent.tools._registry import Approve, ToolRegistry, ToolResult

__all__ = ["Approve", "Tool", "ToolContext", "ToolRegistry", "ToolResult"]
