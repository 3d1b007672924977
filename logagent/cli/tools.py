"""`logagent tools`: what the model may call, what each declaration costs, and what it is allowed."""

import json
from typing import TYPE_CHECKING

from logagent.cli._app import command_app
from logagent.cli._context import make_context
from logagent.cli._options import GlobalOptions, takes
from logagent.cli._output import emit_text, plan_output

if TYPE_CHECKING:
    from logagent.tools import ToolRegistry

APP = command_app()
FORMATS = ("text", "json", "jsonl")


@APP.command()
@takes(GlobalOptions)
def tools(*, options: GlobalOptions) -> int:
    """List the tools of the model: tokens, permission, time limit, size of a result."""
    from logagent.tools import ToolRegistry  # noqa: PLC0415

    context = make_context(options)
    say, plan = context.console.texts.say, plan_output(options, FORMATS)
    registry = ToolRegistry()
    rows = _rows(registry)
    total = sum(registry.tokens().values())
    if plan[0][1] == "jsonl":
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    elif plan[0][1] == "json":
        text = json.dumps({"kind": "tools", "tokens": total, "tools": rows}, ensure_ascii=False)
    else:
        lines = [
            f"{row['name']!s:<20}  {row['tokens']:>6}  {row['permission']:<10}  {row['timeout_s']:>5g} s  "
            f"{row['result_tokens']:>6}  {say('cli.tools.yes' if row['parallel'] else 'cli.tools.no'):<8}  "
            f"{row['cost']:<6}  "
            f"{say('cli.tools.group', group=row['group']) if row['group'] else say('cli.tools.always')}"
            for row in rows
        ]
        text = "\n".join([say("cli.tools.head"), *lines, say("cli.tools.total", tokens=f"{total:,}")])
    emit_text(text, plan, context.console)
    return 0


def _rows(registry: "ToolRegistry") -> list[dict[str, object]]:
    """One row a tool; `group` where it is declared only after the model asks for it."""
    costs = registry.every_cost()
    return [
        {
            "name": name,
            "tokens": costs[name],
            "permission": tool.permission,
            "timeout_s": tool.timeout_s,
            "result_tokens": tool.result_tokens,
            "parallel": tool.parallel,
            "cost": tool.cost,
            "group": registry.groups.group_of(name),
        }
        for name, tool in registry.tools.items()
    ]
