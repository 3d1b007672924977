import json
import stat
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import Cli

SECRET = "c2VjcmV0" + "LWtleQ=="
TWO = """\
default_profile = "prod"

[profiles.prod.es]
url = "https://es1.prod:9200"
index = ["logs-*"]
api_key_env = "MY_KEY"

[profiles.test.es]
url = "https://es.test:9200"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MY_KEY", SECRET)
    path = tmp_path / "config" / "logagent" / "config.toml"
    path.parent.mkdir()
    path.write_text(TWO, encoding="utf-8")
    return path


def test_what_counts_is_shown_as_toml_with_its_origin_and_without_secrets(cli: Cli, file: Path) -> None:
    shown = cli("config", "show", "--origin")
    assert (shown.code, SECRET in shown.out + shown.err) == (0, False)
    assert f'es.url = "https://es1.prod:9200"  # {file} line 4' in shown.out
    assert 'es.api_key = "***"  # environment MY_KEY' in shown.out
    assert 'es.url = "https://es.test:9200"' in cli("config", "show", "-p", "test").out


def test_one_setting_or_one_section_is_shown_also_by_default_value(cli: Cli, file: Path) -> None:
    assert cli("config", "show", "es.request_timeout", "--origin").out == "es.request_timeout = 30.0  # default\n"
    assert cli("config", "show", "kibana").out.splitlines() == ['kibana.url = ""', 'kibana.space = ""']
    found = json.loads(cli("config", "show", "es.url", "--json").out)
    assert found["settings"] == {"es.url": {"value": "https://es1.prod:9200", "origin": f"{file} line 4"}}
    refused = cli("config", "show", "es.urls")
    assert (refused.code, "es.url" in refused.err) == (2, True)


def test_a_variable_goes_before_the_file_and_an_option_before_both(
    cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del file
    monkeypatch.setenv("LOGAGENT_ES_URL", "https://variable:9200")
    assert "# environment LOGAGENT_ES_URL" in cli("config", "show", "es.url", "--origin").out
    shown = cli("config", "show", "es.url", "--origin", "--es-url", "https://option:9200")
    assert shown.out == 'es.url = "https://option:9200"  # command line\n'


def test_set_changes_the_profile_in_use_and_keeps_the_rest(cli: Cli, file: Path) -> None:
    done = cli("config", "set", "es.ca_cert", "~/http_ca.crt")
    assert (done.code, "profiles.prod.es.ca_cert" in done.err) == (0, True)
    assert file.read_text() == TWO.replace('"MY_KEY"\n', '"MY_KEY"\nca_cert = "~/http_ca.crt"\n')
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("es.max_concurrency", "2"), "max_concurrency = 2"),
        (("es.index", "logs-*,app-*"), 'index = ["logs-*", "app-*"]'),
        (("es.insecure", "true"), "insecure = true"),
        (("es.request_timeout", "90s"), 'request_timeout = "90s"'),
        (("llm.model", "4711"), 'model = "4711"'),
        (("analysis.always_exclude", 'url.path:"/healthz"'), 'always_exclude = ["url.path:\\"/healthz\\""]'),
        (("fields.message", "message,body.text"), 'message = ["message", "body.text"]'),
        (("default_profile", "test"), 'default_profile = "test"'),
        (("-p", "test", "kibana.url", "https://k"), 'url = "https://k"'),
        (("es.api_key_file", "~/es.key"), 'api_key_file = "~/es.key"'),
    ],
)
def test_set_writes_a_value_in_the_form_that_its_setting_has(
    cli: Cli, file: Path, arguments: tuple[str, ...], line: str
) -> None:
    assert cli("config", "set", *arguments).code == 0
    assert line in file.read_text().splitlines()
    assert cli("config", "validate", str(file)).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("es.api_key", SECRET), "LA706", "api_key_file"),
        (("es.url", f"https://me:{SECRET}@h"), "LA706", "es.url"),
        (("es.urls", "https://h"), "LA702", "did you mean es.url?"),
        (("es.url", "h:9200"), "LA702", "http://"),
        (("es.max_concurrency", "400"), "LA702", "16"),
        (("analysis.effort", "huge"), "LA702", "quick"),
        (("es", "x"), "LA702", "not a setting"),
        (("-p", "produ", "es.url", "https://h"), "LA702", "did you mean prod?"),
        (("default_profile", "nobody"), "LA702", "no such profile"),
    ],
)
def test_what_cannot_be_set_is_refused_and_the_file_stays(
    cli: Cli, file: Path, arguments: tuple[str, ...], code: str, words: str
) -> None:
    refused = cli("config", "set", *arguments)
    assert (refused.code, refused.err.split()[0], words in refused.err) == (2, code, True)
    assert SECRET not in refused.err
    assert file.read_text() == TWO


def test_set_makes_the_file_and_says_what_counts_more(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGAGENT_ES_URL", "https://variable:9200")
    done = cli("config", "set", "es.url", "https://h:9200")
    assert (done.code, "environment LOGAGENT_ES_URL counts more" in done.err) == (0, True)
    written = tmp_path / "config" / "logagent" / "config.toml"
    assert written.read_text() == '[es]\nurl = "https://h:9200"\n'


def test_validate_tells_each_problem_of_each_profile_with_its_line(cli: Cli, file: Path) -> None:
    assert cli("config", "validate").out == f"{file}: valid\n"
    file.write_text(TWO + 'urls = "x"\n[profiles.prod.kibana]\nurl = "nowhere"\n', encoding="utf-8")
    found = cli("config", "validate")
    assert found.code == 2
    assert "line 10: profiles" not in found.err
    assert "line 10: es.urls is not a setting" in found.err
    assert "line 12: kibana.url" in found.err
    assert cli("config", "validate", "none.toml").code == 2


def test_paths_are_told_also_where_the_settings_cannot_be_read(cli: Cli, file: Path) -> None:
    Path(".logagent.toml").write_text('[es]\nurl = "https://evil"\n', encoding="utf-8")
    lines = cli("config", "path").out.splitlines()
    assert [line.split()[0] for line in lines] == ["project", "user", "system"]
    assert "not trusted" in lines[0]
    assert f"{file}  (read)" in lines[1]
    assert json.loads(cli("config", "path", "--json").out)["files"][0]["state"] == "untrusted"


def test_a_project_file_counts_once_trusted_and_not_after_a_change(cli: Cli) -> None:
    project = Path(".logagent.toml")
    project.write_text('[es]\nurl = "https://mine:9200"\n', encoding="utf-8")
    refused = cli("config", "show", "es.url")
    assert (refused.code, refused.err.split()[0]) == (2, "LA703")
    assert f"logagent config trust {project.absolute()}" in refused.err
    trusted = cli("config", "trust")
    assert (trusted.code, "es.url" in trusted.err) == (0, True)
    assert cli("config", "show", "es.url").out == 'es.url = "https://mine:9200"\n'
    project.write_text('[es]\nurl = "https://evil:9200"\n', encoding="utf-8")
    assert cli("config", "show", "es.url").err.split()[0] == "LA703"
    assert cli("config", "trust", ".logagent.toml").code == 0
    assert cli("config", "trust", "--remove").code == 0
    assert cli("config", "show", "es.url").code == 2


def test_trust_needs_a_file(cli: Cli) -> None:
    assert cli("config", "trust").code == 2
    assert cli("config", "trust", "none.toml").code == 2


def test_the_schema_takes_what_the_program_takes(cli: Cli, file: Path) -> None:
    schema = json.loads(cli("config", "schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    good = tomllib.loads(file.read_text() + '[analysis]\ndeadline = "60s"\n[fields]\nservice = "app"\n')
    assert list(check.iter_errors(good)) == []
    for bad in (
        '[es]\nurls = "x"',
        f'[es]\napi_key = "{SECRET}"',
        "[es]\nmax_concurrency = 99",
        '[profiles.a.ui]\nlang = "fr"',
    ):
        assert list(check.iter_errors(tomllib.loads(bad)))
