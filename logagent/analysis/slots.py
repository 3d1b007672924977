"""What stands in the one place where the lines of a pattern differ: `for <*>` hides which services are meant."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from logagent.analysis.facts import Event
from logagent.analysis.templates import MASK
from logagent.expressions import expression

_READ, _CHARS, _WORDS = 2_000, 600, 60
_SHOWN, _MOST = 4, 12
_NAME = expression(r"[A-Za-z一-鿿]{3}")
_EDGES = "[](){}<>,;:.\"'=!?"


def slot_values(events: Sequence[Event]) -> str:
    """`ts-basic x9, ts-travel x3, ts-seat x1`: values of a place that holds a few names again and again, else ""."""
    places: defaultdict[int, Counter[str]] = defaultdict(Counter)
    lines = [event.message[:_CHARS].split()[:_WORDS] for event in events[:_READ]]
    if not lines:
        return ""
    length, _ = Counter(map(len, lines)).most_common(1)[0]
    alike = [(words, event.weight) for words, event in zip(lines, events, strict=False) if len(words) == length]
    for place in range(length):
        if len({words[place] for words, _ in alike}) > 1:
            for words, weight in alike:
                places[place][words[place].strip(_EDGES)] += weight  # type: ignore[assignment]  # a Counter adds floats
    told = [values for values in places.values() if _names(values, len(alike))]
    if not told:
        return ""
    best = min(told, key=len)
    shown = ", ".join(f"{name} x{number:.0f}" for name, number in best.most_common(_SHOWN))
    return shown + (f", {len(best) - _SHOWN} more" if len(best) > _SHOWN else "")


def _names(values: Counter[str], lines: int) -> bool:
    """Whether these are few names that come again, and no ids, numbers or times."""
    if not 1 < len(values) <= min(_MOST, lines - 1):
        return False
    return all(_NAME.search(value) and MASK.fullmatch(value) is None for value in values)
