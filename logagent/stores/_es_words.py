"""Fields that some index holds as analysed text alone, although people ask for whole values: what documents show."""

from collections.abc import Mapping, Sequence
from typing import Any

from logagent.fields import FieldChoice
from logagent.stores._es_compile import all_of, any_of, within
from logagent.stores._es_fields import PROSE, ClusterFields
from logagent.stores._es_names import exists_in
from logagent.stores._es_records import as_text

_NAMED = 3
_MOST_VALUES = 300
_DOCUMENTS = 2_000


def filtered_by_words(fields: ClusterFields) -> list[tuple[str, FieldChoice]]:
    """Roles with their fields that some index holds as analysed text only, although people ask for whole values."""
    return [
        (role, choice)
        for role, choices in fields.map.roles.items()
        if role not in PROSE
        for choice in choices
        if fields.words_only(choice)
    ]


def word_notes(fields: ClusterFields) -> list[str]:
    """What to say of the fields that are no keyword everywhere, those of the same indices together."""
    names: dict[str, dict[str, None]] = {}
    for _, choice in filtered_by_words(fields):
        indices = [index for form in fields.words_only(choice) for index in form.indices]
        more = f" and {len(indices) - _NAMED} more" if len(indices) > _NAMED else ""
        where = f"in {', '.join(indices[:_NAMED])}{more}" if indices else "in any index"
        names.setdefault(where, {})[choice.name] = None
    return [
        f"No keyword {where} of {', '.join(found)}: filters match words there (order-api may find order-api-v2 too), "
        "and the list of values comes from a sample."
        for where, found in names.items()
    ]


def random_values(fields: ClusterFields, recent: Mapping[str, Any]) -> dict[str, Any]:
    """The search for random documents with such a field, or {} where there is none."""
    found = {choice.name: choice for _, choice in filtered_by_words(fields)}.values()
    clauses = [
        within(form.indices, exists_in(choice.name, fields)) for choice in found for form in fields.words_only(choice)
    ]
    if not clauses:
        return {}
    random = {
        "query": all_of([dict(recent), any_of(clauses)]),
        "functions": [{"random_score": {"seed": 0, "field": "_seq_no"}}],
        "boost_mode": "replace",
    }
    names = [choice.name for choice in found]
    return {"size": _DOCUMENTS, "query": {"function_score": random}, "_source": {"includes": names}}


def shown_in(fields: ClusterFields, documents: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Values of such fields, at most 300 of each."""
    names = dict.fromkeys(choice.name for _, choice in filtered_by_words(fields))
    values = {name: dict.fromkeys(as_text(one[name]) for one in documents if name in one) for name in names}
    return {name: tuple(found)[:_MOST_VALUES] for name, found in values.items()}
