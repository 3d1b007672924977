"""Fields that indices map differently: which form of them each index has, and which clause and request follow."""

from typing import Any

import pytest

from logagent.fields import FieldChoice, FieldMap
from logagent.query import Phrase, Wildcard
from logagent.stores._es_answers import completeness_of, without_others
from logagent.stores._es_compile import Compiler
from logagent.stores._es_fields import Form
from logagent.stores._es_forms import forms_of
from logagent.stores._es_typing import typed
from logagent.stores._es_values import by_request, terms

TEXT, KEYWORD = frozenset({"text"}), frozenset({"keyword"})


def in_indices(*names: str) -> dict[str, Any]:
    return {"indices": list(names)}


MIXED: dict[str, dict[str, Any]] = {
    "service": {"keyword": in_indices("a", "eu:a"), "text": in_indices("b", "c")},
    "service.keyword": {"keyword": in_indices("b"), "unmapped": in_indices("a", "c", "eu:a")},
}


@pytest.mark.parametrize(
    ("caps", "forms"),
    [
        ({"f": {"keyword": {}}}, (Form(KEYWORD, "f"),)),
        ({"f": {"text": {}}}, (Form(TEXT, ""),)),
        ({"f": {"text": {}}, "f.keyword": {"keyword": {}}}, (Form(TEXT, "f.keyword"),)),
        ({"f": {"keyword": {}, "unmapped": in_indices("b")}}, (Form(KEYWORD, "f"),)),
        (
            {"f": {"keyword": in_indices("a"), "integer": in_indices("b"), "object": in_indices("c")}},
            (Form(frozenset({"integer"}), "f", ("b",)), Form(KEYWORD, "f", ("a",))),
        ),
        (
            {"f": {"text": {}}, "f.raw": {"keyword": in_indices("a"), "unmapped": in_indices("b")}},
            (Form(TEXT, "f.raw"), Form(TEXT, "", ("b",))),
        ),
        (
            {"f": {"text": in_indices("a"), "unmapped": in_indices("b")}, "f.keyword": {"keyword": in_indices("a")}},
            (Form(TEXT, "f.keyword"),),
        ),
        (
            {  # the keyword index has a sub-field of that name too: the form of the text is of its own index only
                "f": {"keyword": in_indices("a"), "text": in_indices("b")},
                "f.keyword": {"keyword": in_indices("a", "b")},
            },
            (Form(KEYWORD, "f", ("a",)), Form(TEXT, "f.keyword", ("b",))),
        ),
    ],
)
def test_each_part_of_the_indices_has_its_form(caps: dict[str, dict[str, Any]], forms: tuple[Form, ...]) -> None:
    assert forms_of("f", caps) == forms


def test_a_mixed_field_is_filtered_by_each_form_in_its_own_indices() -> None:
    compiler = Compiler(typed(MIXED))
    keyword = {"terms": {"_index": ["a", "eu:a"]}}
    text = {"terms": {"_index": ["c"]}}
    assert compiler.node(Phrase("service", "Tax-API"))["bool"]["should"] == [
        {"bool": {"filter": [keyword, {"term": {"service": {"value": "Tax-API"}}}]}},
        {"term": {"service.keyword": {"value": "Tax-API"}}},
        {"bool": {"filter": [text, {"match_phrase": {"service": {"query": "Tax-API"}}}]}},
    ]
    assert compiler.node(Wildcard("service", "Tax-*"))["bool"]["should"][:2] == [
        {"bool": {"filter": [keyword, {"wildcard": {"service": {"value": "Tax-*"}}}]}},
        {"wildcard": {"service.keyword": {"value": "Tax-*"}}},
    ]


def test_a_form_of_the_same_name_has_a_request_to_itself() -> None:
    caps = {name: {kind: dict(found) for kind, found in kinds.items()} for name, kinds in MIXED.items()}
    caps["service"]["text"] = in_indices("b")
    fields = typed(caps)
    requests = by_request([fields.exact_forms("service")], fields, terms(5, 9))
    assert {only: list(aggs) for only, aggs in requests.items()} == {
        (): ["values0_1"],
        ("a", "eu:a"): ["values0_0"],
    }
    assert requests[()]["values0_1"]["terms"]["field"] == "service.keyword"
    assert not typed(MIXED).exact_forms("service")


def test_longer_values_that_documents_show_are_not_found_by_the_words_of_a_shorter_one() -> None:
    fields = typed({"f": {"text": {}}})
    known = FieldMap(roles={"service": (FieldChoice("f", "text", ""),)})
    shown = {"f": ("order-api", "order-api-v2", "reorder-api", "Order.API")}
    fields = type(fields)(map=known, types=fields.types, shown=shown)
    clause = Compiler(fields).node(Phrase("service", "order-api"))
    assert clause["bool"]["must_not"] == [{"match_phrase": {"f": {"query": "order-api-v2"}}}]


def test_failures_of_indices_that_were_not_asked_are_none_and_all_others_count() -> None:
    shards = {"total": 3, "successful": 1, "skipped": 0, "failed": 2}
    foreign = {"index": "b", "shard": 0, "reason": {"type": "illegal_argument_exception"}}
    alone = without_others({"_shards": {**shards, "failures": [foreign]}}, ("a",))
    assert completeness_of(alone).complete
    down = {"status": "skipped", "failures": [{"shard": -1, "index": None}]}
    for details, missing in (({}, ()), ({"eu": down}, ("eu",))):
        clusters = {"failed": 1, "details": {"(local)": {"status": "failed", "failures": [foreign]}, **details}}
        found = without_others({"_shards": {**shards, "failures": [foreign]}, "_clusters": clusters}, ("a",))
        assert completeness_of(found).clusters_skipped == missing
    for failure in ({**foreign, "index": "a"}, {**foreign, "index": None}):
        both = without_others({"_shards": {**shards, "failures": [foreign, failure]}}, ("a",))
        assert not completeness_of(both).complete
