"""The description of a cluster and its scope, in five to seven requests."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from logagent.errors import StoreDenied, StoreQueryError, UsageError
from logagent.fields import FieldMap, resolve
from logagent.logs import Completeness, Severity
from logagent.stores._base import Description, SourceInfo
from logagent.stores._es_answers import completeness_of, hits_of, merged, total_of
from logagent.stores._es_compile import stamp
from logagent.stores._es_fields import DATES, TEXTS, ClusterFields, parents
from logagent.stores._es_forms import keywords_below
from logagent.stores._es_missing import Get, nearby, no_index, no_time
from logagent.stores._es_names import asked_names, chunks_of, clean_names, exists_in, keyword_missing, role_candidates
from logagent.stores._es_records import values_of
from logagent.stores._es_sources import at_of, buckets_of, lag_of, sources_of
from logagent.stores._es_typing import (
    LevelCounts,
    fetchable,
    infos_of,
    level_forms,
    levels_of,
    typed,
    with_levels,
)
from logagent.stores._es_values import by_request, counts_of, parts_of, terms
from logagent.stores._es_words import random_values, shown_in, word_notes


class Probe(Protocol):
    """Sends one search over the whole scope."""

    def __call__(self, what: str, body: Mapping[str, Any], only: Sequence[str] = ()) -> Mapping[str, Any]:
        """(what is asked, body, the only indices to look into) -> answer."""
        ...


_OF_MAPPED: Mapping[str, str] = {}
_MOST_FIELD_REQUESTS = 3
_SAMPLE = 50
_MOST_SOURCES = 50
_READ_ALL = 1_000_000
"""Up to so many events figures are taken from all of them, else from the last day."""
_LEVEL_VALUES = 50
_ODD_AGE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Server:
    """What `GET /` says."""

    backend: Literal["elasticsearch", "opensearch"]
    product: str


@dataclass(frozen=True, slots=True)
class Described:
    """The description with what the store itself needs to know."""

    description: Description
    fields: ClusterFields


def server_of(body: Mapping[str, Any], url: str) -> Server:
    """Product and version.

    Raises:
        UsageError: a version that is too old to read (LA106).
    """
    version = body.get("version") or {}
    number = str(version.get("number", ""))
    tagline = str(body.get("tagline", ""))
    if version.get("distribution") == "opensearch" or "OpenSearch" in tagline:
        shown = "" if number == "7.10.2" and "distribution" not in version else f" {number}"
        return Server("opensearch", f"OpenSearch{shown}")
    match = re.match(r"(\d+)\.(\d+)", number)
    if match and (int(match[1]), int(match[2])) < (7, 17):
        raise UsageError(
            f"The server at {url} is Elasticsearch {number}; too old to read.",
            code="LA106",
            values={"url": url, "product": f"Elasticsearch {number}", "version": number},
        )
    serverless = " Serverless" if version.get("build_flavor") == "serverless" else ""
    return Server("elasticsearch", f"Elasticsearch{serverless} {number}".rstrip())


class Describer:
    """Asks a cluster what it holds. Used once, by one thread."""

    def __init__(
        self, search: Probe, get: Get, indices: Sequence[str], overrides: Mapping[str, str], now: datetime
    ) -> None:
        self._search = search
        self._get = get
        self._indices = ",".join(indices)
        self._overrides = overrides
        self._now = now
        self._notes: list[str] = []
        self._seen: list[Completeness] = []
        self._single = False
        """All documents are in one index, whose ends are those of the scope."""

    def describe(self, url: str) -> Described:
        """All of it.

        Raises:
            NoData: the pattern matches no index (LA301), or no usable time field exists (LA302).
            UsageError: the server is too old (LA106), or an override names no field.
        """
        server = self._server(url)
        samples = [values_of(hit) for hit in self._probe()]
        caps = self._caps(asked_names(name for values in samples for name in values))
        fields = typed(caps)
        time = self._time_field(fields, samples)
        newest = self._newest(time, fields)
        fields = self._with_new_names(caps, fields, newest)
        recent = self._recent(time, newest)
        stats, levels = self._stats(time, fields, newest, recent)
        resolved = self._resolved(fields, samples + newest.values, stats, levels, recent)
        self._notes += word_notes(resolved)
        return Described(self._description(server, resolved.map, newest, stats), resolved)

    def _server(self, url: str) -> Server:
        try:
            return server_of(self._get("server", "/", {}), url)
        except StoreDenied as error:
            if error.code != "LA203":  # 403: the key may read logs, but not ask for the version
                raise
            self._notes.append("The key may not ask for the server's version.")
            return Server("elasticsearch", "Elasticsearch or OpenSearch (version not visible to this key)")

    def _probe(self) -> list[Mapping[str, Any]]:
        """A few documents of each index, to see which names there are."""

        def body(size: int) -> dict[str, Any]:
            documents = {"docs": {"top_hits": {"size": size, "_source": {"includes": ["*"]}}}} if size else {}
            source = {"terms": {"field": "_index", "size": _MOST_SOURCES}, "aggs": documents}
            return {"size": 0, "terminate_after": 1_000, "aggs": {"source": source}}

        answer = self._fitting("a few documents of each index", body, (3, 1, 0))
        if completeness_of(answer).shards_total == 0:
            raise no_index(self._indices, nearby(self._get))
        buckets = buckets_of(answer, "source")
        self._single = len(buckets) == 1
        return [hit for bucket in buckets for hit in hits_of(bucket.get("docs") or {})]

    def _fitting(self, what: str, body: Callable[[int], Mapping[str, Any]], sizes: Sequence[int]) -> Mapping[str, Any]:
        """The first answer that is not too large, from many documents to few."""
        for size in sizes[:-1]:
            try:
                return self._search(what, body(size))
            except StoreQueryError as error:
                if error.code != "too_large":
                    raise
        return self._search(what, body(sizes[-1]))

    def _caps(self, asked: Sequence[str], more: Mapping[str, str] = _OF_MAPPED) -> dict[str, dict[str, Any]]:
        """Types of the fields with these names."""
        found: dict[str, dict[str, Any]] = {}
        for chunk in chunks_of(asked)[:_MOST_FIELD_REQUESTS]:
            params = {"fields": ",".join(chunk), "ignore_unavailable": "true", "expand_wildcards": "open", **more}
            answer = self._get("types of fields", f"/{self._indices}/_field_caps", params)
            found.update(answer.get("fields") or {})
        return {name: kinds for name, kinds in found.items() if not name.startswith("_")}

    def _with_new_names(
        self, caps: Mapping[str, dict[str, Any]], fields: ClusterFields, newest: "_Newest"
    ) -> ClusterFields:
        """The fields with those that only the newest documents have, and with what only some of the indices have.

        One request more for each of the two, where there is any.
        """
        new = dict.fromkeys(name for values in newest.values for name in values if name not in caps)
        asked = chunks_of([part for name in clean_names(new) for part in (name, f"{name}.*", *parents(name))])[0]
        if asked:
            caps = {**caps, **self._caps(asked)}
            fields = typed(caps)
        texts = [name for name in (*fields.forms, *newest.bare) if fields.types[name] & TEXTS]
        again = [part for name in dict.fromkeys(texts) for part in (name, *keywords_below(name, caps))]
        return typed({**caps, **self._caps(again, {"include_unmapped": "true"})}) if again else fields

    def _time_field(self, fields: ClusterFields, samples: Sequence[Mapping[str, Any]]) -> str:
        infos = infos_of(fields, samples, {})
        wished = self._overrides.get("timestamp")
        dated = [info for info in infos if info.type in DATES and info.name not in fields.forms]
        dated = [replace(info, coverage=max(info.coverage, 0.001)) for info in dated]
        found = resolve(dated, {"timestamp": wished} if wished else {}).first("timestamp")
        if found is None:
            raise no_time(self._indices, len(fields.types), infos)
        return found.name

    def _newest(self, time: str, fields: ClusterFields) -> "_Newest":
        """Newest documents, number of events, and the ends of the scope."""
        order: dict[str, Any] = {"order": "desc", "unmapped_type": "date"}
        if "date_nanos" in fields.types.get(time, ()):
            order["numeric_type"] = "date"
        without = keyword_missing(fields)
        body = {
            "track_total_hits": True,
            "sort": [{time: order}],
            "_source": {"includes": ["*"]},
            "fields": [{"field": time, "format": "strict_date_optional_time"}],
            "aggs": {
                "first": {"min": {"field": time}},
                "last": {"max": {"field": time}},
                **({"bare": {"filters": {"filters": without}}} if without else {}),
            },
        }
        answer = self._fitting("newest documents", lambda size: {**body, "size": size}, (_SAMPLE, 5, 1))
        self._seen.append(completeness_of(answer))
        aggs = answer.get("aggregations") or {}
        bare = (aggs.get("bare") or {}).get("buckets") or {}
        hits = hits_of(answer)
        return _Newest(
            total=total_of(answer)[0],
            first=at_of(aggs.get("first")),
            last=at_of(aggs.get("last")),
            values=[values_of(hit) for hit in hits],
            bare=[name for name, bucket in bare.items() if bucket["doc_count"]],
        )

    def _stats(
        self, time: str, fields: ClusterFields, newest: "_Newest", recent: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], dict[str, Mapping[str, int]]]:
        """Coverage of candidates, sources and strange times, and the values of levels, in one request.

        A level field whose mappings differ takes one more for each of its forms.
        """
        wanted = role_candidates(fields)
        levels = level_forms(fields)
        requests = by_request(list(levels.values()), fields, terms(_LEVEL_VALUES, _LEVEL_VALUES))
        ends = {"first": {"min": {"field": time}}, "last": {"max": {"field": time}}}
        aggs: dict[str, Any] = {
            "source": {"terms": {"field": "_index", "size": _MOST_SOURCES}, "aggs": {} if self._single else ends},
            "future": {"filter": {"range": {time: {"gt": stamp(self._now), "format": "strict_date_optional_time"}}}},
            "untimed": {"missing": {"field": time}},
            "has": {"filters": {"filters": {name: exists_in(name, fields) for name in wanted}}},
        }
        if self._is_odd(newest.last):
            sane = {"range": {time: {"lte": stamp(self._now + _ODD_AGE), "format": "strict_date_optional_time"}}}
            aggs["sane"] = {"filter": sane, "aggs": {"last": {"max": {"field": time}}}}
        requests[()].update(aggs)
        body = {"size": 0, "track_total_hits": True, "query": recent}
        asked = "coverage of fields, levels, sources"
        answers = [self._search(asked, {**body, "aggs": parts}, only) for only, parts in requests.items()]
        self._seen += map(completeness_of, answers)
        return answers[0], {name: counts_of(parts_of(number, answers)) for number, name in enumerate(levels)}

    def _recent(self, time: str, newest: "_Newest") -> dict[str, Any]:
        """All events, or those of the last day where there are too many."""
        if newest.total <= _READ_ALL or newest.last is None:
            return {"bool": {}}
        since = min(newest.last, self._now) - timedelta(days=1)
        return {"range": {time: {"gte": stamp(since), "format": "strict_date_optional_time"}}}

    def _resolved(
        self,
        fields: ClusterFields,
        samples: Sequence[Mapping[str, Any]],
        stats: Mapping[str, Any],
        seen: LevelCounts,
        recent: Mapping[str, Any],
    ) -> ClusterFields:
        total = total_of(stats)[0]
        has = ((stats.get("aggregations") or {}).get("has") or {}).get("buckets") or {}
        coverage = {name: bucket["doc_count"] / total for name, bucket in has.items() if total}
        infos = infos_of(fields, samples, coverage)
        infos = [info for info in infos if info.type not in DATES or info.name not in fields.forms]
        shown = resolve(with_levels(infos, seen), self._overrides)
        documents = [*samples, *self._random(replace(fields, map=shown), recent)]
        levels = levels_of(shown, fields, documents, seen)
        total_levels: dict[Severity, dict[str, None]] = {}
        for known in levels.values():
            for severity, values in known.items():
                total_levels.setdefault(severity, {}).update(dict.fromkeys(values))
        names = {info.name: info.type for info in infos}
        found = replace(shown, levels={one: tuple(total_levels[one]) for one in sorted(total_levels)}, names=names)
        mapped = replace(fields, map=found, levels=levels)
        return fetchable(replace(mapped, shown=shown_in(mapped, documents)), samples)

    def _random(self, fields: ClusterFields, recent: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Values of random documents where a field of a role is no keyword; one request more if there is such one."""
        body = random_values(fields, recent)
        return [values_of(hit) for hit in hits_of(self._search("values without a keyword", body))] if body else []

    def _description(self, server: Server, found: FieldMap, newest: "_Newest", stats: Mapping[str, Any]) -> Description:
        aggs = stats.get("aggregations") or {}
        future = int((aggs.get("future") or {}).get("doc_count", 0))
        last = newest.last
        if self._is_odd(last):
            last = at_of((aggs.get("sane") or {}).get("last"))
        if newest.total > _READ_ALL:
            self._notes.append("Shares of fields were counted over the last day.")
        if not found.roles.get("severity"):
            self._notes.append("No level field: status 5xx, error classes, stacks and words of failure count as error.")
        return Description(
            backend=server.backend,
            product=server.product,
            sources=tuple(self._sources(newest, stats)),
            fields=found,
            events=newest.total,
            first=newest.first,
            last=last,
            lag_seconds=lag_of(found, newest.values),
            future=future,
            untimed=int((aggs.get("untimed") or {}).get("doc_count", 0)),
            notes=tuple(self._notes),
            completeness=merged(self._seen),
        )

    def _sources(self, newest: "_Newest", stats: Mapping[str, Any]) -> list[SourceInfo]:
        found = sources_of(buckets_of(stats, "source"))
        return [replace(one, first=newest.first, last=newest.last) for one in found] if self._single else found

    def _is_odd(self, last: datetime | None) -> bool:
        """Whether the newest event is of a time to come."""
        return last is not None and last > self._now + _ODD_AGE


@dataclass(frozen=True, slots=True)
class _Newest:
    total: int
    first: datetime | None
    last: datetime | None
    values: list[dict[str, Any]]
    bare: list[str]
    """Text fields with a value that their keyword sub-field does not have: too long, or not in every index."""
