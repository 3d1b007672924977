"""All settings; this package is the only reader of the environment (through the mapping the cli passes in).

Names are loaded when first used: a help page needs the environment, and need not pay for pydantic.
"""

import importlib
from typing import TYPE_CHECKING

from logagent.settings._environment import environment, forgo_plugins, resolve_language

if TYPE_CHECKING:
    from logagent.settings._load import load
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

__all__ = [
    "AnalysisSettings",
    "BaselineSettings",
    "CaseSettings",
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
    "environment",
    "folders",
    "forgo_plugins",
    "is_loopback",
    "load",
    "resolve_language",
    "with_source",
]

_ELSEWHERE = {"load": "_load", "folders": "_places", "RunOptions": "_run", "with_source": "_run"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(name)
    module = importlib.import_module(f"{__name__}.{_ELSEWHERE.get(name, '_model')}")
    value: object = getattr(module, name)
    globals()[name] = value
    return value
