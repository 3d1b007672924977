"""What one run was asked to do: made by the cli from its options, read by wiring."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from logagent import demo
from logagent.expressions import expression

_ASKING = expression(r"\blogagent (?:diagnose|ask|patterns|logs|doctor)(?![\w-])")
_SOURCES = frozenset({"FILE", "-", "-i", "--index", "--es-url", "--case", "--profile"})
"""Words by which a command names a source itself."""
_NO_SOURCE = expression(r"logagent doctor (?:--only (?:llm|config|terminal)(?![,\w])|--print-role|--show-fingerprint)")


@dataclass(frozen=True)
class RunOptions:
    """The question of one run. Times stay text: what "now" is only the opened source knows (ux.md 2.2)."""

    command: Literal["diagnose", "ask", "demo"] = "diagnose"
    question: str | None = None
    services: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Paths; `-` is standard input."""
    indices: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    at: str | None = None
    baseline: str = "auto"
    filters: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Role (environment, host, namespace, version, trace_id) to the values asked for."""
    effort: str = "standard"
    deadline_seconds: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    use_model: bool = True
    require_model: bool = False
    time_shift_seconds: float = 0.0
    strict: bool = False
    save: bool = True
    scenario: str | None = None
    dry_run: bool = False
    case: str | None = None
    assumptions: tuple[str, ...] = ()
    language: str = "en"
    zone: str = "UTC"

    @property
    def source_words(self) -> tuple[str, ...]:
        """The words that name the files or indices of this run in a command."""
        if self.scenario is not None:
            return (str(demo.logs(self.scenario)),)
        return (*self.files, *(part for index in self.indices for part in ("-i", index)))


def with_source(text: str, words: Sequence[str]) -> str:
    """A text with a command, in which the command names its files or indices; `words` are those of this run.

    What came from standard input has to be piped again, which is said in words that cannot be pasted by mistake.

    >>> with_source("hide this: logagent diagnose --no-llm", ["a b.log"])
    "hide this: logagent diagnose 'a b.log' --no-llm"
    """
    found = _ASKING.search(text)
    if found is None or not words or _NO_SOURCE.search(text) or {*_SOURCES, *words} & {*text.split()}:
        return text
    before, command, rest = text[: found.start()], found[0], text[found.end() :]
    piped = "COMMAND | " if "-" in words else ""
    return f"{before}{piped}{command} {' '.join(map(shlex.quote, words))}{rest}"
