"""The data files that wiring reads for the pure rooms: mechanisms, actions, wording."""

import json
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources

from logagent.analysis.actions import ActionCatalogue
from logagent.analysis.mechanisms import Catalogue
from logagent.texts import Catalogue as Texts
from logagent.triage import Words


def mechanisms() -> Catalogue:
    """A fresh catalogue (its memory of texts is not shared between runs), from the compact form."""
    text = resources.files("logagent.analysis").joinpath("mechanisms.json").read_bytes()
    return Catalogue.from_index(json.loads(text))


@cache
def actions() -> ActionCatalogue:
    """The catalogue of read-only next steps."""
    text = resources.files("logagent.analysis").joinpath("actions.toml").read_text(encoding="utf-8")
    return ActionCatalogue.from_toml(tomllib.loads(text))


def words(language: str, catalogue: Catalogue, zone: str, clean: Callable[[str], str]) -> Words:
    """Sentences and titles of mechanisms in one language."""
    key = "zh" if language.lower().startswith("zh") else "en"
    known = {one.id: one.title for one in catalogue.entries.values()}
    known |= {one.id: one.title for one in catalogue.inferred.values()}
    titles = {name: title.get(key) or title.get("en", name) for name, title in known.items()}
    return Words(Texts(language), titles, zone, clean)
