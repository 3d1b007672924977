"""Writes docs/cli.md from the help pages: `COLUMNS=100 python -m tests.cli.reference > docs/cli.md`."""

import contextlib
import io

from logagent.cli._app import run
from logagent.cli._help import ORDER

HEAD = """# Command line reference

Made from `--help` by `COLUMNS=100 python -m tests.cli.reference > docs/cli.md`; a test holds it to the program.
Exit statuses: 0 finished, whatever was found · 1 a bug · 2 wrong usage or configuration · 3 source unreachable or file
unreadable · 4 not authenticated or not allowed · 5 no data · 6 no model and `--require-llm` · 7 partial data and
`--strict` · 8 budget reached before anything usable · 10 an anomaly and `--exit-code` · 130 interrupted · 143 terminated.
"""


def page(*arguments: str) -> str:
    """What one command line prints on stdout."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        run([*arguments, "--help", "--lang", "en"])
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())


def reference() -> str:
    """The whole document."""
    parts = [HEAD, "```text", page(), "```", ""]
    for name in ORDER:
        parts += [f"## logagent {name}", "", "```text", page(name), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(reference(), end="")
