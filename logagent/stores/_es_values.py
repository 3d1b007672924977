"""Values of fields: the aggregations that list them, the request that each belongs to, and what they add up to.

A field whose mappings differ is aggregated by its forms. The servers refuse to aggregate the name of a text field
wherever it is one, so that a form of the same name has a request to itself, in its own indices.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from logagent.fields import FieldChoice
from logagent.logs import TermCount
from logagent.stores._base import FieldCounts
from logagent.stores._es_answers import key_of
from logagent.stores._es_compile import Clause, within
from logagent.stores._es_fields import ClusterFields, Form

_HIDDEN_SHARE = 0.05
"""From this share of values too long for the index on, the list is called approximate."""
PRECISE_DISTINCT = 3_000
"""Up to so many different values are counted exactly."""

Wanted = Sequence[tuple[FieldChoice, Form]]
"""The fields of one role or name, each in all its forms."""


Aggregation = Callable[[str, bool], Clause]
"""(field, whether its values are added to those of other fields or forms) -> what to ask of it."""


def frequent(name: str, size: int) -> Clause:
    """The most frequent values of a field."""
    return {"terms": {"field": name, "size": size, "shard_size": max(100, 5 * size)}}


def terms(size: int, merged: int) -> Aggregation:
    """The most frequent values of a field; `merged` of them where one value may be spread over several forms."""

    def asked(name: str, several: bool) -> Clause:  # noqa: FBT001
        return frequent(name, max(size, merged) if several else size)

    return asked


def cardinality(name: str, several: bool = False) -> Clause:  # noqa: FBT001, FBT002
    """The number of different values of a field."""
    del several
    return {"cardinality": {"field": name, "precision_threshold": PRECISE_DISTINCT}}


def by_request(
    wanted: Sequence[Wanted], fields: ClusterFields, aggregation: Aggregation
) -> dict[tuple[str, ...], dict[str, Clause]]:
    """Aggregations over the forms of several roles or names, by the indices that their request has to itself.

    Those under `()` may stand in any request over the whole scope.
    """
    requests: dict[tuple[str, ...], dict[str, Clause]] = {(): {}}
    for number, forms in enumerate(wanted):
        for place, (choice, form) in enumerate(forms):
            asked = aggregation(form.exact, len(forms) > 1)
            parent = fields.parent(choice.name)
            asked = {"nested": {"path": parent}, "aggs": {"in": asked}} if parent else asked
            alone = fields.alone(form)
            if form.indices and not alone:  # elsewhere this name belongs to another form
                asked = {"filter": within(form.indices, {"bool": {}}), "aggs": {"in": asked}}
            requests.setdefault(alone, {})[f"values{number}_{place}"] = asked
    return requests


def parts_of(number: int, answers: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What the answers say of one role or name, a part for each form."""
    found = []
    for answer in answers:
        for key, part in (answer.get("aggregations") or {}).items():
            if key.startswith(f"values{number}_"):
                while "in" in part:
                    part = part["in"]  # noqa: PLW2901
                found.append(part)
    return found


def counts_of(parts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Values with their number of events, whichever form holds them."""
    counts: Counter[str] = Counter()
    for part in parts:
        for bucket in part.get("buckets") or ():
            counts[key_of(bucket)] += int(bucket["doc_count"])
    return counts


def left_out(parts: Iterable[Mapping[str, Any]]) -> int:
    """Events whose value is in no bucket, as there are too many values."""
    return sum(int(part.get("sum_other_doc_count", 0)) for part in parts)


def field_counts(name: str, parts: Sequence[Mapping[str, Any]], size: int, missing: int, total: int) -> FieldCounts:
    """Merged buckets of the fields of one role.

    Values longer than `ignore_above` are in no bucket; what is left of the total counts as other.
    """
    counts = counts_of(parts)
    top = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    other = left_out(parts) + sum(count for _, count in top[size:])
    hidden = total - missing - sum(counts.values()) - left_out(parts)
    return FieldCounts(
        field=name,
        values=tuple(TermCount(value, count) for value, count in top[:size]),
        other=other + max(0, hidden),
        missing=missing,
        approximate=(len(parts) > 1 and left_out(parts) > 0)
        or hidden > _HIDDEN_SHARE * total
        or any(int(part.get("doc_count_error_upper_bound", 0)) > 0 for part in parts),
    )
