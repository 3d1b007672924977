"""All settings; this package is the only reader of the environment (through the mapping the cli passes in).

Names are loaded when first used: a help page needs the environment, and need not pay for pydantic.
"""

import importlib
from typing import TYPE_CHECKING

from logagent.settings._environment import environment, forgo_plugins, resolve_language

if TYPE_CHECKING:
    from logagent.settings._edit import assign, header, written
    from logagent.settings._load import check_file, config_files, load
    from logagent.settings._model import (
        AnalysisSettings,
        BaselineSettings,
        CaseSettings,
        EsSettings,
        KibanaSettings,
        KnowledgeSettings,
        ModelSettings,
        Paths,
        Price,
        RedactSettings,
        Settings,
        SeverityRule,
        UiSettings,
        is_loopback,
    )
    from logagent.settings._places import folders
    from logagent.settings._run import RunOptions, with_source
    from logagent.settings._schema import config_schema
    from logagent.settings._show import shown
    from logagent.settings._sources import ConfigFile, from_environment, known_settings, refuse_secret, unknown
    from logagent.settings._trust import RECORD, is_trusted, trusted_files, with_trust

__all__ = [
    "RECORD",
    "AnalysisSettings",
    "BaselineSettings",
    "CaseSettings",
    "ConfigFile",
    "EsSettings",
    "KibanaSettings",
    "KnowledgeSettings",
    "ModelSettings",
    "Paths",
    "Price",
    "RedactSettings",
    "RunOptions",
    "Settings",
    "SeverityRule",
    "UiSettings",
    "assign",
    "check_file",
    "config_files",
    "config_schema",
    "environment",
    "folders",
    "forgo_plugins",
    "from_environment",
    "header",
    "is_loopback",
    "is_trusted",
    "known_settings",
    "load",
    "refuse_secret",
    "resolve_language",
    "shown",
    "trusted_files",
    "unknown",
    "with_source",
    "with_trust",
    "written",
]

_NAMES = {
    "_load": "check_file config_files load",
    "_places": "folders",
    "_run": "RunOptions with_source",
    "_edit": "assign header written",
    "_schema": "config_schema",
    "_show": "shown",
    "_sources": "ConfigFile from_environment known_settings refuse_secret unknown",
    "_trust": "RECORD is_trusted trusted_files with_trust",
}
_ELSEWHERE = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(name)
    module = importlib.import_module(f"{__name__}.{_ELSEWHERE.get(name, '_model')}")
    value: object = getattr(module, name)
    globals()[name] = value
    return value
