"""The shape of JSON records: which keys, nested how, of which types, learned from parsed samples."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from logagent.expressions import expression

_DATE = expression(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}$")
MOST_FIELDS = 1_000
"""Fields beyond this many are left out, with a note."""
_MOST_CHILDREN = 200
_MOST_DEPTH = 6
_MOST_SAMPLES = 40


@dataclass(slots=True)
class Shape:
    """One key: what values it had and, where they were objects, the keys inside."""

    kinds: dict[str, int] = field(default_factory=dict)
    """How often each of object, array, string, long, double, boolean was seen (null is not counted)."""
    children: dict[str, "Shape"] = field(default_factory=dict)
    samples: list[str] = field(default_factory=list)
    spelled: dict[str, str] = field(default_factory=dict)
    """Lower case of every key -> the first spelling of it, which is the one in `children`."""
    varied: bool = False
    """Whether a key was also seen in another spelling; DuckDB does not hold names apart by case."""

    @property
    def mixed(self) -> bool:
        """Both an object and something else was seen, or too many keys: kept as JSON text."""
        return "object" in self.kinds and (len(self.kinds) > 1 or not self.children)

    @property
    def nested(self) -> bool:
        """Always an object with keys."""
        return "object" in self.kinds and not self.mixed

    @property
    def type(self) -> str:
        """Type name in the words of search servers, from the values seen."""
        kinds = set(self.kinds) - {"object", "array"}
        if kinds and kinds <= {"long", "double"}:
            return "double" if "double" in kinds else "long"
        if kinds == {"boolean"}:
            return "boolean"
        if self.samples and sum(_DATE.match(sample) is not None for sample in self.samples) * 2 > len(self.samples):
            return "date"
        wordy = sum(" " in sample for sample in self.samples)
        return "text" if wordy * 2 > len(self.samples) else "keyword"

    @property
    def count(self) -> int:
        """How many values were seen."""
        return sum(self.kinds.values())

    def learn(self, value: object, depth: int = 0) -> None:
        """Take one value into account."""
        if value is None:
            return
        kind = _KINDS.get(type(value), "string")
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if isinstance(value, dict):
            if depth < _MOST_DEPTH:
                self._learn_keys(value, depth)
        elif len(self.samples) < _MOST_SAMPLES or (kind == "string" and self.kinds[kind] % 16 == 0):
            one = value[0] if isinstance(value, list) and len(value) == 1 else value
            text = str(one).lower() if isinstance(one, bool) else str(one)
            self.samples.append(text[:500])
            if len(self.samples) > 2 * _MOST_SAMPLES:
                del self.samples[::2]

    def _learn_keys(self, value: dict[str, object], depth: int) -> None:
        for key, inner in value.items():
            if not key:
                continue  # SQL knows no name without letters
            known = self.know(key)
            if known not in self.children and depth and len(self.children) >= _MOST_CHILDREN:
                continue
            self.children.setdefault(known, Shape()).learn(inner, depth + 1)

    def know(self, key: str) -> str:
        """The first spelling of a key, which may be this one."""
        known = self.spelled.setdefault(key.lower(), key)
        self.varied = self.varied or known != key
        return known

    def varies(self) -> bool:
        """Whether keys that differ only in case were seen, here or further in."""
        return self.varied or any(child.varies() for child in self.children.values())

    def alike(self, value: object) -> object:
        """The value with every key in its first spelling; of several in one record the later ones are numbered."""
        if not isinstance(value, dict):
            return value
        found: dict[str, object] = {}
        taken: set[str] = set()
        for key, inner in value.items():
            known: str = self.spelled.get(key.lower()) or key
            if known.lower() in taken:
                names = (f"{key}_{number}" for number in count(2))
                known = next(name for name in names if name.lower() not in taken)
            taken.add(known.lower())
            found[known] = self.children.get(known, Shape()).alike(inner)
        return found

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Paths of all objects that are always objects, outermost first."""
        for key, child in self.children.items():
            if child.nested:
                yield (key,)
                for path in child.paths():
                    yield (key, *path)

    def at(self, path: tuple[str, ...]) -> "Shape":
        """The shape at a path that exists."""
        shape = self
        for key in path:
            shape = shape.children[key]
        return shape


_KINDS = {dict: "object", list: "array", str: "string", int: "long", float: "double", bool: "boolean"}
