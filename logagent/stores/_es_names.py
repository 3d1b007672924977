"""Which names of fields to ask for, and which of them may play a role."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from logagent.fields import ECS
from logagent.schemas import schemas
from logagent.stores._es_fields import PROSE, ClusterFields, parents

_LONGEST_FIELDS = 3_600
"""Bytes of field names in one URL; a request line may have 4,096."""
_MOST_NAMES = 300
_MOST_CANDIDATES = 100
_KEY_ROLES = ("severity", "service", "message", "error_type", "trace_id", "status", "host", "pod", "stack")


def asked_names(seen: Iterable[str]) -> list[str]:
    """Names to ask types for: candidates by their first part (with all below it), and every name seen."""
    heads: dict[str, None] = {}
    for schema in schemas():
        for names in (*schema.roles.values(), *schema.weak.values()):
            heads.update(dict.fromkeys(name.partition(".")[0] for name in names))
    asked = dict.fromkeys(part for head in heads for part in (head, f"{head}.*"))
    for name in clean_names(dict.fromkeys(seen))[:_MOST_NAMES]:
        if name.partition(".")[0] not in heads:
            asked.update(dict.fromkeys((name, f"{name}.*", *parents(name))))
    return list(asked)


def clean_names(names: Iterable[str]) -> list[str]:
    """Names that a comma list may hold."""
    return [name for name in names if not re.search(r"[,*\s]", name) and not name.startswith("_")]


def chunks_of(names: Sequence[str]) -> list[list[str]]:
    """The names in lists that fit into a URL."""
    chunks: list[list[str]] = [[]]
    size = 0
    for name in names:
        size += len(name.encode()) + 5  # a comma is three bytes in a URL, a star too
        if size > _LONGEST_FIELDS and chunks[-1]:
            chunks.append([])
            size = len(name.encode()) + 5
        chunks[-1].append(name)
    return chunks


def names_of_role(role: str, fields: ClusterFields) -> list[str]:
    """Fields of the source that a schema names for a role, in any spelling."""
    wanted = {
        _plain(name) for schema in schemas() for table in (schema.roles, schema.weak) for name in table.get(role, ())
    }
    prefixes = [prefix for schema in schemas() for prefix in schema.prefixes]
    return [
        name
        for name in fields.types
        if _plain(name) in wanted
        or any(name.startswith(prefix) and _plain(name[len(prefix) :]) in wanted for prefix in prefixes)
    ]


def role_candidates(fields: ClusterFields) -> list[str]:
    """Fields that may play a role, those of the key roles first, at most 100."""
    roles = dict.fromkeys((*_KEY_ROLES, *ECS))
    return list(dict.fromkeys(name for role in roles for name in names_of_role(role, fields)))[:_MOST_CANDIDATES]


def keyword_missing(fields: ClusterFields) -> dict[str, dict[str, Any]]:
    """By name of a text that may play a role: the clause for a value that its keyword sub-field does not have."""
    prose = {name for role in PROSE for name in names_of_role(role, fields)}
    subs = {name: fields.exact.get(name, "") for name in role_candidates(fields) if name not in prose}
    return {
        name: {"bool": {"filter": [exists_in(name, fields)], "must_not": [exists_in(sub, fields)]}}
        for name, sub in subs.items()
        if sub
    }


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9/]", "", name.lower())


def exists_in(name: str, fields: ClusterFields) -> dict[str, Any]:
    """The clause for "has a value of its own"."""
    clause: dict[str, Any] = {"exists": {"field": name}}
    if name in fields.objects:  # `exists` on an object finds whatever has a field below it
        below = [other for other in fields.types if other.startswith(f"{name}.")]
        clause = {"bool": {"filter": [clause], "must_not": [{"exists": {"field": other}} for other in below]}}
    parent = fields.parent(name)
    return {"nested": {"path": parent, "query": clause}} if parent else clause
