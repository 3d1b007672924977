"""The lock files in `requirements/`: names, versions, hashes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(r"^(?P<name>[\w.\-]+)(?:\[[\w,.\-]+\])?==(?P<version>[^\s;\\]+)(?P<marker>[^\\\n]*)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Pin:
    """One locked distribution."""

    name: str
    """Normalised (PEP 503)."""
    version: str
    hashes: tuple[str, ...]
    marker: str = ""


def pins(path: Path = ROOT / "requirements" / "runtime.txt") -> Iterator[Pin]:
    """The pins of a lock file, in its order."""
    text = path.read_text(encoding="utf-8")
    found = list(_PIN.finditer(text))
    for place, match in enumerate(found):
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        hashes = tuple(_HASH.findall(text, match.end(), end))
        yield Pin(normal(match["name"]), match["version"], hashes, match["marker"].strip(" ;"))


def normal(name: str) -> str:
    """A distribution's name as indices compare it.

    >>> normal("Markdown_It.Py")
    'markdown-it-py'
    """
    return re.sub(r"[-_.]+", "-", name).lower()
