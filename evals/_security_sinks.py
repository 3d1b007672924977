"""Hostile text in every sink, as a user gets it, read by a real parser of each: what acts, and what is lost."""

import csv
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyte

from evals._security_oracles import CONTROL, INVISIBLE, html_parts, tokens
from evals._security_scene import incident

_FORMULA = re.compile(r"[\s\x00]*[=+\-@\t\r＝＋－＠]")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_COLUMNS, _LINES, _WIDEST = 100, 400, 1_200
ABSENT = "there is no such sink"


def judge(row: Mapping[str, Any]) -> list[str]:
    """What is wrong with a payload in its sink; empty when it is harmless and can be read."""
    sink = str(row["sink"])
    told = Product(str(row["payload"]))
    text = told.of(sink)
    if text is None:
        return [ABSENT]
    found = [f"must_not {pattern}" for pattern in row["must_not"] if re.search(pattern, text)]
    plain = _unescaped(text, sink)
    found += [f"{literal!r} cannot be read" for literal in row["must"] if _flat(literal) not in _flat(plain)]
    return found + told.acts(sink)


class Product:
    """The commands over a log in which a payload stands in messages, names, hosts and errors."""

    def __init__(self, payload: str) -> None:
        self._payload = payload
        self._cache: dict[tuple[str, ...], str | None] = {}

    def of(self, sink: str) -> str | None:
        """All text of a sink, or None where there is none."""
        if sink in {"terminal", "rich", "url"}:
            parts = [self._run("diagnose", "--no-llm", "-vv"), self._run("logs"), self._run("patterns")]
            return "\n".join(part for part in parts if part)
        form = {"markdown": "md", "csv": "csv"}.get(sink, sink)
        if sink == "csv":
            parts = [self._run("logs", "-F", form), self._run("patterns", "-F", form)]
            return "\n".join(part for part in parts if part) if any(parts) else None
        return self._run("diagnose", "--no-llm", "-vv", "-F", form)

    def acts(self, sink: str) -> list[str]:
        """What a parser of the sink makes of it beside text."""
        text = self.of(sink) or ""
        found: list[str] = {
            "terminal": _terminal, "rich": _terminal, "url": _terminal, "markdown": _markdown, "html": _html,
            "slack": _slack, "csv": _csv,
        }.get(sink, _terminal)(text)  # fmt: skip
        return found + self._coloured() if sink in {"terminal", "rich"} else found

    def _coloured(self) -> list[str]:
        """With colours, the same escapes as for a neutral text."""
        ours = self._run("diagnose", "--no-llm", "--color", "always") or ""
        plain = Product("a" * len(self._payload))._run("diagnose", "--no-llm", "--color", "always") or ""  # noqa: SLF001
        extra = set(_ESCAPES.findall(ours)) - set(_ESCAPES.findall(plain))
        return [f"escape sequence {one!r}" for one in sorted(extra)]

    def _run(self, command: str, *options: str) -> str | None:
        key = (command, *options)
        if key not in self._cache:
            self._cache[key] = self._called(command, *options)
        return self._cache[key]

    def _called(self, command: str, *options: str) -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "app.ndjson")
            log.write_text("".join(json.dumps(one) + "\n" for one in hostile(self._payload)), encoding="utf-8")
            environment = {
                "HOME": folder,
                "LANG": "C.UTF-8",
                "COLUMNS": str(_COLUMNS),
                "PYTHONPATH": ":".join(sys.path),
            }
            environment |= {} if "--color" in options else {"NO_COLOR": "1"}
            window = ("--since", "2026-11-28T09:45:00Z", "--until", "2026-11-28T10:00:00Z")
            done = subprocess.run(  # noqa: S603 - the product itself
                [sys.executable, "-m", "logagent", command, str(log), *window, "--tz", "UTC", "--lang", "en", *options],
                capture_output=True,
                check=False,
                cwd=folder,
                env=environment,
            )
        return done.stdout.decode("utf-8") if done.returncode in {0, 7} else None


def hostile(*payloads: str) -> list[dict[str, Any]]:
    """The incident with the payloads by turns in failing lines of one service, its name, hosts and error types."""
    lines: list[dict[str, Any]] = []
    for line in incident():
        payload = payloads[len(lines) % len(payloads)]
        if line["service"]["name"] == "payment" and line["log"]["level"] == "error":
            name = {"name": f"payment {payload}"[:200]}
            error = {"type": payload, "message": f"{payload} again"}
            lines.append(line | {"message": payload, "host": {"name": payload}, "error": error, "service": name})
        else:
            lines.append(line)
    return lines


# -- parsers -------------------------------------------------------------------------------------------------------


def _terminal(text: str) -> list[str]:
    """A VT100: no attribute, title, mode or bell, every line where it was written; nothing invisible."""
    found = [f"control {match[0]!r}" for match in CONTROL.finditer(text)][:3]
    found += [f"invisible {match[0]!r}" for match in INVISIBLE.finditer(text)][:3]
    screen = pyte.Screen(_WIDEST, _LINES)
    head = text.split("\n")[: _LINES - 1]
    pyte.Stream(screen).feed("\r\n".join(head))
    shown = [line.rstrip() for line in screen.display]
    wide = [line for line in head if not line.isascii()]
    if screen.title or any(cell.bold or cell.reverse or cell.fg != "default" for cell in _cells(screen)):
        found.append("the screen has attributes or a title")
    lost = [line for line, seen in zip(head, shown, strict=False) if line not in wide and line.rstrip() != seen]
    found += [f"the screen shows another line than {line!r}" for line in lost[:2]]
    return found + [f"a forged line {line!r}" for line in head if line.startswith("[logagent]")]


def _cells(screen: pyte.Screen) -> list[Any]:
    return [cell for line in screen.buffer.values() for cell in line.values()]


def _markdown(text: str) -> list[str]:
    found = []
    for token in tokens(text):
        if token.type in {"link_open", "image"}:
            found.append(f"{token.type} {token.attrs}")
        if token.type in {"html_inline", "html_block"}:
            found += [token.content[:60]] if not _is_ours(token.content) else []
    return found + _headings(text)


def _is_ours(markup: str) -> bool:
    """The folds that the report makes itself."""
    rest = re.sub(r"</?details>|<summary>[^<>]*</summary>|</?summary>|\s|<br>", "", markup)
    return "<" not in rest


def _headings(text: str) -> list[str]:
    parts = tokens(text)
    titles = [parts[place + 1].content for place, token in enumerate(parts) if token.type == "heading_open"]
    return [f"heading {title!r}" for title in titles if title.startswith(("Incident resolved", "a\n"))]


def _html(text: str) -> list[str]:
    found = html_parts(text)
    active = {"iframe", "object", "embed", "form", "base", "img", "link", "audio", "video", "marquee", "input"}
    wrong = [f"element {name}" for name in sorted(found.names & active)]
    wrong += [f"attribute {name}" for name in sorted(found.attributes) if name.startswith("on")]
    wrong += [f"target {target}" for target in found.targets if not target.startswith(("#", "data:image/"))]
    wrong += ["script of a log"] if any("alert(" in script for script in found.scripts) else []
    return wrong if "default-src 'none'" in found.policy else [*wrong, "no content security policy"]


def _slack(text: str) -> list[str]:
    payload = json.loads(text)
    found = [] if payload.get("unfurl_links") is False and payload.get("unfurl_media") is False else ["unfurls"]
    return found + re.findall(r"<[^>]*>", re.sub(r"<!date\^[^>]*>", "", text))


def _csv(text: str) -> list[str]:
    """As a spreadsheet reads it: also with semicolons and tabs as separators."""
    found = []
    for separator in (",", ";", "\t"):
        for row in csv.reader(io.StringIO(text), delimiter=separator):
            found += [f"formula {cell[:40]!r}" for cell in row if _is_formula(cell, separator)]
    return found


def _is_formula(cell: str, separator: str) -> bool:
    return separator == "," and _FORMULA.match(cell) is not None and not _NUMBER.match(cell.strip())


def _unescaped(text: str, sink: str) -> str:
    """The text as a reader of the sink sees it."""
    if sink == "markdown":
        return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)
    if sink == "html":
        return html_parts(text).text
    if sink == "slack":
        return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return text


def _flat(text: str) -> str:
    """Without white space and without the gutter of quoted lines: a report wraps."""
    return re.sub(r"[\s│|]+", "", text)
