import json
import string
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logagent.analysis.redact import Redactor

NONCE = "k7q2"
PEM_BODY = "MIIEowIBAAKCAQEAx7Vv9d3Yw0b1oK5zq8tS" * 2


def redact(text: str) -> str:
    return Redactor(NONCE)(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("login failed user=bob password=Tr0ub4dor&3 attempt=2", "Tr0ub4dor"),
        ('{"user":"bob","password":"a \\"quoted\\" pass"}', "quoted"),
        ("db.password: s3cr3t-value", "s3cr3t-value"),
        ("Config(user='x', password='p4ss word!')", "p4ss word!"),
        ("args=[--user, root, --password, h4rdToGuess]", "h4rdToGuess"),
        ("run --db-password=h4rdToGuess --port 1", "h4rdToGuess"),
        ("<db><password>zz-Top-99</password></db>", "zz-Top-99"),
        ("{User:etl Password:Zq9!x Host:pg}", "Zq9!x"),
        ("{'client_secret': 'Aa11Bb22Cc33Dd44'}", "Aa11Bb22Cc33Dd44"),
        ("X-Api-Key: 0b0e4d0c-1111-4222-8333-444455556666", "0b0e4d0c-1111-4222-8333-444455556666"),
        ("Authorization: Bearer abcDEF123456ghiJKL", "abcDEF123456ghiJKL"),
        ("Authorization: Bearer abcDEF123456ghiJKL token=s3cr3tvalue99", "s3cr3tvalue99"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="),
        ("Cookie: theme=dark; sid=Zx81QQ00pl; lang=en", "Zx81QQ00pl"),
        ("connect postgres://app:pa%40ss@pg-1:5432/orders", "pa%40ss"),
        ("amqp://guest:gu3st@rabbit:5672", "gu3st"),
        ("open app:Pa55w0rd@tcp(mysql-1:3306)/orders?parseTime=true", "Pa55w0rd"),
        ('dsn="root:h4rdToGuess@unix(/run/mysqld.sock)/db"', "h4rdToGuess"),
        ("redis://:onlypass9@cache:6379/0", "onlypass9"),
        ("Server=pg;Database=a;User Id=app;Password=Hu5h!Hu5h;Encrypt=true", "Hu5h!Hu5h"),
        ("GET /cb?code=4a8F0cX7q2ZpL9&state=xyzzy12345 302", "4a8F0cX7q2ZpL9"),
        ("GET /v1/items?access_token=Zm9vYmFyMTIzNDU2 200", "Zm9vYmFyMTIzNDU2"),
        ("assumed ASIAQ2MLB5MQXGAPSCQG ok", "ASIAQ2MLB5MQXGAPSCQG"),
        ("token ghp_" + "aB3" * 12, "ghp_" + "aB3" * 12),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end", "eyJzdWIiOiIxIn0"),
        ("key sk-ant-" + "x7Y" * 12, "x7Y" * 12),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----", PEM_BODY),
        (f"key=-----BEGIN PRIVATE KEY-----\\n{PEM_BODY}\\n", PEM_BODY),
        ("hash $argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b2dWRWJTmaaJObG", "RdescudvJCsgt3ub"),
        ("mail jane.doe@shop.de bounced", "jane.doe@shop.de"),
        ("GET /u/jane%40shop.de 404", "jane%40shop.de"),
        ("pan=4111111111111111 declined", "4111111111111111"),
        ("IBAN DE89370400440532013000 rejected", "DE89370400440532013000"),
        ("call +49 170 1234567 failed", "+49 170 1234567"),
        ("手机号: 13812345678 未注册", "13812345678"),
        ("用户密码=Abc12345 登录失败", "Abc12345"),
        ("身份证 11010519491231002X 校验", "11010519491231002X"),
        ("ssn 536-22-1234 missing", "536-22-1234"),
        ('{\\"password\\":\\"inner-Json-9\\"}', "inner-Json-9"),
        ("password\u200b=Zer0-w1dth", "Zer0-w1dth"),
        ("ｐａｓｓｗｏｒｄ＝Full-w1dth", "Full-w1dth"),
    ],
)
def test_a_secret_does_not_leave_in_any_of_the_ways_it_is_written(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7",
        "request 1b4e28ba-2fa1-11d2-883f-0016d3cca427 timed out",
        "image reg/shop@sha256:9f64d4a16757d9b73936e9baf8bd92c7d532c9eb9f64d4a16757d9b73936e9ba",
        "at com.acme.pay.TokenService.refresh(TokenService.java:211)",
        "max_tokens=4096 prompt_tokens: 812 tokenizer=cl100k",
        "primary_key=order_id partition_key=eu-1 routing_key=orders.created",
        "secretName: shop-tls secretRef=db-creds",
        "password policy: minimum length 12; password: must contain a digit",
        "password=null pwd=/var/www token=<redacted> secret=*** api_key=${API_KEY}",
        "Unexpected token '}' in JSON at position 42",
        "Started getty@tty1.service; npm WARN lodash@4.17.21; git@github.com:acme/shop.git",
        "2026-11-28 09:14:02,113 offset=+0100 took 1732791242113",
        "order_id=4111111111111111 offset=6221558812340000",
        "node checkout-7d9c6b8f5d-x2k9q 10.42.0.0/16 fe80::1 3e:ac:af:26:46:5e",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db",
        "amqp://rabbit:5672/%2Fprod http://host:8080/a@b",
        "-----BEGIN CERTIFICATE-----",
        "resourceVersion=4478120931 uid=5f9c8a7b6d5e4f3a2b1c0d9e",
        "GET /search?code=500&key=name&auth=none 200",
        "authentication failed: basic authentication is disabled; bearer token missing",
        "card flow: 1234567812345678 items",
    ],
)
def test_what_on_call_needs_stays(text: str) -> None:
    assert redact(text) == text


def test_the_same_value_gets_the_same_mask_in_every_field_and_spelling() -> None:
    redactor = Redactor(NONCE)
    first = redactor("user Jane.Doe@shop.de logged in")
    second = redactor('{"mail":"jane.doe%40shop.de"}')
    third = redactor("user max@shop.de logged in")
    assert "<email:k7q2:1>" in first
    assert "<email:k7q2:1>" in second
    assert "<email:k7q2:2>" in third
    assert redactor.counts == {"email": 2}


def test_ten_thousand_values_have_ten_thousand_masks() -> None:
    redactor = Redactor(NONCE)
    masks = {redactor(f"u{n}@shop.de") for n in range(10_000)}
    assert len(masks) == 10_000


def test_a_mask_in_a_tool_argument_becomes_the_value_and_any_other_mask_stays() -> None:
    redactor = Redactor(NONCE)
    masked = redactor("jane@shop.de")
    assert redactor.unmask_query(f'"{masked}"') == '"jane@shop.de"'
    assert redactor.unmask_query("<email:zzzz:1>") == "<email:zzzz:1>"
    assert redactor.unmask_query("<email:k7q2:99>") == "<email:k7q2:99>"


def test_a_json_document_stays_a_json_document() -> None:
    document = {
        "card_number": 4111111111111111,
        "password": 12345678,
        "nested": {"token": "abcDEF123456ghiJKL", "list": ["jane@shop.de", 4111111111111111]},
        "text": 'said "password=Abc12345" and left',
    }
    text = redact(json.dumps(document))
    loaded = json.loads(text)
    for secret in ("4111111111111111", "12345678", "abcDEF123456ghiJKL", "jane@shop.de", "Abc12345"):
        assert secret not in text
    assert set(loaded) == set(document)


_PIECES = st.sampled_from(
    [
        "password=", "Abc12345", '"', "'", " ", "\\", "{", "}", ",", ":", "&", "jane@shop.de", "://a:b@c", "%40", "%22",
        "4111111111111111", "Bearer ", "eyJhbGciOi.eyJzdWIiOi.x", "-----BEGIN PRIVATE KEY-----", "MIIEowIBAAKCAQEA",
        "+49 170 1234567", "DE89370400440532013000", "<email:k7q2:1>", "<secret:zzzz:4>", "Cookie: a=b; c=d", "\u200b",
        "token", "密码", "=", "\n", "--api-key", "Authorization:",
    ]
)  # fmt: skip
_ANY = st.lists(st.one_of(_PIECES, st.text(string.printable, max_size=6)), max_size=14).map("".join)


@given(_ANY)
def test_masking_twice_changes_nothing(text: str) -> None:
    redactor = Redactor(NONCE)
    once = redactor(text)
    assert redactor(once) == once


@given(
    st.dictionaries(st.sampled_from(["password", "note", "api_key", "n"]), st.one_of(_ANY, st.integers()), max_size=4)
)
def test_valid_json_stays_valid(document: dict[str, str | int]) -> None:
    json.loads(redact(json.dumps(document)))


@pytest.mark.parametrize(
    "unit",
    ["a", "(", "=", "eyJ", "password=", "@", "a@", "1", "1 ", "://", "x:", "%41", '\\"', "-----BEGIN PRIVATE KEY-----",
     "token:", "+1", "Cookie: a=b; ", "A", "AB12", "/reset", "a.b-"],
)  # fmt: skip
def test_the_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        best = 9.0
        for _ in range(2):
            started = time.process_time()
            Redactor(NONCE)(text)
            best = min(best, time.process_time() - started)
        return best

    small = max(seconds(10_000), 0.002)
    assert seconds(40_000) < 12 * small


def test_a_mask_of_today_is_no_mask_of_another_run() -> None:
    text = "<password:zzzz:1> at " + datetime(2026, 11, 30, tzinfo=UTC).isoformat()
    assert redact(text) == text
