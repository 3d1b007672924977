"""`logagent explain`: the long text of a code."""

import difflib
from typing import Annotated

import typer

from logagent.cli._app import command_app
from logagent.cli._context import make_context
from logagent.cli._options import GlobalOptions, takes
from logagent.errors import UsageError

APP = command_app()
_COMMON = "LA303"
"""What is asked most often: zero events."""


@APP.command()
@takes(GlobalOptions)
def explain(
    code: Annotated[str, typer.Argument(help="A code such as LA303.", metavar="CODE")], *, options: GlobalOptions
) -> int:
    """Print what an error, warning or notice means and what to do about it."""
    console = make_context(options).console
    texts, wanted = console.texts, code.strip().upper()
    if wanted not in texts.codes:
        closest = difflib.get_close_matches(wanted, texts.codes, 1)
        reason = texts.say("cli.no_code", code=wanted[:20])
        nearest = closest[0] if closest else None
        values = {"reason": reason, "closest": nearest, "example": ("explain", nearest or _COMMON)}
        raise UsageError(reason, code="LA702", values=values)
    text = texts.error(wanted)
    status = texts.exit_status(wanted)
    shown = texts.say("cli.exit_status", status=status) if status is not None else texts.say("cli.run_goes_on")
    head = texts.say("cli.error_head", label=f"{wanted} {texts.say(f'cli.kind.{text.kind}')}", title=text.title)
    remedies = "\n".join(f"  {line}" for line in text.remedies)
    console.out(f"{head}\n\n{texts.explain(wanted).rstrip()}\n\n{shown}\n\n{texts.say('cli.try')}\n{remedies}")
    return 0
