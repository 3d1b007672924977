"""LA801: a bug, told in two lines, with a file that holds places in the program and nothing from logs or settings."""

import os
import platform
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from logagent import __version__
from logagent.cli._app import interface_texts
from logagent.cli._console import Console
from logagent.cli._errors import print_error
from logagent.errors import LogAgentError


def report_crash(error: Exception, arguments: Sequence[str]) -> int:
    """Write the crash file, print LA801, give exit status 1."""
    file = _write(_text(error))
    told = LogAgentError(
        f"logagent failed unexpectedly ({type(error).__name__})",
        code="LA801",
        values={"file": file or None, "what": type(error).__name__},
    )
    return print_error(told, Console(texts=interface_texts(arguments), json="--json" in arguments))


def _text(error: BaseException) -> str:
    """Places and exception types, innermost last. Messages are left out: they may quote log text."""
    lines = [
        f"logagent {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"time {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    ]
    current: BaseException | None = error
    while current is not None:
        lines.append(f"{type(current).__module__}.{type(current).__name__}")
        lines += [
            f"  {_place(frame.filename)}:{frame.lineno} in {frame.name}"
            for frame in traceback.extract_tb(current.__traceback__)
        ]
        current = current.__cause__ or current.__context__
    return "\n".join(lines) + "\n"


def _place(filename: str) -> str:
    """Path from the package on, without the folders of the user."""
    parts = Path(filename).parts
    for package in ("site-packages", "logagent"):
        if package in parts:
            return "/".join(parts[parts.index(package) :])
    return parts[-1] if parts else filename


def _write(text: str) -> str:
    from logagent.settings import environment  # noqa: PLC0415
    from logagent.settings._places import folders  # noqa: PLC0415

    folder = folders(environment()).state
    path = folder / f"crash-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        sys.stderr.write(text)
        return ""
    return str(path)
