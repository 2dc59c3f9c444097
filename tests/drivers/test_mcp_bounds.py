"""Answers of an MCP server over HTTP, within bounds."""

import gzip
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from faultspec_conformance.drivers import BODY_LIMIT, Limits, NoAnswer
from faultspec_conformance.drivers.mcp import McpDriver, ToolAnswer
from faultspec_conformance.drivers.mcp_process import MOST_VALUES

#: A server over standard streams. It adds so many values to each result of a tool as its argument.
_PEER = """
import json, sys
for line in sys.stdin:
    sent = json.loads(line)
    if "id" not in sent:
        continue
    result = {"content": []}
    if sent["method"] == "initialize":
        version = sent["params"]["protocolVersion"]
        info = {"name": "tools", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif sent["method"] == "tools/call":
        result["structuredContent"] = {"all": [{}] * int(sys.argv[1])}
    print(json.dumps({"jsonrpc": "2.0", "id": sent["id"], "result": result}), flush=True)
"""


@contextmanager
def serving(
    codings: str, padding: bytes, *, clinging: bool = False, events: int = 0
) -> Iterator[str]:
    """Serve tools whose results are padded and compressed.

    ``clinging``: the server has sessions, and does not answer the request to end one. ``events``:
    the result is one of so many, the others of which are notifications with the padding.
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
            if events:
                event = b'{"jsonrpc": "2.0", "method": "notifications/message", "params": '
                event += b'{"level": "info", "data": "x", "_meta": {"all": [%b]}}}' % padding
                sent_events = [*[event] * (events - 1), body]
                body = b"".join(b"data: %b\r\n\r\n" % each for each in sent_events)
                self.answer(200, body, media_type="text/event-stream")
                return
            body += padding
            for _ in codings.split():
                body = gzip.compress(body)
            self.answer(200, body, ", ".join(codings.split()))

        def answer(
            self, status: int, body: bytes, coded: str = "", media_type: str = "application/json"
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
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


def call_peer(values: int) -> tuple[ToolAnswer | NoAnswer, ...]:
    """Two answers of a tool over standard streams."""
    command = (sys.executable, "-c", _PEER, str(values))
    with McpDriver(command, Limits(seconds=30)) as driver:
        return driver.call("any", {}, harmless=True), driver.call("any", {}, harmless=True)


def test_a_message_with_too_many_values_is_not_read_from_a_stream() -> None:
    """The values of a message are counted before any is made, and the reason is given."""
    for answer in call_peer(MOST_VALUES // 2):
        assert isinstance(answer, NoAnswer)
        assert answer.kind == "closed"
        assert answer.reason == f"a message has more than {MOST_VALUES:,} values"
    assert all(isinstance(answer, ToolAnswer) for answer in call_peer(100))


def test_an_answer_with_too_many_values_is_not_read() -> None:
    """The same over HTTP, whatever the bytes are for."""
    assert isinstance(call("", b"," * MOST_VALUES + b" " * 9), NoAnswer)


@pytest.mark.parametrize(
    ("values", "kind"), [(MOST_VALUES // 3, ToolAnswer), (MOST_VALUES, NoAnswer)]
)
def test_each_event_may_have_as_many_values_as_a_message(
    values: int, kind: type[ToolAnswer | NoAnswer]
) -> None:
    """The values of a stream are those of each of its events, and not of all together."""
    padding = b",".join([b"1"] * values)
    with (
        serving("", padding, events=5) as url,
        McpDriver(url, Limits(seconds=30), timeout=5) as driver,
    ):
        assert isinstance(driver.call("any", {}, harmless=True), kind)
