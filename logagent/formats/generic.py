"""Any text with a time near the start of each event: log4j, logback, Python, Go, Serilog, nginx errors and the like."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from logagent.expressions import expression
from logagent.formats import _stamps
from logagent.formats._base import Format, Parse, Sample

_TIME_WITHIN = 120
_LEVEL_WITHIN = 160
_LEVEL = expression(
    r"(?:^|(?<=[\s\[|<\"=(:]))(TRACE|VERBOSE|DEBUG|DBG|INFO|INF|INFORMATION|NOTICE|NOTE|WARN(?:ING)?|WRN|ERROR|ERR|SEVERE|"
    r"CRIT(?:ICAL)?|CRT|FATAL|FTL|ALERT|EMERG(?:ENCY)?|PANIC|VRB|LOG|[VDIWEF](?=\s))(?=$|[\s\]|>:\",)-])",
    re.IGNORECASE,
)
_LETTER = {
    "V": "verbose",
    "D": "debug",
    "I": "info",
    "W": "warn",
    "E": "error",
    "F": "fatal",
    "LOG": "info",
    "NOTE": "notice",
}
_AFTER = expression(
    r"^[\s\]|:,>-]*"
    r"(?:\d+\s+)?(?:---\s+)?"
    r"(?:\[(?P<thread>[^\]\[]{1,80})\]\s*)?(?:\((?P<thread2>[^)]{1,80})\)\s*)?"
    r"(?:\[(?P<logger2>[\w.$/-]{2,100})\]\s*)?"
    r"(?:(?P<logger>[A-Za-z_$][\w$]*(?:[./][\w$-]+)+)(?:\s*:\s+|\s+-\s+|\s+--\s+|:\d+\s*-?\s+))?"
    r"(?:[-:|]\s+)?"
)
_SEEN = 0.3


_COMPONENT = expression(r"[a-z][a-z0-9]*(?:[-_][a-z][a-z0-9]*)*")
"""A word in brackets that may be a part of the system: `[mailer]`, not `[http-nio-8080-exec-1]` or `[o.a.c.Foo]`."""
_NO_COMPONENTS = frozenset(
    {"main", "default", "root", "console", "stdout", "stderr", "thread", "system", "none", "null"}
)
_MOST_COMPONENTS = 20
_THREAD = "process.thread.name"


def _reader(sample: Sample) -> Parse:
    parse = _lines(sample)
    named = [fields[_THREAD] for line in sample.lines if (fields := parse(line)) and _THREAD in fields]
    if not _are_components(named):
        return parse

    def with_components(line: str) -> dict[str, Any] | None:
        fields = parse(line)
        if fields and _is_component(fields.get(_THREAD, "")):
            fields["component"] = fields.pop(_THREAD)
        return fields

    return with_components


def _are_components(named: Sequence[str]) -> bool:
    """Whether the words in brackets name parts of the system: few, each often, no thread, class or id among them."""
    seen = Counter(named)
    often = sum(count for count in seen.values() if count > 1) * 2 > len(named)
    return 0 < len(seen) <= _MOST_COMPONENTS and often and all(map(_is_component, seen))


def _is_component(name: str) -> bool:
    return _COMPONENT.fullmatch(name) is not None and name not in _NO_COMPONENTS


def _lines(sample: Sample) -> Parse:
    kind = _kind(sample)
    if kind is None:
        return lambda _: None
    stamp = re.compile(_stamps.pattern(kind))
    convert = _stamps.converter(kind, sample.now)

    def parse(line: str) -> dict[str, Any] | None:
        found = stamp.search(line, 0, _TIME_WITHIN)
        if found is None or (found.start() and line[0] in "\t " and not line[: found.start()].strip()):
            return None
        at = convert(found["time"])
        if at is None:
            return None
        fields: dict[str, Any] = {"@timestamp": at}
        fields.update(after_time(line[: found.start()], line[found.end() :]))
        return fields

    return parse


def after_time(before: str, rest: str) -> dict[str, Any]:
    """Level, thread, logger and message of what stands around a time."""
    level = _LEVEL.search(rest, 0, _LEVEL_WITHIN) or _LEVEL.search(before)
    fields: dict[str, Any] = {}
    text = rest
    if level is not None:
        word = level[1]
        fields["log.level"] = _LETTER.get(word.upper(), word)
        if level.string is rest:
            head = rest[: level.start()]
            text = rest[level.end() :] if _is_header(head) else rest
            thread = re.search(r"\[([^\]\[]{1,80})\]\s*\[?$", head)
            if thread:
                fields["process.thread.name"] = thread[1]
    found = _AFTER.match(text)
    if found:
        if thread_name := found["thread"] or found["thread2"]:
            fields.setdefault("process.thread.name", thread_name)
        if logger := found["logger"] or found["logger2"]:
            fields["log.logger"] = logger
    message = text[found.end() :] if found else text
    prefix = before.strip(" \t[]|<>(:-")
    fields["message"] = message.strip() or text.strip(" \t]|:-") or rest.strip()
    if prefix and not level_only(prefix):
        fields["log.prefix"] = prefix
    return fields


def level_only(text: str) -> bool:
    """Whether the text is nothing but a level."""
    found = _LEVEL.fullmatch(text)
    return found is not None


def _is_header(head: str) -> bool:
    """Whether what stands before the level is part of the header: brackets, numbers, a logger, no sentence."""
    plain = re.sub(r"\[[^\]]*\]|\([^)]*\)", "", head).strip(" \t[]|<>(:-,=\"'")
    return len(plain.split()) <= 3  # noqa: PLR2004 - host, process, logger


def _kind(sample: Sample) -> str | None:
    """The shape of stamp that most lines have, the one nearest to the line's start in doubt."""
    seen: Counter[str] = Counter()
    for kind in _stamps.KINDS:
        stamp = re.compile(_stamps.pattern(kind))
        seen[kind] = sum(stamp.search(line, 0, _TIME_WITHIN) is not None for line in sample.lines)
    if not seen or not max(seen.values()):
        return None
    most = max(seen.values())
    return next(kind for kind in _stamps.KINDS if seen[kind] >= most * 0.9)


FORMAT = Format("generic", "text with times", 80, _reader)
