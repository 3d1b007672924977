"""Text in terminal cells: width, wrapping, cutting with a mark; numbers in words; citations at the margin."""

from collections.abc import Iterable
from functools import lru_cache

from logagent.analysis.sanitise import sanitise
from logagent.expressions import expression
from logagent.report._style import Style

_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
_CLOSING = "，。、：；！？）】》」』”’%％"
_UNITS = expression(rf"\s+|[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*")
_BREAKS = expression(r"[^/.,;:&=?_\-]*[/.,;:&=?_\-]+|[^/.,;:&=?_\-]+")
_CITED = expression(r"\s*\[((?:E\d+[ ,]*)+)\]")
_ID = expression(r"E\d+")
_NARROW = expression("[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u25fc]*")
"""Letters, punctuation, arrows, lines and blocks of one column each; a test holds it to wcwidth."""
THOUSAND = 1000
HOUR = 3600


def clean(text: str | None) -> str:
    """Text of a log or of the model as one safe line: no control, bidi or hidden character, tabs as blanks."""
    return sanitise(text or "").replace("\t", " ").strip()


def cells(text: str) -> int:
    """Terminal columns that `text` fills; Han characters count 2."""
    if _NARROW.fullmatch(text):
        return len(text)  # most texts, and a hundredth of the time
    from wcwidth import wcswidth, wcwidth  # noqa: PLC0415 - thirty tables that most reports need not load

    width = wcswidth(text)
    return width if width >= 0 else sum(max(0, wcwidth(char)) for char in text)


def pad(text: str, width: int) -> str:
    """`text` filled up to `width` columns."""
    return text + " " * max(0, width - cells(text))


def right(text: str, width: int) -> str:
    """`text` at the right end of `width` columns."""
    return " " * max(0, width - cells(text)) + text


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` columns.

    Breaks at blanks and between Han characters; a word that is wider than a line breaks behind `/ . - _` and the
    like, and only where even that does not help in the middle. At least one line.
    """
    return list(_wrapped(text, width))


@lru_cache(maxsize=1 << 11)
def _wrapped(text: str, width: int) -> tuple[str, ...]:
    """Kept, because a page is laid out again until it fits."""
    lines, line = [], ""
    for unit in _units(text, width):
        if cells(line + unit.rstrip()) <= width:
            line += unit
            continue
        lines.append(line.rstrip())
        line = unit.lstrip()
    lines.append(line.rstrip())
    return tuple(one for one in lines if one) or ("",)


def _units(text: str, width: int) -> Iterable[str]:
    for match in _UNITS.finditer(text):
        unit = match[0]
        if unit.isspace() or cells(unit) <= width:
            yield unit
        else:
            for part in _BREAKS.findall(unit):
                yield from _slices(part, width)


def _slices(word: str, width: int) -> Iterable[str]:
    """A word in pieces that fit; characters of no width stay with the one before."""
    piece = ""
    for char in word:
        if piece and cells(piece + char) > width:
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


def cut(lines: list[str], most: int, width: int, mark: str) -> list[str]:
    """At most `most` lines; where some are left out the last one ends in `mark`."""
    if len(lines) <= most:
        return lines
    last = fit(lines[most - 1] + " " + lines[most], width, mark)
    return [*lines[: most - 1], last if last.endswith(mark) else fit_mark(last, width, mark)]


def fit(text: str, width: int, mark: str) -> str:
    """`text` in at most `width` columns, with `mark` where it was cut."""
    return text if cells(text) <= width else fit_mark(text, width, mark)


def fit_mark(text: str, width: int, mark: str) -> str:
    """`text` shortened to leave room for `mark`, and `mark`."""
    room, kept = width - cells(mark), ""
    for char in text:
        if cells(kept + char) > room:
            break
        kept += char
    return kept.rstrip() + mark


def cited(prose: str) -> tuple[str, list[str]]:
    """Prose without its `[E1 E2]` groups, and the ids in order."""
    ids = [one for group in _CITED.findall(prose) for one in _ID.findall(group)]
    return _CITED.sub("", prose).strip(), list(dict.fromkeys(ids))


def with_ids(text: str, ids: Iterable[str], width: int, most: int, mark: str) -> list[str]:
    """`text` in at most `most` lines with `[E1 E2]` at the right margin of the last, or on a line of its own."""
    lines = cut(wrap(text, width), most, width, mark)
    note = " ".join(ids)
    if not note:
        return lines
    note = fit(f"[{note}]", width, mark)
    if cells(lines[-1]) + 1 + cells(note) <= width:
        lines[-1] += right(note, width - cells(lines[-1]))
        return lines
    return [*lines, right(note, width)]


# -- numbers ---------------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """`25,900`, `1.25`: whole numbers exact, others with three significant digits.

    >>> number(25900), number(0.0123), number(12.0)
    ('25,900', '0.0123', '12')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) >= THOUSAND:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(share: float) -> str:
    """`18.6 %`, `1.0 %`, `100 %`: three significant digits, never 0 or 100 unless it is exactly that.

    >>> percent(0.1858), percent(0.01), percent(1), percent(0.99996), percent(0.00001), percent(0)
    ('18.6 %', '1.0 %', '100 %', '99.9 %', '0.001 %', '0 %')
    """
    shown = share * 100
    if shown in {0, 100}:
        return f"{shown:.0f} %"
    if shown < 0.1:  # noqa: PLR2004 - below a tenth of a percent one digit tells
        return f"{max(shown, 0.001):.1g} %"
    return f"{min(shown, 99.9):.1f} %"


def rounded(share: float) -> str:
    """`14 %`, `1.0 %`: a share that is compared at a glance; whole percents from 10 on.

    >>> rounded(0.14), rounded(0.0123), rounded(0.9999)
    ('14 %', '1.2 %', '99 %')
    """
    shown = share * 100
    return f"{min(shown, 99):.0f} %" if 10 <= shown < 100 else percent(share)  # noqa: PLR2004 - two digits


def seconds(value: float) -> str:
    """`0.4 s`, `38 s`, `12 min`, `1 h`: a length of time, short.

    >>> seconds(0.41), seconds(6.0), seconds(38.2), seconds(760), seconds(10800)
    ('0.4 s', '6 s', '38 s', '13 min', '3 h')
    """
    if value >= HOUR and value % HOUR == 0:
        return f"{value / HOUR:.0f} h"
    if value < 10:  # noqa: PLR2004 - below ten seconds a decimal tells
        return f"{value:.1f}".removesuffix(".0") + " s"
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.0f} min"  # noqa: PLR2004 - two minutes


def kilo(count: int) -> str:
    """`14.2k` for tokens.

    >>> kilo(14200), kilo(512)
    ('14.2k', '512')
    """
    return f"{count / THOUSAND:.1f}k" if count >= THOUSAND else str(count)


def ids_of(style: Style, ids: Iterable[str], most: int = 6) -> str:
    """Evidence ids in a row, with the number of those left out."""
    every = list(ids)
    more = len(every) - most
    shown = " ".join(every[:most]) or "-"
    return f"{shown} {style.say('more.plain', n=more)}" if more > 0 else shown
