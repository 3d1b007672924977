"""Secrets on every way out, and the look-alikes that on-call needs."""

import json
import random
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.analysis import _redact_screen, redact
from logagent.analysis.redact import FAILED, Redactor, secrets
from logagent.errors import StoreUnavailable, UsageError
from logagent.settings import load
from logagent.testing import ScriptedModel, calls, submit
from tests.cli.conftest import Cli
from tests.loop.scene import NONCE, context, incident, investigate
from tests.loop.stores import ListStore, record

_RANDOM = random.Random(7)
_ALNUM = string.ascii_letters + string.digits


def token(size: int, letters: str = _ALNUM) -> str:
    """Random characters, always with a digit and both cases in front."""
    return "aZ7" + "".join(_RANDOM.choice(letters) for _ in range(size - 3))


VALUE = token(24)
FORMS = {
    "json": f'{{"password": "{VALUE}"}}',
    "logfmt": f"level=info password={VALUE} n=1",
    "yaml": f"db:\n  password: {VALUE}\n",
    "xml": f"<c><password>{VALUE}</password></c>",
    "soap": f'<wsse:Password Type="text">{VALUE}</wsse:Password>',
    "repr": f"Config(user='x', password='{VALUE}')",
    "struct": f"{{User:x Password:{VALUE} Host:pg}}",
    "argv": f"['--user', 'x', '--password', '{VALUE}']",
    "env": f"export DB_PASSWORD={VALUE} HOME=/x",
    "short_env": f"DB_PASS={VALUE}",
    "form": f"user=x&password={VALUE}&y=1",
    "json_in_logfmt": f'msg="{{\\"password\\":\\"{VALUE}\\"}}"',
    "entities": f"&quot;password&quot;:&quot;{VALUE}&quot;",
    "percent": f"body=user%3Dx%26password%3D{VALUE}",
    "ruby": f':password=>"{VALUE}"',
    "properties": f"spring.datasource.password={VALUE}",
    "sql": f"CREATE USER x IDENTIFIED WITH caching_sha2_password BY '{VALUE}'",
    "redis": f"redis-cli -h c -a {VALUE} ping",
    "ldap": f"ldapsearch -D cn=admin -w {VALUE} -b dc=x",
    "docker": f"docker login -u ci -p {VALUE} registry.example",
    "ftp": f"ftp> USER bob PASS {VALUE}",
    "spoken": f"set DB_PASSWORD to {VALUE}",
    "chinese": f"登录密码为：{VALUE}",
    "japanese": f"パスワード：{VALUE}",
    "russian": f"пароль: {VALUE}",
    "spanish": f"contraseña={VALUE}",
    "french": f"mot de passe : {VALUE}",
    "portuguese": f"senha={VALUE}",
    "cookie": f"JSESSIONID={VALUE}; Path=/",
    "quoted_token": f"invalid token '{VALUE}'",
}
PROVIDERS = {
    "github": "ghp_" + token(36),
    "gitlab": "glpat-" + token(20),
    "slack": "xoxb-" + token(40),
    "npm": "npm_" + token(36),
    "openai": "sk-proj-" + token(60),
    "vault": "hvs." + token(90),
    "azure": "aB3" + "8Q~" + token(34),
    "dynatrace": "dt0c01." + token(24).upper() + "." + token(64).upper(),
    "harness": "pat." + token(22) + "." + token(24) + "." + token(20),
    "aws": "AKIA" + "".join(_RANDOM.choice(string.ascii_uppercase) for _ in range(16)),
    "nobody_knows": "acmecloud_live_" + token(40) + "12",
    "jwt": "eyJhbGciOiJub25lIn0." + "eyJ" + token(40) + "." + token(30),
}
KEPT = (
    "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7",
    "request 1b4e28ba-2fa1-11d2-883f-0016d3cca427 commit 9f64d4a16757d9b73936e9baf8bd92c7d532c9eb",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcgSpIdNs6c5H0NE8XYXysPDGNKHfuwvY7kxvUdBeoGlODJ6SfaPg==",
    "event evt_1MqqbKLt4dXK03v5qaIbiCCC user_01h455vb4pex5vsknk084sn02q",
    "container 3f4e5d6c7b8a image v1.27.3 upstream 10.0.3.17:8443 fe80::1",
    "pass: 120 fail: 3; PASS tests/unit/test_a.py; bypass=true; session_id=48213",
    "at com.acme.auth.TokenStore.get(TokenStore.java:88)",
    "password_hash_algo=bcrypt token expired max_tokens=4096 primary_key=id",
    "2026-11-28T09:14:02.113456789Z offset=884213377001 +0100",
    "root@db-1:/var/log lodash@4.17.21 getty@tty1.service",
)


@pytest.mark.parametrize("form", FORMS)
def test_s060_a_secret_is_found_in_every_notation(form: str) -> None:
    assert VALUE not in Redactor("k7q2")(FORMS[form])


@pytest.mark.parametrize("kind", PROVIDERS)
def test_s052_tokens_of_providers_known_and_unknown_go_whole(kind: str) -> None:
    text = f"upstream said no to {PROVIDERS[kind]} again"
    shown = Redactor("k7q2")(text)
    assert all(PROVIDERS[kind][at : at + 12] not in shown for at in range(0, len(PROVIDERS[kind]) - 12, 6))
    assert shown.startswith("upstream said no to <")


@pytest.mark.parametrize("text", KEPT)
def test_s052_what_on_call_needs_stays(text: str) -> None:
    assert Redactor("k7q2")(text) == text


def leaky() -> list[object]:
    return [record(at, f"retry {at}: {line}") for at, line in enumerate([*FORMS.values(), *PROVIDERS.values()])]


def test_s053_no_secret_is_in_a_byte_sent_to_the_model() -> None:
    made = context(ListStore([*incident(), *leaky()]))  # type: ignore[list-item]
    script = [calls("search_logs", query="retry", size=100), calls("get_log_patterns"), submit(headline="x", what_is_happening="y [E1].", hypotheses=[])]  # fmt: skip
    with ScriptedModel([*script, script[-1]]) as model:
        model._script[:] = script  # the last may not be needed
        investigate(model, made)
        sent = json.dumps(model.requests, ensure_ascii=False)
    for value in (VALUE, *PROVIDERS.values()):
        assert value not in sent


@pytest.mark.parametrize("options", [("-F", "text", "-vv"), ("-F", "json"), ("-F", "md"), ("--debug",), ("--dry-run",)])
def test_s053_s076_no_secret_leaves_by_report_case_or_debug_log(
    cli: Cli, tmp_path: Path, options: tuple[str, ...]
) -> None:
    file = tmp_path / "work" / "leaky.ndjson"
    lines = [*FORMS.values(), *PROVIDERS.values()] * 6
    file.write_text(
        "".join(
            json.dumps(
                {"@timestamp": f"2026-11-30T14:00:{n % 60:02d}Z", "level": "error", "service": "a", "message": line}
            )
            + "\n"
            for n, line in enumerate(lines)
        )
    )
    told = cli("diagnose", str(file), "--no-llm", *options)
    assert told.code in {0, 2}
    saved = "".join(one.read_text(errors="replace") for one in (tmp_path / "state").rglob("*") if one.is_file())
    for value in (VALUE, *PROVIDERS.values()):
        assert value not in told.out + told.err + saved


def test_s054_a_secret_in_an_error_of_the_store_is_masked() -> None:
    store = ListStore(incident(), fail=StoreUnavailable(f"cannot parse password={VALUE}"))
    made = context(ListStore(incident()))
    made.store = store
    from tests.loop.scene import call  # noqa: PLC0415

    assert VALUE not in str(call(made, "search_logs", query="level:error").text)


def test_s055_a_secret_in_the_question_is_masked() -> None:
    from logagent.agent._prompt import user_message  # noqa: PLC0415

    assert VALUE not in user_message(f"why is password={VALUE} refused?", "digest", context())


def test_s056_ten_thousand_values_have_masks_of_their_own_and_a_value_has_one() -> None:
    made = Redactor("k7q2")
    masks = [made(f"a{n}@example.org") for n in range(10_000)]
    assert len(set(masks)) == 10_000
    assert [made(f"a{n}@example.org") for n in (5, 9_000)] == [masks[5], masks[9_000]]


def test_s057_s059_only_an_own_mask_becomes_a_value_again_and_only_in_a_query() -> None:
    made = Redactor("k7q2")
    masked = made(f"password={VALUE}").removeprefix("password=")
    assert made.unmask_query(f'"{masked}"') == f'"{VALUE}"'
    assert made.unmask_query("<password:zzzz:1>") == "<password:zzzz:1>"
    assert made("<password:k7q2:1> in a log") == "<password:k7q2:1> in a log"


def test_s058_nothing_restores_a_value_but_the_query_of_a_tool() -> None:
    package = Path(redact.__file__).parents[1]
    users = [path for path in package.rglob("*.py") if "unmask_query(" in path.read_text() and path.name != "redact.py"]
    assert [path.name for path in users] == ["_registry.py"]


@given(
    st.dictionaries(
        st.sampled_from(["password", "card", "n", "api_key"]),
        st.one_of(st.integers(), st.text(max_size=12), st.sampled_from(list(FORMS.values()))),
        max_size=4,
    )
)
def test_s061_valid_json_stays_valid(document: dict[str, object]) -> None:
    json.loads(Redactor("k7q2")(json.dumps(document)))


def test_s062_numbers_under_sensitive_keys_go_too() -> None:
    shown = Redactor("k7q2")('{"card_number": 4111111111111111, "password": 12345678, "pin_count": 3}')
    assert "4111111111111111" not in shown
    assert "12345678" not in shown
    assert json.loads(shown)["pin_count"] == 3


class _Counted(str):
    """Counts nothing itself; see `steps`."""

    __slots__ = ()


@pytest.mark.parametrize("unit", ["a", "(", "=", "eyJ", "password=", "a@", "1 ", "://", "ab_", "A1b2_", "a.b-", "&quot;", "-----BEGIN PRIVATE KEY-----\\n", "sk-", "mot de passe ", "ey.", "key key "])  # fmt: skip
def test_s063_a_megabyte_that_wants_to_be_slow_takes_work_in_proportion(unit: str) -> None:
    """Counted in calls into our own code and into `re`, not in seconds."""
    import sys  # noqa: PLC0415

    def steps(size: int) -> int:
        count = 0

        def profile(_frame: object, event: str, _argument: object) -> None:
            nonlocal count
            count += event in {"call", "c_call"}

        text = (unit * (size // len(unit) + 1))[:size]
        sys.setprofile(profile)
        try:
            secrets(text)
        finally:
            sys.setprofile(None)
        return count

    small, large = steps(40_000), steps(80_000)
    assert large <= 2.5 * small + 2_000


def test_s063_a_megabyte_of_one_letter_is_read_at_once() -> None:
    assert secrets("a" * 1_000_000) == []


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(x*)*", r"(\w+)\1", "a*", ".*x.*y.*z", "(", "a" * 600, "(a{1,9}){1,9}"]
)
def test_s064_a_rule_of_the_user_that_could_run_away_is_refused(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "logagent").mkdir()
    (tmp_path / "logagent" / "config.toml").write_text(f"[redact]\ncustom = [{json.dumps(pattern)}]")
    with pytest.raises(UsageError) as raised:
        load({}, {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}, folder=tmp_path)
    assert raised.value.code == "LA702"


def test_s064_a_rule_of_the_user_masks() -> None:
    made = Redactor("k7q2", custom=[r"CUST-\d{6}"])
    assert made("order of CUST-123456 failed") == "order of <custom:k7q2:1> failed"
    assert Redactor("k7q2", addresses=True)("from 203.0.113.9") == "from <ip:k7q2:1>"


def test_s065_a_failure_masks_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_more: object) -> None:
        raise ValueError

    monkeypatch.setattr(redact, "secrets", broken)
    assert Redactor("k7q2")(f"password={VALUE}") == FAILED


def test_s066_what_was_masked_is_counted_by_kind() -> None:
    made = Redactor("k7q2")
    made(f"a@example.org b@example.org password={VALUE}")
    assert made.counts == {"email": 2, "password": 1}


_PIECES = st.sampled_from([*FORMS.values(), *PROVIDERS.values(), *KEPT, "a@example.org", "+49 170 1234567", "4111 1111 1111 1111", "iban=de89370400440532013000", "key ", "token ", "\n", " "])  # fmt: skip


@given(st.lists(st.one_of(_PIECES, st.text(max_size=8)), max_size=5).map(" ".join))
def test_s052_asking_only_the_rules_that_words_call_for_finds_what_asking_all_finds(text: str) -> None:
    """The fast way against the slow one: every rule of every kind."""
    from logagent.analysis import _redact_keys, _redact_patterns, _redact_personal  # noqa: PLC0415
    from logagent.analysis._redact_view import views  # noqa: PLC0415

    everything = range(len(_redact_patterns.RULES))
    for view in views(text):
        fast = set(redact._hits(view, addresses=False))
        slow = {*_redact_keys.find(view), *_redact_patterns.find(view, everything, block=True), *_redact_personal.find(view, announced=True)}  # fmt: skip
        assert {hit for hit in slow if hit.end > hit.start} == {hit for hit in fast if hit.end > hit.start}
    assert _redact_screen.SCREEN


assert NONCE
