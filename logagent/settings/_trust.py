"""Which project files the user vouched for: by path and content, so that a change has to be looked at again."""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

RECORD = "trusted.json"
"""Name of the record in the state folder: path to SHA-256 of the content."""


def trusted_files(state: Path) -> dict[str, str]:
    """The record; empty where there is none or it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((state / RECORD).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {str(path): str(digest) for path, digest in found.items()}
    return {}


def with_trust(record: Mapping[str, str], file: Path, content: bytes | None) -> dict[str, str]:
    """The record with this file as it is now, or without it where `content` is None."""
    others = {path: digest for path, digest in record.items() if path != str(file.resolve())}
    return others if content is None else {**others, str(file.resolve()): hashlib.sha256(content).hexdigest()}


def is_trusted(file: Path, content: bytes, record: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    """Whether the user named this file in LOGAGENT_TRUST, or recorded exactly this content of it."""
    named = [name for name in environ.get("LOGAGENT_TRUST", "").split(os.pathsep) if name]
    if any(Path(name).expanduser().resolve() == file.resolve() for name in named):
        return True
    return record.get(str(file.resolve())) == hashlib.sha256(content).hexdigest()
