"""One module a format. Order and wording are the same in all of them; all text of logs and models is sanitised."""

import importlib
import sys
from dataclasses import replace
from typing import TypedDict, Unpack

from logagent import plugins
from logagent.diagnosis import Diagnosis
from logagent.errors import UsageError
from logagent.report import _items
from logagent.report._style import Style


class StyleChoices(TypedDict, total=False):
    """Keyword arguments of `render`: see `Style`."""

    language: str
    zone: str
    width: int
    unicode: bool
    colour: bool
    verbose: int
    accessible: bool


def formats() -> tuple[str, ...]:
    """Names of the formats, as the command line spells them, sorted."""
    return tuple(sorted(_modules()))


def render(diagnosis: Diagnosis, output: str = "text", **choices: Unpack[StyleChoices]) -> str:
    """The report in a format, without a newline at the end.

    Language and zone are those of the diagnosis where they are not given.

    Raises:
        UsageError: there is no such format.
    """
    known = _modules()
    if output not in known and output not in known.values():
        raise UsageError(f"No format {output!r}.", hint=f"There are: {', '.join(sorted(known))}.")
    module = importlib.import_module(f"{__name__}.{known.get(output, output)}")
    text: str = module.render(diagnosis, _style(diagnosis, choices))
    return text


def render_item(diagnosis: Diagnosis, item: str, **choices: Unpack[StyleChoices]) -> str:
    """One item of a report as text: a piece of evidence (`E4`), a hypothesis (`H1`) or a pattern (`P2`).

    Raises:
        UsageError: the diagnosis has no such item; the hint names those that it has.
    """
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


def _modules() -> dict[str, str]:
    """Format name to module name. A format module may go by other `NAMES` than its own."""
    found: dict[str, str] = {}
    for name, module in plugins.modules(sys.modules[__name__]):
        found.update(dict.fromkeys(getattr(module, "NAMES", (name,)), name))
    return found
