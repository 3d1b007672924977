"""The window under study: events, templates, traces, buckets. Every signal reads only this."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from logagent.analysis.events import full_text
from logagent.analysis.facts import Event
from logagent.analysis.lexicon import ALERT, BENIGN, RELAY, named_services, severity_class
from logagent.analysis.mechanisms import Catalogue, Hit
from logagent.analysis.templates import mine

BUCKETS = 60
TRACED_SHARE = 0.3
"""Share of the events that must belong to a trace of two or more, else traces are not used."""

_ERROR_CLASS = 2
_MOST_TEXT = 4000
"""Characters of a message in which names of services are looked for."""


@dataclass(slots=True)
class Pair:
    """Statement `a` directly followed by `b` in a trace: how often, and the relation of their services."""

    a: int
    b: int
    count: int = 0
    relation: Counter[str] = field(default_factory=Counter)

    def kind(self) -> str:
        """`same`, `call` or `return`, by majority."""
        return self.relation.most_common(1)[0][0]


class Window:
    """All that the signals read. Events must be sorted by time and not empty.

    Attributes:
        events: the records, or groups of alike ones with their weight.
        trace_docs: what `traces` and `pairs` index into: a separate sample of complete traces, or `events` itself.
        catalogue: reads mechanisms.
        miner: templates by id (`texts`, `keys`, `display`).
        start, end, length: seconds; the length is never 0.
        services: names, sorted. `loggers`: those known from more than platform events.
        by_template: template -> indices into `events`.
        weight_of: template -> sum of the weights of its events.
        hits: template -> mechanism hit or None. `excused`: templates whose text takes the severity away.
        severity: template -> class 0 to 3 (lexicon.severity_class).
        traces: trace id -> indices into `trace_docs`, oldest first; empty where traces cannot be used.
        pairs: (a, b) -> Pair. `first_places`: template -> (trace, place of its first line there).
    """

    def __init__(
        self,
        events: list[Event],
        catalogue: Catalogue,
        *,
        trace_events: list[Event] | None = None,
        keep_traces: bool = True,
    ) -> None:
        self.events = events
        self.trace_docs = events if trace_events is None else trace_events
        self.catalogue = catalogue
        self.miner = mine(events if trace_events is None else [*events, *trace_events])
        self.start, self.end = events[0].time, events[-1].time
        self.length = max(self.end - self.start, 1e-6)
        self.services = sorted({event.service for event in events})
        self.loggers = sorted({event.service for event in events if not event.event})
        self.by_template = _by_template(events)
        self.weight_of = {t: sum(events[i].weight for i in indices) for t, indices in self.by_template.items()}
        self.total = sum(self.weight_of.values())
        self.hits: dict[int, Hit | None] = {}
        self.excused: set[int] = set()
        self.severity = {template: self._severity(template, sample) for template, sample in self._samples()}
        self._blames: dict[tuple[int, str, str], tuple[frozenset[str], bool]] = {}
        self.traces = self._traces(sampled=trace_events is not None) if keep_traces else {}
        self.pairs = self._pairs()
        self.first_places = self._first_places()

    def service(self, template: int) -> str:
        """The service that writes a template."""
        return self.miner.keys[template][0]

    def text(self, template: int) -> str:
        """Masked text of a template."""
        return self.miner.texts[template]

    def display(self, template: int) -> str:
        """The template for readers, with typed slots."""
        return self.miner.display(template)

    def first(self, template: int) -> Event:
        """The earliest event of a template."""
        return self.events[self.by_template[template][0]]

    def weight(self, indices: Iterable[int]) -> float:
        """Number of records behind indices into `events`."""
        return sum(self.events[i].weight for i in indices)

    def bucket(self, time: float) -> int:
        """Which of the BUCKETS a time falls into."""
        return max(0, min(BUCKETS - 1, int((time - self.start) / self.length * BUCKETS)))

    def is_error(self, event: Event) -> bool:
        """Whether an event counts as failing."""
        return self.severity[event.template] >= _ERROR_CLASS

    def blames(self, event: Event) -> tuple[frozenset[str], bool]:
        """Other services that the text of an error names, and whether it only says that a call failed (a relay)."""
        if event.event:
            return frozenset(), False  # an event speaks of its object
        key = (event.template, event.service, event.message)
        found = self._blames.get(key)
        if found is None:
            found = self._blames[key] = self._who(event)
        return found

    def _who(self, event: Event) -> tuple[frozenset[str], bool]:
        message = event.message[:_MOST_TEXT]
        named = frozenset(named_services(message, self.loggers, event.service))
        hit = self.hits.get(event.template)
        own = hit is not None and not hit.weak
        if named or (event.failed and not own):  # a 5xx line alone is a symptom
            return named, True
        if hit is not None and self.catalogue.entries[hit.id].relay:
            return named, True
        own_side = own and hit is not None and hit.side == "self"
        return named, RELAY.search(message) is not None and not own_side

    def _samples(self) -> list[tuple[int, Event]]:
        """One event of each template, also of those that only the sampled traces show."""
        samples = {template: self.events[indices[0]] for template, indices in self.by_template.items()}
        for event in self.trace_docs:
            samples.setdefault(event.template, event)
        return list(samples.items())

    def _severity(self, template: int, sample: Event) -> int:
        text = full_text(sample)
        alert = ALERT.search(text) is not None
        if alert or BENIGN.search(text):
            self.excused.add(template)
            hit = None
        else:
            hit = self.catalogue.read(text, sample.service, sample.event)
        self.hits[template] = hit
        strong = hit is not None and not hit.weak
        stated = severity_class(sample.level, text, (strong, hit is not None), event=sample.event)
        return max(stated, _ERROR_CLASS if sample.failed and not alert else 0)

    def _traces(self, *, sampled: bool) -> dict[str, list[int]]:
        if not sampled and any(event.weight > 1 for event in self.events):
            return {}  # one event for many: their order inside a request is lost
        found: dict[str, list[int]] = defaultdict(list)
        for index, event in enumerate(self.trace_docs):
            if event.trace:
                found[event.trace].append(index)
        traces = {trace: indices for trace, indices in found.items() if len(indices) > 1}
        covered = sum(map(len, traces.values()))
        return traces if covered >= TRACED_SHARE * len(self.trace_docs) else {}

    def _pairs(self) -> dict[tuple[int, int], Pair]:
        pairs: dict[tuple[int, int], Pair] = {}
        for indices in self.traces.values():
            docs = [self.trace_docs[i] for i in indices]
            for (before, event), relation in zip(pairwise(docs), _relations(docs), strict=True):
                key = (before.template, event.template)
                pair = pairs.get(key)
                if pair is None:
                    pair = pairs[key] = Pair(*key)
                pair.count += 1
                pair.relation[relation] += 1
        return pairs

    def _first_places(self) -> dict[int, list[tuple[str, int]]]:
        places: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for trace, indices in self.traces.items():
            seen: set[int] = set()
            for place, index in enumerate(indices):
                template = self.trace_docs[index].template
                if template not in seen:
                    seen.add(template)
                    places[template].append((trace, place))
        return dict(places)

    def entry(self, trace: str) -> int:
        """The statement a trace begins with: its type."""
        return self.trace_docs[self.traces[trace][0]].template

    def call_edges(self) -> Counter[tuple[str, str]]:
        """(caller, callee) -> number of calls, from the nesting of services in traces."""
        edges: Counter[tuple[str, str]] = Counter()
        for pair in self.pairs.values():
            if pair.kind() == "call":
                edges[self.service(pair.a), self.service(pair.b)] += pair.count
        return edges


def _by_template(events: Sequence[Event]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        found[event.template].append(index)
    return dict(found)


def _relations(docs: Sequence[Event]) -> list[str]:
    """How each line after the first relates to the one before: `same` service, `call` or `return`.

    A service that is already on the stack means return (Aguilera et al., SOSP 2003).
    """
    stack: list[str] = []
    relations = []
    for place, event in enumerate(docs):
        if place:
            same = docs[place - 1].service == event.service
            relations.append("same" if same else "return" if event.service in stack else "call")
        if event.service in stack:
            del stack[stack.index(event.service) + 1 :]
        else:
            stack.append(event.service)
    return relations
