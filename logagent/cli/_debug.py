"""--debug: every event of a run as a line in a file of this user."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from logagent.cli._context import Context
from logagent.cli._progress import as_json
from logagent.events import OnEvent, RunEvent


@contextmanager
def debug_log(context: Context) -> Iterator[OnEvent | None]:
    """An OnEvent that appends to the log file, whose path is printed; None without --debug."""
    if not context.options.debug:
        yield None
        return
    folder = context.settings.paths.state
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"debug-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"
    context.console.say(context.console.texts.say("cli.debug_file", file=path))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8") as file:

        def append(event: RunEvent) -> None:
            file.write(as_json(event) + "\n")
            file.flush()

        yield append
