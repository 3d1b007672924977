"""The query language: what is read, what is refused, and that the printer is the inverse of the parser."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logagent.errors import UsageError
from logagent.fields import FieldChoice, FieldMap
from logagent.logs import Severity
from logagent.query import All, And, Exists, Level, Node, Not, Or, Phrase, Range, Term, Wildcard, parse, to_text

FIELDS = FieldMap(
    roles={
        "service": (FieldChoice("service.name"),),
        "message": (FieldChoice("message", "text"),),
        "severity": (FieldChoice("level"),),
        "status": (FieldChoice("http.status", "long"),),
        "timestamp": (FieldChoice("@timestamp", "date"),),
    },
    levels={Severity.ERROR: ("50",), Severity.WARN: ("40",)},
    names={"region": "keyword", "http.status": "long", "@timestamp": "date"},
)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("", All()),
        ("*", All()),
        ("*:*", All()),
        ("timeout", Term("", "timeout")),
        ("a b", And((Term("", "a"), Term("", "b")))),
        ("a or b and c", Or((Term("", "a"), And((Term("", "b"), Term("", "c")))))),
        ("(a OR b) c", And((Or((Term("", "a"), Term("", "b"))), Term("", "c")))),
        ("a && b || !c", Or((And((Term("", "a"), Term("", "b"))), Not(Term("", "c"))))),
        ("a -b", And((Term("", "a"), Not(Term("", "b"))))),
        ("+a +b", And((Term("", "a"), Term("", "b")))),
        ("NOT NOT a", Not(Not(Term("", "a")))),
        ('service: "order api"', Phrase("service", "order api")),
        ("service:(a or b)", Or((Term("service", "a"), Term("service", "b")))),
        ("service:pay*", Wildcard("service", "pay*")),
        (r"service:pay\*", Term("service", "pay*")),
        ("level:ERROR", Level(4)),
        ('level: "Warning"', Level(3)),
        ("level>=error", Level(4, and_worse=True)),
        ("level : >= error", Level(4, and_worse=True)),
        ("level>warn", Level(4, and_worse=True)),
        ("log.level:critical", Level(5)),
        ("severity:[info TO warn]", Or((Level(2), Level(3)))),
        ("level<=debug", Or((Level(0), Level(1)))),
        ("status >= 500", Range("status", "500", None)),
        ("status<500", Range("status", None, "500", include_high=False)),
        ("status:[500 to 599]", Range("status", "500", "599")),
        ("status:{500 TO *]", Range("status", "500", None, include_low=False)),
        ("status!=200", Not(Term("status", "200"))),
        ("_exists_:trace.id", Exists("trace.id")),
        ("trace.id:*", Exists("trace.id")),
        ("/api/v1/cart", Term("", "/api/v1/cart")),
        ("http://host:80/x", Term("", "http://host:80/x")),
        ("12:30:05", Term("", "12:30:05")),
        ("std::bad_alloc", Term("", "std::bad_alloc")),
        ("@timestamp>=2026-11-30T14:00:00+08:00", Range("@timestamp", "2026-11-30T06:00:00Z", None)),
        ("@timestamp>1796000000", Range("@timestamp", "2026-11-30T00:53:20Z", None, include_low=False)),
        ("支付 失败", And((Term("", "支付"), Term("", "失败")))),
    ],
)
def test_a_query_is_read_and_written_back(text: str, node: Node) -> None:
    assert parse(text) == node
    assert parse(to_text(node)) == node


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("message:timeot~2", 15, '"~" is not allowed'),
        ("a^2", 2, '"^" is not allowed'),
        ('"a b"~5', 6, '"~" is not allowed'),
        ("*foo", 1, "leading wildcard"),
        ("service:?x", 9, "leading wildcard"),
        ("/time.*out/", 1, "regular expression"),
        ("(a", 1, "never closed"),
        ("a)", 2, "closes nothing"),
        ('"abc', 1, "never closed"),
        ("a AND", 6, "ends where"),
        ("AND a", 1, "AND needs"),
        ("a OR OR b", 6, "OR needs"),
        ("()", 2, "where a term"),
        ("service:", 1, "needs a value"),
        ("[1 TO 2]", 1, "needs a field"),
        ("status:[1 TO", 8, "[a TO b]"),
        ("level:eror", 7, "levels are trace, debug, info, warn, error, fatal"),
        ("level=error", 6, '"=" is not an operator'),
        ("message>=3", 10, "no order"),
        ("@timestamp>=soon", 13, "is no time"),
        ("pay-ment*", 1, "use a phrase"),
        ("serv*:a", 1, "no wildcard"),
        ("a\x00b", 2, "control character"),
    ],
)
def test_a_refusal_says_where_and_why(text: str, position: int, reason: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert raised.value.code == "LA704"
    assert raised.value.values["position"] == position
    assert reason in str(raised.value.values["reason"])
    assert "_exists_:field" in raised.value.hint


def test_an_unknown_field_is_refused_with_near_names() -> None:
    with pytest.raises(UsageError, match="near: service"):
        parse("servce:a", FIELDS)
    with pytest.raises(UsageError, match="text with a colon needs quotes"):
        parse("Caused by: x", FIELDS)
    assert parse("service.name:a region:b @timestamp>2026-11-30", FIELDS)


def test_a_number_is_asked_for_where_the_field_is_one() -> None:
    with pytest.raises(UsageError, match="is a number"):
        parse("status:ok", FIELDS)
    with pytest.raises(UsageError, match="is a number"):
        parse("http.status>=many", FIELDS)


def test_a_raw_level_of_the_source_is_a_level_too() -> None:
    assert parse("level:50", FIELDS) == Level(4)


def test_limits_hold() -> None:
    with pytest.raises(UsageError, match="201 characters; 200"):
        parse("x" * 201, max_length=200)
    with pytest.raises(UsageError, match="50 terms"):
        parse(" ".join("x" * 51), max_length=1_000)
    with pytest.raises(UsageError, match="nested"):
        parse("(" * 20 + "a" + ")" * 20)


NAMES = st.one_of(
    st.sampled_from(["service", "trace.id", "k8s.pod", "app.kubernetes.io/name"]),
    st.text("ab-_. @/", min_size=1, max_size=6),
)
FREE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
LEAVES = st.one_of(
    st.just(All()),
    st.builds(Term, NAMES | st.just(""), FREE),
    st.builds(Phrase, NAMES, FREE | st.just("")),
    st.builds(Phrase, st.just(""), FREE),
    st.builds(Wildcard, NAMES, st.from_regex(r"[a-zé -)+-:~]\*[a-z?\" ]{0,4}", fullmatch=True)),
    st.builds(Wildcard, st.just(""), st.from_regex(r"[a-zé]{1,3}[*?][a-z]{0,3}", fullmatch=True)),
    st.builds(Range, NAMES, FREE, st.none() | FREE, include_low=st.booleans()),
    st.builds(Range, NAMES, st.none(), FREE, include_high=st.booleans()),
    st.builds(Level, st.integers(0, 5), and_worse=st.just(False)),
    st.builds(Level, st.integers(0, 4), and_worse=st.just(True)),
    st.builds(Exists, NAMES),
)
NODES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(NODES)
def test_writing_and_reading_give_the_same_tree(node: Node) -> None:
    assert parse(to_text(node), max_length=10_000) == node


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_and_never_breaks(text: str) -> None:
    try:
        node = parse(text)
    except UsageError:
        return
    assert parse(to_text(node), max_length=10_000) == node
