"""The form of a configuration file as JSON Schema, for editors and for checks before a file is rolled out."""

from typing import Any

from logagent.settings._model import Settings
from logagent.settings._secrets import SUFFIXES
from logagent.settings._sources import NOT_SETTABLE, SECRETS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = {
    "_file": ("string", "a file of mode 0600 that holds it"),
    "_env": ("string", "a variable that holds it"),
    "_command": ("string", "a command that prints it"),
    "_keyring": ("boolean", "it is in the keyring of this computer"),
}


def config_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `config.toml`: all sections, again under `profiles.NAME`, secrets by reference only."""
    whole = Settings.model_json_schema(mode="validation")
    parts: dict[str, Any] = whole["$defs"]
    for secret in SECRETS:
        section, name = secret.split(".")
        _by_reference(parts[_definition(whole, section)]["properties"], name)
    parts[_definition(whole, "es")]["properties"]["cloud_id"] = {"type": "string"}
    parts[_definition(whole, "es")]["properties"]["keyring"] = {"type": "boolean"}
    sections = {
        name: {key: value for key, value in one.items() if key != "default"}
        for name, one in whole["properties"].items()
        if name not in NOT_SETTABLE
    }
    parts.pop("Paths", None)
    parts["Profile"] = {"type": "object", "properties": sections, "additionalProperties": False}
    return {
        "$schema": DIALECT,
        "title": "logagent config.toml",
        "type": "object",
        "properties": {
            "default_profile": {"type": "string"},
            "profiles": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Profile"}},
            **sections,
        },
        "additionalProperties": False,
        "$defs": parts,
    }


def _definition(whole: dict[str, Any], section: str) -> str:
    return str(whole["properties"][section]["$ref"]).rpartition("/")[2]


def _by_reference(properties: dict[str, Any], name: str) -> None:
    properties.pop(name)
    for suffix in SUFFIXES:
        kind, what = _REFERENCE[suffix]
        properties[name + suffix] = {"type": kind, "description": what}
