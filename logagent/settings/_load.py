"""All sources together: the first that sets a value wins, credentials are taken as a whole."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from logagent.errors import UsageError
from logagent.settings._environment import resolve_language
from logagent.settings._model import Paths, Settings
from logagent.settings._places import folders, project_file, resolve_zone
from logagent.settings._secrets import read_reference
from logagent.settings._sources import ConfigFile, Source, from_environment, from_options, invalid
from logagent.settings._trust import is_trusted, trusted_files

_SYSTEM_FILE = Path("/etc/xdg/logagent/config.toml")
_CREDENTIALS = ("es.api_key", "es.username", "es.password")
_OPENAI_HOST = "api.openai.com"


def load(options: Mapping[str, object], environ: Mapping[str, str], *, folder: Path | None = None) -> Settings:
    """Read all settings.

    Args:
        options: by dotted name (`es.url`), besides `profile` and `es.api_key_file`; None means not given.
        environ: the environment.
        folder: where the search for `.logagent.toml` begins; by default the working directory.

    Raises:
        UsageError: LA702 a setting is unknown or invalid, LA703 a project file is not trusted, LA706 a literal secret.
    """
    paths = folders(environ)
    files = _files(environ, folder or Path.cwd(), paths)
    profile = _profile(options, environ, files)
    plain = {name: value for name, value in options.items() if name not in ("profile", "es.api_key_file")}
    given = from_options(plain)
    if options.get("es.api_key_file"):
        given.references["es.api_key"] = ("_file", options["es.api_key_file"])
    sources = [given, from_environment(environ), *(one for file in files for one in file.sources(profile))]
    values, origins = _merge(sources)
    _expand(values, origins, environ)
    _es_credentials(values, origins, sources, environ)
    _model_key(values, origins, sources, environ)
    _require_sendable(values, origins)
    moved = {
        part: Path(str(values[f"{part}.folder"])) for part in ("cases", "knowledge") if values.get(f"{part}.folder")
    }
    fixed = {"profile": profile, "paths": paths.model_copy(update=moved), "origins": origins}
    return _validated(values, origins, fixed)


def check_file(file: ConfigFile, environ: Mapping[str, str]) -> list[UsageError]:
    """What is wrong in a file, looked at without any profile and with each of them; nothing is fetched or run."""
    found: dict[str, UsageError] = {}
    for profile in ("", *file.profiles):
        try:
            values, origins = _merge(file.sources(profile))
            _expand(values, origins, environ)
            _validated(values, origins, {"profile": profile, "paths": folders(environ), "origins": origins})
        except UsageError as error:
            found.setdefault(error.message, error)
    default = file.table.get("default_profile", "")
    if default and default not in list(file.profiles):
        none = invalid(file.place(["default_profile"]), "default_profile", "there is no such profile in this file")
        found.setdefault(none.message, none)
    return list(found.values())


def _files(environ: Mapping[str, str], folder: Path, paths: Paths) -> list[ConfigFile]:
    """Project, user and system file, as far as they exist; the first counts most."""
    record = trusted_files(paths.state)

    def read(path: Path) -> ConfigFile | None:
        return ConfigFile.read(path, lambda content: is_trusted(path, content, record, environ))

    found = [read(path) if own else ConfigFile.read(path) for path, own in config_files(environ, folder)]
    return [file for file in found if file]


def config_files(environ: Mapping[str, str], folder: Path) -> list[tuple[Path, bool]]:
    """Where settings may stand, the first counts most; True for a file of a project, which has to be trusted."""
    project = project_file(folder)
    user = folders(environ).config / "config.toml"
    return [*([(project, True)] if project else []), (user, False), (_SYSTEM_FILE, False)]


def _profile(options: Mapping[str, object], environ: Mapping[str, str], files: Sequence[ConfigFile]) -> str:
    asked = options.get("profile") or environ.get("LOGAGENT_PROFILE")
    name = asked or next((file.table["default_profile"] for file in files if "default_profile" in file.table), "")
    known = sorted({profile for file in files for profile in file.profiles})
    if name and name not in known:
        listed = ", ".join(known) or "none"
        raise invalid("profile", str(name), f"there is no such profile; known: {listed}")
    return str(name)


def _merge(sources: Sequence[Source]) -> tuple[dict[str, object], dict[str, str]]:
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for source in sources:
        for name, value in source.values.items():
            if name not in values and name not in _CREDENTIALS:
                values[name], origins[name] = value, source.place(name)
    return values, origins


def _expand(values: dict[str, object], origins: dict[str, str], environ: Mapping[str, str]) -> None:
    """Turn `cloud_id`, `auto`, `local` and `~` into what they stand for."""
    cloud = values.pop("es.cloud_id", None)
    if cloud is not None:
        place = origins.pop("es.cloud_id")
        values.setdefault("es.url", _cloud_url(str(cloud), place))
        origins.setdefault("es.url", place)
    values["ui.lang"] = resolve_language(str(values.get("ui.lang", "auto")), environ)
    try:
        values["ui.tz"] = resolve_zone(str(values.get("ui.tz", "local")), environ)
    except ValueError as error:
        raise invalid(origins.get("ui.tz", "TZ"), "ui.tz", f"there is no time zone {error}") from error
    for name in ("es.ca_cert", "cases.folder", "knowledge.folder"):
        if isinstance(values.get(name), str):
            values[name] = str(Path(str(values[name])).expanduser())


def _cloud_url(cloud_id: str, place: str) -> str:
    """`name:base64(host$es$kibana)` as a URL."""
    try:
        host, _, rest = base64.b64decode(cloud_id.partition(":")[2]).decode("ascii").partition("$")
        cluster = rest.partition("$")[0]
    except (binascii.Error, UnicodeDecodeError) as error:
        raise invalid(place, "es.cloud_id", "this is no cloud id") from error
    if not host or not cluster:
        raise invalid(place, "es.cloud_id", "this is no cloud id")
    name, _, port = host.partition(":")
    return f"https://{cluster}.{name}:{port or '443'}"


def _es_credentials(
    values: dict[str, object], origins: dict[str, str], sources: Sequence[Source], environ: Mapping[str, str]
) -> None:
    """The highest place that holds any credential counts as a whole; in one place the API key counts."""
    for source in sources:
        held = [name for name in _CREDENTIALS if name in source.values or name in source.references]
        if not held:
            continue
        wanted = ["es.api_key"] if "es.api_key" in held else held
        for name in wanted:
            values[name], origins[name] = _secret_of(source, name, environ)
        return


def _require_sendable(values: dict[str, object], origins: Mapping[str, str]) -> None:
    """Keys travel in a header: a line end around one is dropped, any other character that cannot travel is refused."""
    for name in ("es.api_key", "llm.api_key"):
        if name not in values:
            continue
        key = values[name] = str(values[name]).strip()
        if odd := next((place for place, char in enumerate(key, 1) if not "!" <= char <= "~"), 0):
            raise invalid(origins.get(name, "settings"), name, f"character {odd} cannot be part of a key")


def _secret_of(source: Source, name: str, environ: Mapping[str, str]) -> tuple[object, str]:
    if name not in source.references:
        return source.values[name], source.place(name)
    kind, value = source.references[name]
    place = source.place(name + kind)
    shown = f"environment {value}" if kind == "_env" else f"{name}{kind} of {place}"
    return read_reference(name, kind, value, environ, place), shown


def _model_key(
    values: dict[str, object], origins: dict[str, str], sources: Sequence[Source], environ: Mapping[str, str]
) -> None:
    """A model key goes only with its URL (security.md 9)."""
    url = str(values.get("llm.base_url") or "")
    if not url:
        return
    from_openai = origins["llm.base_url"].endswith("OPENAI_BASE_URL")
    if from_openai or (_host(url) == _OPENAI_HOST and not environ.get("LOGAGENT_LLM_API_KEY")):
        if environ.get("OPENAI_API_KEY"):
            values["llm.api_key"], origins["llm.api_key"] = environ["OPENAI_API_KEY"], "environment OPENAI_API_KEY"
            return
        if from_openai:
            return
    if environ.get("LOGAGENT_LLM_API_KEY"):
        values["llm.api_key"] = environ["LOGAGENT_LLM_API_KEY"]
        origins["llm.api_key"] = "environment LOGAGENT_LLM_API_KEY"
        return
    for source in sources:
        if "llm.api_key" in source.references:
            values["llm.api_key"], origins["llm.api_key"] = _secret_of(source, "llm.api_key", environ)
            return


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _validated(values: dict[str, object], origins: dict[str, str], fixed: dict[str, object]) -> Settings:
    tree: dict[str, Any] = dict(fixed)
    for name, value in values.items():
        *sections, leaf = name.split(".", 1) if name.startswith("fields.") else name.split(".")
        table = tree
        for section in sections:
            table = table.setdefault(section, {})
        table[leaf] = value
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        raise _refused(error, origins) from None  # the input may be a secret


def _refused(error: ValidationError, origins: Mapping[str, str]) -> UsageError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    parts = [str(part) for part in first["loc"]]
    name = ".".join(parts)
    known = next((name for size in range(len(parts), 0, -1) if (name := ".".join(parts[:size])) in origins), name)
    reason = first["msg"].removeprefix("Value error, ")
    reason = "must be an http:// or https:// URL" if "pattern" in reason and "url" in name else reason
    return invalid(origins.get(known, "settings"), known, reason)
