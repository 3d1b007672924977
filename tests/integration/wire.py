"""A loopback server that plays a script of HTTP answers and keeps what it was asked."""

import json
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

CERTIFICATE = Path(__file__).with_name("localhost.pem")


@dataclass(frozen=True)
class Reply:
    """One answer; `body` is sent as JSON unless it is bytes."""

    body: object = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    promised_bytes: int | None = None
    """Content-Length, where it differs from what is sent."""
    before: Callable[[], object] | None = None
    """Called before the answer is sent (to wait for the test)."""


class Wire:
    """Plays replies in order, the last one for ever."""

    def __init__(self, replies: Sequence[Reply], *, tls: bool = False) -> None:
        self.requests: list[tuple[str, str, Mapping[str, str], Any]] = []
        self._replies = list(replies)
        self._lock = threading.Lock()
        wire = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wire.answer(self)

            do_POST = do_GET  # noqa: N815 - a name of http.server

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                del format, args

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: object, client_address: object) -> None:
                """A client that goes away, or speaks TLS to plain HTTP, is what the tests want."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Play the next reply."""
        data = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        with self._lock:
            body = json.loads(data) if data else None
            self.requests.append((handler.command, handler.path, dict(handler.headers), body))
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if reply.before:
            reply.before()
        out = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        handler.send_response(reply.status)
        handler.send_header("Content-Type", reply.kind)
        handler.send_header("Content-Length", str(len(out) if reply.promised_bytes is None else reply.promised_bytes))
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(out)
        if reply.promised_bytes is not None:
            handler.close_connection = True

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
