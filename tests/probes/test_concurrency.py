"""Laws of what is sent at the same time: it arrives as one, it counts, and a service that writes
once, or answers that it is busy, gets no finding.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from faultspec import language
from faultspec.exchange.model import Request, Response
from faultspec.language.model import Taxonomy
from faultspec_conformance.config import read_config
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.results.model import Report, Result, exit_code
from faultspec_conformance.run.service import run
from faultspec_conformance.session.options import RunOptions
from miniatures.core_platform import ENVIRONMENT, make_app, uuid7
from miniatures.serve import serving

# the driver


class Meeting(ThreadingHTTPServer):
    """Answers once three bodies are there whole, or 500 after a second; ``bodies`` are those that
    came.
    """

    daemon_threads = True

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.barrier = threading.Barrier(3)
        super().__init__(("127.0.0.1", 0), Guest)


class Guest(BaseHTTPRequestHandler):
    """Waits for the others."""

    protocol_version = "HTTP/1.1"
    server: Meeting

    def do_POST(self) -> None:
        """Read the body, then wait."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        try:
            self.server.barrier.wait(1)
        except threading.BrokenBarrierError:
            self.send_response(500)
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def meeting() -> Iterator[tuple[Meeting, str]]:
    """The server on a free port of this machine."""
    server = Meeting()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def posts(*bodies: str) -> list[Request]:
    """A request for each body."""
    return [Request("POST", "/", (("X-Of", each),), each.encode()) for each in bodies]


def test_what_is_sent_together_is_under_way_together() -> None:
    """All are there before any is answered, each counts, and the answers stand in the order of the
    requests.
    """
    with meeting() as (server, url), HttpDriver(url, Limits(writes=True)) as driver:
        answers = driver.send_together(posts("a", "bc", "def"))
        assert [each.body for each in answers if isinstance(each, Response)] == [
            b"a",
            b"bc",
            b"def",
        ]
        assert [each.status for each in answers if isinstance(each, Response)] == [200, 200, 200]
        assert driver.requests == 3
        assert sorted(server.bodies) == [b"a", b"bc", b"def"]


@pytest.mark.parametrize(
    ("limits", "sent"),
    [(Limits(requests=2, writes=True), 2), (Limits(), 0), (Limits(seconds=0, writes=True), 0)],
)
def test_what_is_sent_together_keeps_the_budgets(limits: Limits, sent: int) -> None:
    """Requests that the budgets forbid are not sent, and the others do not wait for them."""
    with meeting() as (server, url), HttpDriver(url, limits) as driver:
        answers = driver.send_together(posts("a", "b", "c"))
        assert sum(isinstance(each, NoAnswer) and not each.sent for each in answers) == 3 - sent
        assert len(server.bodies) == driver.requests == sent


def test_a_listening_service_gets_no_finding_for_each_request() -> None:
    """Every request has its own missing answer."""
    with meeting() as (_, url):
        pass
    with HttpDriver(url, Limits(writes=True)) as driver:
        answers = driver.send_together(posts("a", "b"))
        assert [each.kind for each in answers if isinstance(each, NoAnswer)] == [
            "refused",
            "refused",
        ]


# the clause


def busy(app: ASGIApp, status: int, code: str | None) -> ASGIApp:
    """A service that takes a moment to write, and answers so to a request with the same key
    meanwhile.
    """
    under_way: set[bytes] = set()

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        key = dict(scope.get("headers", ())).get(b"idempotency-key")
        if scope["type"] != "http" or scope["path"] != "/notebooks" or key is None:
            await app(scope, receive, send)
        elif key in under_way:
            sent = dict(scope["headers"]).get(b"x-correlation-id", uuid7(0).encode()).decode()
            body: dict[str, Any] = {"status": "accepted"}
            if code is not None:
                body = {"code": code, "message": "It is being written", "correlation_id": sent}
            content = json.dumps(body).encode()
            headers = {
                "content-type": "application/json",
                "cache-control": "no-store",
                "x-correlation-id": sent,
            }
            headers |= {"retry-after": "1", "content-length": str(len(content))}
            raw = [(name.encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": status, "headers": raw})
            await send({"type": "http.response.body", "body": content})
        else:
            under_way.add(key)
            await asyncio.sleep(0.1)
            await app(scope, receive, send)
            under_way.discard(key)

    return wrapped


@cache
def taxonomy() -> Taxonomy:
    """The flagship, which the notebooks keep."""
    loaded = language.load("taxonomy.yaml")
    assert loaded.taxonomy is not None
    return loaded.taxonomy


def judged(app: ASGIApp, **limits: Any) -> Result:
    """The clauses of idempotency, asked of a service."""
    with serving(app) as url:
        loaded = read_config("tests/miniatures/notebooks.yaml", {**ENVIRONMENT, "BASE_URL": url})
        assert loaded.target is not None, loaded.diagnostics
        target = replace(loaded.target, limits=replace(loaded.target.limits, **limits))
        report = run(target, taxonomy(), RunOptions(sweep=False, only="idempotency/*"))
    assert isinstance(report, Report)
    return report.result


@pytest.mark.parametrize(
    ("status", "code"),
    [(409, "conflict"), (429, "rate_limited"), (503, "dependency_unavailable"), (202, None)],
)
def test_a_busy_service_may_refuse(status: int, code: str | None) -> None:
    """A request that arrives while the first is written may get a refusal or 202, as long as one
    thing is created.
    """
    result = judged(busy(make_app(), status, code))
    assert [
        each.finding.message
        for each in result.findings
        if each.finding.clause.startswith("idempotency/")
    ] == []
    assert result.clauses["idempotency/concurrent"].verdict == "passed"
    assert result.clauses["idempotency/replay"].verdict == "passed"


def test_a_crash_proves_nothing() -> None:
    """A service that fails the other requests does not show how often it wrote."""
    result = judged(busy(make_app(), 500, "internal_error"))
    assert result.findings == ()
    reasons = result.clauses["idempotency/concurrent"].not_exercised
    assert any("answered 500 internal_error" in reason for reason in reasons)


def test_a_second_resource_is_proof() -> None:
    """A key that is looked up too early is found, and what was found is never called flaky."""
    result = judged(make_app(frozenset({"key-looked-up-long-before"})))
    assert {each.finding.clause for each in result.findings} == {"idempotency/concurrent"}
    assert "created 3 of `notebook`; expected one" in result.findings[0].finding.message
    assert not any(each.flaky for each in result.findings)
    assert exit_code(result) == 1


def test_where_the_rate_is_limited_nothing_is_sent_at_once() -> None:
    """A rate leaves no two requests at the same time, so the clause has no occasion; the others
    have.
    """
    result = judged(make_app(frozenset({"key-looked-up-long-before"})), rate=60.0)
    assert result.findings == ()
    assert result.clauses["idempotency/concurrent"].verdict == "not_exercised"
    assert result.clauses["idempotency/replay"].verdict == "passed"


def test_where_nothing_may_be_written_nothing_is() -> None:
    """Without leave to write the clause is not exercised."""
    result = judged(make_app(), writes=False)
    assert result.clauses["idempotency/concurrent"].verdict == "not_exercised"
