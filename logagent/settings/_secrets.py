"""Secrets come by reference: a file, an environment variable, a command, the keyring. Never literally from a file."""

import importlib
import os
import shlex
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from logagent.errors import UsageError

SUFFIXES = ("_file", "_env", "_command", "_keyring")
"""`api_key_file` and so on; the part before is the setting."""
_COMMAND_SECONDS = 30


def read_reference(setting: str, kind: str, value: object, environ: Mapping[str, str], origin: str) -> str:
    """The secret that a reference points to, without the line end.

    Args:
        setting: dotted name such as `es.api_key`.
        kind: one of SUFFIXES.
        value: path, variable name, command line, or True for the keyring.
        environ: the environment.
        origin: where the reference stands, for the error text.

    Raises:
        UsageError: LA702, the reference leads to nothing usable.
    """
    try:
        if kind == "_file":
            secret = _from_file(Path(str(value)).expanduser())
        elif kind == "_env":
            secret = environ.get(str(value), "")
        elif kind == "_command":
            secret = _from_command(str(value), environ)
        else:
            secret = _from_keyring(setting)
    except (OSError, ValueError, subprocess.SubprocessError, ImportError) as error:
        raise _unusable(f"{setting}{kind}", origin, _reason(error)) from error
    if not secret.strip():
        raise _unusable(f"{setting}{kind}", origin, "it is empty")
    return secret.strip()


def _from_file(path: Path) -> str:
    found = path.stat()
    mode = found.st_mode
    if os.name == "posix" and stat.S_ISREG(mode) and found.st_uid not in {os.geteuid(), 0}:
        msg = "its owner is neither you nor root: who owns a key file can change it"
        raise ValueError(msg)
    if os.name == "posix" and stat.S_ISREG(mode) and mode & 0o077:
        msg = f"others can read it (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}"
        raise ValueError(msg)
    return path.read_text(encoding="utf-8")


def _from_command(command: str, environ: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S603 - a command the user wrote into a file that is trusted
        shlex.split(command),
        capture_output=True,
        check=True,
        text=True,
        timeout=_COMMAND_SECONDS,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
    )
    return done.stdout


def _from_keyring(setting: str) -> str:
    keyring = importlib.import_module("keyring")
    return str(keyring.get_password("logagent", setting) or "")


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"the command ended with status {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"the command took more than {_COMMAND_SECONDS} s"
    if isinstance(error, ImportError):
        return "the keyring package is not installed"
    if isinstance(error, UnicodeDecodeError):
        return "it holds no text"
    return (error.strerror or type(error).__name__).lower() if isinstance(error, OSError) else str(error)


def _unusable(setting: str, origin: str, reason: str) -> UsageError:
    return UsageError(
        f"{origin}: {setting}: {reason}",
        code="LA702",
        values={"file": origin, "setting": setting, "reason": reason},
    )
