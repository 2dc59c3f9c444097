"""The reverse proxy passes requests and answers on as they are, and judges what passes."""

import asyncio
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import Any

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultspec.cli.proxy import Observer, _describe
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.drivers import reverse_proxy
from faultspec_conformance.drivers import serving as serving_module
from faultspec_conformance.drivers.reverse_proxy import ReverseProxy
from faultspec_conformance.drivers.serving import read_body, serving
from faultspec_conformance.observed.middleware import Watching

TAXONOMY = """
faultspec: 1
taxonomy: {name: shop, version: 1.0.0, title: Shop, owner: shop}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: 404, retriable: none, client_action: none, effect: none}
"""

#: Seconds that the slowest machine needs for what takes a moment.
SOON = 20.0


class Recorder:
    """A service that answers as its attributes say, and keeps the request."""

    def __init__(self) -> None:
        self.status = 200
        self.fields: list[tuple[bytes, bytes]] = []
        self.chunks: list[bytes] = []
        self.request: tuple[str, bytes, list[tuple[bytes, bytes]], bytes] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Keep the request, and answer."""
        body = await read_body(receive)
        target = scope["raw_path"] + (
            b"?" + scope["query_string"] if scope["query_string"] else b""
        )
        self.request = scope["method"], target, scope["headers"], body
        await send({"type": "http.response.start", "status": self.status, "headers": self.fields})
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@contextmanager
def proxied(app: Any) -> Iterator[tuple[str, ReverseProxy, "Queue[Exchange]"]]:
    """A proxy before an application: its address, itself, and the exchanges it sees."""
    seen: Queue[Exchange] = Queue()
    with serving(app, adds_fields=False) as service:
        proxy = ReverseProxy(service, lambda app: Watching(app, seen.put))
        with serving(proxy, adds_fields=False, refused=proxy.refuse) as address:
            yield address, proxy, seen


@pytest.fixture(scope="module")
def recorder() -> Iterator[tuple[Recorder, str, "Queue[Exchange]"]]:
    """One recorder behind one proxy, for all examples."""
    app = Recorder()
    with proxied(app) as (address, _, seen):
        yield app, address, seen


NAMES = st.from_regex(r"x-[a-z]{1,8}", fullmatch=True).map(str.encode)
VALUES = st.from_regex(r"[!-~]([ -~]{0,20}[!-~])?", fullmatch=True).map(str.encode)
FIELDS = st.lists(st.tuples(NAMES, VALUES), max_size=5)
TARGETS = st.from_regex(
    r"/[A-Za-z0-9/_.~;,:@!$&'()*+=-]{0,20}(%[0-9A-Fa-f]{2}){0,3}(\?[A-Za-z0-9=&%+]{1,9})?",
    fullmatch=True,
)


@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY"]),
    TARGETS,
    FIELDS,
    st.none() | st.binary(max_size=3000) | st.lists(st.binary(min_size=1, max_size=900)),
    st.sampled_from([200, 201, 302, 400, 404, 409, 422, 426, 500, 503, 599]),
    FIELDS,
    st.lists(st.binary(max_size=3000), max_size=3),
)
def test_requests_and_answers_pass_unchanged(
    recorder: tuple[Recorder, str, "Queue[Exchange]"],
    method: str,
    target: str,
    fields: list[tuple[bytes, bytes]],
    body: Any,
    status: int,
    answered: list[tuple[bytes, bytes]],
    chunks: list[bytes],
) -> None:
    """The service gets the method, the octets of target and body, and every field but those of the
    connection. The client gets status, fields and body. The exchange has both.
    """
    app, address, seen = recorder
    with seen.mutex:
        seen.queue.clear()  # of an example that failed
    app.status, app.chunks = status, chunks
    app.fields = [*answered, (b"Upgrade", b"h2c"), (b"x-hop", b"1"), (b"Connection", b"X-Hop")]
    url = httpcore.URL(address)
    with httpcore.ConnectionPool() as pool:
        answer = pool.request(
            method,
            httpcore.URL(scheme=b"http", host=url.host, port=url.port, target=target.encode()),
            headers=[*fields, (b"Connection", b"x-mine, TE"), (b"x-mine", b"1"), (b"TE", b"gzip")],
            content=iter(body) if isinstance(body, list) else body,
        )
    assert app.request is not None
    sent = b"".join(body) if isinstance(body, list) else body or b""
    wanted = [field for field in fields if field[0] != b"x-mine"]
    assert app.request[:2] == (method, target.encode())
    assert [field for field in app.request[2] if field[0].startswith(b"x-")] == wanted
    assert not {b"te", b"upgrade"} & {name for name, _ in app.request[2]}
    assert app.request[3] == sent
    returned = [field for field in answered if field[0] != b"x-hop"]
    assert answer.status == status
    assert [(n.lower(), v) for n, v in answer.headers if n.lower().startswith(b"x-")] == returned
    assert b"upgrade" not in {name.lower() for name, _ in answer.headers}
    assert answer.content == b"".join(chunks)
    exchange = seen.get(timeout=SOON)  # the client may have the answer a moment before
    assert seen.empty()
    assert (exchange.request.method, exchange.request.target) == (method, target)
    assert exchange.request.body == sent
    assert exchange.response.status == status
    assert exchange.response.body == answer.content
    assert ("upgrade", "h2c") in [(n.lower(), v) for n, v in exchange.response.headers]


def test_a_stream_passes_while_it_comes_and_ends_with_its_reader() -> None:
    """The client gets a part before the next is made, and the service learns that it has left."""
    ended = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        ended.set()

    with proxied(app) as (address, _, seen), httpcore.ConnectionPool() as pool:
        with pool.stream("GET", address) as answer:
            parts = answer.iter_stream()  # httpcore closes the connection of one that is dropped
            assert next(parts) == b"first"
            assert not ended.is_set()
        assert ended.wait(SOON)
    assert seen.empty()


def test_a_client_that_leaves_before_the_answer_ends_the_request() -> None:
    """A service that computes an answer learns that its client has left."""
    asked, ended = threading.Event(), threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        asked.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        ended.set()

    with proxied(app) as (address, _, seen):
        with socket.create_connection(("127.0.0.1", httpcore.URL(address).port or 0)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert asked.wait(SOON)
        assert ended.wait(SOON)
    assert seen.empty()


def test_a_service_that_does_not_answer_gives_no_finding() -> None:
    """A request without an answer gets 502 with the reason, which is counted, and nobody judges
    it.
    """
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        closed = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    seen: Queue[Exchange] = Queue()
    proxy = ReverseProxy(closed, lambda app: Watching(app, seen.put))
    with serving(proxy) as address:
        answers = [httpcore.request("GET", address) for _ in range(2)]
    assert [answer.status for answer in answers] == [502, 502]
    assert b"could not be reached" in answers[0].content
    assert [*proxy.reasons_without_answer()] == [
        "2 requests got no whole answer: the service could not be reached"
    ]
    assert seen.empty()


def test_an_answer_that_breaks_off_breaks_off_for_the_client() -> None:
    """The client must not take a part for the whole, and nobody judges it."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a part", "more_body": True})
        await asyncio.sleep(0)
        scope["extensions"]["faultspec.hang_up"]()

    with proxied(app) as (address, proxy, seen):
        with pytest.raises((httpcore.RemoteProtocolError, httpcore.ReadError)):
            httpcore.request("GET", address)
        assert "1 request got no whole answer: the service broke its answer off" in "".join(
            proxy.reasons_without_answer()
        )
    assert seen.empty()


def test_a_service_that_speaks_something_else_gives_no_finding() -> None:
    """An answer in another protocol is counted by its reason."""
    with socket.create_server(("127.0.0.1", 0)) as service:

        def answer() -> None:
            connection, _ = service.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"+OK ready\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        proxy = ReverseProxy(f"http://127.0.0.1:{service.getsockname()[1]}", lambda app: app)
        with serving(proxy) as address:
            assert httpcore.request("GET", address).status == 502
    assert "no answer of HTTP" in "".join(proxy.reasons_without_answer())


def ask(address: str, request: bytes) -> bytes:
    """The answer to these bytes."""
    with socket.create_connection(("127.0.0.1", httpcore.URL(address).port or 0)) as client:
        client.settimeout(SOON)
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A service that answers one request with these bytes: its address."""
    with socket.create_server(("127.0.0.1", 0)) as service:

        def run() -> None:
            connection, _ = service.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{service.getsockname()[1]}"
        thread.join(SOON)


def test_a_length_beside_chunks_is_left_out() -> None:
    """Of two framings the chunks count (RFC 9112 section 6.3), in requests and in answers."""
    chunks = b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    app = Recorder()
    with proxied(app) as (address, _, _):
        head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        assert ask(address, head + chunks).startswith(b"HTTP/1.1 200 ")
    assert app.request is not None
    assert app.request[3] == b"hello"
    assert b"content-length" not in dict(app.request[2])
    with (
        answering(b"HTTP/1.1 200 OK\r\n" + chunks) as service,
        serving(ReverseProxy(service, lambda app: app)) as address,
    ):
        assert httpcore.request("GET", address).content == b"hello"


def test_a_request_for_an_upgrade_passes_as_one_of_http() -> None:
    """The service decides what to answer to a client of WebSocket that gets no upgrade."""
    app = Recorder()
    app.status = 426
    upgrade = b"Connection: close, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    with proxied(app) as (address, _, _):
        answer = ask(address, b"GET / HTTP/1.1\r\nHost: a\r\n" + upgrade + key + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 426 ")


def test_an_answer_that_cannot_pass_is_counted() -> None:
    """A status that no answer has becomes 502, and is counted."""
    with answering(b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n") as service:
        proxy = ReverseProxy(service, lambda app: app)
        with serving(proxy) as address:
            assert httpcore.request("GET", address).status == 502
    assert "status 999" in "".join(proxy.reasons_without_answer())


def test_a_fault_of_the_proxy_is_counted() -> None:
    """An exception that nobody foresaw is called one of the proxy, in an answer and a reason."""

    async def broken(*_: Any) -> None:
        raise ZeroDivisionError("by zero")

    proxy = ReverseProxy("http://127.0.0.1:1", lambda app: broken)
    with serving(proxy) as address:
        assert httpcore.request("GET", address).status == 502
    assert [*proxy.reasons_without_answer()] == [
        "1 request got no whole answer: the proxy could not pass it on (by zero)"
    ]


def test_a_request_that_does_not_reach_the_proxy_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server answers it itself: on a connection too many, and if it cannot be read."""
    monkeypatch.setattr(serving_module, "CONNECTIONS", 2)
    app = Recorder()
    with proxied(app) as (address, proxy, seen):
        place = ("127.0.0.1", httpcore.URL(address).port or 0)
        idle = [socket.create_connection(place) for _ in range(2)]
        for client in idle:  # an answer shows that the server knows the connection
            client.settimeout(SOON)
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
            seen.get(timeout=SOON)
        answers = [ask(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n") for _ in range(3)]
        assert all(answer.startswith(b"HTTP/1.1 503 ") for answer in answers)
        assert ask(address, b"nothing\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        for client in idle:
            client.close()
    assert [*proxy.reasons_of_refusal()] == [
        "3 requests got no whole answer: more than 2 connections at the same time",
        "1 request got no whole answer: the request is not one of HTTP/1.1",
    ]
    assert seen.empty()


def test_unfinished_heads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server keeps few connections whose requests are not whole, and none of them for long."""
    monkeypatch.setattr(serving_module, "MOST_CONNECTIONS", 4)
    monkeypatch.setattr(serving_module, "HEAD_SECONDS", 1.0)
    reasons: list[str] = []
    with serving(Recorder(), refused=reasons.append) as address:
        place = ("127.0.0.1", httpcore.URL(address).port or 0)
        clients = [socket.create_connection(place) for _ in range(6)]
        for client in clients:
            client.settimeout(SOON)
            with suppress(ConnectionError):
                client.sendall(b"GET / HTTP/1.1\r\nX: ")
        started = time.monotonic()
        for client in reversed(clients):  # an end without an answer, or a reset
            with suppress(ConnectionResetError):
                assert client.recv(1) == b""
            client.close()
        assert time.monotonic() - started < SOON
        assert ask(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert reasons == [
        *["more than 4 connections at the same time"] * 2,
        *["the head of the request was not whole after 1 seconds"] * 4,
    ]


def test_nobody_has_to_read_the_lines_of_the_command(tmp_path: Path) -> None:
    """A pipe that is full does not stop the traffic, and the report has the number of lines."""
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    app = Recorder()
    app.status, app.chunks = 409, [b'{"code": "absent"}']
    app.fields = [(b"content-type", b"application/json")]
    with (
        serving(app) as service,
        faultspec("proxy", service, "--report", "json=report.json", cwd=tmp_path) as run,
    ):
        try:
            assert run.stdout is not None
            address = run.stdout.readline().strip()
            assert ask(address, b"nothing\r\n\r\n").startswith(b"HTTP/1.1 400 ")
            with httpcore.ConnectionPool() as pool:
                for number in range(120):  # their lines have more than the 64 KiB of a pipe
                    path = f"{address}/{number}/{'x' * 800}"
                    answer = pool.request("GET", path, extensions={"timeout": {"read": SOON}})
                    assert answer.status == 409
        finally:
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=SOON)
    notes = "".join(json.loads((tmp_path / "report.json").read_text())["notes"])
    assert "lines about answers were not printed: nobody read standard error" in notes
    assert "1 request got no whole answer: the request is not one of HTTP/1.1" in notes


def test_a_request_that_the_service_does_not_take_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """An upload to a service that reads nothing holds no connection for ever."""
    monkeypatch.setitem(reverse_proxy._TIMEOUTS, "write", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as idle:
        proxy = ReverseProxy(f"http://127.0.0.1:{idle.getsockname()[1]}", lambda app: app)
        with (
            serving(proxy) as address,
            socket.create_connection(("127.0.0.1", httpcore.URL(address).port or 0)) as client,
        ):
            client.settimeout(SOON)
            size = 64 * 1024 * 1024
            client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
            sending = threading.Thread(target=send_all, args=(client, bytes(size)), daemon=True)
            sending.start()
            assert client.recv(65536).startswith(b"HTTP/1.1 502 ")
            client.shutdown(socket.SHUT_RDWR)
            sending.join(SOON)
    assert "took no more of the request" in "".join(proxy.reasons_without_answer())


def send_all(client: socket.socket, data: bytes) -> None:
    """Send data, or a part of it if the connection ends."""
    with suppress(OSError):
        client.sendall(data)


def test_many_bodies_at_once_take_bounded_memory() -> None:
    """Large bodies that pass together are not all kept. Small ones are, and are judged."""
    seen: list[Exchange] = []
    large, count = bytes(2 * 1024 * 1024), 60

    async def run() -> int:
        gate = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await receive()
            await send({"type": "http.response.start", "status": 404, "headers": []})
            body = large if scope["path"] == "/large" else b"{}"
            await send({"type": "http.response.body", "body": body, "more_body": True})
            await gate.wait()
            await send({"type": "http.response.body", "body": b""})

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            pass

        watching = Watching(app, seen.append)
        scope = {"type": "http", "method": "GET", "path": "/large", "headers": []}
        tracemalloc.start()
        asked = [asyncio.ensure_future(watching(scope, receive, send)) for _ in range(count)]
        await asyncio.sleep(0)
        small = {**scope, "path": "/small"}
        asked += [asyncio.ensure_future(watching(small, receive, send)) for _ in range(count)]
        await asyncio.sleep(0)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        gate.set()
        await asyncio.gather(*asked)
        await watching(scope, receive, send)
        return held

    assert asyncio.run(run()) < 40 * 1024 * 1024
    assert len(seen) == 2 * count + 1
    assert [each.response.body for each in seen if each.request.target == "/small"] == [
        b"{}"
    ] * count
    assert any(each.response.cut for each in seen)
    assert seen[-1].response.body == large  # what was kept before is let go


@pytest.mark.parametrize(
    ("target", "fields"),
    [
        ("/x/qz7-word-of-bearer", (("authorization", "Bearer qz7-word-of-bearer"),)),
        ("/x/qz7-word-of-cookie", (("cookie", "session=qz7-word-of-cookie"),)),
        ("http://user:qz7-word-of-user@a/x", ()),
        ("/x/qz7-word-of-query?token=qz7-word-of-query", ()),
    ],
)
def test_a_line_has_no_secret_of_the_request(
    target: str, fields: tuple[tuple[str, str], ...]
) -> None:
    """A path that repeats a credential is printed without it."""
    request = Request("GET", target, fields, b"")
    assert "qz7" not in _describe(Exchange(request, Response(404, (), b"")))


def faultspec(*arguments: str, cwd: Path) -> "subprocess.Popen[str]":
    """Start the command."""
    return subprocess.Popen(
        [sys.executable, "-c", "from faultspec.cli import main; main()", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("status", "body", "code", "clauses"),
    [
        (200, b"{}", 0, []),
        (404, b'{"code": "absent"}', 0, []),
        (409, b'{"code": "absent"}', 1, ["code/status"]),
    ],
)
def test_the_command_reports_when_it_is_interrupted(
    status: int, body: bytes, code: int, clauses: list[str], tmp_path: Path
) -> None:
    """Its exit code and report are those of an audit of what passed, compressed or not."""
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    app = Recorder()
    app.status, app.chunks = status, [gzip.compress(body)]
    app.fields = [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")]
    with (
        serving(app) as service,
        faultspec("proxy", service, "--report", "json=report.json", cwd=tmp_path) as run,
    ):
        try:
            assert run.stdout is not None
            address = run.stdout.readline().strip()
            answer = httpcore.request("GET", f"{address}/things?token=qz7")
            assert gzip.decompress(answer.content) == body
        finally:
            run.send_signal(signal.SIGTERM)
            _, err = run.communicate(timeout=SOON)
    report = json.loads((tmp_path / "report.json").read_text())
    assert run.returncode == code, err
    assert sorted({finding["clause"] for finding in report["findings"]}) == clauses
    shown = f"GET /things {status}: {', '.join(clauses)}\n" if clauses else ""
    assert err == f"{shown}wrote report.json\n"


PACKED = b"HTTP/1.1 404 No\r\nConnection: close\r\nContent-Encoding: "

#: Answers that nobody can judge: none, one that breaks off, one of another protocol, and errors
#: whose bodies are too long, cut, or in a coding that nobody reads.
UNJUDGED = {
    "none": b"",
    "cut": b'HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\n{"code": ',
    "foreign": b"+OK Bearer qz7-secret-of-the-caller\r\n\r\n",
    "header": b"HTTP/1.1 500 No\r\nBearer qz7-secret-of-the-caller\r\n\r\n",
    "chunk": b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\nqz7-secret-of-the-caller\r\n",
    "long": PACKED + b"gzip\r\n\r\n" + gzip.compress(bytes(5 << 20)),
    "cut gzip": PACKED + b"gzip\r\n\r\n" + gzip.compress(b'{"code": "absent"}')[:20],
    "coding": PACKED + b"qz7-secret-of-the-caller\r\n\r\n{}",
}


@pytest.mark.parametrize("name", UNJUDGED)
def test_a_service_does_not_pass_with_answers_that_nobody_can_judge(
    name: str, tmp_path: Path
) -> None:
    """The command ends with 2 and says how many there were, beside answers without findings. What
    the service sent is not quoted: it may have a secret of the request.
    """
    (tmp_path / "taxonomy.yaml").write_text(TAXONOMY)
    fine = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    answers = iter((fine, UNJUDGED[name]))
    with socket.create_server(("127.0.0.1", 0)) as service:

        def run_service() -> None:
            for answer in answers:
                connection, _ = service.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        threading.Thread(target=run_service, daemon=True).start()
        url = f"http://127.0.0.1:{service.getsockname()[1]}"
        with faultspec("proxy", url, "--report", "json=report.json", cwd=tmp_path) as run:
            assert run.stdout is not None
            address = run.stdout.readline().strip()
            for _ in range(2):
                head = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                ask(address, head + b"Authorization: Bearer qz7-secret-of-the-caller\r\n\r\n")
            run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=SOON)
    report = json.loads((tmp_path / "report.json").read_text())
    assert run.returncode == 2, err
    assert report["findings"] == []
    assert len(report["not_run"]) == 1, report["not_run"]
    assert "qz7" not in out + err + json.dumps(report)


@pytest.mark.parametrize(
    "url", ["127.0.0.1:80", "ftp://a", "http://a/base", "http://a?b", "http://user:word@a"]
)
def test_an_address_is_an_origin(url: str, tmp_path: Path) -> None:
    """Anything else is refused before files are read."""
    with faultspec("proxy", url, cwd=tmp_path) as run:
        _, err = run.communicate(timeout=SOON)
    assert run.returncode == 2
    assert "URL" in err
    assert "word" not in err


def test_a_fault_of_the_judge_does_not_break_the_traffic() -> None:
    """The answer passes, and the report says that it could not be judged."""

    class Broken:
        def add(self, exchange: Exchange) -> None:
            raise ZeroDivisionError(exchange.request.method)

    observer = Observer(Broken())  # type: ignore[arg-type]
    app = Recorder()
    with (
        serving(app) as service,
        serving(ReverseProxy(service, lambda app: Watching(app, observer.see))) as address,
    ):
        assert [httpcore.request("GET", address).status for _ in range(2)] == [200, 200]
    observer.finish()
    (defect,) = observer.reasons()
    assert "ZeroDivisionError" in defect


def test_a_slow_judgement_does_not_hold_the_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers pass while an earlier one is judged. Those that are too many to wait for that are
    counted.
    """
    monkeypatch.setattr("faultspec.cli.proxy._WAITING", 2)
    go_on, judged = threading.Event(), []

    class Slow:
        def add(self, exchange: Exchange) -> Sequence[object]:
            go_on.wait(10 * SOON)
            judged.append(exchange.request.target)
            return ()

    observer = Observer(Slow())  # type: ignore[arg-type]
    app = Recorder()
    with (
        serving(app) as service,
        serving(ReverseProxy(service, lambda app: Watching(app, observer.see))) as address,
    ):
        for number in range(4):
            assert httpcore.request("GET", f"{address}/{number}").status == 200
        end = time.monotonic() + SOON
        while observer.unjudged < 2 and time.monotonic() < end:
            time.sleep(0.01)  # the last answer is seen when its client has it
        assert judged == []
        go_on.set()
    observer.finish()
    assert judged == ["/0", "/1"]
    assert [*observer.reasons()] == ["2 answers came faster than they could be judged"]


def test_a_proxy_needs_no_taxonomy(tmp_path: Path) -> None:
    """Without one the command judges by what every service owes, and says what it left out. Given
    in the folder, a taxonomy is what it judges by.
    """
    app = Recorder()
    app.status, app.fields = 401, [(b"content-type", b"application/json")]
    app.chunks = [b'{"error": "Log in"}']
    command = [sys.executable, "-c", "from faultspec.cli import main; main()", "proxy"]
    reports = []
    with serving(app) as service:
        for taxonomy in (None, TAXONOMY):
            if taxonomy is not None:
                (tmp_path / "taxonomy.yaml").write_text(taxonomy)
            with subprocess.Popen(
                [*command, service, "--format", "json"],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ) as process:
                assert process.stdout is not None
                address = process.stdout.readline().strip()
                assert httpcore.request("GET", f"{address}/account").status == 401
                process.send_signal(signal.SIGINT)
                reports.append(json.loads(process.stdout.read()))
            assert process.returncode == 1
    owed, declared = reports
    assert {each["clause"] for each in owed["findings"]} == {"http/authenticate"}
    assert owed["taxonomy"] == "what every service owes"
    assert "no taxonomy was given" in "".join(owed["notes"])
    assert "envelope/shape" in {each["clause"] for each in declared["findings"]}
