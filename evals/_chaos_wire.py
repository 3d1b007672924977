"""Two stages for a play: an httpx transport with a clock of its own, and a server on loopback in real time."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from evals._chaos_plays import Play, play

FIVE_MINUTES = 300.0
_PIECE_S = 0.004
"""Time that one piece takes on the clock of the transport."""
_DRIP_S = 0.01
_FAST = 2_000
"""Pieces that are sent as fast as they go; an endless stream drips from there on."""


class Clock:
    """Time that passes only when something takes time. Safe in several threads."""

    def __init__(self) -> None:
        self._now = 1_000.0
        self._lock = threading.Lock()

    def __call__(self) -> float:
        with self._lock:
            return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._now += max(0.0, seconds)


class ChaosTransport(httpx.BaseTransport):
    """Plays an answer for each request."""

    def __init__(self, rng: random.Random, clock: Clock) -> None:
        self._rng = rng
        self._clock = clock
        self.played: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The next play."""
        if request.method == "GET":
            return httpx.Response(404)
        answer = play(self._rng)
        self.played.append(answer.kind)
        patience = float(request.extensions["timeout"]["read"])
        if self._rng.random() < 0.03:
            raise self._rng.choice((httpx.ConnectError("refused"), httpx.RemoteProtocolError("gone")))
        if answer.mute:
            self._be_silent(patience)
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=_Stream(answer, self, patience))

    def pieces(self, answer: Play, patience: float) -> Iterator[bytes]:
        """The body, as time goes on."""
        for piece in answer.pieces:
            self._clock.advance(_PIECE_S)
            yield piece
        if answer.ending == "cut":
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")
        if answer.ending == "silence":
            self._be_silent(patience)

    def _be_silent(self, patience: float) -> None:
        """Five minutes, or until the read timeout of httpx."""
        self._clock.advance(min(FIVE_MINUTES, patience))
        if patience < FIVE_MINUTES:
            raise httpx.ReadTimeout("read timed out")


class _Stream(httpx.SyncByteStream):
    def __init__(self, answer: Play, transport: ChaosTransport, patience: float) -> None:
        self._pieces = transport.pieces(answer, patience)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces


@contextmanager
def chaos_server(rng: random.Random) -> Iterator[str]:
    """The URL of a server that plays an answer for each request, in real time."""
    over = threading.Event()
    lock = threading.Lock()

    def next_play() -> Play:
        with lock:
            return play(rng)

    server = _Server(next_play, over)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, next_play: Callable[[], Play], over: threading.Event) -> None:
        self.next_play = next_play
        self.over = over
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is expected."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """There is no list of models."""
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        """One completion request."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.close_connection = True
        answer = self.server.next_play()
        if answer.mute:
            self.server.over.wait(FIVE_MINUTES)
            return
        with suppress(OSError):
            self._head(answer)
            self._body(answer)

    def _head(self, answer: Play) -> None:
        self.send_response(answer.status)
        headers = {**answer.headers, "connection": "close"}
        if answer.ending == "cut":
            headers["transfer-encoding"] = "chunked"
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()

    def _body(self, answer: Play) -> None:
        chunked = answer.ending == "cut"
        for place, piece in enumerate(answer.pieces):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
            if place > _FAST and self.server.over.wait(_DRIP_S):
                return
        if answer.ending == "silence":
            self.server.over.wait(FIVE_MINUTES)
