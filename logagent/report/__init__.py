"""One module a format. Order and wording are the same in all of them; all text of logs and models is sanitised."""

import importlib
import sys
from dataclasses import replace
from typing import TypedDict, Unpack

from logagent import plugins
from logagent.diagnosis import Diagnosis
from logagent.errors import UsageError
from logagent.report._style import Style

_SPELLED = {"terminal": "text", "markdown": "md"}
"""Module to the name of its format, where that is another: no module is imported to know what there is."""


class StyleChoices(TypedDict, total=False):
    """Keyword arguments of `render`: see `Style`."""

    language: str
    zone: str
    width: int
    unicode: bool
    colour: bool
    verbose: int
    accessible: bool
    budget: int


def formats() -> tuple[str, ...]:
    """Names of the formats, as the command line spells them, sorted."""
    return tuple(sorted(_SPELLED.get(name, name) for name in plugins.names(sys.modules[__name__])))


def render(diagnosis: Diagnosis, output: str = "text", **choices: Unpack[StyleChoices]) -> str:
    """The report in a format, without a newline at the end.

    Language and zone are those of the diagnosis where they are not given.

    Raises:
        UsageError: there is no such format.
    """
    spelled = {short: name for name, short in _SPELLED.items()}
    name = spelled.get(output, output)
    if name not in plugins.names(sys.modules[__name__]):
        raise UsageError(f"No format {output!r}.", hint=f"There are: {', '.join(formats())}.")
    module = importlib.import_module(f"{__name__}.{name}")
    text: str = module.render(diagnosis, _style(diagnosis, choices))
    return text


def render_item(diagnosis: Diagnosis, item: str, **choices: Unpack[StyleChoices]) -> str:
    """One item of a report as text: a piece of evidence (`E4`), a hypothesis (`H1`) or a pattern (`P2`).

    Raises:
        UsageError: the diagnosis has no such item; the hint names those that it has.
    """
    from logagent.report import _items  # noqa: PLC0415 - most runs print a report

    return _items.render(diagnosis, item, _style(diagnosis, choices))


def _style(diagnosis: Diagnosis, choices: StyleChoices) -> Style:
    chosen: StyleChoices = {"language": diagnosis.language, "zone": diagnosis.window.display_time_zone}
    chosen.update(choices)
    style = Style(**chosen)
    return replace(style, dated=_spans_days(diagnosis, style))


def _spans_days(diagnosis: Diagnosis, style: Style) -> bool:
    """Whether window, onset and the baseline that touches it lie on more than one day of the display zone."""
    onset = diagnosis.onset
    stamps = [diagnosis.window.from_, diagnosis.window.to, *([onset.started_at] if onset else [])]
    return len({style.local(stamp).date() for stamp in stamps}) > 1
