"""What a line states: failure mechanisms and change events, by the curated list `mechanisms.toml`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Any, Literal

from logagent.analysis.cue_plan import index
from logagent.analysis.cues import CueHit, Matcher, Pattern
from logagent.expressions import expression

RELAYS = frozenset({"upstream", "resilience"})
"""Families that only say that a call failed: they speak against the one called."""

_PLATFORM_FAMILIES = frozenset({"deploy", "memory", "disk", "config", "db"})
"""In a platform event these go first."""

_CHAIN = expression(
    r"\bcaused by:?|\bnested exception is\b|\broot cause:|[;,] cause:|\bunderlying (?:error|cause):", re.IGNORECASE
)
_GROUPS = (
    "service", "host", "endpoint", "url", "database", "table", "topic", "queue", "api", "broker", "server", "bucket",
    "path", "volume", "image", "key", "name", "dependency",
)  # fmt: skip
"""Named groups that may name a dependency, most telling first."""

_URL_HOST = expression(r"^[a-z][a-z0-9+]{1,9}://(?:[^@/\s]{0,200}@)?([^/:?\s]{1,253})", re.IGNORECASE)
_PORT = expression(r":\d{1,5}$")
_LOOSE = expression(
    r"\b(?:to|from|for|at|with|calling|resolve|resolving|lookup|host|address|connect|dial tcp|contacting|reach(?:ing)?|"
    r"of|by)[ =:\"']{1,3}([a-z][\w-]{2,60}(?:\.[\w-]{1,63}){0,8})(?::\d{2,5})?",
    re.IGNORECASE,
)
_COMMON_WORDS = (
    "the this that upstream server database host service remote connect connection failed request error tcp http https "
    "get post a an any all new its their available healthy fetch acquire connections pool client response read write "
    "lock obtain user open be"
)
_NO_NAME = frozenset(_COMMON_WORDS.split())
_NEAR_BEFORE, _NEAR_AFTER = 120, 200
_ANCHOR = 40
"""Characters of a match that are enough to find it again."""

_PART = expression(r"[^\W_]+")
_LIKE, _MOST_NEAR = 0.5, 4
_MOST_TEXTS = 20_000
"""Texts whose answer is kept; then the memory starts anew."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One mechanism or change event of the list."""

    id: str
    kind: Literal["mechanism", "change"]
    family: str
    title: Mapping[str, str]
    side: Literal["self", "dependency"]
    weak: bool
    rank: int
    terms: tuple[str, ...]
    """Phrases for a store query (a recall net: filter the hits with the cues)."""
    words: tuple[str, ...]
    rivals: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    echo: bool = False
    """Mostly the consequence of another mechanism: named only if nothing else is."""
    what_it_is_not: str = ""
    first_checks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def relay(self) -> bool:
        """Whether it only says that a call to somebody else failed."""
        return self.family in RELAYS


@dataclass(frozen=True, slots=True)
class Inferred:
    """A mechanism that no line states: a diagnosis may name it from times, figures and silence."""

    id: str
    title: Mapping[str, str]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """What a line states. `every`: all mechanisms with a strong cue in it; `names`: what it blames, by group."""

    id: str
    weak: bool
    rank: int
    side: str
    matched: str
    every: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """First part of the id."""
        return self.id.split(".", 1)[0]


class Catalogue:
    """The list, ready to read lines with. Answers are remembered by text. Safe to share between threads."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        rows: Sequence[Mapping[str, Any]] = data["entries"]
        mechanisms = [row for row in rows if row["kind"] == "mechanism"]
        changes = [row for row in rows if row["kind"] == "change"]
        self.version: str = data["version"]
        self.entries: Mapping[str, Entry] = MappingProxyType({row["id"]: _entry(row, i) for i, row in enumerate(rows)})
        self.inferred: Mapping[str, Inferred] = MappingProxyType(
            {row["id"]: Inferred(row["id"], row["title"], tuple(row["words"])) for row in data.get("inferred", ())}
        )
        self.terms: Mapping[str, tuple[str, ...]] = MappingProxyType({e.id: e.terms for e in self.entries.values()})
        self._mechanisms = Matcher(mechanisms, data["not"], data["context"])
        self._changes = Matcher(changes, (), data["context"], len(mechanisms))
        self._extractors = {name: Pattern(text) for name, text in data["extractors"].items()}
        self._names = {row["id"]: [self._extractor(name) for name in row["names"]] for row in rows}
        self._read: dict[tuple[str, str, bool], Hit | None] = {}
        self._change: dict[str, tuple[str, ...]] = {}

    @classmethod
    def from_index(cls, data: Mapping[str, Any]) -> "Catalogue":
        """From the compact form (`mechanisms.json`), which loads in a few milliseconds."""
        return cls(data)

    @classmethod
    def from_toml(cls, spec: Mapping[str, Any]) -> "Catalogue":
        """From the source of truth (`mechanisms.toml`); plans every cue first, which takes about 0.3 s."""
        return cls(index(spec))

    def _extractor(self, name: str) -> Pattern:
        return self._extractors[name[1:]] if name.startswith("@") else Pattern(name)

    def mechanisms(self, text: str) -> list[CueHit]:
        """All mechanisms that a record's text states, in order of precedence."""
        return self._mechanisms.text(text)

    def mechanism(self, text: str, service: str = "") -> str:
        """Id of the mechanism a text states, or "" for none."""
        hit = self.read(text, service)
        return hit.id if hit else ""

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids that a diagnosis may name."""
        return (*self.inferred, *self.entries)

    def near(self, name: str) -> list[str]:
        """The ids whose spelling, or whose name among people, comes nearest to a name that is none; best first."""
        wanted = name.strip().lower()
        words = {one.id: one.words for one in self.inferred.values()}
        words |= {one.id: one.words for one in self.entries.values()}
        scores = {one: _likeness(wanted, one, told) for one, told in words.items()}
        found = sorted((one for one in scores if scores[one] >= _LIKE), key=lambda one: -scores[one])
        return found[:_MOST_NEAR]

    def change(self, text: str) -> tuple[str, ...]:
        """Ids of the change events a text states."""
        found = self._change.get(text)
        if found is None:
            if len(self._change) >= _MOST_TEXTS:
                self._change = {}
            found = self._change[text] = tuple(hit.id for hit in self._changes.text(text))
        return found

    def read(self, text: str, owner: str, event: bool = False) -> Hit | None:  # noqa: FBT001, FBT002  # a fact of the record
        """The mechanism a text states, or None.

        In a chain of causes the deepest strong one wins, then the deepest weak one.

        Args:
            text: message and error fields of a record.
            owner: the logging service: its own product's faults are `self`.
            event: whether the record is a platform event.
        """
        key = (text, owner, event)
        if key in (known := self._read):
            return known[key]
        if len(known) >= _MOST_TEXTS:
            self._read = {}  # a new one: another thread may be reading the old one
        found = self._read[key] = self._find(text, owner, event=event)
        return found

    def _find(self, text: str, owner: str, *, event: bool) -> Hit | None:
        whole = self._mechanisms.text(text)
        if not whole:
            return None
        best = self._deepest(text, whole) or (_of_platform(whole) if event else None)
        if best is None:
            best = min(whole, key=self._precedence)
        entry = self.entries[best.id]
        side = "self" if any(word in owner.lower() for word in entry.owner) else entry.side
        line = next((part for part in text.split("\n") if best.matched[:_ANCHOR] in part), text)
        strong = tuple(hit.id for hit in whole if not hit.weak)
        return Hit(best.id, best.weak, best.rank, side, best.matched, strong, self.blames(best.id, line))

    def _precedence(self, hit: CueHit) -> tuple[bool, bool, bool, int]:
        entry = self.entries[hit.id]
        return hit.weak, entry.echo, entry.relay, hit.rank

    def _deepest(self, text: str, whole: Sequence[CueHit]) -> CueHit | None:
        """The innermost hit of a chain of causes, if the text is one."""
        parts = _CHAIN.split(text)
        if len(parts) == 1:
            return None
        allowed = {hit.id for hit in whole}
        found = [hit for part in reversed(parts) for hit in self._mechanisms.text(part) if hit.id in allowed]
        return next((hit for hit in found if not hit.weak), found[0] if found else None)

    def blames(self, entry: str, line: str) -> dict[str, str]:
        """What a line blames: of each expression of the entry the named groups of its first match."""
        found: dict[str, str] = {}
        for pattern in self._names[entry]:
            for match in pattern.regex.finditer(line):
                named = {key: value for key, value in match.groupdict().items() if value}
                if self._no_endpoint(named.get("endpoint", "")):
                    del named["endpoint"]
                found = {**named, **found}
                if found:
                    break
        return found

    def _no_endpoint(self, text: str) -> bool:
        return self._extractors["endpoint_not"].regex.search(text) is not None

    def dependency(self, hit: Hit, text: str, own: str) -> str | None:
        """The dependency a line names: a group of the mechanism, else an address, else a word behind `to` or `from`."""
        refused = _NO_NAME | {own.lower()}
        for key in _GROUPS:
            value = host_of(hit.names.get(key, ""))
            if value and value.lower() not in refused:
                return value
        spot = text.find(hit.matched[:_ANCHOR])
        near = text[max(0, spot - _NEAR_BEFORE) : spot + _NEAR_AFTER] if spot >= 0 else text[:300]
        if address := self._address(near):
            return address
        return next((found[1] for found in _LOOSE.finditer(near) if found[1].lower() not in refused), None)

    def _address(self, near: str) -> str | None:
        if found := self._extractors["url"].regex.search(near):
            return host_of(found[0])
        endpoints = (found[0] for found in self._extractors["endpoint"].regex.finditer(near))
        return next((host_of(endpoint) for endpoint in endpoints if not self._no_endpoint(endpoint)), None)


def _likeness(wanted: str, name: str, words: Sequence[str]) -> float:
    """0 to 1: how much of one is in the other, letter by letter or word by word."""
    told = [name, *(word.lower() for word in words)]
    best = max(SequenceMatcher(None, wanted, one).ratio() for one in told)
    own = set(_PART.findall(wanted))
    shared = max(len(own & set(_PART.findall(one))) / max(1, len(own | set(_PART.findall(one)))) for one in told)
    return max(best, shared)


def host_of(value: str) -> str:
    """The host of a URL or an endpoint, else the bare value.

    >>> host_of("redis://redis:6379/0"), host_of("db.local:5432")
    ('redis', 'db.local')
    """
    hit = _URL_HOST.match(value)
    return hit[1] if hit else _PORT.sub("", value).strip("\"'[]()<>,.;")


def _of_platform(hits: Sequence[CueHit]) -> CueHit | None:
    return next((hit for hit in hits if hit.id.split(".", 1)[0] in _PLATFORM_FAMILIES), None)


def _entry(row: Mapping[str, Any], rank: int) -> Entry:
    checks = {lang: tuple(texts) for lang, texts in row.get("first_checks", {}).items()}
    return Entry(
        id=row["id"],
        kind=row["kind"],
        family=row.get("family", "change"),
        title=row["title"],
        side=row.get("side", "self"),
        weak=row["strength"] == "weak",
        rank=rank,
        terms=tuple(row["terms"]),
        words=tuple(row["words"]),
        rivals=tuple(row.get("rivals", ())),
        owner=tuple(row.get("owner", ())),
        echo=bool(row.get("echo", False)),
        what_it_is_not=row.get("what_it_is_not", ""),
        first_checks=checks,
    )
