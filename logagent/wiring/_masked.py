"""The last door of a diagnosis: every text in it is masked and free of control characters, names and values too."""

from collections.abc import Callable, Iterable
from typing import Any

from logagent.diagnosis import Diagnosis, Pattern
from logagent.expressions import expression
from logagent.triage import HEADLINE, fit

_AS_THEY_ARE = frozenset({"_id", "_index", "indices"})
"""Names that a record is found by again."""
_PLAIN_KEY = expression(r"[A-Za-z0-9_.@-]{1,64}")
_SHORT = 8


def masked(diagnosis: Diagnosis, clean: Callable[[str], str]) -> Diagnosis:
    """The same diagnosis with every text cleaned: a service may be called anything, also `password=...`.

    Masks stay as they are, so what was cleaned before is not changed.
    """
    tree = _masked(diagnosis.model_dump(by_alias=True, exclude_unset=True), clean, {})
    headline = fit(tree["summary"]["headline"], HEADLINE)
    return Diagnosis.model_validate(tree | {"summary": tree["summary"] | {"headline": headline}})


def masked_rows(rows: Iterable[Pattern], clean: Callable[[str], str]) -> list[Pattern]:
    """The same for patterns that stand in no diagnosis."""
    trees = (_masked(one.model_dump(by_alias=True, exclude_unset=True), clean, {}) for one in rows)
    return [Pattern.model_validate(tree) for tree in trees]


def _masked(value: Any, clean: Callable[[str], str], seen: dict[str, str]) -> Any:
    if isinstance(value, str):
        if len(value) < _SHORT and value.isprintable():
            return value
        if value not in seen:
            seen[value] = clean(value)
        return seen[value]
    if isinstance(value, list | tuple):
        return type(value)(_masked(one, clean, seen) for one in value)
    if isinstance(value, dict):
        return {
            key if _PLAIN_KEY.fullmatch(key) else clean(key): one if key in _AS_THEY_ARE else _masked(one, clean, seen)
            for key, one in value.items()
        }
    return value
