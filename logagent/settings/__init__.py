"""All settings; this package is the only reader of the environment (through the mapping the cli passes in)."""

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
from logagent.settings._places import environment, resolve_language
from logagent.settings._run import RunOptions

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
    "is_loopback",
    "load",
    "resolve_language",
]
