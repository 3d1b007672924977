"""The settings as they count, by dotted name, without secrets."""

from pydantic import SecretStr

from logagent.settings._model import Settings
from logagent.settings._sources import NOT_SETTABLE

SET = "***"
"""What stands for a secret that is set."""


def shown(settings: Settings) -> dict[str, object]:
    """Every setting with its value; a secret is `***` where it is set and None where it is not."""
    found: dict[str, object] = {}
    for section, values in settings.model_dump(exclude=set(NOT_SETTABLE)).items():
        for name, value in values.items():
            found[f"{section}.{name}"] = _plain(value)
    return found


def _plain(value: object) -> object:
    if isinstance(value, SecretStr):
        return SET if value.get_secret_value() else None
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if one is not None}
    return list(value) if isinstance(value, tuple) else value
