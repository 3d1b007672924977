"""What an answer says of itself: completeness (elasticsearch.md 3), totals and keys."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from logagent.logs import Completeness
from logagent.stores._es_errors import clean

_MOST_REASONS = 3


def completeness_of(body: Mapping[str, Any]) -> Completeness:
    """Shards, clusters and timeouts of one answer."""
    shards = body.get("_shards") or {}
    clusters = body.get("_clusters") or {}
    return Completeness(
        shards_total=int(shards.get("total", 0)),
        shards_successful=int(shards.get("successful", 0)),
        shards_skipped=int(shards.get("skipped", 0)),
        shards_failed=int(shards.get("failed", 0)),
        clusters_skipped=_missing_clusters(clusters),
        timed_out=bool(body.get("timed_out")),
        reasons=_reasons(shards.get("failures") or ()),
    )


def without_others(body: Mapping[str, Any], only: Collection[str]) -> Mapping[str, Any]:
    """An answer about these indices alone: what failed in others, which were not to be looked into, is no failure."""
    shards, clusters = body.get("_shards") or {}, body.get("_clusters") or {}
    if not _is_elsewhere(shards, only):
        return body
    found = int(shards.get("successful", 0)) + int(shards.get("failed", 0))
    details = clusters.get("details") or {}
    if details:
        clusters = {"details": {name: one for name, one in details.items() if not _is_elsewhere(one, only)}}
    return {**body, "_clusters": clusters, "_shards": {**shards, "successful": found, "failed": 0, "failures": []}}


def _is_elsewhere(part: Mapping[str, Any], only: Collection[str]) -> bool:
    """Whether something failed, and all of it in other indices than these."""
    failures = part.get("failures") or ()
    return bool(failures) and all((failure.get("index") or "") not in ("", *only) for failure in failures)


def merged(parts: Iterable[Completeness]) -> Completeness:
    """Of several answers the least complete one, with what any of them missed."""
    found = list(parts)
    if not found:
        return Completeness()
    worst = max(found, key=lambda part: (not part.complete, part.failed_share))
    return Completeness(
        shards_total=worst.shards_total,
        shards_successful=worst.shards_successful,
        shards_skipped=worst.shards_skipped,
        shards_failed=worst.shards_failed,
        clusters_skipped=tuple(sorted({name for part in found for name in part.clusters_skipped})),
        timed_out=any(part.timed_out for part in found),
        reasons=tuple(dict.fromkeys(reason for part in found for reason in part.reasons))[:_MOST_REASONS],
    )


def total_of(body: Mapping[str, Any]) -> tuple[int, bool]:
    """Number of matches, and whether it is exact."""
    total = (body.get("hits") or {}).get("total") or {}
    if isinstance(total, int):
        return total, True
    return int(total.get("value", 0)), total.get("relation", "eq") == "eq"


def hits_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The hits of a search, or none."""
    return list((body.get("hits") or {}).get("hits") or ())


def key_of(bucket: Mapping[str, Any]) -> str:
    """The key of a terms bucket as text: `true` for a boolean, `500` for 500.0."""
    key = bucket.get("key_as_string", bucket.get("key"))
    if isinstance(key, float) and key.is_integer():
        return str(int(key))
    return str(key)


def _missing_clusters(clusters: Mapping[str, Any]) -> tuple[str, ...]:
    details = clusters.get("details") or {}
    named = [name for name, detail in details.items() if detail.get("status") in {"skipped", "partial", "failed"}]
    missing = sum(int(clusters.get(word, 0)) for word in ("skipped", "partial", "failed"))
    return tuple(sorted(named)) if named else tuple(f"remote cluster {number + 1}" for number in range(missing))


def _reasons(failures: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    texts = []
    for failure in failures:
        reason = failure.get("reason") or {}
        cause = reason.get("caused_by") or {}
        words = reason.get("reason") or cause.get("reason") or ""
        where = f"{failure.get('index', '?')}[{failure.get('shard', '?')}]"
        texts.append(clean(f"{where}: {reason.get('type') or 'failed'}{f' ({words})' if words else ''}"))
    return tuple(dict.fromkeys(texts))[:_MOST_REASONS]
