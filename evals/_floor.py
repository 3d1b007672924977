"""The floor: what an hour of work with drain3 puts into a model's context. Whoever is below it has lost.

It is the newest 10 lines, the drain3 templates of the error lines, and the templates whose share differs most between
the two halves of the window.
"""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NEWEST = 10
SHOWN = 40
"""Templates of each section."""
CHARACTERS = 2_000
"""Of one line or template."""
RATIO = 1.5
"""Change of the share of lines from which a template counts as different."""
_ERRORS = {"error", "err", "severe", "critical", "fatal"}

_MASKS = {
    "ID": r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    "IP": r"/?(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?",
    "HEX": r"\b0[xX][0-9a-fA-F]+\b",
    "NUM": r"(?<![A-Za-z0-9])[-+]?\d+(?![A-Za-z0-9])",
}

Row = tuple[str, str, bool]
"""(time, service and message, whether it is an error), oldest first."""


def missing() -> str:
    """What to do where the yardstick is not installed; empty where it is."""
    return "" if find_spec("drain3") else "the floor is not computed: drain3 is not installed (pip install drain3)"


def drain3_miner() -> Any:
    """A miner of drain3 with masks for numbers, addresses and identifiers.

    Raises:
        ImportError: drain3 is not installed, see `missing`.
    """
    settings = import_module("drain3.template_miner_config").TemplateMinerConfig()
    mask = import_module("drain3.masking").MaskingInstruction
    settings.masking_instructions = [mask(text, name) for name, text in _MASKS.items()]
    return import_module("drain3").TemplateMiner(config=settings)


def floor(path: Path) -> str:
    """The floor's text over one file of logs (NDJSON, gzip or not)."""
    rows = _rows(path)
    errors = [text for _, text, failed in rows if failed]
    half = len(rows) // 2
    before, after = ([text for _, text, _ in part] for part in (rows[:half], rows[half:]))
    sections = {
        f"newest {NEWEST} lines": [f"{time} {text[:CHARACTERS]}" for time, text, _ in rows[: -NEWEST - 1 : -1]],
        "templates of error lines": _counted(errors),
        "templates that differ between the halves": _difference(before, after),
    }
    return "\n".join(f"## {title}\n" + "\n".join(lines) for title, lines in sections.items())


def _rows(path: Path) -> list[Row]:
    data = path.read_bytes()
    rows = []
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if not isinstance(one, dict):
            continue
        text = " ".join(f"{one.get('service') or 'unknown'} : {one.get('message') or ''}".split())
        rows.append((str(one.get("@timestamp", "")), text, str(one.get("level") or "").lower() in _ERRORS))
    return sorted(rows)


def _templates(texts: Sequence[str]) -> list[str]:
    """The template of each text, mined over all of them."""
    mined = drain3_miner()
    numbers = [mined.add_log_message(text)["cluster_id"] for text in texts]
    known = {one.cluster_id: one.get_template() for one in mined.drain.clusters}
    return [known[number][:CHARACTERS] for number in numbers]


def _counted(texts: Sequence[str]) -> list[str]:
    return [f"{count} {template}" for template, count in Counter(_templates(texts)).most_common(SHOWN)]


def _difference(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """New, gone, risen and fallen templates, most lines first, with their counts in both halves."""
    templates = _templates([*before, *after])
    old, new = Counter(templates[: len(before)]), Counter(templates[len(before) :])

    def changed(template: str) -> str:
        a, b = old[template], new[template]
        if not a or not b:
            return "new" if b else "gone"
        return "risen" if b >= RATIO * a else "fallen" if a >= RATIO * b else ""

    names = sorted((one for one in set(templates) if changed(one)), key=lambda one: -(old[one] + new[one]))
    return [f"{changed(one)} {old[one]} -> {new[one]} {one}" for one in names[:SHOWN]]
