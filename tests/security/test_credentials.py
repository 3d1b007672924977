"""Keys, certificates, addresses and files: what is refused, what is told, what never shows."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from logagent.errors import LogAgentError, StoreDenied, StoreQueryError, UsageError
from logagent.events import Notice
from logagent.llm import ChatClient, Endpoint, Message
from logagent.settings import Settings, load
from logagent.stores._base import StoreUsage
from logagent.stores._transport import Access, ReadOnlyTransport
from logagent.stores.elasticsearch import ElasticsearchOptions, ElasticsearchStore
from logagent.texts import Catalogue
from logagent.wiring._rights import warn_of_rights
from tests.cli.conftest import Cli
from tests.integration.wire import Reply, Wire
from tests.security.test_redaction import FORMS, VALUE

KEY = "S3cr3tK3y" + "abcDEF0123456789=="


def read(home: Path, text: str = "", options: dict[str, object] | None = None, **variables: str) -> Settings:
    (home / "logagent").mkdir(exist_ok=True)
    (home / "logagent" / "config.toml").write_text(text)
    return load(options or {}, {"HOME": str(home), "XDG_CONFIG_HOME": str(home), **variables}, folder=home)


def rights(**held: bool) -> Reply:
    return Reply({"has_all_requested": False, "cluster": {"manage": False}, "index": {"logs-*": held}})


def asked(home: Path, reply: Reply, *, strict: bool) -> tuple[object, list[object]]:
    told: list[object] = []
    with Wire([reply]) as wire:
        settings = read(home, "", {"es.url": wire.url, "es.require_read_only": strict}, LOGAGENT_ES_API_KEY=KEY)
        store = ElasticsearchStore(ElasticsearchOptions(url=wire.url, indices=["logs-*"], api_key=KEY))
        try:
            return warn_of_rights(settings, store, Catalogue("en"), told.append), told
        finally:
            store.close()


def test_s072_a_key_that_can_write_is_told_of_by_name(tmp_path: Path) -> None:
    caveat, told = asked(tmp_path, rights(write=True, delete_index=True, read=True), strict=False)
    assert caveat is not None
    assert [one.code for one in told if isinstance(one, Notice)] == ["LA204"]
    assert "write, delete_index" in str(caveat)


@pytest.mark.parametrize(
    "reply", [rights(write=True), Reply({"error": "no"}, status=405), Reply({"status": 1}, status=403)]
)
def test_s072_where_only_reading_is_wanted_any_other_key_ends_the_run(tmp_path: Path, reply: Reply) -> None:
    with pytest.raises(StoreDenied) as raised:
        asked(tmp_path, reply, strict=True)
    assert (raised.value.code, raised.value.exit_code) == ("LA204", 4)


@pytest.mark.parametrize("reply", [rights(write=False), Reply({"error": "no"}, status=405)])
def test_s072_a_key_that_reads_or_cannot_be_asked_about_is_no_news(tmp_path: Path, reply: Reply) -> None:
    assert asked(tmp_path, reply, strict=False) == (None, [])


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1.evil.example:9200", "http://127.evil.example", "http://[::ffff:1.2.3.4]:9200", "http://16909060",
     "http://localhost.evil", "http://es1.prod:9200", "http://0.0.0.0:9200"],
)  # fmt: skip
def test_s078_no_credential_goes_over_plain_http_to_another_computer(tmp_path: Path, url: str) -> None:
    settings = read(tmp_path, "", {"es.url": url}, LOGAGENT_ES_API_KEY=KEY)
    with pytest.raises(UsageError) as raised:
        settings.es.require_safe_transport()
    assert raised.value.code == "LA107"
    with pytest.raises(UsageError):
        Endpoint(url + "/v1", "m", api_key=KEY)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9200", "http://[::1]:9200", "http://localhost:9200", "https://es.prod"]
)
def test_s078_loopback_and_tls_are_well(tmp_path: Path, url: str) -> None:
    read(tmp_path, "", {"es.url": url}, LOGAGENT_ES_API_KEY=KEY).es.require_safe_transport()
    Endpoint(url + "/v1", "m", api_key=KEY)


def test_s078_a_user_in_front_of_the_host_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        ReadOnlyTransport(Access(url="http://localhost:x@evil.example"), StoreUsage())
    with pytest.raises(UsageError):
        read(tmp_path, "", {"es.url": "http://localhost:x@evil.example"})


def test_s078_allowed_plain_http_is_told_on_every_run(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGAGENT_ES_API_KEY", KEY)
    told = cli("logs", "--es-url", "http://127.0.0.1:1", "--allow-http", "-i", "logs-*")
    assert "plain http (--allow-http)" in told.err
    assert KEY not in told.err + told.out


def test_s079_an_unknown_certificate_is_refused_and_its_acceptance_told(cli: Cli) -> None:
    with Wire([Reply({})], tls=True) as wire:
        refused = cli("logs", "--es-url", wire.url, "-i", "logs-*")
        assert refused.code == 3
        assert "--ca-cert" in refused.err
        assert "verification is off (--insecure)" in cli("logs", "--es-url", wire.url, "-i", "logs-*", "--insecure").err


def test_s080_a_redirect_of_the_store_is_an_error_and_no_second_request() -> None:
    with Wire([Reply({})]) as other, Wire([Reply({}, status=302, headers={"location": other.url})]) as wire:
        store = ElasticsearchStore(ElasticsearchOptions(url=wire.url, indices=["logs-*"], api_key=KEY))
        with pytest.raises(LogAgentError):
            store.describe()
        store.close()
        assert other.requests == []


def test_s071_a_redirect_of_the_model_is_an_error_and_no_second_request() -> None:
    from logagent.analysis.redact import ModelText  # noqa: PLC0415

    with Wire([Reply({})]) as other, Wire([Reply({}, status=307, headers={"location": other.url})]) as wire:
        client = ChatClient(Endpoint(wire.url + "/v1", "m", api_key=KEY))
        with pytest.raises(LogAgentError):
            client.complete([Message("user", ModelText("hello"))], [])
        client.close()
        assert other.requests == []


def test_s071_a_key_of_openai_goes_to_no_other_host(tmp_path: Path) -> None:
    other = read(tmp_path, "", None, OPENAI_API_KEY=KEY, LOGAGENT_LLM_URL="https://model.example/v1")
    assert other.llm.api_key.get_secret_value() == ""


def test_s067_every_request_is_bounded_and_carries_our_name() -> None:
    found = {"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1}, "hits": {"hits": []}}
    with Wire([Reply(found)]) as wire:
        transport = ReadOnlyTransport(Access(url=wire.url, run_id="r1"), StoreUsage())
        transport.call("POST", "/logs-a/_search", what="x", body={"size": 1})
        transport.close()
        _, path, headers, _ = wire.requests[0]
    assert headers["x-opaque-id"] == "logagent"
    assert headers["traceparent"].startswith("00-")
    assert "preference" not in path


def test_s069_two_refusals_end_a_request_after_one_pause() -> None:
    pauses: list[float] = []
    with Wire([Reply({}, status=429)]) as wire:
        transport = ReadOnlyTransport(Access(url=wire.url), StoreUsage(), sleep=pauses.append)
        with pytest.raises(LogAgentError):
            transport.get("/", what="x")
        transport.close()
        assert len(wire.requests) == 2
    assert len(pauses) == 1


@pytest.mark.parametrize(
    "path", ["/logs-a/_search/../_bulk", "/_bulk", "/logs-a/_search?x", "/logs-a//_search", "/%6cogs/_search"]
)
def test_s021_a_path_that_is_not_on_the_list_sends_nothing(path: str) -> None:
    with Wire([Reply({})]) as wire:
        transport = ReadOnlyTransport(Access(url=wire.url), StoreUsage())
        with pytest.raises(StoreQueryError):
            transport.call("POST", path, what="x", body={})
        transport.close()
        assert wire.requests == []


def test_s073_no_option_takes_a_secret(cli: Cli) -> None:
    shown = cli("diagnose", "--help").out
    for name in ("--api-key ", "--password", "--token", "--llm-api-key"):
        assert name not in shown
    assert "--api-key-file" in shown


def test_s073_a_running_process_shows_no_secret_in_its_arguments(tmp_path: Path) -> None:
    """The key comes by the environment; what `ps` shows are the arguments."""
    program = "import sys; from pathlib import Path; print(Path('/proc/self/cmdline').read_bytes())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"LOGAGENT_ES_API_KEY": KEY, "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert KEY.encode() not in done.stdout


def test_s074_no_object_shows_a_secret(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        "",
        {"es.url": "https://h:9200", "llm.base_url": "https://m/v1", "llm.model": "m"},
        LOGAGENT_ES_API_KEY=KEY,
        LOGAGENT_LLM_API_KEY=KEY,
    )
    store = ElasticsearchStore(ElasticsearchOptions(url="https://h:9200", indices=["logs-*"], api_key=KEY))
    endpoint = Endpoint("https://m/v1", "m", api_key=KEY)
    client = ChatClient(endpoint)
    shown = (
        f"{settings!r} {settings} {settings.model_dump_json()} {store!r} {endpoint!r} {client!r} {client.__dict__!r}"
    )
    client.close()
    store.close()
    assert KEY not in shown


def test_s075_an_error_of_settings_shows_no_value(tmp_path: Path) -> None:
    for text in (
        f'[es]\napi_key = "{KEY}"',
        f'[es]\npassword = "{KEY}"',
        f'[es]\nurl = "https://u:{KEY}@h"',
        f'[es]\nrequest_timeout = "{KEY}"',
    ):
        with pytest.raises(UsageError) as raised:
            read(tmp_path, text)
        assert KEY not in f"{raised.value!r} {raised.value.message} {raised.value.values} {raised.value.__cause__!r}"


def test_s075_s077_a_crash_file_holds_places_and_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from logagent.cli._crash import _text  # noqa: PLC0415

    assert monkeypatch
    try:
        int(f"password={VALUE} {KEY}")
    except ValueError as error:
        told = _text(error)
    assert "ValueError" in told
    assert KEY not in told
    assert VALUE not in told
    assert tmp_path


def test_s081_a_key_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "es.key"
    file.write_text(KEY)
    for mode in (0o644, 0o640, 0o604):
        file.chmod(mode)
        with pytest.raises(UsageError) as raised:
            read(tmp_path, "", {"es.api_key_file": str(file)})
        assert "chmod 600" in str(raised.value.values)
    link = tmp_path / "link.key"
    link.symlink_to(file)
    with pytest.raises(UsageError):
        read(tmp_path, "", {"es.api_key_file": str(link)})
    file.chmod(0o600)
    assert read(tmp_path, "", {"es.api_key_file": str(link)}).es.api_key.get_secret_value() == KEY


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file away")
def test_s081_a_key_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "es.key"
    file.write_text(KEY)
    file.chmod(0o600)
    os.chown(file, 12345, -1)
    with pytest.raises(UsageError) as raised:
        read(tmp_path, "", {"es.api_key_file": str(file)})
    assert "owner" in str(raised.value.values)


def test_s081_a_literal_secret_in_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, f'[llm]\napi_key = "{KEY}"')
    assert (raised.value.code, raised.value.exit_code) == ("LA706", 2)


def test_s082_what_is_written_is_for_its_owner_only(cli: Cli, log: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert cli("diagnose", str(log), "--no-llm", "-o", "r.md", "--debug").code == 0
    finally:
        os.umask(before)
    written = [Path("r.md"), *(tmp_path / "state").rglob("*")]
    assert len(written) > 3
    for path in written:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0 or path == tmp_path / "state", (path, oct(mode))
    assert not [path for path in written if path.name.startswith(".") and path.is_file()]


def test_s076_a_debug_run_over_secrets_writes_none(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "work" / "s.ndjson"
    file.write_text(
        "".join(
            json.dumps({"@timestamp": "2026-11-30T14:00:00Z", "level": "error", "message": text}) + "\n"
            for text in FORMS.values()
        )
    )
    told = cli("diagnose", str(file), "--no-llm", "--debug", "-vvv")
    saved = "".join(path.read_text() for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert VALUE not in told.out + told.err + saved
