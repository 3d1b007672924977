"""Links into Kibana: at a fixed time, with every value escaped, short enough to be passed on, and nowhere else."""

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from logagent.diagnosis import Diagnosis, EvidenceOut
from logagent.fields import FieldChoice, FieldMap
from logagent.logs import Severity
from logagent.query import Phrase, Range, Wildcard, parse
from logagent.settings import KibanaSettings
from logagent.stores._base import Description
from logagent.wiring._discover import LONGEST, lucene, with_links

FIELDS = FieldMap(
    roles={
        "timestamp": (FieldChoice("@timestamp", "date"),),
        "service": (FieldChoice("service.name", "keyword", "service.name"), FieldChoice("app", "keyword", "app")),
        "severity": (FieldChoice("log.level", "keyword", "log.level"),),
        "message": (FieldChoice("message", "match_only_text"),),
        "error_message": (FieldChoice("error.message", "text"),),
        "status": (FieldChoice("http.response.status_code", "long", "http.response.status_code"),),
        "version": (FieldChoice("service.version", "keyword", "service.version"),),
    },
    levels={Severity.ERROR: ("ERROR", "err"), Severity.FATAL: ("FATAL",)},
)
CLUSTER = Description(
    backend="elasticsearch", product="Elasticsearch 8.19.21", sources=(), fields=FIELDS, events=9, first=None, last=None
)
KIBANA = KibanaSettings(url="https://kibana.example/", space="on call")


def diagnosis(text: str) -> Diagnosis:
    row = {
        "id": "E1",
        "kind": "count",
        "statement": "9 lines",
        "query": {
            "text": text,
            "indices": ["logs-*", "eu:logs-*"],
            "from": "2026-11-24T06:01:00Z",
            "to": "2026-11-24T06:31:00Z",
        },
        "verification": {"state": "verified"},
    }
    return Diagnosis.model_validate(
        {
            "id": "20261124-0631-7f3a",
            "created_at": "2026-11-30T08:00:00Z",
            "tool": {"version": "0.1.0"},
            "language": "en",
            "request": {"command": "diagnose"},
            "window": {"from": "2026-11-24T06:01:00Z", "to": "2026-11-24T06:31:00Z", "display_time_zone": "UTC"},
            "outcome": "confirmed",
            "status": "ongoing",
            "confidence": {"level": "high"},
            "summary": {"headline": "x", "what_is_happening": "x"},
            "evidence": [EvidenceOut.model_validate(row).model_dump(by_alias=True)],
            "data_quality": {"complete": True},
            "usage": {"duration_ms": 1, "store": {"backend": "elasticsearch"}},
        }
    )


def state_of(href: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(parse_qs(urlsplit(href).query)["p"][0])
    return found


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", "*"),
        ('service:"payment-api"', '(service.name:"payment-api" OR app:"payment-api")'),
        ('"timed out"', '(message:"timed out" OR error.message:"timed out")'),
        ("level>=error", '(log.level:"ERROR" OR log.level:"err" OR log.level:"FATAL")'),
        ("level:fatal", 'log.level:"FATAL"'),
        ("level:debug", "(NOT *:*)"),
        ("status:[500 TO 599]", 'http.response.status_code:["500" TO "599"]'),
        ("status>=500", 'http.response.status_code:["500" TO *]'),
        ("status:5*", "http.response.status_code:5*"),
        ("NOT _exists_:trace.id", r"(*:* AND NOT _exists_:trace.id)"),
        (
            "host.name:a OR (host.name:b AND NOT status:200)",
            'host.name:"a" OR (host.name:"b" AND (*:* AND NOT http.response.status_code:"200"))',
        ),
    ],
)
def test_a_query_reads_the_same_in_discover(query: str, shown: str) -> None:
    assert lucene(parse(query), FIELDS) == shown


@pytest.mark.parametrize("value", ['a" OR *:* OR "b', "a\\", '\\" OR x', "a) OR (b", "a] TO [b", "x:y && z", "a\nb"])
def test_no_value_can_leave_its_quotes(value: str) -> None:
    phrase = lucene(Phrase("host.name", value), FIELDS)
    inner = phrase.removeprefix('host.name:"').removesuffix('"')
    assert not inner.replace("\\\\", "").replace('\\"', "").count('"')
    assert not inner.replace("\\\\", "").replace('\\"', "").endswith("\\")
    assert lucene(Range("host.name", value, None), FIELDS) == f"{phrase.replace(':', ':[', 1)} TO *]"
    word = lucene(Wildcard("host.name", f"{value}*"), FIELDS).removeprefix("host.name:")
    assert " " not in word.replace("\\ ", "")


def test_words_in_a_keyword_are_looked_for_inside_it() -> None:
    keyword = FieldMap(roles={"message": (FieldChoice("msg", "keyword", "msg"),)})
    assert lucene(parse('"timed out"'), keyword) == r"msg:*timed\ out*"


def test_the_link_is_a_locator_at_a_fixed_time() -> None:
    (link,) = with_links(diagnosis("level:fatal"), KIBANA, CLUSTER).evidence[0].links
    assert link.rel == "kibana_discover"
    assert link.href.startswith("https://kibana.example/s/on%20call/app/r?l=DISCOVER_APP_LOCATOR&v=8.19.21&p=")
    assert state_of(link.href) == {
        "dataViewSpec": {"title": "logs-*,eu:logs-*", "timeFieldName": "@timestamp"},
        "timeRange": {"from": "2026-11-24T06:01:00Z", "to": "2026-11-24T06:31:00Z"},
        "query": {"language": "lucene", "query": 'log.level:"FATAL"'},
        "columns": ["service.name", "log.level", "message"],
        "breakdownField": "service.version",
    }


def test_a_long_link_gives_up_columns_and_never_its_filter() -> None:
    lengths = range(100, 1500, 20)
    seen = set()
    for length in lengths:
        links = with_links(diagnosis(f'"{"x" * length}"'), KIBANA, CLUSTER).evidence[0].links
        assert all(len(link.href) <= LONGEST for link in links)
        for link in links:
            state = state_of(link.href)
            assert "x" * length in json.dumps(state)
            seen.add(tuple(sorted(state)))
    assert len(seen) > 1
    assert not links


@pytest.mark.parametrize(
    ("kibana", "cluster"),
    [
        (KibanaSettings(), CLUSTER),
        (KIBANA, replace(CLUSTER, backend="opensearch")),
        (KIBANA, replace(CLUSTER, backend="embedded")),
    ],
)
def test_there_is_no_link_where_nothing_would_open(kibana: KibanaSettings, cluster: Description) -> None:
    made = diagnosis("level:fatal")
    assert with_links(made, kibana, cluster) == made
