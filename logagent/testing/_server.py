"""The loopback server behind a `ScriptedModel`."""

import json
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

from logagent.testing._completion import as_answer, completion
from logagent.testing._script import Answer, Body, Fault, Item, Raw


class Script(Protocol):
    """What the server asks the model."""

    requests: list[Body]

    def take(self, body: Body, headers: Mapping[str, str]) -> Item:
        """Record a completion request and give its answer."""
        ...

    def surprise(self, what: str) -> None:
        """Note a request of a kind that no script expects."""
        ...

    def models(self) -> Body:
        """The list of models."""
        ...

    def wait_for_end(self) -> None:
        """Block until the script is over."""
        ...


class Server(ThreadingHTTPServer):
    """Listens on a free port of loopback."""

    daemon_threads = False
    allow_reuse_address = True

    def __init__(self, model: Script) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is part of many scripts."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name http.server calls
        """Say nothing."""

    def do_GET(self) -> None:
        """The list of models; everything else is not there."""
        if self.path.split("?")[0].endswith("/models"):
            self._send(200, json.dumps(self.server.model.models()).encode(), {"content-type": "application/json"})
        else:
            self._send(404, b"{}", {"content-type": "application/json"})

    def do_POST(self) -> None:
        """One completion request."""
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        if not self.path.split("?")[0].endswith("/v1/chat/completions"):
            self.server.model.surprise(f"a request to {self.path} was not expected")
            self._send(404, b'{"error": {"message": "no such path"}}', {"content-type": "application/json"})
            return
        item = self.server.model.take(body, dict(self.headers.items()))
        with suppress(ConnectionError):
            self._reply(item, body)

    def _reply(self, item: Item, body: Body) -> None:
        if isinstance(item, Fault):
            payload = item.body if isinstance(item.body, str) else json.dumps(item.body)
            self._send(item.status, payload.encode(), item.headers)
        elif isinstance(item, Raw):
            self._send_raw(item)
        else:
            answer = item if isinstance(item, Answer) else as_answer(item)
            events = list(completion(answer, body, len(self.server.model.requests)))
            lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
            self._send_raw(Raw("".join([*lines, "data: [DONE]\n\n"]).encode()))

    def _send_raw(self, item: Raw) -> None:
        self.close_connection = True
        self.send_response(200)
        headers = {"content-type": item.content_type, "connection": "close", **item.headers}
        if item.end == "cut":
            headers["transfer-encoding"] = "chunked"
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(item.payload), item.payload) if item.end == "cut" else item.payload)
        self.wfile.flush()
        if item.end == "hang":
            self.server.model.wait_for_end()

    def _send(self, status: int, payload: bytes, headers: Mapping[str, str]) -> None:
        self.close_connection = True
        self.send_response(status)
        for key, value in {"connection": "close", "content-length": str(len(payload)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(payload)
