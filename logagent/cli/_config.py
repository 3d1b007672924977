"""What the `config` commands and `init` do with configuration files."""

import difflib
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from logagent.errors import UsageError

if TYPE_CHECKING:
    from logagent.settings import ConfigFile, Settings

DEFAULT_PROFILE = "default_profile"
_OF_PROFILES = ("es", "fields", "kibana", "baseline")
"""Sections that `set` writes into the profile in use: they say what belongs to one cluster."""
_LISTS = ("es.index", "es.remotes", "fields.")


@dataclass(frozen=True, slots=True)
class Row:
    """One setting as it counts."""

    name: str
    value: object
    origin: str

    @property
    def line(self) -> str:
        """As TOML; what has no value is a comment."""
        from logagent.settings import written  # noqa: PLC0415

        return f"# {self.name} is not set" if self.value is None else f"{self.name} = {written(self.value)}"

    @property
    def with_origin(self) -> str:
        """As TOML, with the place it comes from behind it."""
        return f"{self.line}  # {self.origin}"


def listed(settings: "Settings", key: str | None, *, every: bool) -> list[Row]:
    """The setting of that name or the settings of that section; without a key those that someone set, or all.

    Raises:
        UsageError: LA702, there is no such setting.
    """
    from logagent.settings import shown, unknown  # noqa: PLC0415

    rows = [Row(name, value, settings.origin(name)) for name, value in shown(settings).items()]
    if key is None:
        return rows if every else [row for row in rows if row.name in settings.origins]
    found = [row for row in rows if row.name == key or row.name.startswith(f"{key}.")]
    if not found and key != "fields":
        raise unknown("the command line", key)
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """One file that settings may stand in; `kind` project, user or system; `state` used, missing or untrusted."""

    path: Path
    kind: str
    state: str


def looked_at() -> list[Place]:
    """The files, the one that counts most first."""
    from logagent.settings import config_files, environment, folders, is_trusted, trusted_files  # noqa: PLC0415

    environ = environment()
    record = trusted_files(folders(environ).state)
    found = []
    for number, (path, own) in enumerate(reversed(config_files(environ, Path.cwd()))):
        state = "used" if path.is_file() else "missing"
        if own and not is_trusted(path, path.read_bytes(), record, environ):
            state = "untrusted"
        found.append(Place(path, ("system", "user", "project")[number], state))
    return found[::-1]


def problems(files: Sequence[str] | None) -> Iterator[tuple[Path, list[UsageError]]]:
    """Each file with what is wrong in it.

    Raises:
        UsageError: LA702, a file that was named does not exist.
    """
    from logagent.settings import ConfigFile, check_file, environment  # noqa: PLC0415

    for path in [Path(name).expanduser() for name in files or ()] or [one.path for one in looked_at()]:
        try:
            parsed = ConfigFile.read(path)
        except UsageError as error:
            yield path, [error]
            continue
        if parsed is not None:
            yield path, check_file(parsed, environment())
        elif files:
            reason = f"there is no file {path}"
            yield path, [UsageError(reason, code="LA702", values={"reason": reason, "command": "config validate"})]


def sensitive(file: "ConfigFile") -> list[str]:
    """Names of what the file sets that a project may not set unless it is trusted."""
    return sorted({name for profile in ("", *file.profiles) for name in file.needs_trust(profile)})


# -- change ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """The new text of a file, and what to say of it."""

    file: Path
    text: str
    place: str
    line: str
    overridden: str
    """What counts more than the file, empty where nothing does."""


def changed(key: str, value: str, profile: str | None) -> Change:
    """The user's file with one setting changed; nothing is written.

    Raises:
        UsageError: LA702 for a name or value that cannot be, LA706 for a secret.
    """
    from logagent.settings import environment, folders, from_environment, refuse_secret, written  # noqa: PLC0415

    refuse_secret("the command line", key, value)
    environ = environment()
    file = _user_file(folders(environ).config / "config.toml")
    name = _full_name(key, profile, file)
    text, taken = _first_that_fits(file, key, name, value)
    above = from_environment(environ)
    return Change(
        file=file.path,
        text=text,
        place=str(file.path),
        line=f"{'.'.join(name)} = {written(taken)}",
        overridden=above.place(key) if key in above.values else "",
    )


def _user_file(path: Path) -> "ConfigFile":
    from logagent.settings import ConfigFile  # noqa: PLC0415

    return ConfigFile.read(path) or ConfigFile.parse(path, "")


def _full_name(key: str, profile: str | None, file: "ConfigFile") -> list[str]:
    from logagent.settings import known_settings, unknown  # noqa: PLC0415

    section, _, rest = key.partition(".")
    if key == DEFAULT_PROFILE:
        return [key]
    if not rest or (key not in known_settings() and section not in ("fields", "severity")):
        raise unknown("the command line", key)
    chosen = profile or (file.table.get(DEFAULT_PROFILE) if section in _OF_PROFILES else None)
    if chosen is None:
        return key.split(".")
    if chosen not in file.profiles:
        near = difflib.get_close_matches(str(chosen), file.profiles, 1)
        reason = f"there is no profile {chosen}; `logagent init -p {chosen}` makes one"
        raise UsageError(reason, code="LA702", values={"reason": reason, "closest": near[0] if near else None})
    return ["profiles", str(chosen), *key.split(".")]


def _first_that_fits(file: "ConfigFile", key: str, name: list[str], value: str) -> tuple[str, object]:
    """The text with the first reading of the value that the setting allows."""
    from logagent.settings import ConfigFile, assign, check_file, environment  # noqa: PLC0415

    refused: UsageError | None = None
    for taken in _readings(key, value):
        try:
            text = assign(file.text, name, taken)
        except ValueError as error:
            reason = f"{file.path}: {key}: {error}"
            raise UsageError(reason, code="LA702", values={"reason": reason, "command": "config set"}) from error
        found = check_file(ConfigFile.parse(file.path, text), environment())
        own = next((error for error in found if error.values.get("setting") == key), None)
        if own is None:
            return text, taken
        refused = refused or own
    reason = f"{key}: {refused.values.get('reason', refused.message) if refused else 'no value'}"
    raise UsageError(reason, code="LA702", values={"reason": reason, "command": "config set"})


def _readings(key: str, value: str) -> Iterator[object]:
    """What the value can mean: a TOML number, truth value or list, names by comma, text, a list of one text."""
    try:
        literal = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        literal = {}
    if len(literal) == 1 and isinstance(literal["value"], bool | int | float | list | dict):
        yield literal["value"]
    if key.startswith(_LISTS) and "," in value:
        yield [part.strip() for part in value.split(",") if part.strip()]
    yield value
    yield [value]


def kept(file: Path, text: str) -> None:
    """Write a file of this user whole, mode 0600; its folder is made where there is none.

    Raises:
        UsageError: LA702, the disk said no.
    """
    from logagent.cases import write_private  # noqa: PLC0415

    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(file.resolve(), text.rstrip("\n") + "\n")
    except OSError as error:
        reason = f"cannot write {file}: {(error.strerror or 'failed').lower()}"
        raise UsageError(reason, code="LA702", values={"reason": reason, "command": "config path"}) from error
