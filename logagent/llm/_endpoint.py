"""Where a model answers, and how long it may take (llm-endpoints.md 2 and 13)."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit, urlunsplit

from logagent.errors import UsageError
from logagent.expressions import expression

ToolMode = Literal["auto", "native", "text"]

_SCHEME = expression(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_TAIL = expression(r"(/(chat/completions|completions|chat|responses|models|embeddings))+$")
_DOUBLE_VERSION = expression(r"(/v\d+[a-z0-9]*)(\1)+(?=/|$)")


@dataclass(frozen=True, slots=True)
class Limits:
    """Deadlines of one request in seconds; the smallest that applies wins."""

    connect: float = 10.0
    write: float = 60.0
    first_token: float = 300.0
    """Until the first byte of content, reasoning or a call."""
    progress: float = 180.0
    """Between two such bytes; comments and empty deltas do not count."""
    after_finish: float = 5.0
    """How long usage or the end mark may follow the finish reason."""
    total: float = 900.0
    warm_up: float = 300.0
    """How long a server that loads its model is asked again."""
    unready: float = 6.0
    """The same for one that has not answered yet."""
    refused: float = 2.0
    """How long an address at which nobody listens is asked again: a server may be starting, or not there at all."""


NEAR = Limits(connect=5.0, first_token=1_800.0, progress=600.0, total=3_600.0)
"""For loopback and private hosts, where a model may think for long."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One OpenAI-compatible chat endpoint. The key never shows in the repr.

    Raises:
        UsageError: the URL names no http or https host, or would carry a key unencrypted (LA107).
    """

    base_url: str
    """Up to and including `/v1`; normalised on creation."""
    model: str
    api_key: str = field(default="", repr=False)
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Sent with each request as it is, e.g. `{"temperature": 0.2}` or a reasoning switch."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    context_window: int | None = None
    """Tokens; None: learned."""
    tools: ToolMode = "auto"
    """How tools are offered: natively, as text, or natively until the endpoint proves that it cannot."""
    max_output_tokens: int = 8_192
    """Cap on what the model writes in one reply, its reasoning included."""
    ca_cert: str = ""
    """Path of a CA bundle; empty for the usual one."""
    verify: bool = True
    allow_http: bool = False
    """Whether a key may go over plain http to a host that is not loopback."""
    limits: Limits | None = None
    """None: chosen by where the host is."""

    def __post_init__(self) -> None:
        url = normal_base(self.base_url)
        object.__setattr__(self, "base_url", url)
        object.__setattr__(self, "api_key", self.api_key.strip())
        parts = urlsplit(url)
        if not (self.api_key.isascii() and (self.api_key.isprintable())):
            raise UsageError("The API key of the model holds characters that no key has.", hint="Copy it again.")
        if self.api_key and parts.scheme == "http" and not is_loopback(self.host) and not self.allow_http:
            raise UsageError(
                f"{self.shown} would carry the API key unencrypted.",
                code="LA107",
                hint="Use https, or allow plain http on a network you trust.",
                values={"url": self.shown, "credential": "the API key"},
            )

    @property
    def host(self) -> str:
        """Host name, lower case, without port."""
        return (urlsplit(self.base_url).hostname or "").lower()

    @property
    def port(self) -> int | None:
        """The port, where the URL names one."""
        return urlsplit(self.base_url).port

    @property
    def origin(self) -> tuple[str, str]:
        """What identifies this endpoint in a conversation and in the capability record."""
        return self.shown, self.model

    @property
    def shown(self) -> str:
        """The base URL without user, password and query: safe to print."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, _bare_host(parts), parts.path, "", ""))

    @property
    def chat_url(self) -> str:
        """Where completions are asked for; a query of the base URL (`api-version`) is kept."""
        return self.beside("/chat/completions")

    @property
    def chat_url_shown(self) -> str:
        """The same, safe to print."""
        return f"{self.shown}/chat/completions"

    def beside(self, path: str) -> str:
        """Another path under the base URL."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc, parts.path + path, parts.query, ""))

    def at_root(self, path: str) -> str:
        """A path at the root of the same host."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc, path, "", ""))

    @property
    def patience(self) -> Limits:
        """The limits that apply: the given ones, or those for this kind of host."""
        if self.limits is not None:
            return self.limits
        return NEAR if is_near(self.host) else Limits()


def normal_base(url: str) -> str:
    """Bring a base URL into the form `scheme://host/…/v1`.

    >>> normal_base("localhost:11434")
    'http://localhost:11434/v1'
    >>> normal_base("https://api.example.com/v1/v1/chat/completions/")
    'https://api.example.com/v1'
    >>> normal_base("https://generativelanguage.googleapis.com/v1beta/openai/")
    'https://generativelanguage.googleapis.com/v1beta/openai'

    Raises:
        UsageError: no http or https host in it.
    """
    url = url.strip()
    if url and not _SCHEME.match(url):
        host = (urlsplit(f"//{url}").hostname or "").lower()
        url = f"{'http' if is_near(host) else 'https'}://{url}"
    parts = urlsplit(url)
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname or not _port_is_valid(parts):
        raise UsageError(f"{url.split('@')[-1]!r} is no URL of a model endpoint.", hint="Give it as https://host/v1.")
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    path = _TAIL.sub("", path)
    path = _DOUBLE_VERSION.sub(r"\1", path)
    return urlunsplit((parts.scheme.lower(), parts.netloc, path or "/v1", parts.query, ""))


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    host = host.strip("[]").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_near(host: str) -> bool:
    """Whether a host is this machine or on a private network: an address, a bare name, or a local domain."""
    host = host.strip("[]").lower()
    if is_loopback(host):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".home.arpa"))


def _bare_host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _port_is_valid(parts: SplitResult) -> bool:
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False
