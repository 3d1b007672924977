"""The description of a cluster and its scope, in five to seven requests."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from logagent.errors import NoData, SourceError, StoreDenied, StoreQueryError, UsageError
from logagent.fields import FieldInfo, FieldMap, classify_levels, instant_of, resolve
from logagent.logs import Completeness, Severity, instant
from logagent.schemas import schemas
from logagent.stores._base import Description, SourceInfo
from logagent.stores._es_answers import completeness_of, hits_of, key_of, merged, total_of
from logagent.stores._es_compile import stamp
from logagent.stores._es_fields import DATES, TEXTS, ClusterFields, parents, types_fit
from logagent.stores._es_records import as_text, values_of

Search = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""(what is asked, body) -> answer."""
Get = Callable[[str, str, Mapping[str, str]], Mapping[str, Any]]
"""(what is asked, path, parameters) -> answer."""

_LONGEST_FIELDS = 3_600
"""Bytes of field names in one URL; a request line may have 4,096."""
_MOST_FIELD_REQUESTS = 3
_SAMPLE = 50
_MOST_SOURCES = 50
_READ_ALL = 1_000_000
"""Up to so many events figures are taken from all of them, else from the last day."""
_LEVEL_VALUES = 50
_MOST_NAMES = 300
_ODD_AGE = timedelta(days=1)
_BACKING = re.compile(r"^\.ds-(?P<stream>.+?)(?:-\d{4}\.\d{2}\.\d{2})?-\d{6}$")
_DAILY = re.compile(r"^(?P<stem>.+?)[-.]\d{4}[.-]\d{2}(?:[.-]\d{2})?(?:-\d{6})?$")
_MULTI_FIELDS = ("keyword", "raw", "exact", "enum")
_ROLES_BY_COVERAGE = ("severity", "service", "message", "error_type", "trace_id", "status", "host", "pod", "stack")


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
        self, search: Search, get: Get, indices: Sequence[str], overrides: Mapping[str, str], now: datetime
    ) -> None:
        self._search = search
        self._get = get
        self._indices = ",".join(indices)
        self._overrides = overrides
        self._now = now
        self._notes: list[str] = []
        self._seen: list[Completeness] = []

    def describe(self, url: str) -> Described:
        """All of it.

        Raises:
            NoData: the pattern matches no index (LA301), or no usable time field exists (LA302).
            UsageError: the server is too old (LA106), or an override names no field.
        """
        server = self._server(url)
        samples = [values_of(hit) for hit in self._probe()]
        caps = self._caps(_asked(name for values in samples for name in values))
        fields = self._typed(caps)
        time = self._time_field(fields, samples)
        newest = self._newest(time, fields)
        fields = self._with_new_names(caps, fields, newest)
        stats = self._stats(time, fields, newest)
        resolved = self._resolved(fields, samples + newest.values, stats)
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
            raise no_index(self._indices, self._names_nearby())
        buckets = _buckets(answer, "source")
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

    def _names_nearby(self) -> list[str]:
        """Names of sources that exist, where the key may list them."""
        return nearby(self._get)

    def _caps(self, asked: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Types of the fields with these names."""
        found: dict[str, dict[str, Any]] = {}
        for chunk in _chunks(asked)[:_MOST_FIELD_REQUESTS]:
            params = {"fields": ",".join(chunk), "ignore_unavailable": "true", "expand_wildcards": "open"}
            answer = self._get("types of fields", f"/{self._indices}/_field_caps", params)
            found.update(answer.get("fields") or {})
        return {name: kinds for name, kinds in found.items() if not name.startswith("_")}

    def _with_new_names(
        self, caps: Mapping[str, dict[str, Any]], fields: ClusterFields, newest: "_Newest"
    ) -> ClusterFields:
        """The fields with those that only the newest documents have; one request more where there are any."""
        new = dict.fromkeys(name for values in newest.values for name in values if name not in caps)
        asked = _chunks([part for name in _clean(new) for part in (name, f"{name}.*", *parents(name))])[0]
        return self._typed({**caps, **self._caps(asked)}) if asked else fields

    def _typed(self, caps: Mapping[str, Mapping[str, Any]]) -> ClusterFields:
        kinds = {name: frozenset(types) - {"unmapped"} for name, types in caps.items()}
        types = {name: found - {"object", "nested"} for name, found in kinds.items() if found - {"object", "nested"}}
        exact = {}
        for name, found in types.items():
            if found & TEXTS:
                siblings = [f"{name}.{ending}" for ending in _MULTI_FIELDS]
                siblings += [other for other in types if other.startswith(f"{name}.")]
                good = (one for one in siblings if types.get(one, frozenset()) & {"keyword", "wildcard"})
                exact[name] = next((one for one in good if len(types[one]) == 1), "")
            elif not types_fit(types, name):
                exact[name] = ""
        nested = frozenset(name for name, found in kinds.items() if "nested" in found)
        objects = frozenset(name for name, found in kinds.items() if found & {"object", "nested"})
        return ClusterFields(types=types, nested=nested, objects=objects, exact=exact)

    def _infos(
        self, fields: ClusterFields, samples: Sequence[Mapping[str, Any]], coverage: Mapping[str, float]
    ) -> list[FieldInfo]:
        infos = []
        for name, kinds in fields.types.items():
            if any(parent in fields.exact and fields.exact[parent] == name for parent in parents(name)):
                continue  # a keyword sub-field is no field of its own
            shown = tuple(as_text(values[name])[:2_000] for values in samples if name in values)
            kind = next(iter(sorted(kinds & TEXTS)), "") or min(kinds)
            exact = fields.exact.get(name, "" if kind in TEXTS else name)
            infos.append(FieldInfo(name, kind, coverage.get(name, _share(shown, samples)), shown, exact))
        return infos

    def _time_field(self, fields: ClusterFields, samples: Sequence[Mapping[str, Any]]) -> str:
        infos = self._infos(fields, samples, {})
        wished = self._overrides.get("timestamp")
        dated = [info for info in infos if info.type in DATES and types_fit(fields.types, info.name)]
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
        body = {
            "track_total_hits": True,
            "sort": [{time: order}],
            "_source": {"includes": ["*"]},
            "fields": [{"field": time, "format": "strict_date_optional_time"}],
            "aggs": {"first": {"min": {"field": time}}, "last": {"max": {"field": time}}},
        }
        answer = self._fitting("newest documents", lambda size: {**body, "size": size}, (_SAMPLE, 5, 1))
        self._seen.append(completeness_of(answer))
        aggs = answer.get("aggregations") or {}
        hits = hits_of(answer)
        return _Newest(
            total=total_of(answer)[0],
            first=_at(aggs.get("first")),
            last=_at(aggs.get("last")),
            values=[values_of(hit) for hit in hits],
            in_source=frozenset(name for hit in hits for name in values_of({"_source": hit.get("_source") or {}})),
        )

    def _stats(self, time: str, fields: ClusterFields, newest: "_Newest") -> Mapping[str, Any]:
        """Coverage of candidates, values of levels, sources and strange times, in one request."""
        wanted = _role_candidates(fields)
        levels = [name for name in _names_of_role("severity", fields) if fields.exact.get(name, name)]
        aggs: dict[str, Any] = {
            "source": {
                "terms": {"field": "_index", "size": _MOST_SOURCES},
                "aggs": {"first": {"min": {"field": time}}, "last": {"max": {"field": time}}},
            },
            "future": {"filter": {"range": {time: {"gt": stamp(self._now), "format": "strict_date_optional_time"}}}},
            "untimed": {"missing": {"field": time}},
            "sane": {
                "filter": {
                    "range": {time: {"lte": stamp(self._now + _ODD_AGE), "format": "strict_date_optional_time"}}
                },
                "aggs": {"last": {"max": {"field": time}}},
            },
            "has": {"filters": {"filters": {name: _exists(name, fields) for name in wanted}}},
        }
        for name in levels[:8]:
            aggs[f"level:{name}"] = {"terms": {"field": fields.exact.get(name, name), "size": _LEVEL_VALUES}}
        body: dict[str, Any] = {"size": 0, "track_total_hits": True, "aggs": aggs}
        if newest.total > _READ_ALL and newest.last is not None:
            since = min(newest.last, self._now) - timedelta(days=1)
            body["query"] = {"range": {time: {"gte": stamp(since), "format": "strict_date_optional_time"}}}
        answer = self._search("coverage of fields, levels, sources", body)
        self._seen.append(completeness_of(answer))
        return answer

    def _resolved(
        self, fields: ClusterFields, samples: Sequence[Mapping[str, Any]], stats: Mapping[str, Any]
    ) -> ClusterFields:
        total = total_of(stats)[0]
        has = ((stats.get("aggregations") or {}).get("has") or {}).get("buckets") or {}
        coverage = {name: bucket["doc_count"] / total for name, bucket in has.items() if total}
        infos = self._infos(fields, samples, coverage)
        infos = [info for info in infos if info.type not in DATES or types_fit(fields.types, info.name)]
        shown = resolve(self._with_levels(infos, stats), self._overrides)
        levels = self._levels(shown, fields, samples, stats)
        total_levels: dict[Severity, dict[str, None]] = {}
        for known in levels.values():
            for severity, values in known.items():
                total_levels.setdefault(severity, {}).update(dict.fromkeys(values))
        names = {info.name: info.type for info in infos}
        found = replace(shown, levels={one: tuple(total_levels[one]) for one in sorted(total_levels)}, names=names)
        return self._fetchable(replace(fields, map=found, levels=levels), samples)

    def _with_levels(self, infos: Sequence[FieldInfo], stats: Mapping[str, Any]) -> list[FieldInfo]:
        """Level fields judged by all their values, not by those of a few documents."""
        changed = []
        for info in infos:
            keys = tuple(key_of(bucket) for bucket in _buckets(stats, f"level:{info.name}"))
            changed.append(replace(info, samples=keys) if keys else info)
        return changed

    def _levels(
        self,
        found: FieldMap,
        fields: ClusterFields,
        samples: Sequence[Mapping[str, Any]],
        stats: Mapping[str, Any],
    ) -> dict[str, Mapping[Severity, tuple[str, ...]]]:
        levels = {}
        for choice in found.roles.get("severity", ()):
            counts = {key_of(one): int(one["doc_count"]) for one in _buckets(stats, f"level:{choice.name}")}
            if not counts:  # text without a keyword: what the documents show
                for values in samples:
                    text = as_text(values.get(choice.name))
                    counts.update({text: counts.get(text, 0) + 1} if text else {})
            levels[choice.name] = classify_levels(choice.name, counts, fields.types)
        return levels

    def _fetchable(self, fields: ClusterFields, samples: Sequence[Mapping[str, Any]]) -> ClusterFields:
        """Which names to ask `_source` for, and which only `fields` can answer."""
        seen = dict.fromkeys(name for values in samples for name in values)
        roles = dict.fromkeys(choice.name for choices in fields.map.roles.values() for choice in choices)
        names = list({**roles, **seen, **dict.fromkeys(fields.types)})
        subs = set(fields.exact.values())
        kept = tuple(name for name in names if name not in subs or name in roles)[:_MOST_NAMES]
        return replace(fields, source_names=kept, fetched_names=tuple(name for name in roles if name not in seen))

    def _description(self, server: Server, found: FieldMap, newest: "_Newest", stats: Mapping[str, Any]) -> Description:
        aggs = stats.get("aggregations") or {}
        future = int((aggs.get("future") or {}).get("doc_count", 0))
        last = newest.last
        if last is not None and last > self._now + _ODD_AGE:
            last = _at((aggs.get("sane") or {}).get("last"))
        if newest.total > _READ_ALL:
            self._notes.append("Shares of fields were counted over the last day.")
        if not found.roles.get("severity"):
            self._notes.append("No level field: status 5xx, error classes, stacks and words of failure count as error.")
        return Description(
            backend=server.backend,
            product=server.product,
            sources=tuple(_sources(_buckets(stats, "source"))),
            fields=found,
            events=newest.total,
            first=newest.first,
            last=last,
            lag_seconds=_lag(found, newest.values),
            future=future,
            untimed=int((aggs.get("untimed") or {}).get("doc_count", 0)),
            notes=tuple(self._notes),
            completeness=merged(self._seen),
        )


@dataclass(frozen=True, slots=True)
class _Newest:
    total: int
    first: datetime | None
    last: datetime | None
    values: list[dict[str, Any]]
    in_source: frozenset[str]


def nearby(get: Get) -> list[str]:
    """Names of sources that exist, where the key may list them and anything answers."""
    names: list[str] = []
    for stem in ("logs-*", "filebeat-*", "logstash-*"):
        try:
            answer = get("index names", f"/_resolve/index/{stem}", {"expand_wildcards": "open"})
        except SourceError:
            continue
        for kind in ("indices", "aliases", "data_streams"):
            names += [str(entry["name"]) for entry in answer.get(kind) or ()]
    return list(dict.fromkeys(names))


def no_index(asked: str, names: Sequence[str]) -> NoData:
    """LA301 with the closest names."""
    plain = asked.replace("*", "")
    stems = {_stem(name): None for name in names if not name.startswith(".")}
    close = difflib.get_close_matches(plain, [*stems, *names], n=3, cutoff=0.4)
    hint = f"Closest: {', '.join(close)}." if close else "Check the name; `GET _resolve/index` lists what there is."
    values: dict[str, object] = {"pattern": asked}
    if close:
        values.update(closest=", ".join(close), suggestion=f"{close[0]}*" if close[0] in stems else close[0])
    return NoData(f"No index matches {asked}.", code="LA301", hint=hint, values=values)


def no_time(asked: str, fields: int, infos: Sequence[FieldInfo]) -> NoData:
    """LA302 with fields that look like a time."""
    likely = []
    for info in infos:
        looks = next((value for value in info.samples if instant_of(value) is not None), "")
        if info.type in DATES or looks:
            likely.append(f"{info.name} ({info.type}{f', looks like {looks[:40]}' if looks else ''})")
    values: dict[str, object] = {"index": asked, "fields": fields}
    if likely:
        values["candidates"] = ", ".join(likely[:3])
    return NoData(
        f"No usable time field in {asked} ({fields} fields).",
        code="LA302",
        hint=f"Candidates: {'; '.join(likely[:3])}." if likely else "No field looks like a time.",
        values=values,
    )


def _stem(name: str) -> str:
    match = _DAILY.match(name)
    return match["stem"] if match else name


def _asked(seen: Iterable[str]) -> list[str]:
    """Names to ask types for: candidates by their first part (with all below it), and every name seen."""
    heads: dict[str, None] = {}
    for schema in schemas():
        for names in (*schema.roles.values(), *schema.weak.values()):
            heads.update(dict.fromkeys(name.partition(".")[0] for name in names))
    asked = dict.fromkeys(part for head in heads for part in (head, f"{head}.*"))
    for name in _clean(dict.fromkeys(seen))[:_MOST_NAMES]:
        if name.partition(".")[0] not in heads:
            asked.update(dict.fromkeys((name, f"{name}.*", *parents(name))))
    return list(asked)


def _clean(names: Iterable[str]) -> list[str]:
    """Names that a comma list may hold."""
    return [name for name in names if not re.search(r"[,*\s]", name) and not name.startswith("_")]


def _chunks(names: Sequence[str]) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    size = 0
    for name in names:
        size += len(name.encode()) + 5  # a comma is three bytes in a URL, a star too
        if size > _LONGEST_FIELDS and chunks[-1]:
            chunks.append([])
            size = len(name.encode()) + 5
        chunks[-1].append(name)
    return chunks


def _names_of_role(role: str, fields: ClusterFields) -> list[str]:
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


def _role_candidates(fields: ClusterFields) -> list[str]:
    names: dict[str, None] = {}
    for schema in schemas():
        for role in schema.roles:
            names.update(dict.fromkeys(_names_of_role(role, fields)))
        break
    for role in _ROLES_BY_COVERAGE:
        names.update(dict.fromkeys(_names_of_role(role, fields)))
    return list(names)[:100]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9/]", "", name.lower())


def _exists(name: str, fields: ClusterFields) -> dict[str, Any]:
    clause: dict[str, Any] = {"exists": {"field": name}}
    if name in fields.objects:  # `exists` on an object finds whatever has a field below it
        below = [other for other in fields.types if other.startswith(f"{name}.")]
        clause = {"bool": {"filter": [clause], "must_not": [{"exists": {"field": other}} for other in below]}}
    parent = fields.parent(name)
    return {"nested": {"path": parent, "query": clause}} if parent else clause


def _share(shown: Sequence[str], samples: Sequence[Mapping[str, Any]]) -> float:
    return len(shown) / len(samples) if samples else 0.0


def _buckets(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = ((answer.get("aggregations") or {}).get(name) or {}).get("buckets") or []
    return list(found)


def _at(agg: Mapping[str, Any] | None) -> datetime | None:
    value = (agg or {}).get("value")
    return instant(value / 1_000).astimezone(UTC) if isinstance(value, int | float) else None


def _sources(buckets: Sequence[Mapping[str, Any]]) -> list[SourceInfo]:
    """Backing indices under the name of their data stream, daily indices under their pattern."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for bucket in buckets:
        name = str(bucket["key"])
        stream, daily = _BACKING.match(name), _DAILY.match(name)
        group = stream["stream"] if stream else f"{daily['stem']}-*" if daily else name
        groups.setdefault(group, []).append(bucket)
    found = []
    for name, members in groups.items():
        firsts = [at for member in members if (at := _at(member.get("first")))]
        lasts = [at for member in members if (at := _at(member.get("last")))]
        single = len(members) == 1 and not _BACKING.match(str(members[0]["key"]))
        found.append(
            SourceInfo(
                name=str(members[0]["key"]) if single else name,
                events=sum(int(member["doc_count"]) for member in members),
                first=min(firsts, default=None),
                last=max(lasts, default=None),
                note=""
                if single
                else f"{len(members)} {'backing indices' if _BACKING.match(str(members[0]['key'])) else 'indices'}",
            )
        )
    return sorted(found, key=lambda source: -source.events)


def _lag(found: FieldMap, values: Sequence[Mapping[str, Any]]) -> float | None:
    """95th percentile of the seconds between event and ingest among the newest documents."""
    time, ingested = found.first("timestamp"), found.first("ingested")
    if time is None or ingested is None:
        return None
    lags = []
    for document in values:
        event, arrived = instant_of(document.get(time.name)), instant_of(document.get(ingested.name))
        if event and arrived:
            lags.append(max(0.0, (arrived - event).total_seconds()))
    return sorted(lags)[min(len(lags) - 1, int(len(lags) * 0.95))] if lags else None
