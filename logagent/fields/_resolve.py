"""Choose, for each role, the fields of a source that play it."""

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from logagent.errors import UsageError
from logagent.fields._roles import ECS, FieldChoice, FieldMap
from logagent.fields._severity import classify_levels
from logagent.fields._values import instant_of, milliseconds
from logagent.logs import Severity
from logagent.schemas import Schema, schemas

TEXTS = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type"})
EXACTS = frozenset({"keyword", "constant_keyword", "wildcard", "flattened", "flat_object", "version", "ip", "boolean"})
NUMBERS = frozenset(
    {"long", "integer", "short", "byte", "unsigned_long", "double", "float", "half_float", "scaled_float"}
)
DATES = frozenset({"date", "date_nanos"})
_STRINGS = TEXTS | EXACTS - {"boolean"}
_NEVER = frozenset({"object", "nested", "geo_point", "binary", "histogram", "unmapped", "aggregate_metric_double"})

_MOST_CHOICES = 6
_FULL = 0.995
"""Coverage from which no further field is added to a role."""
_RARE = 0.001
_OTHER_SPELLING, _BELOW_PREFIX, _NUMERIC_LEVEL, _OTHER_TYPE, _WEAK = 0.4, 3.0, 10.0, 50.0, 1_000.0


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """What a store knows of one field. `coverage` is the share of events with a value, 0 to 1.

    `samples` are some of its values as text, or none where the store has not looked. `exact` names the field to group
    and filter exactly by: a keyword sub-field, or the field itself.
    """

    name: str
    type: str = ""
    coverage: float = 1.0
    samples: tuple[str, ...] = ()
    exact: str = ""


SINGLE: frozenset[str] = frozenset({"timestamp", "ingested"})
"""Roles of one field only where a server sorts by it: results of two time fields cannot be sorted as one."""


def resolve(
    infos: Sequence[FieldInfo], overrides: Mapping[str, str] | None = None, alone: Collection[str] = SINGLE
) -> FieldMap:
    """Choose the fields of each role among those that exist.

    The order of the candidates decides first, then the type, the look of the values and the coverage. A role gets
    further fields, at most 6, as long as the ones before leave events without it (several schemas in one pattern).

    Args:
        infos: all known fields of the source.
        overrides: the user's own choice, role -> field name; it comes first in its role.
        alone: roles that get one field only.

    Raises:
        UsageError: an override names a role or a field that does not exist.
    """
    present = [info for info in infos if info.type not in _NEVER and info.coverage > 0]
    best = _best_schema({info.name for info in present})
    index = _index(present)
    roles: dict[str, tuple[FieldChoice, ...]] = {}
    for role in ECS:
        chosen = _choose(role, _ranked(role, best, index), alone)
        wished = (overrides or {}).get(role)
        if wished:
            chosen = (_wished(role, wished, infos), *(choice for choice in chosen if choice.name != wished))
        if chosen:
            roles[role] = chosen[:_MOST_CHOICES]
    unknown = sorted(set(overrides or {}) - set(ECS))
    if unknown:
        raise UsageError(f"fields.{unknown[0]} is not a role.", code="LA702", hint=f"Roles: {', '.join(ECS)}.")
    return FieldMap(
        roles=roles,
        levels=_levels(roles.get("severity", ()), infos),
        names={info.name: info.type for info in infos},
        schema=best.name,
    )


def _best_schema(names: set[str]) -> Schema:
    plain = next(schema for schema in schemas() if schema.name == "plain")

    def marked(schema: Schema) -> int:
        return sum(mark in names for mark in schema.marks)

    best = max(schemas(), key=marked)
    return best if marked(best) > 1 else plain


class _Index:
    """Fields by name, by spelling, and by the name below a container such as `attributes.`."""

    def __init__(self, infos: Sequence[FieldInfo], prefixes: Sequence[str]) -> None:
        self.exact = {info.name: info for info in infos}
        self.spelled: dict[str, list[FieldInfo]] = {}
        self.below: dict[str, list[FieldInfo]] = {}
        for info in infos:
            self.spelled.setdefault(_spelling(info.name), []).append(info)
            for prefix in prefixes:
                if info.name.startswith(prefix):
                    self.below.setdefault(_spelling(info.name[len(prefix) :]), []).append(info)

    def find(self, name: str, *, exactly: bool) -> list[tuple[float, FieldInfo]]:
        """Fields that this candidate may mean, with a penalty each."""
        found = [(0.0, self.exact[name])] if name in self.exact else []
        spelling = _spelling(name)
        if len(spelling) > 1 and not exactly:  # `t` and `@l` are too short to be guessed
            found += [(_OTHER_SPELLING, info) for info in self.spelled.get(spelling, ()) if info.name != name]
            found += [(_BELOW_PREFIX, info) for info in self.below.get(spelling, ())]
        return found


def _index(infos: Sequence[FieldInfo]) -> _Index:
    return _Index(infos, [prefix for schema in schemas() for prefix in schema.prefixes])


def _spelling(name: str) -> str:
    return re.sub(r"[^a-z0-9/]", "", name.lower())


def _ranked(role: str, best: Schema, index: _Index) -> list[tuple[float, FieldInfo]]:
    """Fields that may play the role, lowest penalty first."""
    penalties: dict[str, float] = {}
    order = [best, *(schema for schema in schemas() if schema.name == "plain" and schema is not best)]
    order += [schema for schema in schemas() if schema not in order]
    position = 0.0
    for weak in (False, True):
        for schema in order:
            for name in (schema.weak if weak else schema.roles).get(role, ()):
                position += 1
                for penalty, info in index.find(name, exactly=weak):
                    total = position + penalty + (_WEAK if weak else 0) + _type_penalty(role, info)
                    penalties[info.name] = min(total, penalties.get(info.name, total))
    fitting = [(total, index.exact[name]) for name, total in penalties.items() if _fits(role, index.exact[name], index)]
    return sorted(fitting, key=lambda pair: (pair[0], -pair[1].coverage, pair[1].name))


def _choose(role: str, ranked: Sequence[tuple[float, FieldInfo]], alone: Collection[str]) -> tuple[FieldChoice, ...]:
    """The first field and those that fill its gaps; a weak one only where there is nothing else."""
    chosen: list[FieldInfo] = []
    covered = 0.0
    for penalty, info in ranked:
        if chosen and (penalty >= _WEAK or covered >= _FULL or info.coverage < _RARE):
            continue
        if chosen and role in alone:
            break
        chosen.append(info)
        covered += info.coverage
    chosen = chosen[:_MOST_CHOICES]
    if role not in SINGLE:  # of two times, the one that means the event comes first
        chosen.sort(key=lambda info: -info.coverage)
    return tuple(_choice(info) for info in chosen)


def _choice(info: FieldInfo) -> FieldChoice:
    exact = info.exact or ("" if info.type in TEXTS else info.name)
    return FieldChoice(info.name, info.type or "keyword", exact, info.coverage)


def _wished(role: str, name: str, infos: Sequence[FieldInfo]) -> FieldChoice:
    for info in infos:
        if info.name == name:
            return _choice(info)
    near = difflib.get_close_matches(name, [info.name for info in infos], n=3)
    hint = f"Closest: {', '.join(near)}." if near else ""
    raise UsageError(f"fields.{role} names {name}, which no event has.", code="LA702", hint=hint)


def _type_penalty(role: str, info: FieldInfo) -> float:
    """A type that works, but worse than its neighbours would."""
    if role in SINGLE:
        return 0.0 if info.type in DATES else _OTHER_TYPE
    if role == "severity" and all(value.strip("+-.").isdigit() for value in info.samples):
        return _NUMERIC_LEVEL if info.samples or info.type in NUMBERS else 0.0
    if role == "message" and info.type in {"keyword", "wildcard"} and not info.samples:
        return _OTHER_SPELLING
    return 0.0


def _fits(role: str, info: FieldInfo, index: _Index) -> bool:
    """Whether type and values can be those of the role."""
    allowed = _TYPES.get(role, _STRINGS)
    if info.type and info.type not in allowed:
        return False
    if not info.samples:
        return role not in SINGLE or info.type in DATES
    if role == "severity":
        return _looks_like_level(info, index)
    looks = _LOOKS.get(role, _is_name)
    return sum(looks(info.name, value) for value in info.samples) * 2 > len(info.samples)


def _looks_like_level(info: FieldInfo, index: _Index) -> bool:
    counts = {value: info.samples.count(value) for value in info.samples}
    known = classify_levels(info.name, counts, index.exact)
    return sum(counts[value] for values in known.values() for value in values) * 2 > len(info.samples)


def _is_instant(name: str, value: str) -> bool:
    del name
    return instant_of(value) is not None


def _is_text(name: str, value: str) -> bool:
    del name
    return bool(value.strip()) and not value.strip().replace(".", "").isdigit() and instant_of(value) is None


def _is_name(name: str, value: str) -> bool:
    """Short, one line, not a number, not a placeholder."""
    del name
    plain = value.strip()
    return 0 < len(plain) <= 200 and "\n" not in plain and not re.fullmatch(r"[-.\d]+|null|\{.*\}|\[.*\]", plain)  # noqa: PLR2004


def _is_host(name: str, value: str) -> bool:
    return _is_name(name, value) or re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", value.strip()) is not None


def _is_error_class(name: str, value: str) -> bool:
    del name
    return re.fullmatch(r"[\w.$:<>/\\-]{3,200}", value.strip()) is not None and not value.strip().isdigit()


def _is_id(name: str, value: str) -> bool:
    del name
    return 4 <= len(value) <= 256 and not re.search(r"\s", value) and bool(value.strip("0-"))  # noqa: PLR2004


def _is_status(name: str, value: str) -> bool:
    del name
    return re.fullmatch(r"[1-5]\d\d(?:\.0)?", value.strip()) is not None


def _is_duration(name: str, value: str) -> bool:
    return milliseconds(name, value) is not None


def _is_version(name: str, value: str) -> bool:
    del name
    return 0 < len(value.strip()) <= 100 and "\n" not in value  # noqa: PLR2004


_LOOKS: Mapping[str, Callable[[str, str], bool]] = {
    "timestamp": _is_instant,
    "ingested": _is_instant,
    "message": _is_text,
    "error_message": _is_text,
    "stack": _is_text,
    "error_type": _is_error_class,
    "trace_id": _is_id,
    "span_id": _is_id,
    "status": _is_status,
    "duration": _is_duration,
    "host": _is_host,
    "version": _is_version,
    "user": _is_version,
}
_TYPES: Mapping[str, frozenset[str]] = {
    "timestamp": DATES | NUMBERS | _STRINGS,
    "ingested": DATES | NUMBERS | _STRINGS,
    "severity": _STRINGS | NUMBERS,
    "status": _STRINGS | NUMBERS,
    "duration": _STRINGS | NUMBERS,
    "version": _STRINGS | NUMBERS,
    "user": _STRINGS | NUMBERS,
    "trace_id": _STRINGS | NUMBERS,
    "span_id": _STRINGS | NUMBERS,
}


def _levels(choices: Sequence[FieldChoice], infos: Sequence[FieldInfo]) -> Mapping[Severity, tuple[str, ...]]:
    """Values of the severity fields by class, as far as the samples show them."""
    by_name = {info.name: info for info in infos}
    merged: dict[Severity, dict[str, None]] = {}
    for choice in choices:
        samples = by_name[choice.name].samples
        counts = {value: samples.count(value) for value in samples}
        for severity, values in classify_levels(choice.name, counts, by_name).items():
            merged.setdefault(severity, {}).update(dict.fromkeys(values))
    return {severity: tuple(merged[severity]) for severity in sorted(merged)}
