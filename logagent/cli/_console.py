"""The two streams and what they can show: encoding, colour, width, language; decided once, as a command starts."""

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TextIO

from logagent.cli._options import GlobalOptions
from logagent.errors import UsageError
from logagent.expressions import expression
from logagent.texts import Catalogue

_GLYPHS = "▁▂▃▄▅▆▇█→─│…"
_NARROWEST = 40
_WIDEST = 400
_COLUMNS = expression(r"[0-9]{1,9}")


@dataclass(slots=True)
class Console:
    """Where a command writes.

    Attributes:
        texts: the catalogue of the interface language.
        zone: IANA name of the display zone.
        colour: whether stdout gets colours.
        colour_errors: whether stderr gets colours.
        unicode: whether stdout can show the glyphs of charts.
        accessible: whether reports are for a screen reader: no drawings, sentences in place of tables.
        width: columns.
        json: whether errors are one JSON line.
        progress: `tty`, `plain`, `json` or `none`.
        source: the words that name the files or indices of this run in a command.
    """

    texts: Catalogue = field(default_factory=Catalogue)
    zone: str = "UTC"
    colour: bool = False
    colour_errors: bool = False
    unicode: bool = False
    accessible: bool = False
    width: int = 80
    quiet: bool = False
    verbose: int = 0
    json: bool = False
    progress: str = "plain"
    pager: bool = False
    can_ask: bool = False
    source: tuple[str, ...] = ()

    def out(self, text: str) -> None:
        """Write a result to stdout, with one newline at the end; a reader that went away is no error."""
        try:
            sys.stdout.write(text.rstrip("\n") + "\n" if text else "")
            sys.stdout.flush()
        except BrokenPipeError:
            quiet_broken_pipe()
            raise SystemExit(0) from None
        except OSError as error:
            quiet_broken_pipe()  # what is left in the buffer would fail again at the end
            reason = f"cannot write to standard output: {(error.strerror or 'failed').lower()}"
            raise UsageError(reason, code="LA702", values={"reason": reason}) from error

    def say(self, text: str) -> None:
        """Write a line to stderr; where nobody can read it, the run goes on."""
        with contextlib.suppress(OSError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def hint(self, text: str) -> None:
        """Write a line to stderr that may be left out (-q, JSON)."""
        if not self.quiet and not self.json:
            self.say(text)


@dataclass(slots=True)
class Current:
    """The console of the command that runs: errors that reach the top are printed with it."""

    console: Console | None = None


CURRENT = Current()


def quiet_broken_pipe() -> None:
    """Point stdout nowhere, so that the interpreter's last flush has nobody to complain about."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def prepare_streams(environ: Mapping[str, str]) -> None:
    """No stream dies of a character; redirected output is UTF-8 unless PYTHONIOENCODING says otherwise.

    A stream that was closed before the start (`>&-`) leads nowhere.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - open to the end, as it would be
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        is_ours = not stream.isatty() and not environ.get("PYTHONIOENCODING")
        stream.reconfigure(errors="backslashreplace", encoding="utf-8" if is_ours else None)


def make_console(options: GlobalOptions, environ: Mapping[str, str], language: str, zone: str) -> Console:
    """The console of one command, from its options and the environment."""
    wants_json = options.json or options.output_format in ("json", "jsonl")
    if wants_json:
        _always_utf8(sys.stdout)
    accessible = environ.get("LOGAGENT_ACCESSIBLE", "") not in ("", "0", "false")
    return Console(
        texts=Catalogue(language),
        zone=zone,
        colour=_wants_colour(options, environ, sys.stdout),
        colour_errors=_wants_colour(options, environ, sys.stderr),
        unicode=not options.ascii and not accessible and _can_show(sys.stdout),
        width=_width(environ),
        quiet=options.quiet,
        verbose=options.verbose,
        json=wants_json,
        progress=_progress(options, environ, accessible=accessible),
        pager=not options.no_pager and sys.stdout.isatty() and sys.stdin.isatty(),
        can_ask=not options.no_input and sys.stdin.isatty() and sys.stderr.isatty(),
    )


def _always_utf8(stream: TextIO) -> None:
    """JSON for a program has one encoding, whatever the locale is."""
    if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _wants_colour(options: GlobalOptions, environ: Mapping[str, str], stream: TextIO) -> bool:
    """The order of ux.md 2.7: option, NO_COLOR, FORCE_COLOR or CLICOLOR_FORCE, TERM, CLICOLOR, is it a terminal."""
    if options.no_color or options.color in ("always", "never"):
        return options.color == "always" and not options.no_color
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    if environ.get("TERM") == "dumb" or environ.get("CLICOLOR") == "0":
        return False
    return stream.isatty()


def _can_show(stream: TextIO) -> bool:
    try:
        _GLYPHS.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _width(environ: Mapping[str, str]) -> int:
    asked = environ.get("COLUMNS", "")
    if _COLUMNS.fullmatch(asked):
        return min(max(_NARROWEST, int(asked)), _WIDEST)
    if not sys.stdout.isatty():
        return 80
    return min(max(_NARROWEST, shutil.get_terminal_size().columns), _WIDEST)


def _progress(options: GlobalOptions, environ: Mapping[str, str], *, accessible: bool) -> str:
    if options.quiet and options.progress is None:
        return "none"
    if options.progress not in (None, "auto"):
        return str(options.progress)
    moving = sys.stderr.isatty() and environ.get("TERM") != "dumb" and not accessible
    return "tty" if moving else "plain"
