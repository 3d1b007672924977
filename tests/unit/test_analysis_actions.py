"""The action catalogue: only reading commands, only safe values in them."""

import re
import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.analysis.actions import MOST, ActionCatalogue

FOLDER = resources.files("logagent.analysis")
SPEC = tomllib.loads(FOLDER.joinpath("actions.toml").read_text("utf-8"))
MECHANISMS = tomllib.loads(FOLDER.joinpath("mechanisms.toml").read_text("utf-8"))
CATALOGUE = ActionCatalogue.from_toml(SPEC)

WRITES = re.compile(
    r"\b(?:delete|restart|scale|apply|rollout undo|kill|drop|set|update|truncate|flush\w*|rm|mv|create|insert|alter|replace|"
    r"patch|edit|reset|remove|reboot|shutdown|sudo|cp|pkill|cordon|uncordon|drain|taint|exec|run|start|stop|reload|enable|"
    r"disable|mount|umount|chmod|chown|tee|dd|vacuum|reindex|grant|revoke|merge|put|post|config set|debug|attach|proxy)\b",
    re.IGNORECASE,
)
FORMS = {
    "logagent": r"logagent (?:diagnose|patterns|logs|show|verify) ",
    "kubectl": r"kubectl (?:-n \S+ )?(?:get|describe|logs|top|rollout history) ?",
    "systemd": r"(?:systemctl (?:show|status)|journalctl|df|cat /proc/|timedatectl status)",
    "network": r"(?:nc -vz|ss -|tracepath|ip -s link|dig|openssl s_client)",
    "sql": r"(?:SELECT|SHOW) ",
    "es": r"GET /",
    "kafka": r"kafka-(?:topics|consumer-groups|configs)\.sh .*--describe\b",
    "redis": r"redis-cli -h \{host\} -p \{port\} (?:INFO|SLOWLOG GET)\b",
    "none": r"$",
}
GOOD = {
    "service": "order_worker.v2",
    "namespace": "kube-system",
    "pod": "payment-api-6d9c7b-k2p4x",
    "container": "app",
    "host": "db1.prod.example",
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "index": "logs-order-2026.11.30",
    "since": "2026-11-30T06:01:00Z",
    "before": "2026-11-30T05:56:00Z",
    "until": "2026-11-30T06:31:00Z",
    "query": 'service.name:"order-api" AND level>=error',
    "port": "5432",
    "database": "orders_v2",
    "topic": "orders.v1",
    "recent": "10m",
}
HOSTILE = ["", " a", "a ", "-rf", "--help", "a;b", "a|b", "a&b", "a$b", "$(a)", "`a`", "a'b", "a\\b", "a\nb", "a\n", "a\x1bb",
           "../a", "é", "ａ", "a" * 400, "a{service}b"]  # fmt: skip


def test_commands_only_read():
    for action in SPEC["action"]:
        assert action["read_only"] is True
        assert not WRITES.search(action["command"]), action["id"]
        assert re.match(FORMS[action["kind"]], action["command"]), action["id"]
        assert not set("`$\n") & set(action["command"]), action["id"]


def test_queries_and_indices_stand_in_single_quotes():
    for action in SPEC["action"]:
        for slot in ("query", "index"):
            spots = action["command"].count(f"{{{slot}}}")
            assert action["command"].count(f"'{{{slot}}}'") == spots, action["id"]


def test_every_mechanism_has_an_action_and_every_fit_exists():
    ids = {entry["id"] for entry in MECHANISMS["mechanism"]}
    fitted = {name for action in SPEC["action"] for name in action["fits"]}
    assert ids <= fitted
    assert fitted <= ids | {entry["id"] for entry in MECHANISMS["change"]}


def test_texts_stand_in_both_languages_and_hold_no_slot():
    for action in SPEC["action"]:
        for key in ("purpose", "expect_if_true", "expect_if_false"):
            assert action[key].keys() == {"en", "zh"}
            assert not any("{" in text or "\n" in text for text in action[key].values())


@pytest.mark.parametrize("slot", sorted(GOOD))
def test_slots_take_plain_values_and_refuse_hostile_ones(slot):
    assert CATALOGUE.allows(slot, GOOD[slot])
    assert [value for value in HOSTILE if CATALOGUE.allows(slot, value)] == []


@given(st.text(max_size=40), st.sampled_from(sorted(GOOD)))
def test_no_value_leaves_its_place_in_a_shell(value, slot):
    if CATALOGUE.allows(slot, value):
        assert not set(value) & set("'\\$`\n\r\x00\x1b")
        assert not value.startswith("-")


def test_ports_end_where_ports_end():
    assert CATALOGUE.allows("port", "65535")
    assert not CATALOGUE.allows("port", "65536")


def test_the_mechanism_goes_before_its_rivals_and_those_before_the_rest():
    steps = CATALOGUE.choose("memory.oom_kill", ["deploy.image_pull"], GOOD, "cart")
    assert len(steps) == MOST
    assert (
        steps[0].command
        == f"kubectl -n kube-system describe pod {GOOD['pod']} | grep -iE 'state|reason|exit|limits|memory|cpu|count'"
    )


def test_without_a_mechanism_the_general_steps_are_left():
    steps = CATALOGUE.choose("", [], GOOD, "")
    assert [step.action for step in steps] == ["log.lines", "log.still", "log.wider"]


def test_what_ended_long_ago_is_not_asked_whether_it_goes_on():
    past = {name: value for name, value in GOOD.items() if name != "recent"}
    assert [step.action for step in CATALOGUE.choose("", [], past, "")] == ["log.lines", "log.wider"]


def test_an_action_without_a_value_is_left_out():
    steps = CATALOGUE.choose("memory.oom_kill", [], {"service": "cart"}, "")
    assert all(step.kind == "logagent" for step in steps)
    assert CATALOGUE.choose("memory.oom_kill", [], {"service": "a;b"}, "") == []


def test_checks_stand_in_where_no_command_of_the_mechanism_can_be_made():
    checks = ["Compare the dates", "Look at the store", "Ask"]
    steps = CATALOGUE.choose("tls.cert_expired", [], {"service": "cart", "recent": "10m"}, "", checks=checks)
    assert [(step.purpose, step.kind, step.command) for step in steps[:2]] == [(c, "none", "") for c in checks[:2]]
    assert steps[2].action == "log.still"
    ready = CATALOGUE.choose("tls.cert_expired", [], GOOD, "", checks=checks)
    assert "Compare the dates" not in [step.purpose for step in ready]


def test_no_kubectl_without_a_namespace_and_no_systemd_in_a_pod():
    assert not any(s.kind == "kubectl" for s in CATALOGUE.choose("deploy.evicted", [], {**GOOD, "namespace": "-x"}, ""))
    assert not any(s.kind == "systemd" for s in CATALOGUE.choose("disk.full", [], GOOD, ""))
    host = {key: GOOD[key] for key in ("host", "service", "since", "until")}
    assert any(s.kind == "systemd" for s in CATALOGUE.choose("disk.full", [], host, ""))


def test_systemd_reads_times_in_its_own_form():
    host = {key: GOOD[key] for key in ("host", "service", "since", "until")}
    commands = [s.command for name in ("code.crash", "limits.threads", "auth.file_permission", "deploy.crash_loop")
                for s in CATALOGUE.choose(name, [], host, "") if "journalctl" in s.command]  # fmt: skip
    assert commands
    assert all('"2026-11-30 06:01:00 UTC"' in command for command in commands if "--since" in command)


def test_a_product_must_occur():
    def asked(words):
        return {step.action for step in CATALOGUE.choose("pool.exhausted", [], {"service": "cart"}, words)}

    assert "db.running_postgres" in asked("PostgreSQL pool of cart")
    assert "db.running_postgres" not in asked("pool of cart")


def test_chinese_texts_on_request():
    step = CATALOGUE.choose("memory.oom_kill", [], GOOD, "", "zh_CN")[0]
    assert re.search("[\u4e00-\u9fff]", step.purpose + step.expect_if_true)


def test_a_writing_entry_or_an_unknown_slot_is_refused():
    row = {**SPEC["action"][0], "read_only": False}
    with pytest.raises(ValueError, match="not read-only"):
        ActionCatalogue.from_toml({**SPEC, "action": [row]})
    row = {**SPEC["action"][0], "command": "kubectl get {what}"}
    with pytest.raises(ValueError, match="without a rule: what"):
        ActionCatalogue.from_toml({**SPEC, "action": [row]})


def test_a_look_at_a_whole_host_comes_after_what_asks_the_product_of_the_lines():
    host = {key: GOOD[key] for key in ("host", "service", "since", "until")}
    checks = ["Read used memory, limit and eviction policy of the cache"]
    oom = "reserve failed: redis: OOM command not allowed when used memory > 'maxmemory'"
    steps = CATALOGUE.choose("cache.write_refused", [], host, oom, checks=checks)
    assert [step.purpose for step in steps[:1]] == checks
    with_port = CATALOGUE.choose("cache.write_refused", [], {**host, "port": "6379"}, oom, checks=checks)
    assert [step.action for step in with_port] == ["cache.memory", "cache.role", "disk.usage"]
    assert CATALOGUE.choose("disk.full", [], host, oom)[0].action == "disk.usage"


def test_what_stands_before_the_first_line_is_read_from_before_the_onset():
    (step,) = [one for one in CATALOGUE.choose("", [], GOOD, "") if one.action == "log.lines"]
    assert f"--since {GOOD['before']} " in step.command
