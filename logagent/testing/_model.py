"""The model itself."""

import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from logagent.testing._completion import last_text
from logagent.testing._script import Body, Fault, Item, Step
from logagent.testing._server import Server

_POLL_S: Final = 0.01


class ScriptedModel:
    """An OpenAI-compatible endpoint that answers by a script, once each step.

    A step is an answer, a fault, raw bytes, a mapping `{"content": ..., "tool_calls": [{"name", "arguments"}]}`,
    or a function from the request body to one of these. Tools that a request explains in words are
    called in words too.

    Attributes:
        requests: bodies of all completion requests, in order.
        headers: their headers, names in lower case.
    """

    def __init__(self, script: Sequence[Step], *, model: str = "scripted", window: int | None = None) -> None:
        """Prepare a script.

        Args:
            script: what is answered, in order.
            model: name that the list of models gives.
            window: context size that it gives; None: none.
        """
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self._script = list(script)
        self._model = model
        self._window = window
        self._surprises: list[str] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._server: Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Base URL, up to and including `/v1`.

        Raises:
            RuntimeError: outside the `with` block.
        """
        if self._server is None:
            msg = "a ScriptedModel answers inside its `with` block only"
            raise RuntimeError(msg)
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def unused(self) -> int:
        """Steps that were not asked for yet."""
        return len(self._script)

    def __enter__(self) -> Self:
        self._server = Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_S,), name="scripted-model", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
        if error is None:
            self._complain()

    def _complain(self) -> None:
        """Raise for requests that were not expected, and for steps that nobody asked for.

        Raises:
            AssertionError: either of them.
        """
        problems = list(self._surprises)
        if self._script:
            problems.append(f"{len(self._script)} steps of the script were not used; the next: {self._script[0]!r}")
        if problems:
            raise AssertionError("; ".join(problems))

    def take(self, body: Body, headers: Mapping[str, str]) -> Item:
        """Record a completion request and give its answer."""
        with self._lock:
            self.requests.append(body)
            self.headers.append({key.lower(): value for key, value in headers.items()})
            if not self._script:
                self._surprises.append(f"request {len(self.requests)} was not expected: {last_text(body)!r}")
                return Fault(400, body={"error": {"message": "the script is over", "code": "script_over"}})
            step = self._script.pop(0)
        try:
            return step(body) if callable(step) else step
        except (KeyError, IndexError, ValueError, TypeError, AssertionError) as error:
            self._surprises.append(f"a step failed: {error!r}")
            return Fault(400, body={"error": {"message": "a step of the script failed", "code": "script_failed"}})

    def surprise(self, what: str) -> None:
        """Note a request of a kind that no script expects."""
        self._surprises.append(what)

    def models(self) -> Body:
        """The list of models."""
        entry: Body = {"id": self._model, "object": "model"}
        if self._window is not None:
            entry["max_model_len"] = self._window
        return {"object": "list", "data": [entry]}

    def wait_for_end(self) -> None:
        """Block until the `with` block is left."""
        self._over.wait()
