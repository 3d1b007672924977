"""From a mined pattern to a query that counts it again, on any backend; and what counts as a failing event."""

import re
from collections.abc import Sequence

from logagent.expressions import expression
from logagent.query import And, Level, Node, Not, Or, Phrase, Range, Term, conjunction

_SLOT = expression(r"<[^<>\s]{1,24}>")
_WORD = expression(r"\w", re.UNICODE)
_CLASS = expression(r"status-[a-e]xx")
_PHRASES = 2
"""The longest literal runs of a pattern; more add little and queries have a limit of clauses."""
_WORDS = 12
_TELLING = 8
"""Characters from which a literal run tells a pattern apart."""
_BREAKS = expression(r"[\s=()\[\]{}\"<>|;/#&!?+*%~^$@`，。、；：？！（）【】《》「」“”]+")
"""Every analyser ends a token here, and between any two Chinese characters."""
_CHINESE = expression(r"[\u3400-\u9fff]+")


def literal_runs(template: str) -> list[str]:
    """The literal stretches of a template that a search finds again, longest first.

    A word that touches a slot is left out, since the store's analyser may have joined it with the value; so is
    everything behind ` | ` or ` [failed:` that the miner appended. Each run keeps whole words of one line.

    >>> literal_runs("lease <num> of worker w-<num> expired after <num>")
    ['expired after', 'of worker', 'lease']
    """
    text = template.split(" [failed: ", 1)[0].split(" | ", 1)[0]
    runs: list[list[str]] = [[]]
    for line in text.split("\n")[:4]:
        runs.append([])
        for word in line.split():
            if _SLOT.search(word) or _CLASS.search(word):
                runs.append([])
            elif _WORD.search(word):
                if len(runs[-1]) >= _WORDS:
                    runs.append([])
                runs[-1].append(word)
    found = [" ".join(run) for run in runs if run]
    return sorted(dict.fromkeys(found), key=lambda run: -len(run))


def _pieces(template: str) -> list[str]:
    """What is literal and a token of its own within the words that touch a slot, longest first.

    >>> _pieces("key=<num> 连接超时（第<num>次）")
    ['连接超时', 'key', '第', '次']
    """
    found: list[str] = []
    for word in template.split(" [failed: ", 1)[0].split(" | ", 1)[0].split():
        if not _SLOT.search(word) or _CLASS.search(word):
            continue
        for piece in _BREAKS.split(_SLOT.sub("\0", word)):
            chinese = _CHINESE.findall(piece)
            plain = not chinese and "\0" not in piece and _WORD.search(piece)
            found.extend(chinese or ([piece] if plain else []))
    return sorted(dict.fromkeys(found), key=lambda piece: -len(piece))


def literals(template: str) -> list[str]:
    """All that is literal between two slots, from one end of a token to another, longest first.

    >>> literals("[find][starts with G|D][train:D<num>] of <num>")
    ['[find][starts with G|D', 'of']
    """
    found = []
    for line in template.split(" [failed: ", 1)[0].split(" | ", 1)[0].split("\n")[:4]:
        parts = _SLOT.split(_CLASS.sub("<*>", line))
        for place, part in enumerate(parts):
            start = 0 if not place else (gap.end() if (gap := _BREAKS.search(part)) else len(part))
            gaps = list(_BREAKS.finditer(part))
            end = len(part) if place == len(parts) - 1 else (gaps[-1].start() if gaps else 0)
            words = part[start:end].split()
            found += [" ".join(words[at : at + _WORDS]) for at in range(0, len(words), _WORDS)]
    telling = [run for run in found if _WORD.search(run)]
    return sorted(dict.fromkeys(telling), key=lambda run: -len(run))


def literal_node(run: str) -> Node:
    """A query for lines that hold a literal run."""
    return Phrase("", run) if " " in run or _CHINESE.match(run) else Term("", run)


def pattern_node(template: str, *, service: str = "", levels: Sequence[int] = ()) -> Node:
    """A query for the lines of one pattern: its service, its longest literal phrases.

    `levels` narrows it to severity classes where the text alone says little.
    """
    runs = literal_runs(template)[:_PHRASES]
    bland = not runs or len(runs[0]) < _TELLING
    if bland:
        runs += _pieces(template)[:_PHRASES]
    parts: list[Node] = [Phrase("service", service)] if service else []
    parts.extend(map(literal_node, runs))
    if levels and bland:
        classes: list[Node] = [Level(level) for level in sorted(set(levels))]
        parts.append(classes[0] if len(classes) == 1 else Or(tuple(classes)))
    return conjunction(*parts)


def failing_node(
    *, severity: bool, status: bool, extra: Sequence[Node] = (), noise: Sequence[Node] = ()
) -> Node | None:
    """Failing events (ux.md 3.1) as one query, or None where nothing can tell them.

    Args:
        severity: the scope has levels of class error or fatal.
        status: the scope has HTTP status codes.
        extra: patterns that fail though their level does not say so.
        noise: patterns as frequent in the baseline, left out.
    """
    ways: list[Node] = [Level(4, and_worse=True)] if severity else []
    ways += [Range("status", "500", "599")] if status else []
    ways.extend(extra)
    if not ways:
        return None
    bad = ways[0] if len(ways) == 1 else Or(tuple(ways))
    return And((bad, *(Not(one) for one in noise))) if noise else bad
