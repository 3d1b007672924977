"""Short fuzzing of everything that reads foreign text: any input is answered or refused, and changes nothing twice.

`python -m tests.security.fuzz TARGET` goes on for hours with atheris, where that is installed.
"""

import contextlib
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.security.fuzz import SEEDS, TARGETS

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_BYTES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from(SEEDS), max_size=4).map(b"".join),
    st.tuples(st.sampled_from(SEEDS), st.binary(max_size=6), st.sampled_from(SEEDS)).map(b"".join),
)


@pytest.mark.parametrize("target", TARGETS)
def test_s042_s061_any_input_is_answered_or_refused(target: str) -> None:
    @given(_BYTES)
    @settings(max_examples=120, deadline=None)
    def fuzz(data: bytes) -> None:
        TARGETS[target](data)

    fuzz()
    for seed in SEEDS:
        with contextlib.nullcontext():
            TARGETS[target](seed)
