"""Two helps for setting up a connection: the role to ask an administrator for, and the server's fingerprint."""

import hashlib
import json
import socket
import ssl
from collections.abc import Sequence
from urllib.parse import urlsplit

from logagent.errors import StoreUnavailable, UsageError

_TIMEOUT_SECONDS = 10.0
_HTTPS_PORT = 443


def role(patterns: Sequence[str]) -> str:
    """The least role that logagent needs, as the body of Elasticsearch's create API key and create role APIs."""
    rights = {
        "cluster": ["monitor"],
        "indices": [{"names": list(patterns), "privileges": ["read", "view_index_metadata"]}],
    }
    return json.dumps(
        {"name": "logagent-ro", "role_descriptors": {"logagent_ro": rights}}, indent=2, ensure_ascii=False
    )


def fingerprint(url: str | None) -> str:
    """SHA-256 of the certificate that the server shows, to compare with the one on the node before it is pinned.

    Raises:
        UsageError: LA705, no server is configured, or its URL is not https.
        StoreUnavailable: LA101, no TLS connection.
    """
    parts = urlsplit(url or "")
    if not parts.hostname:
        raise UsageError("no log source", code="LA705")
    if parts.scheme != "https":
        reason = "--show-fingerprint needs an https:// URL"
        raise UsageError(reason, code="LA702", values={"reason": reason, "command": "doctor"})
    plain = ssl.create_default_context()
    plain.check_hostname, plain.verify_mode = False, ssl.CERT_NONE  # nothing is sent: the certificate is only read
    try:
        address = (parts.hostname, parts.port or _HTTPS_PORT)
        with (
            socket.create_connection(address, timeout=_TIMEOUT_SECONDS) as raw,
            plain.wrap_socket(raw, server_hostname=parts.hostname) as tls,
        ):
            certificate = tls.getpeercert(binary_form=True) or b""
    except OSError as error:
        raise StoreUnavailable(f"no TLS connection to {url}", code="LA101", values={"url": url}) from error
    return hashlib.sha256(certificate).hexdigest()
