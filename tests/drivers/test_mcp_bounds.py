"""Answers of an MCP server over HTTP, within bounds."""

import gzip
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from faultspec_conformance.drivers import BODY_LIMIT, Limits, NoAnswer
from faultspec_conformance.drivers.mcp import McpDriver, ToolAnswer


@contextmanager
def serving(codings: str, padding: bytes, *, clinging: bool = False) -> Iterator[str]:
    """Serve tools whose results are padded and compressed.

    ``clinging``: the server has sessions, and does not answer the request to end one.
    """
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer(405, b"")

        def do_DELETE(self) -> None:
            over.wait(30 if clinging else 0)
            self.answer(405, b"")

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "id" not in sent:
                self.answer(202, b"")
                return
            result = {"content": [{"type": "text", "text": "done"}]}
            if sent["method"] == "initialize":
                result = {
                    "protocolVersion": sent["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "tools", "version": "1"},
                }
            body = json.dumps({"jsonrpc": "2.0", "id": sent["id"], "result": result}).encode()
            if sent["method"] != "tools/call":
                self.answer(200, body)
                return
            body += padding
            for _ in codings.split():
                body = gzip.compress(body)
            self.answer(200, body, ", ".join(codings.split()))

        def answer(self, status: int, body: bytes, coded: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if clinging:
                self.send_header("Mcp-Session-Id", "s1")
            if coded:
                self.send_header("Content-Encoding", coded)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
        over.set()
        server.shutdown()


def call(codings: str, padding: bytes) -> ToolAnswer | NoAnswer:
    """The answer of a tool."""
    with serving(codings, padding) as url, McpDriver(url, Limits(seconds=30)) as driver:
        return driver.call("any", {}, harmless=True)


@pytest.mark.parametrize("codings", ["", "gzip", "gzip gzip"])
def test_an_answer_within_the_bounds_is_read(codings: str) -> None:
    """With and without content codings."""
    assert isinstance(call(codings, b""), ToolAnswer)


@pytest.mark.parametrize("codings", ["", "gzip", "gzip gzip"])
def test_a_longer_answer_is_not_read(codings: str) -> None:
    """However it is compressed, reading stops at the limit."""
    answer = call(codings, b" " * BODY_LIMIT)
    assert isinstance(answer, NoAnswer)
    assert answer.kind in ("closed", "garbled")


def test_a_session_that_the_server_does_not_end_is_left() -> None:
    """The end of a session is waited for a second, not as long as an answer to a call."""
    with serving("", b"", clinging=True) as url:
        with McpDriver(url, Limits(seconds=30)) as driver:
            assert isinstance(driver.call("any", {}, harmless=True), ToolAnswer)
            began = time.monotonic()
        left = time.monotonic() - began
    # The server would answer after 30 s, and the library would wait for 15 s.
    assert left < 8
