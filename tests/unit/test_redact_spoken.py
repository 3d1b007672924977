"""Secrets named in a sentence, and the sentences that look like them."""

import pytest

from logagent.analysis.redact import Redactor


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("passwd hunter2secretX wrong", "hunter2secretX"),
        ("password is hunter2secretX", "hunter2secretX"),
        ("login with password was Correct7Horse, denied", "Correct7Horse"),
        ("secret Te91_ZuH5VeiFrdYKJKhTN0IPUANf leaked", "Te91_ZuH5VeiFrdYKJKhTN0IPUANf"),
        ("token Te91_ZuH5VeiFrdYKJKhTN0IPUA bad", "Te91_ZuH5VeiFrdYKJKhTN0IPUA"),
        ("api key is Te91ZuH5VeiFrdYKJKhTN0IPUANf.", "Te91ZuH5VeiFrdYKJKhTN0IPUANf"),
        ("pass=hunter1020x ok", "hunter1020x"),
        ("db_pass: hunter1020x", "hunter1020x"),
    ],
)
def test_a_secret_named_in_a_sentence_is_masked(text: str, secret: str) -> None:
    masked = Redactor("k7q2")(text)
    assert secret not in masked
    assert masked.startswith(text.split(secret, maxsplit=1)[0])


@pytest.mark.parametrize(
    "text",
    [
        "token expired",
        "password is required",
        "secret not found",
        "pass 3 of 5",
        "pass=3 fail=0",
        "pass: 1000000 of 2000000",
        "compass=north2north",
        "password for user1234 changed",
        "password reset at 2026-05-01T10:00:00Z",
        "password 2026-05-01T10:00:00Z",
        "Failed password 192.168.10.11 port 50022",
        "secret default-token-x7k2p in namespace kube-system not found",
        "token 00092b44-e4d7-6e28-a843-c642abbe3d97 is unknown",
        "unexpected token JwtTokenAuthenticationFilterImpl",
        "could not read secret payments/database-credentials-v2",
        "bypass=true",
    ],
)
def test_a_sentence_that_looks_like_one_stays(text: str) -> None:
    assert Redactor("k7q2")(text) == text
