"""Field types, coverage and level values of a scope, from mappings, samples and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from logagent.fields import FieldInfo, FieldMap, classify_levels
from logagent.logs import Severity
from logagent.stores._es_fields import TEXTS, ClusterFields, parents
from logagent.stores._es_forms import Caps, forms_of, kinds_of
from logagent.stores._es_names import names_of_role
from logagent.stores._es_records import as_text
from logagent.stores._es_values import Wanted

LevelCounts = Mapping[str, Mapping[str, int]]
"""Level field -> its values -> how many events have each."""

_MOST_NAMES = 300
_MOST_LEVELS = 8


def typed(caps: Caps) -> ClusterFields:
    """Types of all names, with the exact form of each text, the forms of what differs, and what is nested."""
    types = {name: kinds for name, found in caps.items() if (kinds := kinds_of(found))}
    forms = {name: forms_of(name, caps) for name in types}
    mixed = {name: several for name, several in forms.items() if len(several) > 1}
    exact = {name: "" if name in mixed else found[0].exact for name, found in forms.items() if found[0].exact != name}
    exact.update(dict.fromkeys(mixed, ""))
    nested = frozenset(name for name, found in caps.items() if "nested" in found)
    objects = frozenset(name for name, found in caps.items() if {"object", "nested"} & set(found))
    return ClusterFields(types=types, nested=nested, objects=objects, exact=exact, forms=mixed)


def infos_of(
    fields: ClusterFields, samples: Sequence[Mapping[str, Any]], coverage: Mapping[str, float]
) -> list[FieldInfo]:
    infos = []
    for name, kinds in fields.types.items():
        if any(_is_form(fields, parent, name) for parent in parents(name)):
            continue  # a keyword sub-field is no field of its own
        shown = tuple(as_text(values[name])[:2_000] for values in samples if name in values)
        kind = next(iter(sorted(kinds & TEXTS)), "") or min(kinds)
        exact = fields.exact.get(name, "" if kind in TEXTS else name)
        infos.append(FieldInfo(name, kind, coverage.get(name, _share(shown, samples)), shown, exact))
    return infos


def _is_form(fields: ClusterFields, parent: str, name: str) -> bool:
    """Whether a name is but the keyword sub-field of a text."""
    return fields.exact.get(parent) == name or any(form.exact == name for form in fields.forms.get(parent, ()))


def level_forms(fields: ClusterFields) -> dict[str, Wanted]:
    """Possible level fields in the forms whose values can be listed."""
    names = names_of_role("severity", fields)
    forms = {
        name: [(choice, form) for choice in fields.choices(name) for form in fields.forms_of(choice) if form.exact]
        for name in names
    }
    return dict([(name, found) for name, found in forms.items() if found][:_MOST_LEVELS])


def with_levels(infos: Sequence[FieldInfo], seen: LevelCounts) -> list[FieldInfo]:
    """Level fields judged by all their values, not by those of a few documents."""
    return [replace(info, samples=tuple(seen[info.name])) if seen.get(info.name) else info for info in infos]


def levels_of(
    found: FieldMap,
    fields: ClusterFields,
    samples: Sequence[Mapping[str, Any]],
    seen: LevelCounts,
) -> dict[str, Mapping[Severity, tuple[str, ...]]]:
    levels = {}
    for choice in found.roles.get("severity", ()):
        counts = dict(seen.get(choice.name, {}))
        if not counts or fields.words_only(choice):
            for values in samples:  # text without a keyword: what the documents show
                text = as_text(values.get(choice.name))
                counts.update({text: counts.get(text, 0) + 1} if text else {})
        levels[choice.name] = classify_levels(choice.name, counts, fields.types)
    return levels


def fetchable(fields: ClusterFields, samples: Sequence[Mapping[str, Any]]) -> ClusterFields:
    """Which names to ask `_source` for, and which only `fields` can answer."""
    seen = dict.fromkeys(name for values in samples for name in values)
    roles = dict.fromkeys(choice.name for choices in fields.map.roles.values() for choice in choices)
    names = list({**roles, **seen, **dict.fromkeys(fields.types)})
    subs = {*fields.exact.values(), *(form.exact for several in fields.forms.values() for form in several)}
    subs -= fields.forms.keys()
    kept = tuple(name for name in names if name not in subs or name in roles)[:_MOST_NAMES]
    return replace(fields, source_names=kept, fetched_names=tuple(name for name in roles if name not in seen))


def _share(shown: Sequence[str], samples: Sequence[Mapping[str, Any]]) -> float:
    return len(shown) / len(samples) if samples else 0.0
