"""The settings themselves: frozen, every field with its unit and default; where values come from is `_sources`."""

import ipaddress
from collections.abc import Mapping
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator

from logagent.errors import UsageError
from logagent.times import parse_duration

_LOOPBACK = ("localhost", "::1")
_NO_HOST = frozenset(' "<>\\^`{|}*,;')


def _seconds(value: object) -> object:
    """`"30s"` as seconds; numbers are seconds already."""
    if not isinstance(value, str):
        return value
    try:
        return parse_duration(value).total_seconds()
    except UsageError as error:
        raise ValueError('write a duration such as "30s" or "2m"') from error


def _days(value: object) -> object:
    seconds = _seconds(value)
    return seconds / 86_400 if isinstance(value, str) and isinstance(seconds, float) else value


def _names(value: object) -> object:
    """One name, a comma list or a list of names, as a list."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def _one_or_many(value: object) -> object:
    """One name or a list of names per key."""
    if not isinstance(value, Mapping):
        return value
    return {key: [names] if isinstance(names, str) else names for key, names in value.items()}


def _is_url(text: str) -> bool:
    """Scheme, host and port that a request can be sent to: `urlsplit` and clients refuse the rest much later."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # an open bracket, a port that is no number
        return False
    fits = all(char.isprintable() and not char.isspace() for char in text)
    return parts.scheme in ("http", "https") and bool(host) and port != 0 and fits and not set(host) & _NO_HOST


def _url(text: str) -> str:
    if not _is_url(text):
        raise ValueError("must be an http:// or https:// URL")
    return text


Url = Annotated[str, AfterValidator(_url)]
Seconds = Annotated[float, BeforeValidator(_seconds, json_schema_input_type=float | str), Field(gt=0)]
Days = Annotated[float, BeforeValidator(_days, json_schema_input_type=float | str), Field(gt=0)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names, json_schema_input_type=tuple[str, ...] | str)]
FieldNames = Annotated[
    dict[str, tuple[str, ...]],
    BeforeValidator(_one_or_many, json_schema_input_type=dict[str, tuple[str, ...] | str]),
]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)


class EsSettings(_Section):
    """Where the logs are: Elasticsearch or OpenSearch."""

    url: Url | None = None
    """Server URL without credentials; None with no file given: nothing is probed (LA705)."""
    index: Names = ("logs-*", "filebeat-*", "logstash-*")
    """Index patterns; `eu:logs-*` for a remote cluster."""
    remotes: Names = ()
    """Remote clusters that a pattern may name."""
    api_key: SecretStr = SecretStr("")
    """From a file, the environment or a reference; a literal one in the file is refused (LA706)."""
    username: str = ""
    password: SecretStr = SecretStr("")
    """Basic auth, where there is no API key. Sources as for `api_key`."""
    ca_cert: str = ""
    """PEM file of the CA that signed the server's certificate."""
    cert_fingerprint: str = ""
    """SHA-256 of the server's certificate, in hexadecimal."""
    insecure: bool = False
    """TLS verification off; a banner says so on every run."""
    allow_http: bool = False
    """Plain http with credentials to a host that is not loopback (else LA107)."""
    require_read_only: bool = False
    """A key that can write is an error (LA204 with exit status 4)."""
    request_timeout: Seconds = 30.0
    """Seconds for one search."""
    max_concurrency: int = Field(4, ge=1, le=16)
    """Searches at a time; be polite to a cluster in trouble."""

    @property
    def has_credentials(self) -> bool:
        """Whether anything secret would be sent."""
        return bool(self.api_key.get_secret_value() or self.password.get_secret_value())

    def require_safe_transport(self) -> None:
        """Refuse to carry credentials over plain http.

        Raises:
            UsageError: LA107.
        """
        parts = urlsplit(self.url or "")
        if parts.scheme != "http" or not self.has_credentials or self.allow_http or is_loopback(parts.hostname or ""):
            return
        credential = "the API key" if self.api_key.get_secret_value() else "the password"
        raise UsageError(
            f"{self.url} would carry {credential} unencrypted",
            code="LA107",
            values={"url": self.url, "credential": credential},
        )


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this computer."""
    try:
        return host in _LOOPBACK or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Price(_Section):
    """US dollars per million tokens; only for the estimate in the footer."""

    input: float = Field(0.0, ge=0)
    output: float = Field(0.0, ge=0)


class ModelSettings(_Section):
    """Which model answers."""

    base_url: Url | None = None
    """Base URL of an OpenAI-compatible endpoint, up to and including `/v1`; None: no model (LA501)."""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    """Goes only where security.md 9 lets it."""
    context_window: int | None = Field(None, ge=1_000)
    """Tokens; None: as the profile knows."""
    tools: Literal["auto", "native", "text"] = "auto"
    timeout: Seconds = 60.0
    """Seconds without any byte of an answer."""
    max_cost_usd: float | None = Field(None, gt=0)
    price_per_million: Price = Price()
    allow_http: bool = False


class UiSettings(_Section):
    """How things are shown."""

    lang: Literal["auto", "en", "zh-CN"] = "auto"
    tz: str = "local"
    """`local`, `utc` or an IANA name; after loading always an IANA name."""
    color: Literal["auto", "always", "never"] = "auto"
    accessible: bool = False
    """No redraws, spinners or sparklines; tables become sentences."""
    severity_scale: str = "sev1-4"


class AnalysisSettings(_Section):
    """How far a run goes."""

    effort: Literal["quick", "standard", "deep"] = "standard"
    deadline: Seconds | None = None
    """Seconds for the whole run; None: by effort."""
    always_exclude: tuple[str, ...] = ()
    """Queries that every run excludes."""


class BaselineSettings(_Section):
    """What a window is compared with."""

    mode: str = "auto"
    history: Days = 7.0
    """Days to look back for "first seen"."""


class KibanaSettings(_Section):
    """Where links lead."""

    url: str = Field("", pattern="^(https?://[^/]+.*)?$")
    space: str = ""


class CaseSettings(_Section):
    """Saved investigations."""

    keep_days: int = Field(30, ge=0, le=36_500)
    """Older cases are deleted when a run is saved; 0 keeps all."""
    folder: str = ""
    """Empty: `cases` in the state folder; `Paths.cases` is what counts."""


class RedactSettings(_Section):
    """Masking has no off switch; these add to it."""

    addresses: bool = False
    """Public IP addresses too."""
    custom: tuple[str, ...] = ()
    """Regular expressions to mask besides the built-in rules; one that could take long is refused (LA702)."""

    @field_validator("custom")
    @classmethod
    def _cheap(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        from logagent.settings._custom_rules import check  # noqa: PLC0415 - few have such rules

        return tuple(map(check, patterns))


class KnowledgeSettings(_Section):
    """Runbooks and entity notes."""

    enabled: bool = True
    folder: str = ""
    """Empty: `knowledge` in the configuration folder; `Paths.knowledge` is what counts."""


class SeverityRule(_Section):
    """One line of a severity table: any of its conditions is enough; an empty one always holds."""

    error_ratio: float | None = None
    min_events: int | None = None
    failing_services: int | None = None
    new_fatal_pattern: bool | None = None


_SCALE = (
    SeverityRule(error_ratio=0.25, min_events=1_000, failing_services=3),
    SeverityRule(error_ratio=0.05),
    SeverityRule(error_ratio=0.01, new_fatal_pattern=True),
    SeverityRule(),
)


def _scale(names: str) -> dict[str, SeverityRule]:
    return dict(zip(names.split(), _SCALE, strict=True))


class Paths(_Section):
    """Folders of this user (XDG); nothing is written outside of them."""

    config: Path
    state: Path
    cases: Path
    knowledge: Path


class Settings(_Section):
    """All settings of one run."""

    profile: str = ""
    """Name of the chosen profile, empty where none is."""
    es: EsSettings = EsSettings()
    llm: ModelSettings = ModelSettings()
    ui: UiSettings = UiSettings()
    analysis: AnalysisSettings = AnalysisSettings()
    baseline: BaselineSettings = BaselineSettings()
    fields: FieldNames = Field(default_factory=dict)
    """Role to field names, best first; overrides detection."""
    kibana: KibanaSettings = KibanaSettings()
    cases: CaseSettings = CaseSettings()
    redact: RedactSettings = RedactSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    severity: dict[str, dict[str, SeverityRule]] = Field(
        default_factory=lambda: {"sev1-4": _scale("SEV1 SEV2 SEV3 SEV4"), "p0-4": _scale("P0 P1 P2 P3")}
    )
    paths: Paths
    origins: dict[str, str] = Field(default_factory=dict)
    """Where each value that is no default came from: `es.url` to `environment LOGAGENT_ES_URL`."""

    @property
    def zone(self) -> tzinfo:
        """The display zone; bare clock times are read in it."""
        return ZoneInfo(self.ui.tz)

    @property
    def request_timeout(self) -> timedelta:
        """For one search."""
        return timedelta(seconds=self.es.request_timeout)

    def origin(self, name: str) -> str:
        """Where a value came from; `default` where nobody set it."""
        return self.origins.get(name, "default")
