"""The HTTP node: elastic-transport's, with a cap on the size of an answer and on the seconds it may take."""

import time
from typing import Any

from elastic_transport import (
    ApiResponseMeta,
    ConnectionError,  # noqa: A004 - its name there
    ConnectionTimeout,
    HttpHeaders,
    TlsError,
    Urllib3HttpNode,
)
from elastic_transport._models import DEFAULT, DefaultType
from elastic_transport._node import NodeApiResponse
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError, SSLError
from urllib3.util.retry import Retry

_CHUNK_BYTES = 256 * 1024


class TooLarge(Exception):
    """The answer is larger than the cap; nothing of it is kept."""


class CappedNode(Urllib3HttpNode):
    """Reads an answer as a stream, and gives up when it grows too large or takes too long.

    Redirects are answers like any other: nothing is sent to the place they name.
    """

    max_bytes = 32 * 1024 * 1024

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: DefaultType | float | None = DEFAULT,
    ) -> NodeApiResponse:
        """Send one request and read its answer.

        Raises:
            TooLarge: more than `max_bytes`.
            ConnectionTimeout: no answer, or not all of it, within `request_timeout`.
            TlsError: the handshake failed.
            ConnectionError: any other failure below HTTP.
        """
        started = time.monotonic()
        limit = request_timeout if isinstance(request_timeout, int | float) else self.config.request_timeout
        sent = self._headers.copy()
        sent.update(headers or {})
        try:
            answer: Any = self.pool.urlopen(
                method,
                f"{self.path_prefix}{target}",
                body=body,
                headers=sent,
                retries=Retry(total=False),
                timeout=limit,
                preload_content=False,
            )
            try:
                data = self._read(answer, started + (limit or float("inf")))
            finally:
                answer.close()  # a half-read answer must not go back to the pool
                answer.release_conn()
        except (ConnectTimeoutError, ReadTimeoutError) as error:
            if isinstance(error, NewConnectionError):  # urllib3 counts a refused connection among the timeouts
                raise ConnectionError(str(error), errors=(error,)) from error
            raise ConnectionTimeout("no answer in time", errors=(error,)) from error
        except SSLError as error:
            raise TlsError(str(error), errors=(error,)) from error
        except HTTPError as error:
            raise ConnectionError(str(error), errors=(error,)) from error
        meta = ApiResponseMeta(
            node=self.config,
            duration=time.monotonic() - started,
            http_version="1.1",
            status=answer.status,
            headers=HttpHeaders(answer.headers),
        )
        return NodeApiResponse(meta, data)

    def _read(self, answer: Any, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in answer.stream(_CHUNK_BYTES, decode_content=True):
            size += len(part)
            if size > self.max_bytes:
                raise TooLarge
            if time.monotonic() > deadline:
                raise ConnectionTimeout("the answer did not end in time", errors=())
            parts.append(part)
        return b"".join(parts)
