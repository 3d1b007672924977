"""Every wording that code prints: one folder a language, one TOML file an area, read when first needed.

`errors.toml` holds the texts of all codes (ux.md 2.9). Every other file `area.toml` holds tables `[area.topic]` of
`key = "text"` pairs, read as `area.topic.key` by `Catalogue.say`. English is complete; a key that another language
lacks is read in English.
"""

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from logagent.errors import LogAgentError
from logagent.expressions import expression

LANGUAGES = ("en", "zh-CN")
"""BCP 47 names of the languages there are; the first is the one to fall back to."""

WHY_LINES = 2
"""Most lines that say why."""
_SLOT = expression(r"\{(\w+)\}")
_PLURAL = expression(r"\{(\w+):([^{}|]*)\|([^{}|]*)\}")
"""`{n:line|lines}`: one or many, by the value of `n`."""
Forms = str | list[str]
"""One text, or alternatives of which the first whose values are all known counts."""


@dataclass(frozen=True, slots=True)
class ErrorText:
    """The wording of an error, warning or notice, filled in."""

    code: str
    kind: Literal["error", "warning", "notice"]
    title: str
    why: tuple[str, ...]
    remedies: tuple[str, ...]
    """Runnable lines, the best one last."""


class Catalogue:
    """The texts of one language.

    Attributes:
        language: BCP 47 name, one of LANGUAGES.
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language if language in LANGUAGES else LANGUAGES[0]

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes, in order."""
        return tuple(_area(LANGUAGES[0], "errors"))

    def say(self, key: str, **values: object) -> str:
        """The text of `area.topic.key` with its `{values}` and `{n:one|many}` filled in; what is not given stays.

        Raises:
            KeyError: no language has the key.
        """
        for language in (self.language, LANGUAGES[0]):
            text = _lookup(_area(language, key.partition(".")[0]), key)
            if isinstance(text, str):
                text = _PLURAL.sub(lambda match: match[2 if str(values.get(match[1])) == "1" else 3], text)
                return _SLOT.sub(lambda match: str(values.get(match[1], match[0])), text)
        raise KeyError(key)

    def error(self, code: str, values: Mapping[str, object] | None = None) -> ErrorText:
        """The wording of `code`. Lines whose values are not given are left out, so it never fails on a known code.

        Raises:
            KeyError: there is no such code.
        """
        return self._compose(code, dict(values or {}), "", "")

    def describe(self, error: LogAgentError) -> ErrorText:
        """The wording of a raised error; without a code of its own, its message and hint are all there is."""
        if error.code not in self.codes:
            return ErrorText(error.code, "error", error.message, (error.hint,) if error.hint else (), ())
        return self._compose(error.code, error.values, error.message, error.hint)

    def explain(self, code: str) -> str:
        """The long text of `logagent explain CODE`.

        Raises:
            KeyError: there is no such code.
        """
        return str(self._entry(code)["explain"])

    def exit_status(self, code: str) -> int | None:
        """Exit status of the code where it ends a run (LA4xx: with --strict); None where the run always goes on.

        Raises:
            KeyError: there is no such code.
        """
        status = _area(LANGUAGES[0], "errors")[code]["exit"]
        return status if isinstance(status, int) else None

    def _entry(self, code: str) -> Mapping[str, object]:
        english: Mapping[str, object] = _area(LANGUAGES[0], "errors")[code]
        return {**english, **_area(self.language, "errors").get(code, {})}

    def _compose(self, code: str, values: Mapping[str, object], message: str, hint: str) -> ErrorText:
        entry = self._entry(code)
        title, is_filled = _title(entry["title"], values)
        why = _lines(entry["why"], values)
        if not is_filled and message:  # the message knows more than a title without values
            if self.language == LANGUAGES[0]:
                title = message.rstrip(".")
            else:
                why = (message, *why)
        if hint and not any(line[:8].lower() == hint[:8].lower() for line in why):
            why = (*why, hint)
        kind: Literal["error", "warning", "notice"] = entry["kind"]  # type: ignore[assignment]
        return ErrorText(code, kind, title, why[:WHY_LINES], _lines(entry["try"], values))


def _title(forms: object, values: Mapping[str, object]) -> tuple[str, bool]:
    """The first form that can be filled, and whether it shows any value (or is the only one there is)."""
    texts = [str(form) for form in forms] if isinstance(forms, list) else [str(forms)]
    for form in texts:
        filled = _fill(form, values)
        if filled is not None:
            return filled, "{" in form or len(texts) == 1
    return texts[-1], False


def _lines(entries: object, values: Mapping[str, object]) -> tuple[str, ...]:
    lines: list[str] = []
    for entry in entries if isinstance(entries, list) else []:
        forms = entry if isinstance(entry, list) else [entry]
        filled = next((text for text in (_fill_line(str(form), values) for form in forms) if text is not None), None)
        if filled is not None:
            lines.append(filled)
    return tuple(lines)


def _fill_line(template: str, values: Mapping[str, object]) -> str | None:
    """A line; values inside a command are quoted for the shell, since names from logs end up in what people paste.

    There a sequence is several words.
    """
    quoted = {name: _words(value) for name, value in values.items() if value not in (None, "")}
    parts = [_fill(part, quoted if place % 2 else values) for place, part in enumerate(template.split("`"))]
    return None if None in parts else "".join(str(part) for part in parts)


def _words(value: object) -> str:
    return shlex.join(map(str, value)) if isinstance(value, list | tuple) else shlex.quote(_shown(value))


def _fill(template: str, values: Mapping[str, object]) -> str | None:
    names = _SLOT.findall(template)
    if any(values.get(name) in (None, "") for name in names):
        return None
    return _SLOT.sub(lambda match: _shown(values[match[1]]), template)


def _shown(value: object) -> str:
    """A value as text: floats short, sequences joined; never longer than a line needs."""
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(item) for item in value)
    return str(value)


def _lookup(table: Mapping[str, object], path: str) -> object:
    found: object = table
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


@cache
def _area(language: str, area: str) -> dict[str, dict[str, object]]:
    """One file of a language folder as a table; empty where there is no such file."""
    file = resources.files("logagent.texts").joinpath(language.replace("-", "_"), f"{area}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
