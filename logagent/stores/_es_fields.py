"""What a cluster knows of its fields, beyond the FieldMap: types by index, nested parents, level values by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from logagent.fields import FieldChoice, FieldMap
from logagent.logs import Severity

TEXTS = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type"})
INTEGERS = frozenset({"long", "integer", "short", "byte", "unsigned_long"})
NUMBERS = INTEGERS | {"double", "float", "half_float", "scaled_float"}
DATES = frozenset({"date", "date_nanos"})
PROSE = ("message", "error_message", "stack")
"""Roles whose values are searched by words."""


@dataclass(frozen=True, slots=True)
class Form:
    """How one part of the indices holds a field whose mappings differ."""

    kinds: frozenset[str]
    """Its types there."""
    exact: str
    """What to group and filter by exactly there: the field itself or a keyword sub-field; "" = analysed text only."""
    indices: tuple[str, ...] = ()
    """These indices alone, as the server names them; empty where `exact` finds nothing elsewhere."""


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
    """Text field -> its keyword sub-field, or "" where it has none or has `forms`."""
    forms: Mapping[str, tuple[Form, ...]] = field(default_factory=dict)
    """Fields that differ between indices -> their forms."""
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values that documents show of a field that some index holds as analysed text only."""
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

    def forms_of(self, choice: FieldChoice) -> tuple[Form, ...]:
        """The forms of a field; one alone where all indices agree."""
        whole = Form(self.types.get(choice.name, frozenset({choice.type})), choice.exact)
        return self.forms.get(choice.name, (whole,))

    def exact_forms(self, name: str) -> list[tuple[FieldChoice, Form]]:
        """What to aggregate for a role or name; none where some index holds it as analysed text only."""
        choices = self.choices(name)
        if any(self.words_only(choice) for choice in choices):
            return []
        return [(choice, form) for choice in choices for form in self.forms_of(choice)]

    def sole(self, name: str) -> str:
        """What to aggregate for a role or name, where that is one field alone, alike in all indices; else ""."""
        forms = self.exact_forms(name)
        plain = len(forms) == 1 and not self.parent(forms[0][0].name)
        return forms[0][1].exact if plain else ""

    def words_only(self, choice: FieldChoice) -> list[Form]:
        """The forms of a field that are analysed text without a keyword: nothing filters or groups them exactly."""
        return [form for form in self.forms_of(choice) if not form.exact]

    def is_prose(self, name: str) -> bool:
        """Whether a role or name (or no name: the message) is text of the log, which is searched by its words."""
        named = any(choice.name == name for role in PROSE for choice in self.map.roles.get(role, ()))
        return not name or named or self.map.role_of(name) in PROSE

    def alone(self, form: Form) -> tuple[str, ...]:
        """The indices that a request which aggregates this form has to itself: others cannot aggregate the name."""
        return form.indices if form.exact in self.forms else ()

    def parent(self, name: str) -> str:
        """The nested path above a field, or ""."""
        return next((path for path in parents(name) if path in self.nested), "")


def parents(name: str) -> Iterator[str]:
    """Paths above a dotted name, the longest first."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
