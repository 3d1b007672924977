"""Log schemas as data: one TOML file names, for each role, the fields that may play it, best first."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Schema:
    """One schema file."""

    name: str
    title: str
    marks: tuple[str, ...] = ()
    """Field names that give the schema away; the schema with the largest share present wins."""
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Candidates of each role, best first."""
    weak: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Candidates that count only where nothing better exists."""
    prefixes: tuple[str, ...] = ()
    """Containers under which any candidate may stand (`attributes.`)."""


@functools.cache
def schemas() -> tuple[Schema, ...]:
    """All schema files of the package, by name."""
    found = [
        _schema(tomllib.loads(entry.read_text("utf-8")))
        for entry in files("logagent.schemas").iterdir()
        if entry.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda schema: schema.name))


def _schema(data: Mapping[str, object]) -> Schema:
    return Schema(
        name=str(data["name"]),
        title=str(data["title"]),
        marks=_names(data.get("marks")),
        roles=_lists(data.get("roles")),
        weak=_lists(data.get("weak")),
        prefixes=_names(data.get("prefixes")),
    )


def _lists(table: object) -> dict[str, tuple[str, ...]]:
    return {str(role): _names(names) for role, names in table.items()} if isinstance(table, dict) else {}


def _names(value: object) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, list) else ()
