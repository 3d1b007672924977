"""Where this user's files live, and what the computer says about the time zone."""

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from logagent.settings._model import Paths

_LOCALTIME = Path("/etc/localtime")


def folders(environ: Mapping[str, str]) -> Paths:
    """XDG folders, or their counterparts on Windows. A relative XDG path counts as not set (its specification)."""
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or Path.home())
    if sys.platform == "win32":
        config = Path(environ.get("APPDATA") or home / "AppData" / "Roaming") / "logagent"
        state = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "logagent"
    else:
        config = _xdg(environ, "XDG_CONFIG_HOME", home / ".config") / "logagent"
        state = _xdg(environ, "XDG_STATE_HOME", home / ".local" / "state") / "logagent"
    return Paths(config=config, state=state, cases=state / "cases", knowledge=config / "knowledge")


def _xdg(environ: Mapping[str, str], name: str, otherwise: Path) -> Path:
    given = Path(environ.get(name, ""))
    return given if given.is_absolute() else otherwise


def project_file(folder: Path) -> Path | None:
    """The nearest `.logagent.toml` in `folder` or above it."""
    for place in (folder, *folder.parents):
        candidate = place / ".logagent.toml"
        if candidate.is_file():
            return candidate
    return None


def resolve_zone(choice: str, environ: Mapping[str, str]) -> str:
    """An IANA name for `local`, `utc` or an IANA name.

    Raises:
        ValueError: there is no such zone.
    """
    if choice.lower() in ("utc", "z"):
        return "UTC"
    if choice.lower() != "local":
        if not _exists(choice):
            raise ValueError(choice)
        return choice
    named = (environ.get("TZ", "").lstrip(":"), _linked_zone())
    return next((name for name in named if name and _exists(name)), "") or _offset_zone()


def _exists(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _linked_zone() -> str:
    """`Asia/Shanghai` for a link to `/usr/share/zoneinfo/Asia/Shanghai`."""
    target = str(_LOCALTIME.resolve()) if _LOCALTIME.is_symlink() else ""
    return target.partition("zoneinfo/")[2].removeprefix("posix/")


def _offset_zone() -> str:
    """A zone of the present offset where the computer names none; `Etc/GMT-8` is east of Greenwich."""
    offset = datetime.now(UTC).astimezone().utcoffset()
    hours = round(offset.total_seconds() / 3_600) if offset else 0
    return f"Etc/GMT{-hours:+d}" if hours else "UTC"
