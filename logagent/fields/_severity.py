"""From what sources write as a level to the six severity classes (words, letters, numeric scales)."""

import re
from collections.abc import Collection, Mapping

from logagent.expressions import expression
from logagent.logs import Severity

_PREFIXES: tuple[tuple[str, Severity], ...] = (
    ("trac", Severity.TRACE),
    ("verb", Severity.TRACE),
    ("fine", Severity.TRACE),
    ("silly", Severity.TRACE),
    ("deb", Severity.DEBUG),
    ("dbg", Severity.DEBUG),
    ("config", Severity.DEBUG),
    ("inf", Severity.INFO),
    ("http", Severity.INFO),
    ("warn", Severity.WARN),
    ("wrn", Severity.WARN),
    ("err", Severity.ERROR),
    ("sever", Severity.ERROR),
    ("crit", Severity.FATAL),
    ("alert", Severity.FATAL),
    ("emer", Severity.FATAL),
    ("panic", Severity.FATAL),
    ("dpanic", Severity.FATAL),
    ("fatal", Severity.FATAL),
    ("ftl", Severity.FATAL),
)
_WORDS: Mapping[str, Severity] = {
    "all": Severity.TRACE,
    "not": Severity.INFO,
    "note": Severity.INFO,
    "notice": Severity.INFO,
    "normal": Severity.INFO,
    "default": Severity.INFO,
    "log": Severity.INFO,  # this and the next two: PostgreSQL
    "detail": Severity.INFO,
    "statement": Severity.INFO,
    "success": Severity.INFO,
    "cri": Severity.FATAL,
    "eror": Severity.ERROR,
    "failure": Severity.ERROR,
    "调试": Severity.DEBUG,
    "信息": Severity.INFO,
    "通知": Severity.INFO,
    "警告": Severity.WARN,
    "错误": Severity.ERROR,
    "严重": Severity.FATAL,
    "致命": Severity.FATAL,
    "fehler": Severity.ERROR,
    "erreur": Severity.ERROR,
    "avertissement": Severity.WARN,
}
_LETTERS: Mapping[str, Severity] = {
    "T": Severity.TRACE,
    "V": Severity.TRACE,
    "D": Severity.DEBUG,
    "I": Severity.INFO,
    "N": Severity.INFO,
    "W": Severity.WARN,
    "E": Severity.ERROR,
    "C": Severity.FATAL,
    "A": Severity.FATAL,
    "F": Severity.FATAL,
}
_WORD = expression(r"[^\W\d_]+")
_LETTER = expression(r"[A-Za-z]\d?\Z")  # MongoDB writes D1 to D5
_NUMBER = expression(r"[+-]?\d{1,6}(?:\.0+)?\Z")

Bounds = tuple[tuple[int, Severity], ...]
"""Ascending: a number up to the bound (inclusive) has the class."""

_OTEL: Bounds = (
    (4, Severity.TRACE),
    (8, Severity.DEBUG),
    (12, Severity.INFO),
    (16, Severity.WARN),
    (20, Severity.ERROR),
    (24, Severity.FATAL),
)
_SYSLOG: Bounds = (
    (2, Severity.FATAL),
    (3, Severity.ERROR),
    (4, Severity.WARN),
    (6, Severity.INFO),
    (7, Severity.DEBUG),
)
_PINO: Bounds = (
    (10, Severity.TRACE),
    (20, Severity.DEBUG),
    (30, Severity.INFO),
    (40, Severity.WARN),
    (50, Severity.ERROR),
    (60, Severity.FATAL),
)
_PYTHON: Bounds = (
    (5, Severity.TRACE),
    (10, Severity.DEBUG),
    (25, Severity.INFO),
    (30, Severity.WARN),
    (40, Severity.ERROR),
    (50, Severity.FATAL),
)
_LOGBACK: Bounds = (
    (5_000, Severity.TRACE),
    (10_000, Severity.DEBUG),
    (20_000, Severity.INFO),
    (30_000, Severity.WARN),
    (40_000, Severity.ERROR),
    (50_000, Severity.FATAL),
)
_LOG4J2: Bounds = (
    (100, Severity.FATAL),
    (200, Severity.ERROR),
    (300, Severity.WARN),
    (400, Severity.INFO),
    (500, Severity.DEBUG),
    (600, Severity.TRACE),
)
_GCP: Bounds = (
    (0, Severity.INFO),
    (100, Severity.DEBUG),
    (300, Severity.INFO),
    (400, Severity.WARN),
    (500, Severity.ERROR),
    (800, Severity.FATAL),
)
_MONOLOG: Bounds = (
    (100, Severity.DEBUG),
    (250, Severity.INFO),
    (300, Severity.WARN),
    (400, Severity.ERROR),
    (600, Severity.FATAL),
)
_DOTNET: Bounds = (
    (0, Severity.TRACE),
    (1, Severity.DEBUG),
    (2, Severity.INFO),
    (3, Severity.WARN),
    (4, Severity.ERROR),
    (6, Severity.FATAL),
)
_FOUR: Bounds = (  # Nextcloud and many PHP applications
    (0, Severity.DEBUG),
    (1, Severity.INFO),
    (2, Severity.WARN),
    (3, Severity.ERROR),
    (4, Severity.FATAL),
)
_SLOG: Bounds = (
    (-5, Severity.TRACE),
    (-1, Severity.DEBUG),
    (3, Severity.INFO),
    (7, Severity.WARN),
    (11, Severity.ERROR),
    (99, Severity.FATAL),
)
_ZAP: Bounds = ((-1, Severity.DEBUG), (0, Severity.INFO), (1, Severity.WARN), (2, Severity.ERROR), (5, Severity.FATAL))
_WINLOG: Bounds = (
    (1, Severity.FATAL),
    (2, Severity.ERROR),
    (3, Severity.WARN),
    (4, Severity.INFO),
    (5, Severity.TRACE),
)

_BY_NAME: tuple[tuple[tuple[str, ...], Bounds], ...] = (
    (("severitynumber",), _OTEL),
    (("levelno",), _PYTHON),
    (("levelvalue",), _LOGBACK),
    (("intlevel",), _LOG4J2),
    (("winloglevel", "levelid"), _WINLOG),
    (("priority", "syslogseverity", "syslogseveritycode", "severitycode"), _SYSLOG),
)
_GCP_COMPANIONS = frozenset({"logName", "insertId", "jsonPayload.message", "textPayload", "receiveTimestamp"})
_GELF_COMPANIONS = frozenset({"short_message", "gl2_source_input", "gl2_remote_ip", "full_message"})
_PYTHON_COMPANIONS = frozenset({"levelname", "lineno", "funcName", "pathname", "process.thread.name", "levelno"})


def severity_of_word(word: str) -> Severity | None:
    """Class of a level written as a word, in any case (`Information`, `[WARN]`, `SEVERE`); None for anything else.

    Single letters and numbers need their neighbours to be read: `classify_levels`.

    >>> severity_of_word("Critical"), severity_of_word("request")
    (<Severity.FATAL: 5>, None)
    """
    match = _WORD.search(word.strip().lower())
    if match is None or len(match[0]) != len(word.strip(" \t\r\n[]<>():|*!0123456789")):
        return None
    plain = match[0]
    if plain in _WORDS:
        return _WORDS[plain]
    return next((severity for prefix, severity in _PREFIXES if plain.startswith(prefix)), None)


def classify_levels(
    name: str, values: Mapping[str, int], companions: Collection[str]
) -> Mapping[Severity, tuple[str, ...]]:
    """Sort the values that a level field really has into severity classes.

    Args:
        name: of the field; it tells many numeric scales.
        values: raw values as text, with how often each occurs (used to tell inverted scales apart).
        companions: names of the other fields of the same events.

    Returns:
        Raw values by class; values that are no level are left out.
    """
    numbers = {value: int(float(value.strip())) for value in values if _NUMBER.match(value.strip())}
    letters = bool(values) and all(_LETTER.match(value.strip()) for value in values if value not in numbers)
    scale = _scale(name, {numbers[value]: values[value] for value in numbers}, companions) if numbers else ()
    sorted_values: dict[Severity, list[str]] = {}
    for value in values:
        if value in numbers:
            severity = next((found for bound, found in scale if numbers[value] <= bound), None)
        elif letters:
            severity = _LETTERS.get(value.strip()[0].upper())
        else:
            severity = severity_of_word(value)
        if severity is not None:
            sorted_values.setdefault(severity, []).append(value)
    return {severity: tuple(sorted_values[severity]) for severity in sorted(sorted_values)}


def severity_table(levels: Mapping[Severity, tuple[str, ...]]) -> dict[str, Severity]:
    """Class of each raw value; the inverse of what `classify_levels` answers."""
    return {value: severity for severity, values in levels.items() for value in values}


def _scale(name: str, counts: Mapping[int, int], companions: Collection[str]) -> Bounds:
    """Which numeric scale: by the field's name, else by range, step, majority and companions."""
    plain = re.sub(r"[^a-z]", "", name.lower())
    for endings, scale in _BY_NAME:
        if any(plain.endswith(ending) for ending in endings):
            return scale
    low, high = min(counts), max(counts)
    if low < 0:
        return _SLOG if any(abs(number) >= 4 for number in counts) else _ZAP  # noqa: PLR2004 - slog steps by 4
    if high <= 7:  # noqa: PLR2004 - syslog ends at 7
        return _single_digit(plain, counts, companions)
    return _two_digits(counts, companions) if high < 100 else _hundreds(plain, high, companions)  # noqa: PLR2004


def _two_digits(counts: Mapping[int, int], companions: Collection[str]) -> Bounds:
    high = max(counts)
    if all(number % 10 == 0 for number in counts):
        return _PYTHON if high <= 50 and _PYTHON_COMPANIONS.intersection(companions) else _PINO  # noqa: PLR2004
    return _OTEL if high <= 24 else ()  # noqa: PLR2004


def _hundreds(plain: str, high: int, companions: Collection[str]) -> Bounds:
    if high > 1_000:  # noqa: PLR2004 - only logback counts in thousands
        return _LOGBACK
    if _GCP_COMPANIONS.intersection(companions) or plain.endswith("severity"):
        return _GCP
    return _MONOLOG if {"level_name", "channel"} & set(companions) else _LOG4J2


def _single_digit(plain: str, counts: Mapping[int, int], companions: Collection[str]) -> Bounds:
    """0 to 7: syslog counts down, .NET and Serilog count up; healthy logs are mostly info, so the majority tells."""
    high = max(counts)
    if plain.endswith("loglevel"):
        return _DOTNET
    if high >= 6 or _GELF_COMPANIONS.intersection(companions) or "syslog" in plain:  # noqa: PLR2004
        return _SYSLOG
    if {"reqId", "app", "remoteAddr"} <= set(companions):
        return _FOUR
    common = max(counts, key=lambda number: counts[number])
    return _SYSLOG if common == 5 or plain.endswith("severity") else _DOTNET  # noqa: PLR2004
