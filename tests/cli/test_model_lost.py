"""A model that hangs, answers HTML or is not there: the report by rule comes all the same."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from logagent.settings import environment
from tests.cli.conftest import Cli

ROOT = Path(__file__).resolve().parents[2]


class _Html(BaseHTTPRequestHandler):
    """A proxy's login page, where a chat completion was asked for."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b"<html><body>Please log in</body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def html_endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Html)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@contextmanager
def silent_endpoint() -> Iterator[tuple[str, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", listener


@pytest.mark.usefixtures("log")
def test_html_in_place_of_an_answer_costs_the_narrative_only(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with html_endpoint() as url:
        monkeypatch.setenv("LOGAGENT_LLM_URL", url)
        monkeypatch.setenv("LOGAGENT_MODEL", "some-model")
        result = cli("diagnose", "app.log", "--json")
        required = cli("diagnose", "app.log", "--require-llm", "-q")
    assert result.code == 0, result.err
    assert json.loads(result.out)["outcome"]
    assert "warning" in result.err
    assert "continuing without a model" in result.err
    assert (required.code, required.out) == (6, "")


@pytest.mark.usefixtures("log")
def test_no_model_is_a_notice_and_with_require_llm_an_error(cli: Cli) -> None:
    noticed = cli("diagnose", "app.log")
    assert noticed.code == 0
    assert "LA501 notice" in noticed.err
    required = cli("diagnose", "app.log", "--require-llm")
    assert (required.code, required.out) == (6, "")
    assert "LA501 error" in required.err


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_while_the_model_thinks_prints_what_is_known(sent: signal.Signals, status: int) -> None:
    keep = {name: environment()[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TZ")}
    with silent_endpoint() as (url, listener):
        env = {**keep, "PYTHONPATH": str(ROOT), "LOGAGENT_LLM_URL": url, "LOGAGENT_MODEL": "some-model"}
        process = subprocess.Popen(
            [sys.executable, "-m", "logagent", "diagnose", "app.log", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
        listener.settimeout(60)
        connection, _ = listener.accept()  # the survey is over, the model is asked
        with connection:
            assert os.read(connection.fileno(), 10)
            process.send_signal(sent)
            out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    document = json.loads(out)
    assert document["kind"] == "diagnosis"
    assert "Traceback" not in err.decode()
