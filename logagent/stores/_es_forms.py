"""The forms of fields that indices map differently, from the `indices` lists of field capabilities."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from logagent.stores._es_fields import DATES, NUMBERS, TEXTS, Form

_MULTI_FIELDS = ("keyword", "raw", "exact", "enum")
_KEYWORDS = frozenset({"keyword", "constant_keyword", "wildcard"})
_EXACT = frozenset({"keyword", "wildcard"})
_PARTS = frozenset({"object", "nested", "unmapped"})
_FAMILIES = {"text": TEXTS, "number": NUMBERS, "date": DATES, "keyword": _KEYWORDS}

Caps = Mapping[str, Mapping[str, Any]]
"""Name -> type -> what a server says of it; `indices` only where the types differ."""


def kinds_of(types: Mapping[str, Any]) -> frozenset[str]:
    """The types of a value among those of a name, which may be an object elsewhere or not mapped."""
    return frozenset(types) - _PARTS


def keywords_below(name: str, caps: Caps) -> list[str]:
    """Keyword sub-fields of a text, those with the usual endings first."""
    siblings = [f"{name}.{ending}" for ending in _MULTI_FIELDS]
    siblings += [other for other in caps if other.startswith(f"{name}.")]
    return [one for one in dict.fromkeys(siblings) if _is_keyword(caps.get(one, {}))]


def forms_of(name: str, caps: Caps) -> tuple[Form, ...]:
    """How each part of the indices holds a field; one form without a list of indices where all agree."""
    types = caps[name]
    found: list[Form] = []
    for family, kinds in _families(kinds_of(types)).items():
        indices = _indices(types, kinds)
        found += _text_forms(name, kinds, indices, caps) if family == "text" else [Form(kinds, name, indices or ())]
    return tuple(found)


def _is_keyword(types: Mapping[str, Any]) -> bool:
    kinds = kinds_of(types)
    return len(kinds) == 1 and kinds <= _EXACT


def _families(kinds: frozenset[str]) -> dict[str, frozenset[str]]:
    """Types that one request can aggregate together, by the name of their family."""
    found: dict[str, frozenset[str]] = {}
    for kind in sorted(kinds):
        family = next((name for name, members in _FAMILIES.items() if kind in members), kind)
        found[family] = found.get(family, frozenset()) | {kind}
    return found


def _indices(types: Mapping[str, Any], kinds: frozenset[str]) -> tuple[str, ...] | None:
    """The indices with one of these types; None: all that have the field."""
    listed = [types[kind].get("indices") for kind in sorted(kinds)]
    return None if None in listed else tuple(dict.fromkeys(index for part in listed for index in part))


def _text_forms(name: str, kinds: frozenset[str], indices: tuple[str, ...] | None, caps: Caps) -> Iterator[Form]:
    """A form for each keyword sub-field that some of the indices have, and one for the indices that have none."""
    rest = indices
    for sub in keywords_below(name, caps):
        have = _indices(caps[sub], kinds_of(caps[sub]))
        if have is None:
            yield Form(kinds, sub, rest or ())
            return
        if rest is None:
            rest = (*have, *caps[sub].get("unmapped", {}).get("indices", ()))
        taken = tuple(index for index in have if index in set(rest))
        if taken:
            yield Form(kinds, sub, () if len(taken) == len(have) else taken)
        rest = _without(rest, taken)
    if rest is None or rest:
        yield Form(kinds, "", rest or ())


def _without(indices: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    gone = set(taken)
    return tuple(index for index in indices if index not in gone)
