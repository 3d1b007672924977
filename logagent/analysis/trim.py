"""Cutting text to a budget, with a mark that says how much is missing."""

_CHARS_PER_TOKEN = 4
_TAIL_SHARE = 3
"""One part in three of what stays comes from the end: causes often stand last."""


def tokens_in(text: str) -> int:
    """Estimated tokens, rounded up: 4 bytes of UTF-8 are one token (budgets of prompts.md).

    >>> tokens_in("timeout"), tokens_in("")
    (2, 0)
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // _CHARS_PER_TOKEN)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters (at least 24): head and tail, and between them how many are left out.

    >>> cut("connection to pg-1 lost after 30012 ms", 30)
    'connection t…[+20 chars]012 ms'
    """
    if len(text) <= limit:
        return text
    limit = max(limit, 24)
    room = limit - len(_mark(len(text)))
    tail = room // _TAIL_SHARE
    head = room - tail
    dropped = len(text) - head - tail
    return f"{text[:head]}{_mark(dropped)}{text[len(text) - tail :]}"


def _mark(dropped: int) -> str:
    return f"…[+{dropped} chars]"


def trim_lines(text: str, budget: int) -> str:
    """Whole lines from the top within `budget` tokens; the last line (how to narrow) stays, a count says what went.

    A first line over the budget is cut. Text within the budget comes back unchanged.
    """
    if tokens_in(text) <= budget:
        return text
    lines = text.split("\n")
    last = lines[-1] if len(lines) > 1 else ""
    if tokens_in(last) * 4 > budget:
        last = cut(last, max(24, budget))
    room = budget - tokens_in(last) - 14
    kept: list[str] = []
    for line in lines[:-1] if last else lines:
        room -= tokens_in(line + "\n")
        if room < 0:
            break
        kept.append(line)
    if not kept:
        kept = [_first(lines[0], budget - tokens_in(last) - 14)]
    dropped = len(lines) - len(kept) - (1 if last else 0)
    note = [f"…[+{dropped} lines cut to fit]"] if dropped else []
    return "\n".join([*kept, *note, *([last] if last else [])])


def _first(line: str, budget: int) -> str:
    shown = cut(line, max(24, budget * _CHARS_PER_TOKEN))
    while tokens_in(shown) > max(budget, 24) and len(shown) > 24:  # noqa: PLR2004 - the floor of `cut`
        shown = cut(line, max(24, len(shown) * 3 // 4))
    return shown
