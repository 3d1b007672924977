"""Targets of the fuzzers, each a function of bytes; `python -m tests.security.fuzz NAME [atheris options]` runs one.

A target raises only what its callers expect, and checks what must hold of any answer.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime

from logagent.analysis.redact import Redactor
from logagent.analysis.sanitise import looks_like_instructions, sanitise, sanitise_block
from logagent.errors import LogAgentError
from logagent.llm._sse import EventDecoder
from logagent.query import parse, to_text
from logagent.report._escape import code, prose
from logagent.report.slack import escape
from logagent.stores._es_index import check_pattern
from logagent.times import parse_time

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SEEDS = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        'level:error AND (service:"a b" OR NOT status:[500 TO 599])', "now-15m", "2026-11-30T12:00:00+08:00", "昨天 14:00",
        'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', "data: [DONE]\r\n\r\n", ": ping\n", "password=", "Bearer ",
        "<email:k7q2:1>", '{"a": "b\\n"}', "\x1b[2J\x1b]8;;x\x07", "\u202e\u200b\U000e0041", "\ud800", "a@b.example", "```",
        "[x](https://a.example)", "logs-*", "<!channel>", "%41%00", "&#64;", "-----BEGIN PRIVATE KEY-----", "4111 1111 1111 1111",
    )
)  # fmt: skip


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def query(data: bytes) -> None:
    """The query language: what is read can be written and read again."""
    try:
        node = parse(_text(data)[:400])
    except LogAgentError:
        return
    assert parse(to_text(node), max_length=4_000) == node


def times(data: bytes) -> None:
    """Time expressions."""
    try:
        assert parse_time(_text(data)[:80], NOW, UTC).tzinfo is not None
    except LogAgentError:
        return


def events(data: bytes) -> None:
    """Server-sent events: the cut of the bytes changes nothing."""
    whole, cut = EventDecoder(), EventDecoder()
    one = [*whole.feed(data), *whole.end()]
    other = [event for at in range(len(data)) for event in cut.feed(data[at : at + 1])] + cut.end()
    assert one == other


def redaction(data: bytes) -> None:
    """Masking twice is masking once."""
    redact = Redactor("k7q2")
    once = redact(_text(data))
    assert redact(once) == once


def sanitiser(data: bytes) -> None:
    """Making visible twice is making visible once."""
    text = _text(data)
    for clean in (sanitise, sanitise_block):
        assert clean(clean(text)) == clean(text)
    looks_like_instructions(text)


def escapers(data: bytes) -> None:
    """Text of chat and Markdown."""
    text = _text(data)
    assert "<" not in escape(text)
    assert prose(text) is not None
    assert code(text) is not None


def indices(data: bytes) -> None:
    """Names of indices: what is taken holds no character that a path or a list is made of."""
    try:
        name = check_pattern(_text(data))
    except LogAgentError:
        return
    assert not set(name) & set("/,:<>%\\ \n")


TARGETS: dict[str, Callable[[bytes], None]] = {
    function.__name__: function for function in (query, times, events, redaction, sanitiser, escapers, indices)
}


def main() -> None:
    """Run one target until it is stopped."""
    import atheris  # noqa: PLC0415 - not needed by the tests

    with atheris.instrument_imports():
        target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
