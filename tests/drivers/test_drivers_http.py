"""The driver sends requests unchanged and within the limits. Every failure is a value."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from faultspec.exchange.model import Request, Response
from faultspec_conformance.drivers import BODY_LIMIT, Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver

WRITES = Limits(requests=50, seconds=30, writes=True)


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A listener that gives each connection the next raw answer and keeps what it receives; b""
    closes at once.
    """
    seen: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                received = b""
                try:
                    while b"\r\n\r\n" not in received:
                        chunk = connection.recv(65536)
                        if not chunk:
                            break
                        received += chunk
                    head = received.partition(b"\r\n\r\n")[0].lower()
                    if b"content-length: " in head:
                        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
                        while len(received.partition(b"\r\n\r\n")[2]) < length:
                            received += connection.recv(65536)
                    seen.append(received)
                    connection.sendall(answer)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", seen
    finally:
        listener.shutdown(
            socket.SHUT_RDWR
        )  # which ends the wait for a connection; closing does not
        listener.close()
        thread.join(3)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\nX-A: 1\r\nX-A: 2\r\n\r\n{}"


def test_sends_exactly_what_it_is_given() -> None:
    """No header is added but those that HTTP needs, a body of any bytes goes out as it is, the
    target is not normalised.
    """
    with answering(OK) as (base, seen), HttpDriver(base, WRITES) as driver:
        answer = driver.send(
            Request(
                "FROBNICATE",
                "/a/%7Eb?q=%20x",
                (("X-One", "ä"), ("Content-Type", "text/plain")),
                b'{"broken',
            )
        )
    assert isinstance(answer, Response)
    assert answer.status == 200
    assert [value for name, value in answer.headers if name == "X-A"] == ["1", "2"]
    head, _, body = seen[0].partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert first == b"FROBNICATE /a/%7Eb?q=%20x HTTP/1.1"
    assert body == b'{"broken'
    names = {line.partition(b":")[0].lower() for line in lines}
    assert names == {b"host", b"x-one", b"content-type", b"content-length"}


def test_nothing_is_written_without_leave() -> None:
    """Without `writes` no method but GET, HEAD and OPTIONS leaves the machine, nor a request that
    asks for another.
    """
    unsafe = [
        Request(method, "/") for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "FROBNICATE")
    ]
    unsafe += [
        Request("GET", "/", (("x-http-method-OVERRIDE", "DELETE"),)),
        Request("GET", "/", (("X_HTTP_Method_Override", "DELETE"),)),
        Request("GET", "/?a=1&_method=delete"),
        Request("GET", "/?a=1;%5fmethod=delete"),
    ]
    with answering(OK) as (base, seen), HttpDriver(base, Limits()) as driver:
        for request in unsafe:
            answer = driver.send(request)
            assert isinstance(answer, NoAnswer)
            assert answer.kind == "read-only"
            assert not answer.sent
        assert driver.requests == 0
        assert seen == []


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "field",
    [
        ("X-A", "a\r\n\r\nDELETE /orders/7 HTTP/1.1\r\nHost: x\r\nX-B: b"),
        ("X-A", "a\nX-Method-Override: DELETE"),
        ("X-A", "a\0"),
        ("X-A: b\r\nX-C", "c"),
        ("X A", "b"),
        ("", "b"),
        ("X-A", "\ud800"),
    ],
)
def test_a_header_that_would_end_its_line_is_not_sent(method: str, field: tuple[str, str]) -> None:
    """Names that are not tokens and values with control characters leave the machine in no request:
    they could begin another one.
    """
    with answering(OK) as (base, seen), HttpDriver(base, Limits()) as driver:
        answer = driver.send(Request(method, "/", (field,)))
    assert isinstance(answer, NoAnswer)
    assert answer.kind == "unsendable"
    assert not any(seen)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(("fields", "kind"), [(900, Response), (1_100, NoAnswer)])
def test_an_answer_with_too_many_header_fields_is_not_kept(
    method: str, fields: int, kind: type[Response | NoAnswer]
) -> None:
    """A run keeps its answers, so their fields are counted."""
    head = b"".join(b"%x:\r\n" % number for number in range(fields))
    with (
        answering(b"HTTP/1.1 204 No Content\r\n%b\r\n" % head) as (base, _),
        HttpDriver(base, Limits()) as driver,
    ):
        answer = driver.send(Request(method, "/"))
    assert isinstance(answer, kind)
    if isinstance(answer, NoAnswer):
        assert answer.reason == "the answer has more than 1,000 header fields"


@pytest.mark.parametrize(
    ("target", "line"),
    [("/a b?c=d e#f", b"HEAD /a%20b?c=d%20e HTTP/1.1"), ("/%zz?", b"HEAD /%zz? HTTP/1.1")],
)
def test_a_target_of_head_stays_in_its_line(target: str, line: bytes) -> None:
    """Spaces are escaped, and a fragment is left out; nothing else changes."""
    with answering(OK) as (base, seen), HttpDriver(base, Limits()) as driver:
        assert isinstance(driver.send(Request("HEAD", target)), Response)
    assert seen[0].partition(b"\r\n")[0] == line


def test_the_budget_of_requests_holds() -> None:
    """After the last request of the budget nothing is sent."""
    with answering(OK, OK, OK) as (base, seen), HttpDriver(base, Limits(requests=2)) as driver:
        kinds = [getattr(driver.send(Request("GET", "/")), "kind", "answer") for _ in range(4)]
    assert kinds == ["answer", "answer", "budget", "budget"]
    assert len(seen) == 2


def test_the_budget_of_seconds_holds() -> None:
    """When the time is up nothing is sent, and no wait is begun that would not end in time."""
    now = [0.0]
    with (
        answering(OK) as (base, seen),
        HttpDriver(base, Limits(seconds=5), clock=lambda: now[0], pause=lambda s: None) as driver,
    ):
        assert driver.pause(4)
        assert not driver.pause(6)
        now[0] = 5.0
        answer = driver.send(Request("GET", "/"))
    assert isinstance(answer, NoAnswer)
    assert answer.kind == "budget"
    assert seen == []


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "closed"),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "garbled"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "garbled"),
    ],
)
def test_a_line_that_is_not_an_answer_is_a_value(raw: bytes, kind: str) -> None:
    """A connection that closes, breaks off or speaks another protocol is a value, not an
    exception.
    """
    with answering(raw) as (base, _), HttpDriver(base, WRITES) as driver:
        answer = driver.send(Request("POST", "/", (), b"{}"))
    assert isinstance(answer, NoAnswer)
    assert answer.kind == kind
    assert answer.reason


def test_nobody_listening_is_a_value() -> None:
    """The reason of a refused connection names the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for method in ("GET", "HEAD"):
        with HttpDriver(f"http://127.0.0.1:{port}", WRITES) as driver:
            answer = driver.send(Request(method, "/"))
        assert isinstance(answer, NoAnswer)
        assert answer.kind == "refused"
        assert str(port) in answer.reason


def test_a_header_that_cannot_be_written_is_a_value() -> None:
    """A value with a line end never leaves, and is not blamed on the service."""
    with answering(OK) as (base, seen), HttpDriver(base, WRITES) as driver:
        answer = driver.send(Request("GET", "/", (("X", "a\r\nY: b"),)))
    assert isinstance(answer, NoAnswer)
    assert answer.kind == "unsendable"
    assert not any(seen)


def test_the_body_of_an_answer_to_head_is_seen() -> None:
    """A client library would hide it; the clause about it needs it."""
    with (
        answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc") as (base, _),
        HttpDriver(base, WRITES) as driver,
    ):
        answer = driver.send(Request("HEAD", "/x"))
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (404, b"abc")


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_content_ends_with_its_headers(status: int) -> None:
    """Its length is that of another answer (RFC 9110, 8.6), not of a body that still comes."""
    raw = f'HTTP/1.1 {status} No\r\nContent-Length: 189\r\nETag: "1"\r\n\r\n'.encode()
    with answering(raw) as (base, _), HttpDriver(base, WRITES) as driver:
        answer = driver.send(Request("GET", "/", (("If-None-Match", '"1"'),)))
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (status, b"")


def test_redirects_are_not_followed() -> None:
    """A redirect is an answer like any other."""
    with (
        answering(
            b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ) as (
            base,
            seen,
        ),
        HttpDriver(base, WRITES) as driver,
    ):
        answer = driver.send(Request("GET", "/a"))
    assert isinstance(answer, Response)
    assert answer.status == 302
    assert len(seen) == 1


def test_a_large_answer_is_cut() -> None:
    """No more of a body is kept than the limit."""
    size = BODY_LIMIT + 100_000
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % size + b"x" * size
    with answering(raw) as (base, _), HttpDriver(base, WRITES) as driver:
        answer = driver.send(Request("GET", "/"))
    assert isinstance(answer, Response)
    assert len(answer.body) == BODY_LIMIT


def test_no_answer_in_time_is_a_value() -> None:
    """A service that hangs costs a timeout, not the run."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with HttpDriver(base, WRITES, timeout=0.2) as driver:
            kinds = {
                getattr(driver.send(Request(method, "/")), "kind", "answer")
                for method in ("GET", "HEAD")
            }
    assert kinds == {"timeout"}


@pytest.mark.parametrize(("before", "kind"), [((OK,), "budget"), ((), "timeout")])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_wait_that_the_end_of_the_run_cuts_shows_nothing(
    before: tuple[bytes, ...], kind: str, method: str
) -> None:
    """A request that is sent just before the end of the run may have been answered as fast as
    others; a service that has answered nothing at all hangs.
    """
    with socket.create_server(("127.0.0.1", 0)) as silent, answering(*before) as (base, _):
        limits = Limits(requests=50, seconds=0.4, writes=True)
        with HttpDriver(base, limits) as driver:
            for _ in before:
                assert isinstance(driver.send(Request("GET", "/")), Response)
            driver.base = f"http://127.0.0.1:{silent.getsockname()[1]}"
            answer = driver.send(Request(method, "/"))
    assert isinstance(answer, NoAnswer)
    assert answer.kind == kind


@pytest.mark.parametrize("interim", [b"100 Continue", b"102 Processing", b"103 Early Hints"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_interim_answers_are_passed_over(interim: bytes, method: str) -> None:
    """The answer is the final one, whatever interim ones come before it."""
    raw = (b"HTTP/1.1 " + interim + b"\r\nLink: </a>; rel=preload\r\n\r\n") * 2
    raw += b"HTTP/1.1 404 Not Found\r\nX-A: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with answering(raw) as (base, _), HttpDriver(base, WRITES) as driver:
        answer = driver.send(Request(method, "/x"))
    assert isinstance(answer, Response), answer
    assert (answer.status, answer.body) == (404, b"")
    assert ("x-a", "1") in [(name.lower(), value) for name, value in answer.headers]


def test_a_stream_that_does_not_end_is_left() -> None:
    """The body of an endless stream is what arrives within a few seconds, and the run goes on."""
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    raw = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        + b"data: tick\n\n" * 50_000
    )
    with (
        answering(raw) as (base, _),
        HttpDriver(base, Limits(seconds=1_000), clock=clock) as driver,
    ):
        answer = driver.send(Request("GET", "/"))
    assert isinstance(answer, Response)
    assert answer.body.startswith(b"data: tick\n\n")
    assert len(answer.body) < 600_000
