"""Server-sent events from bytes in any cut."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.errors import ModelProtocolError
from logagent.llm._sse import EventDecoder

TEXTS = st.lists(st.text(max_size=12), max_size=5)


@given(texts=TEXTS, ends=st.sampled_from(["\n", "\r", "\r\n"]), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_events_are_the_same_wherever_the_bytes_are_cut(texts: list[str], ends: str, cuts: list[int]) -> None:
    data = "".join(f"data: {json.dumps(text, ensure_ascii=False)}{ends}{ends}" for text in texts)
    raw = data.encode("utf-8", "replace")
    bounds = [0, *sorted(cut for cut in cuts if cut < len(raw)), len(raw)]
    decoder = EventDecoder()
    found = [event.data for a, b in itertools.pairwise(bounds) for event in decoder.feed(raw[a:b])]
    found += [event.data for event in decoder.end()]
    assert [json.loads(each) for each in found] == [text.encode("utf-8", "replace").decode() for text in texts]


@given(st.binary(max_size=200))
def test_no_bytes_make_the_decoder_fail(data: bytes) -> None:
    decoder = EventDecoder()
    decoder.feed(data)
    decoder.end()


def test_an_event_beyond_the_limit_is_refused_with_the_limit() -> None:
    decoder = EventDecoder(limit=4 * 1024 * 1024)
    piece = b"x" * (1024 * 1024)
    decoder.feed(b"data: " + 3 * piece)
    with pytest.raises(ModelProtocolError, match="4 MiB"):
        decoder.feed(2 * piece)


def test_an_event_just_below_the_limit_is_taken() -> None:
    assert len(EventDecoder(limit=1024 * 1024).feed(b"data: " + b"x" * (1024 * 1024 - 10) + b"\n\n")) == 1


def test_many_lines_in_one_event_are_limited_too() -> None:
    decoder = EventDecoder(limit=1024 * 1024)
    with pytest.raises(ModelProtocolError, match="1 MiB"):
        decoder.feed((b"data: " + b"x" * 1000 + b"\n") * 2_000)


def test_an_invalid_byte_becomes_a_replacement_character() -> None:
    assert EventDecoder().feed(b"data: a\xffb\n\n")[0].data == "a�b"
