"""One request over httpx, read in a thread of its own so that our deadlines hold to the second.

Only this module knows httpx; it is imported when the first client is made.
"""

import json
import queue
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import httpx

from logagent import __version__
from logagent.llm._answer import Answer, AnswerReader
from logagent.llm._deadlines import Deadlines
from logagent.llm._endpoint import Endpoint, Limits, is_loopback
from logagent.llm._failure import Failure, read_failure

Clock = Callable[[], float]

_MAX_ERROR_BODY: Final = 256 * 1024
_MARGIN: Final = 0.5
"""Seconds by which the timeouts of the socket come after our own."""
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_LARGEST_PAGE: Final = 4 * 1024 * 1024
_WAITING_CHUNKS: Final = 256
_JOIN_TRIES: Final = 200


class RequestFailed(Exception):
    """A request brought no answer; `failure` says why, `limit` which deadline fired."""

    def __init__(self, failure: Failure, limit: str = "") -> None:
        super().__init__(failure.said)
        self.failure = failure
        self.limit = limit


class Connection:
    """Talks to one host and no other. A fresh connection each time: a stale one costs a whole prompt."""

    failed = RequestFailed

    def __init__(self, endpoint: Endpoint, clock: Clock, transport: httpx.BaseTransport | None = None) -> None:
        self._endpoint = endpoint
        self._clock = clock
        limits = endpoint.patience
        self._client = httpx.Client(
            transport=transport,
            verify=_tls(endpoint),
            trust_env=not is_loopback(endpoint.host),
            follow_redirects=False,
            limits=httpx.Limits(max_keepalive_connections=0),
            timeout=httpx.Timeout(limits.total, connect=limits.connect, write=limits.write, pool=limits.connect),
            headers={"user-agent": f"logagent/{__version__}"},
        )

    def ask(self, url: str, body: bytes, headers: Mapping[str, str], deadline: float | None) -> Answer:
        """Send one completion request and read its whole answer.

        Raises:
            RequestFailed: no usable answer: refused, broken, or too late.
            ModelProtocolError: what came is no chat completion.
        """
        limits = self._endpoint.patience
        start = self._clock()
        request = self._client.build_request("POST", url, content=body, headers=dict(headers))
        request.extensions["timeout"] = _timeouts(limits, start, deadline)
        exchange = _Exchange(self._client, request, self._clock)
        watch = Deadlines(limits, start, deadline)
        try:
            status, head = exchange.head(watch)
            if status != _OK:
                raise RequestFailed(_refusal(status, head, exchange.rest(watch)))
            return _read(exchange, watch)
        finally:
            exchange.stop()

    def get(self, url: str, headers: Mapping[str, str], seconds: float) -> object:
        """A JSON document of the same host, or None where there is none within `seconds`, however it trickles."""
        end = self._clock() + seconds
        body = bytearray()
        try:
            with self._client.stream("GET", url, headers=dict(headers), timeout=seconds) as response:
                if response.status_code != _OK:
                    return None
                for chunk in response.iter_bytes():
                    body += chunk
                    if self._clock() > end or len(body) > _LARGEST_PAGE:
                        return None
            return json.loads(body)
        except (httpx.HTTPError, ValueError, RecursionError):
            return None

    def close(self) -> None:
        """Release connections. May be called twice."""
        self._client.close()


def _read(exchange: "_Exchange", watch: Deadlines) -> Answer:
    reader = AnswerReader()
    try:
        while not reader.done:
            item = exchange.next(watch)
            if item is None:
                break
            at, chunk = item
            reader.feed(chunk)
            watch.note(at, reader.progress, finished=bool(reader.finish))
    except RequestFailed:
        if not reader.finish:  # after the finish reason only usage and the end mark were missing
            raise
    return reader.end()


def _refusal(status: int, headers: httpx.Headers, body: bytes) -> Failure:
    text = body.decode("utf-8", "replace")
    if status in _REDIRECTS:
        target = headers.get("location", "nowhere").split("?")[0]
        return Failure(status, message=f"redirects to {target}; set that URL instead", headers=dict(headers))
    return read_failure(status, text, dict(headers))


def _timeouts(limits: Limits, start: float, deadline: float | None) -> dict[str, float]:
    left = limits.total if deadline is None else max(0.05, deadline - start)
    silence = min(max(limits.first_token, limits.progress), left) + _MARGIN
    return {
        "connect": min(limits.connect, left),
        "write": min(limits.write, left) + _MARGIN,
        "pool": min(limits.connect, left),
        "read": silence,
    }


def _tls(endpoint: Endpoint) -> ssl.SSLContext | bool:
    if endpoint.verify and endpoint.ca_cert:
        return ssl.create_default_context(cafile=endpoint.ca_cert)
    return endpoint.verify and endpoint.base_url.startswith("https:")  # no certificates to load for plain http


Item = tuple[float, bytes]


class _Exchange:
    """A request on its way: a thread reads, the caller waits on a queue as long as its deadlines allow."""

    def __init__(self, client: httpx.Client, request: httpx.Request, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._request = request
        self._items: queue.Queue[Item | httpx.Response | Exception | None] = queue.Queue(_WAITING_CHUNKS)
        self._stopped = threading.Event()
        self._sockets: list[socket.socket] = []
        self._request.extensions["trace"] = self._trace
        self._thread = threading.Thread(target=self._run, name="logagent-model", daemon=True)
        self._thread.start()

    def head(self, watch: Deadlines) -> tuple[int, httpx.Headers]:
        """Status and headers, once they are there."""
        item = self._wait(watch)
        if not isinstance(item, httpx.Response):
            raise RequestFailed(Failure(transport="cut", message="no HTTP answer"))
        return item.status_code, item.headers

    def next(self, watch: Deadlines) -> Item | None:
        """The next bytes and when they came; None at the end."""
        item = self._wait(watch)
        if isinstance(item, tuple):
            if watch.due.at < item[0]:
                raise _late(watch)
            return item
        return None

    def rest(self, watch: Deadlines) -> bytes:
        """The body of a refusal, as far as it comes."""
        body = b""
        with suppress(RequestFailed):
            while len(body) < _MAX_ERROR_BODY and (item := self.next(watch)) is not None:
                body += item[1]
        return body

    def stop(self) -> None:
        """End the thread and the connection, whatever state they are in."""
        self._stopped.set()
        for stream in self._sockets:
            with suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
        for _ in range(_JOIN_TRIES):  # only a name lookup cannot be ended; such a thread is left to end by itself
            with suppress(queue.Empty):
                self._items.get_nowait()
            self._thread.join(timeout=0.01)
            if not self._thread.is_alive():
                return

    def _wait(self, watch: Deadlines) -> Item | httpx.Response | None:
        try:
            item = self._items.get(timeout=max(0.0, watch.due.at - self._clock()))
        except queue.Empty:
            raise _late(watch) from None
        if isinstance(item, Exception):
            raise RequestFailed(_broken(item)) from item
        return item

    def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Note the network stream: closing a socket does not wake a thread that reads it, shutting it down does."""
        if name.endswith(("connect_tcp.complete", "start_tls.complete", "connect_unix_socket.complete")):
            found = info["return_value"].get_extra_info("socket")
            if isinstance(found, socket.socket):
                self._sockets.append(found)

    def _run(self) -> None:
        try:
            response = self._client.send(self._request, stream=True)
            try:
                going = self._put(response)
                chunks = response.iter_bytes()
                while going and (chunk := next(chunks, None)) is not None:
                    going = self._put((self._clock(), chunk))
            finally:
                response.close()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, RuntimeError) as error:
            self._put(error)
        else:
            self._put(None)

    def _put(self, item: Item | httpx.Response | Exception | None) -> bool:
        """Hand over an item; False once nobody wants it."""
        while not self._stopped.is_set():
            with suppress(queue.Full):
                self._items.put(item, timeout=0.1)
                return True
        return False


def _late(watch: Deadlines) -> RequestFailed:
    return RequestFailed(Failure(transport="timeout", message=watch.due.text), watch.due.name)


def _broken(error: Exception) -> Failure:
    """What broke, in a word of ours and the words of the library."""
    text = " ".join(str(error).split())[:200] or type(error).__name__
    if isinstance(error, httpx.ConnectError):
        return Failure(transport=_connect_word(text), message=text)
    if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
        return Failure(transport="connect", message="no connection in time")
    if isinstance(error, httpx.DecodingError):
        return Failure(transport="encoding", message=text)
    if isinstance(error, httpx.TimeoutException):
        return Failure(transport="timeout", message="no answer in time")
    return Failure(transport="cut", message=text)


def _connect_word(text: str) -> str:
    lower = text.lower()
    for word, keys in _CONNECT_WORDS.items():
        if any(key in lower for key in keys):
            return word
    return "connect"


_CONNECT_WORDS: Final = {
    "refused": ("refused",),
    "dns": ("name or service", "getaddrinfo", "nodename", "name resolution", "no address"),
    "tls": ("certificate", "ssl", "tls"),
}
