"""From a cue's regular expression to the literals that every line it matches must hold.

Work of the build, not of a run: `mechanisms.json` holds the result, so that a run compiles only the cues whose literals
stand in a line. `python -m evals.mechanisms --write` makes it anew.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

FLAGS = re.IGNORECASE | re.ASCII
"""ASCII: a Latin word next to a Chinese character still has a boundary, as in RE2."""

LONGEST = 24
"""Longest fragment of a word that is looked up."""

_FRAGMENT = "[a-z]{4,}|[\u4e00-\u9fff]{2,}"
_FEW = 40
_LETTERS = 4
_MANY = 60
_LONGEST_REPEAT = 400
_IMPOSSIBLE = 1e9
_FREQUENT_WORDS = "error connection failed request service time exception server database pool timeout"
_FREQUENT = frozenset(_FREQUENT_WORDS.split())
_REFUSED = (
    ops.GROUPREF,
    ops.GROUPREF_EXISTS,
    ops.ASSERT,
    ops.ASSERT_NOT,
    ops.ATOMIC_GROUP,
    ops.POSSESSIVE_REPEAT,
)


def shape_errors(pattern: str) -> list[str]:
    """Constructs that make matching non-linear or that RE2 lacks."""
    return list(_walk(parser.parse(pattern, FLAGS), in_repeat=False))


def _walk(tree: Any, *, in_repeat: bool) -> Iterable[str]:
    for op, arg in tree:
        if op in _REFUSED:
            yield str(op).lower().replace("_", "-")
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            yield from _walk_repeat(arg, in_repeat=in_repeat)
        elif op is ops.SUBPATTERN:
            yield from _walk(arg[3], in_repeat=in_repeat)
        elif op is ops.BRANCH:
            for branch in arg[1]:
                yield from _walk(branch, in_repeat=in_repeat)


def _walk_repeat(arg: Any, *, in_repeat: bool) -> Iterable[str]:
    low, high, inner = arg
    if high is ops.MAXREPEAT or high > _LONGEST_REPEAT:
        yield f"unbounded repeat {{{low},{high}}}"
    if in_repeat and high > 1:
        yield "repeat inside a repeat"
    yield from _walk(inner, in_repeat=in_repeat or high > 1)


@dataclass(slots=True)
class _Run:
    """Literal strings that stand next to each other in a pattern, and the covers found so far."""

    strings: set[str] = field(default_factory=lambda: {""})
    whole: bool = True
    found: list[frozenset[str]] = field(default_factory=list)

    def add(self, part: set[str] | None) -> None:
        if part is not None and len(part) <= _FEW and len(self.strings) * len(part) <= _MANY:
            self.strings = {a + b for a in self.strings for b in part}
            return
        self.flush()
        self.whole = False
        self.strings = part if part is not None and len(part) <= _MANY else {""}

    def flush(self) -> None:
        if self.strings and _shortest(self.strings) > 1:
            self.found.append(frozenset(self.strings))


def _shortest(strings: Iterable[str]) -> int:
    return min(map(len, strings), default=0)


def covers(pattern: str) -> list[frozenset[str]]:
    r"""Sets of lower-case literals; every match of the pattern holds at least one member of each set.

    >>> covers(r"too many \d{1,9} (?:files|sockets)")[0]
    frozenset({'too many '})
    """
    exact, found = _sequence(parser.parse(pattern, FLAGS))
    if exact and _shortest(exact) > 1:
        found = [*found, frozenset(exact)]
    return [cover for cover in found if len(cover) <= _MANY]


def _sequence(tree: Any) -> tuple[set[str] | None, list[frozenset[str]]]:
    """(All strings that a sequence matches, or None if too many; covers found inside)."""
    run = _Run()
    for op, arg in tree:
        part, inner = _part(op, arg)
        run.found += inner
        run.add(part)
    if run.whole:
        return run.strings, run.found
    run.flush()
    return None, run.found


def _part(op: Any, arg: Any) -> tuple[set[str] | None, list[frozenset[str]]]:
    if op in (ops.LITERAL, ops.AT, ops.IN):
        return _characters(op, arg), []
    if op is ops.SUBPATTERN:
        return _sequence(arg[3])
    if op is ops.BRANCH:
        return _branches([_sequence(branch) for branch in arg[1]])
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
        return _repeat(arg)
    return None, []


def _characters(op: Any, arg: Any) -> set[str] | None:
    if op is ops.LITERAL:
        return {chr(arg).lower()}
    if op is ops.AT:
        return {""}
    few = len(arg) <= _LETTERS and all(inner is ops.LITERAL for inner, _ in arg)
    return {chr(char).lower() for _, char in arg} if few else None


def _branches(
    parts: Sequence[tuple[set[str] | None, list[frozenset[str]]]],
) -> tuple[set[str] | None, list[frozenset[str]]]:
    sets = [exact for exact, _ in parts]
    exact = None if any(s is None for s in sets) else {text for s in sets if s is not None for text in s}
    best = [
        max([*found, *([frozenset(own)] if own and _shortest(own) > 1 else [])], key=_shortest, default=None)
        for own, found in parts
    ]
    kept = [cover for cover in best if cover is not None]
    return exact, [frozenset().union(*kept)] if len(kept) == len(parts) else []


def _repeat(arg: Any) -> tuple[set[str] | None, list[frozenset[str]]]:
    low, high, inner = arg
    exact, found = _sequence(inner)
    part = exact | ({""} if low == 0 else set()) if exact is not None and high == 1 else None
    return part, found if low else []


@dataclass(frozen=True, slots=True)
class CuePlan:
    """Prefilter of a cue: a matching line holds one of `words` (inside a word) or of `plain` (as it stands).

    `must` is a finer filter: of each group one literal stands in the line.
    """

    words: tuple[str, ...]
    plain: tuple[str, ...]
    must: tuple[tuple[str, ...], ...]


def _rarity(literal: str) -> float:
    """Guess of how often a literal stands in ordinary lines: short and everyday ones are frequent."""
    return 1.0 / len(literal) ** 2 + (0.2 if literal.strip() in _FREQUENT else 0.0)


def plan(pattern: str) -> CuePlan:
    """The cheapest prefilter of a cue."""
    found = covers(pattern)
    small = sorted({tuple(sorted(c)) for c in found if len(c) <= 12}, key=_group_cost)  # noqa: PLR2004  # cheap to test
    best: tuple[float, set[str], set[str]] = (_IMPOSSIBLE, set(), set())
    for cover in found:
        candidate = _anchors(cover)
        if candidate[0] < best[0]:
            best = candidate
    return CuePlan(tuple(sorted(best[1])), tuple(sorted(best[2])), tuple(small[:3]))


def _group_cost(group: tuple[str, ...]) -> tuple[float, int, tuple[str, ...]]:
    return sum(map(_rarity, group)), len(group), group


def _anchors(cover: frozenset[str]) -> tuple[float, set[str], set[str]]:
    words: set[str] = set()
    plain: set[str] = set()
    cost = 0.0
    for literal in sorted(cover):
        parts = [part[:LONGEST] for part in re.findall(_FRAGMENT, literal)]
        if parts:
            word = min(parts, key=lambda part: (_rarity(part) + 0.002 / len(part), part))
            words.add(word)
            cost += _rarity(word) + 0.0002
        elif len(literal.strip()) > 2:  # noqa: PLR2004  # shorter literals stand everywhere
            plain.add(literal)
            cost += _rarity(literal) + 0.02
        else:
            cost = _IMPOSSIBLE
    return cost, words, plain


def index(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The compact form of `mechanisms.toml`: what a run needs, with the plan of each cue; examples are left out."""
    entries = [_entry(entry, "mechanism") for entry in spec["mechanism"]]
    entries += [_entry(entry, "change") for entry in spec["change"]]
    head = {"version": spec["version"], "context": spec["context"], "not": spec["global"]["not"]}
    return {**head, "inferred": spec["inferred"], "extractors": spec["extractors"], "entries": entries}


_KEPT = (
    "id", "family", "title", "side", "strength", "echo", "owner", "not", "names", "terms", "words", "what_it_is_not",
    "first_checks", "rivals",
)  # fmt: skip


def _entry(entry: Mapping[str, Any], kind: str) -> dict[str, Any]:
    cues = [_cue(pattern, weak=entry["strength"] == "weak") for pattern in entry["cues"]]
    cues += [_cue(pattern, weak=True) for pattern in entry.get("weak_cues", ())]
    return {"kind": kind, **{key: entry[key] for key in _KEPT if key in entry}, "cues": cues}


def _cue(pattern: str, *, weak: bool) -> list[Any]:
    planned = plan(pattern)
    return [pattern, weak, list(planned.words), list(planned.plain), [list(group) for group in planned.must]]
