"""Field types, coverage and level values of a scope, from mappings, samples and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from logagent.fields import FieldInfo, FieldMap, classify_levels
from logagent.logs import Severity
from logagent.stores._es_answers import key_of
from logagent.stores._es_fields import TEXTS, ClusterFields, parents, types_fit
from logagent.stores._es_records import as_text
from logagent.stores._es_sources import buckets_of

_MULTI_FIELDS = ("keyword", "raw", "exact", "enum")
_EXACT = frozenset({"keyword", "wildcard"})
_MOST_NAMES = 300


def typed(caps: Mapping[str, Mapping[str, Any]]) -> ClusterFields:
    """Types of all names, with the exact form of each text and what is nested.

    A name that is text in one index and a keyword in another has no exact form: each form would miss the other's
    events, while a match finds both and values can be counted from documents.
    """
    kinds = {name: frozenset(types) - {"unmapped"} for name, types in caps.items()}
    types = {name: found - {"object", "nested"} for name, found in kinds.items() if found - {"object", "nested"}}
    exact = {}
    for name, found in types.items():
        if found & TEXTS and found & _EXACT:
            exact[name] = ""
        elif found & TEXTS:
            siblings = [f"{name}.{ending}" for ending in _MULTI_FIELDS]
            siblings += [other for other in types if other.startswith(f"{name}.")]
            good = (one for one in siblings if types.get(one, frozenset()) & _EXACT)
            exact[name] = next((one for one in good if len(types[one]) == 1), "")
        elif not types_fit(types, name):
            exact[name] = ""
    nested = frozenset(name for name, found in kinds.items() if "nested" in found)
    objects = frozenset(name for name, found in kinds.items() if found & {"object", "nested"})
    return ClusterFields(types=types, nested=nested, objects=objects, exact=exact)


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
    kept = fields.exact.get(parent)
    mixed = kept == "" and fields.types.get(parent, frozenset()) & TEXTS
    return kept == name or bool(mixed and name.rpartition(".")[2] in _MULTI_FIELDS)


def with_levels(infos: Sequence[FieldInfo], stats: Mapping[str, Any]) -> list[FieldInfo]:
    """Level fields judged by all their values, not by those of a few documents."""
    changed = []
    for info in infos:
        keys = tuple(key_of(bucket) for bucket in buckets_of(stats, f"level:{info.name}"))
        changed.append(replace(info, samples=keys) if keys else info)
    return changed


def levels_of(
    found: FieldMap,
    fields: ClusterFields,
    samples: Sequence[Mapping[str, Any]],
    stats: Mapping[str, Any],
) -> dict[str, Mapping[Severity, tuple[str, ...]]]:
    levels = {}
    for choice in found.roles.get("severity", ()):
        counts = {key_of(one): int(one["doc_count"]) for one in buckets_of(stats, f"level:{choice.name}")}
        if not counts:  # text without a keyword: what the documents show
            for values in samples:
                text = as_text(values.get(choice.name))
                counts.update({text: counts.get(text, 0) + 1} if text else {})
        levels[choice.name] = classify_levels(choice.name, counts, fields.types)
    return levels


def fetchable(fields: ClusterFields, samples: Sequence[Mapping[str, Any]]) -> ClusterFields:
    """Which names to ask `_source` for, and which only `fields` can answer."""
    seen = dict.fromkeys(name for values in samples for name in values)
    roles = dict.fromkeys(choice.name for choices in fields.map.roles.values() for choice in choices)
    names = list({**roles, **seen, **dict.fromkeys(fields.types)})
    subs = set(fields.exact.values())
    kept = tuple(name for name in names if name not in subs or name in roles)[:_MOST_NAMES]
    return replace(fields, source_names=kept, fetched_names=tuple(name for name in roles if name not in seen))


def _share(shown: Sequence[str], samples: Sequence[Mapping[str, Any]]) -> float:
    return len(shown) / len(samples) if samples else 0.0
