"""The bundled scenarios: recorded-looking logs and their expected answers, made by `python -m fixtures.generate`."""

import json
from pathlib import Path
from typing import Any

from logagent.errors import UsageError

DEFAULT = "order-outage"
_FOLDER = Path(__file__).parent


def scenarios() -> tuple[str, ...]:
    """Names of the bundled scenarios, the default one first."""
    found = sorted(folder.name for folder in _FOLDER.iterdir() if (folder / "truth.json").is_file())
    return tuple(sorted(found, key=lambda name: name != DEFAULT))


def logs(scenario: str) -> Path:
    """The gzipped NDJSON file of a scenario.

    Raises:
        UsageError: no scenario of that name.
    """
    return _folder(scenario) / "logs.ndjson.gz"


def truth(scenario: str) -> dict[str, Any]:
    """What happened in a scenario: root cause, start, window, baseline, expected outcome.

    Raises:
        UsageError: no scenario of that name.
    """
    loaded: dict[str, Any] = json.loads((_folder(scenario) / "truth.json").read_text(encoding="utf-8"))
    return loaded


def _folder(scenario: str) -> Path:
    if scenario not in scenarios():
        raise UsageError(f"No demo scenario {scenario!r}.", hint=f"There are: {', '.join(scenarios())}.")
    return _FOLDER / scenario
