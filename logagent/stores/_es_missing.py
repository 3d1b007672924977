"""What is missing in a scope, with what comes closest."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from logagent.errors import NoData, SourceError
from logagent.fields import FieldInfo, instant_of
from logagent.stores._es_fields import DATES
from logagent.stores._es_sources import stem_of

Get = Callable[[str, str, Mapping[str, str]], Mapping[str, Any]]
"""(what is asked, path, parameters) -> answer."""


def nearby(get: Get) -> list[str]:
    """Names of sources that exist, where the key may list them and anything answers."""
    names: list[str] = []
    for stem in ("logs-*", "filebeat-*", "logstash-*"):
        try:
            answer = get("index names", f"/_resolve/index/{stem}", {"expand_wildcards": "open"})
        except SourceError:
            continue
        for kind in ("indices", "aliases", "data_streams"):
            names += [str(entry["name"]) for entry in answer.get(kind) or ()]
    return list(dict.fromkeys(names))


def no_index(asked: str, names: Sequence[str]) -> NoData:
    """LA301 with the closest names."""
    plain = asked.replace("*", "")
    stems = {stem_of(name): None for name in names if not name.startswith(".")}
    close = difflib.get_close_matches(plain, [*stems, *names], n=3, cutoff=0.4)
    hint = f"Closest: {', '.join(close)}." if close else "Check the name; `GET _resolve/index` lists what there is."
    values: dict[str, object] = {"pattern": asked}
    if close:
        values.update(closest=", ".join(close), suggestion=f"{close[0]}*" if close[0] in stems else close[0])
    return NoData(f"No index matches {asked}.", code="LA301", hint=hint, values=values)


def no_time(asked: str, fields: int, infos: Sequence[FieldInfo]) -> NoData:
    """LA302 with fields that look like a time."""
    likely = []
    for info in infos:
        looks = next((value for value in info.samples if instant_of(value) is not None), "")
        if info.type in DATES or looks:
            likely.append(f"{info.name} ({info.type}{f', looks like {looks[:40]}' if looks else ''})")
    values: dict[str, object] = {"index": asked, "fields": fields}
    if likely:
        values["candidates"] = ", ".join(likely[:3])
    return NoData(
        f"No usable time field in {asked} ({fields} fields).",
        code="LA302",
        hint=f"Candidates: {'; '.join(likely[:3])}." if likely else "No field looks like a time.",
        values=values,
    )
