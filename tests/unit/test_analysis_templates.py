"""Masks and templates."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.analysis.facts import Event
from logagent.analysis.templates import LIMIT, MASK, Drain, keep_status, mask, mine, typed_mask


def event(message: str, level: int | None = 2, **more: object) -> Event:
    return Event(0.0, "shop", level, message, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("took 15ms of 2.5s", "took <num> of <num>"),
        ("peer /10.1.2.3:8080 gone", "peer <ip> gone"),
        ("id 7c9e6679-7425-40de-944b-e07fc1f90ae7", "id <id>"),
        ("open /var/lib/data/x.log", "open <path>"),
        ("GET https://a.example/x?y=1 now", "GET <url> now"),
        ("at 2026-11-30 12:00:00,123 done", "at <time> done"),
        ("at 2026-11-30T12:00:00Z done", "at <time> done"),
        ("pod a1b2c3d4e5 and 0xFF", "pod <id> and <hex>"),
        ("from 10.0.0.1,10.0.0.2 ()", "from <ip> (<*>)"),
        ("GET /a/b?c=d&e=1 now", "GET <path> now"),
        ("plain words only", "plain words only"),
    ],
)
def test_slots_say_what_they_hold(text, shown):
    assert typed_mask(text) == shown


@given(st.text(alphabet="ab1 0-:/.,T[]()?x%\n\t2026", max_size=80))
def test_the_fast_mask_equals_the_plain_one(text):
    assert mask(text) == MASK.sub("<*>", text[:LIMIT]).replace(" ()", " (<*>)")


def test_masks_are_linear_on_hostile_text():
    hostile = [
        "1" * 40_000 + "z_",
        "1a" * 20_000 + "_",
        "a" * 40_000,
        "/a" * 20_000,
        "/" * 40_000,
        "1" * 20_000 + "a" * 20_000,
        "0x" + "f" * 40_000 + "_",
        "12:00:00." + "1" * 40_000 + "x",
        "1.1." * 10_000,
        "/a/b?" * 8_000,
        "1.1.1.1," * 5_000 + "1.1",
        "a" * 39_990 + "://",
        "f" * 20_000 + "1" * 20_000 + "-",
    ]
    for text in hostile:
        began = time.process_time()
        MASK.sub("<*>", text)
        keep_status("GET " + text)
        assert time.process_time() - began < 1.0, text[:20]


def test_a_status_keeps_its_class():
    assert keep_status('"GET /x HTTP/1.1" 503 12') == '"GET /x HTTP/1.1" status-exx 12'
    assert keep_status("status=404") == "status=status-dxx"
    assert keep_status("took 503 ms") == "took 503 ms"


def test_values_fall_into_one_template_and_words_of_state_do_not():
    drain = Drain()
    ids = [
        drain.add("shop", "", f"user {name} bought item {n} in store north") for n, name in enumerate(["amy", "bob"])
    ]
    assert ids[0] == ids[1]
    assert drain.display(ids[0]) == "user <*> bought item <num> in store north"
    assert drain.add("net", "", "link eth0 is now up again") != drain.add("net", "", "link eth0 is now down again")


def test_methods_are_never_merged():
    drain = Drain()
    ids = {drain.add("web", "", f'10.0.0.1 "{verb} /a/b HTTP/1.1" len 7 took 8') for verb in ("GET", "POST", "GET")}
    assert len(ids) == 2


def test_services_do_not_share_templates():
    drain = Drain()
    assert drain.add("a", "", "same text") != drain.add("b", "", "same text")


def test_a_call_site_with_a_line_is_the_template_of_plain_lines():
    events = [event("loaded 3 rows", callsite="Repo#12"), event("loaded nothing at all", callsite="Repo#12")]
    mine(events)
    assert events[0].template == events[1].template


def test_errors_of_one_call_site_stay_apart():
    events = [event("disk is full", 4, callsite="Repo#12"), event("no route to host", 4, callsite="Repo#12")]
    mine(events)
    assert events[0].template != events[1].template


def test_a_5xx_in_the_text_marks_the_event_and_parts_it():
    events = [event("GET /cart HTTP/1.1 200"), event("GET /cart HTTP/1.1 503")]
    mine(events)
    assert [e.failed for e in events] == [False, True]
    assert events[0].template != events[1].template


def test_bland_errors_take_their_error_fields():
    events = [event("request failed", 4, extra={"error.type": kind}) for kind in ("KeyError", "Timeout")]
    mine(events)
    assert events[0].template != events[1].template


@given(st.lists(st.text(max_size=60), max_size=8))
def test_any_text_can_be_shown(messages):
    drain = Drain()
    for message in messages:
        drain.display(drain.add("s", "", message))
