import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from logagent.errors import UsageError
from logagent.settings import Settings, load, resolve_language

SECRET = "c2VjcmV0LWtleQ=="


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config" / "logagent").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path


def environ(home: Path, **more: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        "TZ": "Asia/Shanghai",
        **more,
    }


def read(home: Path, options: Mapping[str, object] | None = None, text: str = "", **more: str) -> Settings:
    if text:
        (home / "config" / "logagent" / "config.toml").write_text(text, encoding="utf-8")
    return load(options or {}, environ(home, **more), folder=home / "project")


def refusal(home: Path, options: Mapping[str, object] | None = None, text: str = "", **more: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read(home, options, text, **more)
    assert SECRET not in f"{caught.value.message} {caught.value.values}"
    return caught.value


def test_without_any_source_nothing_is_configured_and_nothing_is_probed(home: Path) -> None:
    settings = read(home)
    assert settings.es.url is None
    assert settings.llm.base_url is None
    assert settings.ui.tz == "Asia/Shanghai"
    assert settings.paths.cases == home / "state" / "logagent" / "cases"
    assert settings.origin("es.url") == "default"


def test_options_go_before_environment_before_project_before_user_file(home: Path) -> None:
    text = '[analysis]\neffort = "deep"\ndeadline = "90s"\n[ui]\ncolor = "never"\n[es]\nindex = "app-*"'
    (home / "project" / ".logagent.toml").write_text('[analysis]\neffort = "quick"\n[ui]\ntz = "utc"', encoding="utf-8")
    settings = read(home, {"ui.lang": "zh-CN"}, text, LOGAGENT_LANG="en")
    assert settings.ui.lang == "zh-CN"
    assert settings.analysis.effort == "quick"
    assert settings.analysis.deadline == 90
    assert settings.ui.tz == "UTC"
    assert settings.es.index == ("app-*",)
    assert settings.origin("analysis.deadline").endswith("config.toml line 3")
    assert settings.origin("ui.lang") == "command line"


def test_a_profile_overlays_the_top_level(home: Path) -> None:
    text = """
default_profile = "prod"
[es]
request_timeout = "5s"
[profiles.prod.es]
url = "https://es1.prod:9200"
index = ["logs-*", "filebeat-*"]
[profiles.prod.fields]
timestamp = "ts"
message = ["message", "body.text"]
[profiles.prod.baseline]
history = "14d"
[profiles.test.es]
url = "https://es.test:9200"
"""
    settings = read(home, None, text)
    assert settings.profile == "prod"
    assert settings.es.url == "https://es1.prod:9200"
    assert settings.es.request_timeout == 5
    assert settings.fields == {"timestamp": ("ts",), "message": ("message", "body.text")}
    assert settings.baseline.history == 14
    assert read(home, {"profile": "test"}).es.url == "https://es.test:9200"
    assert read(home, LOGAGENT_PROFILE="test").es.url == "https://es.test:9200"
    error = refusal(home, {"profile": "produ"})
    assert (error.code, "known: prod, test" in error.message) == ("LA702", True)


def test_an_unknown_setting_is_told_with_its_line_and_the_nearest_name(home: Path) -> None:
    error = refusal(home, None, '[ui]\nlang = "en"\n[es]\nurls = "https://a"')
    assert error.code == "LA702"
    assert error.values["setting"] == "es.urls"
    assert error.values["closest"] == "es.url"
    assert str(error.values["file"]).endswith("config.toml line 4")


@pytest.mark.parametrize(
    ("text", "setting", "reason"),
    [
        ('[analysis]\neffort = "huge"', "analysis.effort", "quick"),
        ('[es]\nrequest_timeout = "soon"', "es.request_timeout", "duration"),
        ('[es]\nurl = "es1.prod:9200"', "es.url", "http:// or https://"),
        ("[es]\nmax_concurrency = 400", "es.max_concurrency", "16"),
        ('[ui]\ntz = "Mars/Base"', "ui.tz", "no time zone"),
        ('[es]\ncloud_id = "x:%%%"', "es.cloud_id", "no cloud id"),
        ("es = 3", "es", "must be a table"),
    ],
)
def test_an_impossible_value_is_refused_with_its_name(home: Path, text: str, setting: str, reason: str) -> None:
    error = refusal(home, None, text)
    assert error.code == "LA702"
    assert error.values["setting"] == setting
    assert reason in str(error.values["reason"])


@pytest.mark.parametrize("text", ["[es\nurl=", "\x00", '[es]\nurl = "a"\nurl = "b"'])
def test_a_broken_file_is_refused(home: Path, text: str) -> None:
    assert refusal(home, None, text).code == "LA702"


@pytest.mark.parametrize(
    "text",
    [
        f'[es]\napi_key = "{SECRET}"',
        f'[profiles.a.es]\npassword = "{SECRET}"\n[ui]\nlang="en"\n[es]\nurl="https://u:{SECRET}@h"',
        f'[llm]\napi_key = "{SECRET}"',
        f'[llm]\nbase_url = "https://u:{SECRET}@h/v1"',
    ],
)
def test_a_literal_secret_in_a_file_is_refused_and_not_echoed(home: Path, text: str) -> None:
    assert refusal(home, None, text).code == "LA706"


def test_a_password_in_a_url_option_is_refused_but_one_in_the_environment_is_split_off(home: Path) -> None:
    assert refusal(home, {"es.url": f"https://me:{SECRET}@h:9200"}).code == "LA706"
    settings = read(home, LOGAGENT_ES_URL="https://me:pw@h:9200")
    assert (settings.es.url, settings.es.username) == ("https://h:9200", "me")
    assert settings.es.password.get_secret_value() == "pw"
    assert "pw" not in repr(settings)


def test_a_project_file_may_say_what_to_look_at_but_not_where_data_goes(home: Path) -> None:
    project = home / "project" / ".logagent.toml"
    project.write_text('[es]\nurl = "https://evil.example"', encoding="utf-8")
    assert refusal(home).code == "LA703"
    assert read(home, LOGAGENT_TRUST=str(project)).es.url == "https://evil.example"
    for text in (
        '[es]\napi_key_command = "id"',
        '[llm]\nbase_url = "https://x/v1"',
        '[knowledge]\nfolder = "/tmp"',
        "[es]\ninsecure = true",
    ):
        project.write_text(text, encoding="utf-8")
        assert refusal(home).code == "LA703"
    project.write_text('[fields]\nservice = "app"', encoding="utf-8")
    assert read(home).fields == {"service": ("app",)}


def test_a_key_comes_from_a_file_of_mode_0600_only(home: Path) -> None:
    key = home / "es.key"
    key.write_text(f"{SECRET}\n", encoding="utf-8")
    key.chmod(0o644)
    error = refusal(home, {"es.api_key_file": str(key)})
    assert (error.code, "chmod 600" in str(error.values["reason"])) == ("LA702", True)
    key.chmod(0o600)
    settings = read(home, {"es.api_key_file": str(key)}, LOGAGENT_ES_API_KEY="other")
    assert settings.es.api_key.get_secret_value() == SECRET
    assert refusal(home, {"es.api_key_file": str(home / "none.key")}).code == "LA702"


def test_a_key_comes_from_a_command_or_a_variable(home: Path) -> None:
    assert read(home, None, f'[es]\napi_key_command = "echo {SECRET}"').es.api_key.get_secret_value() == SECRET
    assert read(home, None, '[es]\napi_key_env = "MINE"', MINE=SECRET).es.api_key.get_secret_value() == SECRET
    assert refusal(home, None, '[es]\napi_key_env = "MINE"').code == "LA702"
    assert refusal(home, None, '[es]\napi_key_command = "false"').code == "LA702"
    assert refusal(home, None, '[es]\napi_key_command = "no-such-program-here"').code == "LA702"


def test_a_higher_place_replaces_credentials_as_a_whole(home: Path) -> None:
    text = '[es]\napi_key_env = "MINE"'
    settings = read(home, None, text, MINE=SECRET, LOGAGENT_ES_USERNAME="me", LOGAGENT_ES_PASSWORD="pw")
    assert settings.es.api_key.get_secret_value() == ""
    assert (settings.es.username, settings.es.password.get_secret_value()) == ("me", "pw")
    both = read(home, None, "", LOGAGENT_ES_API_KEY=SECRET, LOGAGENT_ES_PASSWORD="pw")
    assert both.es.api_key.get_secret_value() == SECRET
    assert both.es.password.get_secret_value() == ""


@pytest.mark.parametrize(
    ("variables", "key"),
    [
        ({"LOGAGENT_LLM_URL": "https://m/v1", "LOGAGENT_LLM_API_KEY": "ours", "OPENAI_API_KEY": "theirs"}, "ours"),
        ({"LOGAGENT_LLM_URL": "https://m/v1", "OPENAI_API_KEY": "theirs"}, ""),
        ({"OPENAI_BASE_URL": "https://m/v1", "OPENAI_API_KEY": "theirs", "LOGAGENT_LLM_API_KEY": "ours"}, "theirs"),
        ({"OPENAI_BASE_URL": "https://m/v1", "LOGAGENT_LLM_API_KEY": "ours"}, ""),
        ({"LOGAGENT_LLM_URL": "https://api.openai.com/v1", "OPENAI_API_KEY": "theirs"}, "theirs"),
        ({"LOGAGENT_LLM_URL": "https://api.openai.com.evil/v1", "OPENAI_API_KEY": "theirs"}, ""),
        ({"OPENAI_API_KEY": "theirs", "LOGAGENT_LLM_API_KEY": "ours"}, ""),
    ],
)
def test_a_model_key_goes_only_with_its_url(home: Path, variables: dict[str, str], key: str) -> None:
    assert read(home, None, "", **variables).llm.api_key.get_secret_value() == key


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("http://es1.prod:9200", False),
        ("http://127.0.0.1:9200", True),
        ("http://localhost:9200", True),
        ("http://[::1]:9200", True),
        ("https://es1.prod", True),
        ("http://localhost.evil:9200", False),
    ],
)
def test_credentials_go_over_plain_http_only_to_this_computer(home: Path, url: str, safe: bool) -> None:
    settings = read(home, {"es.url": url}, LOGAGENT_ES_API_KEY="key")
    if safe:
        settings.es.require_safe_transport()
    else:
        with pytest.raises(UsageError) as caught:
            settings.es.require_safe_transport()
        assert caught.value.code == "LA107"
        read(home, {"es.url": url, "es.allow_http": True}, LOGAGENT_ES_API_KEY="key").es.require_safe_transport()
    read(home, {"es.url": url}).es.require_safe_transport()


def test_a_cloud_id_is_a_url(home: Path) -> None:
    cloud = "prod:" + base64.b64encode(b"eu-west-1.aws.found.io:443$abc123$kib456").decode()
    assert read(home, None, f'[es]\ncloud_id = "{cloud}"').es.url == "https://abc123.eu-west-1.aws.found.io:443"


@pytest.mark.parametrize(
    ("choice", "variables", "language"),
    [
        ("auto", {"LANG": "zh_CN.UTF-8"}, "zh-CN"),
        ("auto", {"LC_ALL": "C", "LANG": "zh_CN"}, "en"),
        ("auto", {}, "en"),
        ("zh", {}, "zh-CN"),
        ("en", {"LANG": "zh_CN"}, "en"),
    ],
)
def test_the_language_follows_the_choice_then_the_locale(choice: str, variables: dict[str, str], language: str) -> None:
    assert resolve_language(choice, variables) == language


def test_severity_scales_have_defaults_and_can_be_replaced(home: Path) -> None:
    assert list(read(home).severity["p0-4"]) == ["P0", "P1", "P2", "P3"]
    settings = read(home, None, "[severity.sev1-4]\nSEV1 = { error_ratio = 0.5 }")
    assert settings.severity["sev1-4"]["SEV1"].error_ratio == 0.5
