"""Errors and notices for people and for scripts (ux.md 2.5, 2.9)."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from logagent.cli._console import Console
from logagent.errors import LogAgentError
from logagent.events import Notice
from logagent.expressions import expression
from logagent.texts import ErrorText

_INSTANT = expression(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
_OWN_WORDS = ("LA1", "LA2", "LA7", "LA8")
"""Codes whose texts quote what the user typed, not what a log or a model said."""
_RED, _YELLOW, _END = "\x1b[31m", "\x1b[33m", "\x1b[0m"


def print_error(error: LogAgentError, console: Console) -> int:
    """Print an error to stderr and give the exit status; stdout stays as it is."""
    text = replace(console.texts.describe(error), kind="error")
    going_on = console.texts.say("cli.going_on")
    text = replace(text, title=text.title.removesuffix(going_on))
    if not text.code.startswith(_OWN_WORDS):
        text = _masked(text)
    text = _pasted(text, console)
    console.say(_as_json(text, error.exit_code) if console.json else _as_text(text, console))
    return error.exit_code


def _masked(text: ErrorText) -> ErrorText:
    """Without the secrets that the answer of a server or the name of a service may hold."""
    from logagent.analysis.redact import Redactor  # noqa: PLC0415

    mask = Redactor("0000")
    return replace(
        text, title=mask(text.title), why=tuple(map(mask, text.why)), remedies=tuple(map(mask, text.remedies))
    )


def print_notice(notice: Notice, console: Console) -> None:
    """Print a warning or notice that does not end the run; -q keeps the first line of warnings only."""
    if notice.code not in console.texts.codes:
        return
    text = console.texts.error(notice.code, notice.values)
    if not text.code.startswith(_OWN_WORDS):
        text = _masked(text)
    if console.quiet:
        if text.kind == "notice":
            return
        text = replace(text, why=(), remedies=())
    console.say(_as_text(_pasted(text, console), console))


def _pasted(text: ErrorText, console: Console) -> ErrorText:
    """With commands that name the files or indices of this run."""
    from logagent.settings import with_source  # noqa: PLC0415

    return replace(text, remedies=tuple(with_source(line, console.source) for line in text.remedies))


def _as_json(text: ErrorText, exit_code: int) -> str:
    document = {
        "kind": "error",
        "code": text.code,
        "title": text.title,
        "detail": "; ".join(text.why),
        "remedies": list(text.remedies),
        "exit_code": exit_code,
        "docs": f"logagent explain {text.code}" if text.code else "",
    }
    return json.dumps(document, ensure_ascii=False)


def _as_text(text: ErrorText, console: Console) -> str:
    say = console.texts.say
    word = say(f"cli.kind.{text.kind}")
    colour = (_RED if text.kind == "error" else _YELLOW) if console.colour_errors else ""
    label = f"{text.code} {word}".strip()
    head = f"{colour}{label}{_END}" if colour else label
    lines = [say("cli.error_head", label=head, title=local_times(_safe(text.title), console))]
    lines += _block(say("cli.why"), [local_times(_safe(line), console) for line in text.why])
    lines += _block(say("cli.try"), [_safe(line) for line in text.remedies])
    return "\n".join(lines)


def _block(label: str, lines: list[str]) -> list[str]:
    """The first line after its label, the others below it."""
    from wcwidth import wcswidth  # noqa: PLC0415

    pad = " " * max(0, wcswidth(label))
    return [f"  {pad if number else label}  {line}" for number, line in enumerate(lines)]


def _safe(text: str) -> str:
    from logagent.analysis.sanitise import sanitise  # noqa: PLC0415

    return sanitise(" ".join(text.split()))


def local_times(text: str, console: Console) -> str:
    """Instants of the text in the display zone, with the offset; the day only where it is another one than today."""
    zone = ZoneInfo(console.zone)
    today = datetime.now(UTC).astimezone(zone).date()

    def shown(match: re.Match[str]) -> str:
        try:
            at = datetime.fromisoformat(match[0]).astimezone(zone)
        except (OverflowError, ValueError):  # the first or last day there is, or none at all
            return match[0]
        form = "%H:%M:%S" if at.date() == today else "%Y-%m-%d %H:%M:%S"
        return f"{at:{form}} {at.isoformat()[-6:]}"

    return _INSTANT.sub(shown, text)
