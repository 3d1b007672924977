"""The list of mechanisms: its form, its own examples, and lines of other wording."""

import json
import re
import time
import tomllib
from importlib import resources

import pytest

from evals.mechanisms import compact, judge
from logagent.analysis.cue_plan import FLAGS, covers, plan, shape_errors
from logagent.analysis.events import full_text
from logagent.analysis.facts import Event
from logagent.analysis.mechanisms import Catalogue
from logagent.tools.submit_diagnosis import SubmittedHypothesis
from logagent.wiring._resources import words

FOLDER = resources.files("logagent.analysis")
SPEC = tomllib.loads(FOLDER.joinpath("mechanisms.toml").read_text("utf-8"))
INDEX = FOLDER.joinpath("mechanisms.json").read_text("utf-8")
MECHANISM_KEYS = "id family title side strength cues not names terms words what_it_is_not first_checks rivals examples counter_examples"
CHANGE_KEYS = "id title strength cues not names terms words examples counter_examples"
KEYS = {"mechanism": set(MECHANISM_KEYS.split()), "change": set(CHANGE_KEYS.split())}
OPTIONAL = {"mechanism": {"weak_cues", "owner", "echo"}, "change": set()}
WRITES = re.compile(
    r"\b(?:kubectl (?:delete|apply|scale|rollout|edit|patch)|systemctl (?:re)?start)|"
    r"^(?:kill|drop|truncate|restart|reboot|delete|flush|scale|roll back|increase|raise|change|renew|rotate|set|add|remove)\b|"
    r"^(?:重启|删除|清理|扩容|回滚|修改|增加|调大|终止)",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.from_index(json.loads(INDEX))


def test_the_index_is_made_from_the_list():
    assert compact(SPEC) == INDEX, "run: python -m evals.mechanisms --write"


@pytest.mark.parametrize("kind", ["mechanism", "change"])
def test_entries_have_the_keys_of_their_kind(kind):
    for entry in SPEC[kind]:
        assert KEYS[kind] <= entry.keys() <= KEYS[kind] | OPTIONAL[kind], entry["id"]


def test_ids_are_unique_and_rivals_exist():
    ids = [entry["id"] for entry in [*SPEC["mechanism"], *SPEC["change"], *SPEC["inferred"]]]
    assert len(ids) == len(set(ids))
    for entry in SPEC["mechanism"]:
        assert set(entry["rivals"]) <= set(ids), entry["id"]


def test_what_is_inferred_has_a_name_in_both_languages(catalogue):
    for entry in SPEC["inferred"]:
        assert entry.keys() == {"id", "title", "words"}
        assert entry["title"].keys() == {"en", "zh"}
        assert words("zh-CN", catalogue, "UTC", str).titles[entry["id"]] == entry["title"]["zh"]
        assert entry["id"] in catalogue.ids


def test_the_schema_names_only_mechanisms_that_are_there(catalogue):
    told = SubmittedHypothesis.model_fields["mechanism"].description or ""
    named = re.findall(r"[a-z]+\.[a-z_]+", told)
    assert len(named) >= 4
    assert set(named) <= set(catalogue.inferred)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("network.delay", "network.latency"),
        ("cpu_contention", "resource.cpu"),
        ("slow downstream", "dependency.slow"),
        ("logic.bug", "code.fault"),
        ("pool.exausted", "pool.exhausted"),
        ("网络延迟", "network.latency"),
        ("Memory Leak", "resource.memory"),
    ],
)
def test_a_name_that_is_none_is_near_what_it_means(catalogue, wrong, right):
    assert catalogue.near(wrong)[0] == right
    assert len(catalogue.near(wrong)) <= 4


def test_a_name_that_means_nothing_is_near_none(catalogue):
    assert catalogue.near("xyzzy") == []


def test_first_checks_only_read_and_stand_in_both_languages():
    for entry in SPEC["mechanism"]:
        for lang in ("en", "zh"):
            checks = entry["first_checks"][lang]
            assert 2 <= len(checks) <= 3, entry["id"]
            assert not any(WRITES.search(check) for check in checks), entry["id"]


def test_every_expression_is_linear_by_form():
    texts = [*SPEC["global"]["not"], *(v for k, v in SPEC["extractors"].items() if k != "endpoint_not")]
    for entry in [*SPEC["mechanism"], *SPEC["change"]]:
        texts += [
            p for key in ("cues", "weak_cues", "not", "names") for p in entry.get(key, ()) if not p.startswith("@")
        ]
    assert len(texts) > 1500
    assert {text: errors for text in texts if (errors := shape_errors(text))} == {}


def test_a_bad_form_is_named():
    assert shape_errors("a.*b") == ["unbounded repeat {0,MAXREPEAT}"]
    assert "repeat inside a repeat" in shape_errors("(?:a{1,9}b){1,9}")
    assert shape_errors(r"(?=a)b") == ["assert"]


def test_examples_go_to_their_own_entry_and_counter_examples_stay_out(catalogue):
    wrong = [(row["id"], row["text"], row["found"]) for row in judge(SPEC, catalogue) if not row["right"]]
    assert wrong == []


def test_the_prefilter_loses_nothing():
    """Each example that a cue matches also holds the literals its plan asks for."""
    for entry in [*SPEC["mechanism"], *SPEC["change"]]:
        for cue in [*entry["cues"], *entry.get("weak_cues", ())]:
            planned, regex = plan(cue), re.compile(cue, FLAGS)
            assert planned.words or planned.plain, cue
            for text in entry["examples"]:
                low = text.lower()
                if regex.search(text):
                    assert any(literal in low for literal in (*planned.words, *planned.plain)), cue
                    assert all(any(literal in low for literal in group) for group in planned.must), cue


def test_covers_hold_of_branches_and_optional_parts():
    assert frozenset({"disk full", "disks full"}) in covers("disks? full")
    assert covers(r"\d{1,3}") == []


OWN_WORDING = [
    ("memory.oom_kill", "Memory cgroup out of memory: Killed process 77 (cart) total-vm:1kB"),
    ("pool.exhausted", "HikariPool-3 - Connection is not available, request timed out after 30007ms"),
    ("tls.cert_expired", "handshake with ledger.internal failed: x509: certificate has expired or is not yet valid"),
    ("net.refused", "dial tcp 10.9.8.7:6379: connect: connection refused"),
    ("dns.not_found", "getaddrinfo ENOTFOUND warehouse-db.internal"),
    ("disk.full", "could not write block 12: No space left on device"),
    ("db.deadlock", "ERROR: deadlock detected while updating table carts"),
    ("limits.file_descriptors", "accept4: too many open files"),
    ("code.null_reference", 'java.lang.NullPointerException: Cannot invoke "Cart.id()" because "cart" is null'),
    ("quota.rate_limited", "partner answered 429 Too Many Requests"),
]


@pytest.mark.parametrize(("name", "text"), OWN_WORDING)
def test_lines_of_other_wording_are_read(catalogue, name, text):
    assert catalogue.mechanism(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "request served in 12 ms, 0 errors",
        "connection refused earlier, now has recovered",
        'GET /errors/connection-refused HTTP/1.1" 200 12',
        "user opened page about certificates",
        "",
        "\n\n",
    ],
)
def test_ordinary_lines_state_nothing(catalogue, text):
    assert catalogue.mechanism(text) == ""


def test_in_a_chain_the_deepest_cause_wins(catalogue):
    text = "Read timed out\nCaused by: java.net.ConnectException: Connection refused\nCaused by: Too many open files"
    hit = catalogue.read(text, "cart")
    assert hit is not None
    assert hit.id == "limits.file_descriptors"


def test_an_echo_is_named_only_when_nothing_else_is(catalogue):
    alone = "Back-off restarting failed container cart in pod cart-1"
    assert catalogue.mechanism(alone) == "deploy.crash_loop"
    assert catalogue.mechanism(alone + ", last state OOMKilled") == "memory.oom_kill"


def test_a_server_owns_what_its_clients_only_suffer(catalogue):
    text = "FATAL: sorry, too many clients already"
    assert catalogue.read(text, "cart").side == "dependency"
    assert catalogue.read(text, "postgres-main").side == "self"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dial tcp ledger-db:5432: connect: connection refused", "ledger-db"),
        ("Connection refused: redis://:secret@cache-1:6379/0", "cache-1"),
        ("could not resolve host: rates.partner.example", "rates.partner.example"),
    ],
)
def test_the_dependency_is_named(catalogue, text, name):
    hit = catalogue.read(text, "cart")
    assert hit is not None
    assert catalogue.dependency(hit, text, "cart") == name


def test_changes_are_read(catalogue):
    found = catalogue.change("Deployed version 2.4.1 of cart-service")
    assert found
    assert all(catalogue.entries[name].kind == "change" for name in found)


def test_error_fields_take_part(catalogue):
    event = Event(0.0, "cart", 4, "step failed", extra={"error.message": "No space left on device"})
    assert catalogue.mechanism(full_text(event), "cart") == "disk.full"


def test_hostile_lines_cost_linear_time(catalogue):
    words = ["connection refused ", "timeout after ", "failed to ", "错误", "caused by ", "a1.-/ ", "x" * 50]
    for word in words:
        text = (word * 4000)[:40_000]
        began = time.process_time()
        catalogue.read(text, "cart")
        catalogue.change(text)
        assert time.process_time() - began < 2.0, word


def test_terms_are_there_for_every_entry(catalogue):
    assert catalogue.version == SPEC["version"]
    assert all(catalogue.terms[entry["id"]] for entry in SPEC["mechanism"])
