"""One source of settings after the other: options, environment, project file, user file, system file."""

import difflib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from logagent.errors import UsageError
from logagent.settings._edit import line_of
from logagent.settings._model import Settings
from logagent.settings._secrets import SUFFIXES

SECRETS = ("es.api_key", "es.password", "llm.api_key")
URLS = ("es.url", "llm.base_url", "kibana.url")
_ENVIRONMENT = {
    "es.url": ("LOGAGENT_ES_URL", "ELASTICSEARCH_URL"),
    "es.index": ("LOGAGENT_ES_INDEX",),
    "es.api_key": ("LOGAGENT_ES_API_KEY",),
    "es.username": ("LOGAGENT_ES_USERNAME",),
    "es.password": ("LOGAGENT_ES_PASSWORD",),
    "es.ca_cert": ("LOGAGENT_ES_CA_CERT",),
    "llm.base_url": ("LOGAGENT_LLM_URL", "OPENAI_BASE_URL"),
    "llm.model": ("LOGAGENT_MODEL",),
    "llm.context_window": ("LOGAGENT_CONTEXT_WINDOW",),
    "ui.lang": ("LOGAGENT_LANG",),
    "ui.tz": ("LOGAGENT_TZ",),
    "ui.accessible": ("LOGAGENT_ACCESSIBLE",),
    "analysis.effort": ("LOGAGENT_EFFORT",),
    "analysis.deadline": ("LOGAGENT_DEADLINE",),
}
"""The first that is set wins. Keys of the model: `_load.model_key`, since a key goes only with its URL."""

_HARMLESS = ("es.index", "fields.", "analysis.", "ui.", "baseline.", "severity")
"""What a project file may set without being trusted: what to look at and how to show it, not where data goes."""
NOT_SETTABLE = ("profile", "paths", "origins")
_ABOVE = ("profiles", "default_profile")
"""What a file holds besides settings."""


@dataclass(slots=True)
class Source:
    """Values by dotted name, and references to secrets as (kind, value), with the place they come from."""

    name: str
    values: dict[str, object] = field(default_factory=dict)
    references: dict[str, tuple[str, object]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """Dotted name to a more exact place: the variable, the option, the line."""

    def place(self, setting: str) -> str:
        """Where a value of this source stands, for people."""
        return self.places.get(setting, self.name)


def from_options(options: Mapping[str, object]) -> Source:
    """Options of the command line by dotted name; None means not given.

    Raises:
        UsageError: LA706, a URL on the command line holds a password.
    """
    source = Source("command line", {name: value for name, value in options.items() if value is not None})
    for name in URLS:
        if _has_password(source.values.get(name)):
            raise _secret("the command line", name)
    return source


def from_environment(environ: Mapping[str, str]) -> Source:
    """The LOGAGENT_* variables and their stand-ins. A password inside LOGAGENT_ES_URL is taken out of the URL."""
    source = Source("environment")
    for setting, variables in _ENVIRONMENT.items():
        variable = next((name for name in variables if environ.get(name)), None)
        if variable:
            source.values[setting] = environ[variable]
            source.places[setting] = f"environment {variable}"
    url = source.values.get("es.url")
    if isinstance(url, str) and _has_password(url):
        parts = urlsplit(url)
        source.values["es.url"] = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        source.values.setdefault("es.username", parts.username or "")
        source.values.setdefault("es.password", parts.password or "")
    return source


@dataclass(slots=True)
class ConfigFile:
    """One parsed file; `trusted` False: a project file nobody vouched for."""

    path: Path
    table: dict[str, Any]
    text: str
    trusted: bool = True

    @classmethod
    def read(cls, path: Path, trust: Callable[[bytes], bool] | None = None) -> "ConfigFile | None":
        """The file, or None where there is none; `trust` tells whether someone vouched for this content.

        Raises:
            UsageError: LA702, it cannot be read or is no TOML.
        """
        try:
            content = path.read_bytes()
            return cls.parse(path, content.decode("utf-8"), trusted=trust is None or trust(content))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise invalid(str(path), "", (error.strerror or "cannot be read").lower()) from error
        except ValueError as error:  # UnicodeDecodeError
            raise invalid(str(path), "", str(error)) from error

    @classmethod
    def parse(cls, path: Path, text: str, *, trusted: bool = True) -> "ConfigFile":
        """A file with this text.

        Raises:
            UsageError: LA702, it is no TOML.
        """
        try:
            return cls(path, tomllib.loads(text), text, trusted)
        except tomllib.TOMLDecodeError as error:
            raise invalid(str(path), "", str(error)) from error

    @property
    def profiles(self) -> dict[str, Any]:
        """The tables `[profiles.NAME]`."""
        found = self.table.get("profiles", {})
        return found if isinstance(found, dict) else {}

    def sources(self, profile: str) -> list[Source]:
        """What the profile sets, and behind it what the top level sets.

        Raises:
            UsageError: LA702 unknown setting, LA703 not trusted, LA706 a literal secret.
        """
        top = {key: value for key, value in self.table.items() if key not in _ABOVE}
        return [self._source(self.profiles.get(profile, {}), ("profiles", profile)), self._source(top, ())]

    def _source(self, table: object, within: tuple[str, ...]) -> Source:
        source = Source(str(self.path))
        for name, value in _flatten(table, Settings, "", lambda name: self.place((*within, *name.split(".")))):
            self._add(source, name, value, self.place((*within, *name.split("."))))
        return source

    def _add(self, source: Source, name: str, value: object, place: str) -> None:
        if not self.trusted and not name.startswith(_HARMLESS):
            raise UsageError(
                f"{self.path} wants to set {name} and is not trusted",
                code="LA703",
                values={"file": str(self.path), "setting": name},
            )
        source.places[name] = place
        setting, kind = _reference(name)
        if kind:
            source.references[setting] = (kind, value)
        else:
            refuse_secret(place, name, value)
            source.values[name] = value

    def needs_trust(self, profile: str) -> list[str]:
        """Names that the file sets, with this profile, and that an untrusted file may not."""
        trusted = ConfigFile(self.path, self.table, self.text)
        names = {one for source in trusted.sources(profile) for one in source.places}
        return [name for name in names if not name.startswith(_HARMLESS)]

    def place(self, name: Sequence[str]) -> str:
        """`config.toml line 12`, as far as the line can be found."""
        number = line_of(self.text, name)
        return f"{self.path} line {number}" if number else str(self.path)


def _reference(name: str) -> tuple[str, str]:
    """(`es.api_key`, `_file`) for `es.api_key_file`; an empty kind for plain settings."""
    if name == "es.keyring":
        return "es.api_key", "_keyring"
    for suffix in SUFFIXES:
        if name.removesuffix(suffix) in SECRETS and name.endswith(suffix):
            return name.removesuffix(suffix), suffix
    return name, ""


def _flatten(
    table: object, model: type[BaseModel], prefix: str, place: Callable[[str], str]
) -> Iterator[tuple[str, object]]:
    if not isinstance(table, dict):
        raise invalid(place(prefix.rstrip(".")), prefix.rstrip("."), "must be a table")
    for key, value in table.items():
        name = prefix + key
        known = model.model_fields.get(key)
        if (known is None or name in NOT_SETTABLE) and not _is_extra(name):
            raise unknown(place(name), name)
        section = known.annotation if known else None
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from _flatten(value, section, f"{name}.", place)
        elif name == "fields" and isinstance(value, dict):
            yield from ((f"fields.{role}", names) for role, names in value.items())
        else:
            yield name, value


def _is_extra(name: str) -> bool:
    return name == "es.cloud_id" or bool(_reference(name)[1])


def known_settings() -> list[str]:
    """All dotted names, for "did you mean"."""
    names: list[str] = []
    for section, info in Settings.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            names += [f"{section}.{name}" for name in info.annotation.model_fields if section not in NOT_SETTABLE]
    return [*names, *(f"{name}{suffix}" for name in SECRETS for suffix in SUFFIXES), "es.cloud_id"]


def unknown(place: str, name: str) -> UsageError:
    """LA702 for a name that is no setting, with the nearest one."""
    closest = difflib.get_close_matches(name, known_settings(), 1)
    return UsageError(
        f"{place}: {name} is not a setting",
        code="LA702",
        values={"file": place, "setting": name, "closest": closest[0] if closest else None},
    )


def invalid(place: str, setting: str, reason: str) -> UsageError:
    """LA702 for a known setting with a value that cannot be."""
    named = f"{place}: {setting}: {reason}" if setting else f"{place}: {reason}"
    values = {"file": place, "setting": setting, "reason": reason} if setting else {"reason": named}
    return UsageError(named, code="LA702", values=values)


def _secret(place: str, name: str) -> UsageError:
    reference = f"{name}_file" if name in SECRETS else None
    values = {"file": place, "setting": name, "reference": reference}
    return UsageError(f"{place}: {name} holds a secret", code="LA706", values=values)


def refuse_secret(place: str, name: str, value: object) -> None:
    """Refuse a secret, or a URL with a password in it, where only references may stand.

    Raises:
        UsageError: LA706.
    """
    if name in SECRETS or (name in URLS and _has_password(value)):
        raise _secret(place, name)


def _has_password(url: object) -> bool:
    if not isinstance(url, str):
        return False
    try:
        return urlsplit(url).password is not None
    except ValueError:  # a broken URL is told by its pattern
        return False
