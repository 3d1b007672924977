"""What a cluster knows of its fields, beyond the FieldMap: types by index, nested parents, level values by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from logagent.fields import FieldChoice, FieldMap
from logagent.logs import Severity

TEXTS = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type"})
INTEGERS = frozenset({"long", "integer", "short", "byte", "unsigned_long"})
NUMBERS = INTEGERS | {"double", "float", "half_float", "scaled_float"}
DATES = frozenset({"date", "date_nanos"})


@dataclass(frozen=True, slots=True)
class ClusterFields:
    """The fields of a scope as its mappings have them.

    `types` holds every type of a name (several, where indices differ), `nested` the paths that need a nested query,
    `levels` the observed values of each severity field by class.
    """

    map: FieldMap = field(default_factory=FieldMap)
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    nested: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    """Names that are an object in some index, whatever they are in others."""
    exact: Mapping[str, str] = field(default_factory=dict)
    """Text field -> its keyword sub-field."""
    levels: Mapping[str, Mapping[Severity, tuple[str, ...]]] = field(default_factory=dict)
    source_names: tuple[str, ...] = ()
    """Names to ask `_source` for."""
    fetched_names: tuple[str, ...] = ()
    """Names that only `fields` answers (aliases, constant keywords, no stored source)."""

    @property
    def time(self) -> str:
        """Name of the time field."""
        choice = self.map.first("timestamp")
        return choice.name if choice else "@timestamp"

    @property
    def epoch_nanos(self) -> bool:
        """Whether some index stores times in nanoseconds."""
        return "date_nanos" in self.types.get(self.time, ())

    def choices(self, name: str) -> tuple[FieldChoice, ...]:
        """Fields that a role, an alias or a plain name means; empty for an unknown one."""
        role = self.map.role_of(name) if name else "message"
        if role and self.map.roles.get(role):
            return self.map.roles[role]
        if name not in self.types:
            return ()
        kinds = self.types[name]
        kind = next(iter(sorted(kinds & TEXTS)), "") or min(kinds)
        exact = self.exact.get(name, "" if kinds & TEXTS else name)
        return (FieldChoice(name, kind, exact),)

    def parent(self, name: str) -> str:
        """The nested path above a field, or ""."""
        return next((path for path in parents(name) if path in self.nested), "")


def parents(name: str) -> Iterator[str]:
    """Paths above a dotted name, the longest first."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def types_fit(kinds: Mapping[str, frozenset[str]], name: str) -> bool:
    """Whether all indices agree enough on a field to aggregate or sort by it in one request."""
    found = kinds.get(name, frozenset())
    mixed = found & TEXTS or (found & NUMBERS and found - NUMBERS) or (found & DATES and found - DATES)
    return not mixed or len(found) == 1
