"""Exchanges of an application or a client under test are judged, and they are not changed."""

import asyncio
import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from importlib import metadata
from typing import Any

import httpx
import pytest
import requests
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from faultspec.exchange.model import Exchange
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.observed.broken_answers import BrokenAnswers
from faultspec_conformance.observed.middleware import Watching, watch
from faultspec_conformance.orders.demo import service
from paths import ROOT

TAXONOMY = ROOT / "taxonomy.yaml"

#: Where the distribution is installed with its entry point, pytest has the plugin already.
INSTALLED = any(
    each.value == "faultspec_conformance.observed.pytest_plugin"
    for each in metadata.entry_points(group="pytest11")
)
PLUGIN = () if INSTALLED else ("-p", "faultspec_conformance.observed.pytest_plugin")

pytest_plugins = ("pytester",)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Silence the log of the service."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


TESTS = """
import asyncio
import httpx
import pytest
from starlette.testclient import TestClient
from faultspec_conformance.orders.demo import service

@pytest.mark.parametrize("sin", [None, "leaks-stack-trace"])
def test_price(faultspec, sin):
    client = TestClient(faultspec.app(service(sin)))
    answer = client.get("/prices/tea", headers={"Authorization": "Bearer demo-alice", "X-Fault": "internal_error"})
    assert answer.status_code == 500

def test_client(faultspec):
    client = faultspec.client(TestClient(service("leaks-stack-trace")))
    assert client.get("/nothing").status_code == 404

def test_asynchronous(faultspec):
    async def ask():
        transport = httpx.ASGITransport(faultspec.app(service("leaks-stack-trace")))
        async with httpx.AsyncClient(transport=transport, base_url="http://orders.test") as client:
            headers = {"Authorization": "Bearer demo-alice", "X-Fault": "internal_error"}
            return await client.get("/prices/tea", headers=headers)
    assert asyncio.run(ask()).status_code == 500

def test_unwatched():
    assert TestClient(service("leaks-stack-trace")).get("/nothing").status_code == 404
"""


def test_a_test_fails_with_what_its_service_broke(pytester: pytest.Pytester) -> None:
    """Only tests whose traffic breaks the contract fail, with the clause, the exchange and a
    command line.
    """
    pytester.makepyfile(TESTS)
    path = pytester.path / "report.json"
    done = pytester.runpytest_inprocess(
        *PLUGIN, f"--faultspec={TAXONOMY}", f"--faultspec-report=json={path}"
    )
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines(
        [
            "*leaks/stack-trace*",
            "*Python traceback*",
            "4 exchanges judged by platform*: 2 findings, 0 known;*",
        ]
    )
    assert "demo-alice" not in done.stdout.str().partition("FAILURES")[2].replace(
        'Bearer demo-alice"', ""
    )
    report = json.loads(path.read_text())
    assert [(each["clause"], each["count"]) for each in report["findings"]] == [
        ("leaks/stack-trace", 2),
        ("service/no-crash", 3),
    ]
    assert report["summary"]["requests"] == 4


def test_findings_may_only_be_reported(pytester: pytest.Pytester) -> None:
    """In the mode `report` no test fails, and the summary of the session lists the findings."""
    pytester.makepyfile(TESTS)
    pytester.makeini(f"[pytest]\nfaultspec_taxonomy = {TAXONOMY}\nfaultspec_mode = report\n")
    done = pytester.runpytest_inprocess(*PLUGIN)
    done.assert_outcomes(passed=5)
    done.stdout.fnmatch_lines(["error: leaks/stack-trace*(2 times)", "*2 findings, 0 known*"])


FROZEN = """
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

ID = "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T"

def lost(request):
    body = {"code": "not_found", "message": "There is none", "correlation_id": ID, "details": {"retryable": False}}
    return JSONResponse(body, 404, headers={"X-Correlation-Id": ID, "Cache-Control": "no-store"})

def ask(faultspec, times):
    client = TestClient(faultspec.app(Starlette(routes=[Route("/things/{id}", lost)])))
    for number in range(times):
        client.get(f"/things/{number}")

def test_one(faultspec):
    ask(faultspec, 1)

def test_another(faultspec):
    ask(faultspec, 1)

def test_twice(faultspec):
    ask(faultspec, 2)
"""


def test_crashes_of_passed_tests_are_shown_at_the_end(pytester: pytest.Pytester) -> None:
    """They are warnings, for a test may bring them about."""
    pytester.makepyfile(
        """
        from flask import Flask

        app = Flask(__name__)

        @app.get("/boom")
        def boom():
            raise RuntimeError("x")

        def test_crash():
            assert app.test_client().get("/boom").status_code == 500
        """
    )
    outcome = pytester.runpytest_subprocess("--faultspec-watch")
    outcome.assert_outcomes(passed=1)
    outcome.stdout.fnmatch_lines(["warnings, which fail no test:", "warning: service/no-crash*"])


def test_a_crash_in_a_test_may_be_of_any_operation(pytester: pytest.Pytester) -> None:
    """Operations do not list the code of crashes. A test that brings one about does not fail for
    it; another mistake of the same answer fails it.
    """
    pytester.makepyfile(
        """
        import pytest
        from flask import Flask

        app = Flask(__name__)

        @app.get("/pets")
        def pets():
            return {"code": "internal_error", "message": "It failed"}, 500

        @app.get("/boom")
        def boom():
            return {"code": "internal_error", "text": "It failed"}, 500

        @pytest.mark.parametrize("path", ["/pets", "/boom"])
        def test_crash(path):
            assert app.test_client().get(path).status_code == 500
        """
    )
    (pytester.path / "taxonomy.yaml").write_text(
        """
faultspec: 1
taxonomy: {name: pets, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces: {api: {transport: http, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}}
fallback: {5xx: {code: internal_error, reason: Crashes.}}
operations: {pets: {match: {routes: [GET /pets]}, codes: [absent]}}
codes:
  absent: {summary: It is absent., http: 404, retriable: false}
  internal_error: {summary: It failed., http: 500, retriable: false}
"""
    )
    outcome = pytester.runpytest_subprocess("--faultspec-watch", "--faultspec", "taxonomy.yaml")
    outcome.assert_outcomes(passed=1, failed=1)
    outcome.stdout.fnmatch_lines(["*envelope/shape*"])
    outcome.stdout.no_fnmatch_line("*code/operation*")


def test_each_test_has_ids_of_its_own(pytester: pytest.Pytester) -> None:
    """Equal ids of different tests are not compared; equal ids within one test fail it."""
    pytester.makepyfile(FROZEN)
    found = pytester.runpytest_subprocess(
        *PLUGIN, "--faultspec", str(TAXONOMY), "-p", "no:cacheprovider"
    )
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(["*correlation/unique*"])


def test_a_known_failure_fails_no_test_until_it_expires(pytester: pytest.Pytester) -> None:
    """A waiver covers a finding; one that has expired covers nothing."""
    pytester.makepyfile(TESTS)
    pytester.makeini(
        f"[pytest]\nfaultspec_taxonomy = {TAXONOMY}\nfaultspec_waivers = waivers.yaml\n"
    )
    waiver = pytester.path / "waivers.yaml"
    waiver.write_text("- {clause: leaks/*, reason: known, owner: us, expires: 2999-01-01}\n")
    done = pytester.runpytest_inprocess(*PLUGIN)
    done.assert_outcomes(passed=5)
    done.stdout.fnmatch_lines(["*0 findings, 2 known*"])
    waiver.write_text("- {clause: leaks/*, reason: known, owner: us, expires: 2020-01-01}\n")
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=3, failed=2)


@pytest.mark.full
def test_workers_send_what_they_saw(pytester: pytest.Pytester) -> None:
    """With pytest-xdist the report is of all workers together."""
    pytest.importorskip("xdist")
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_subprocess(*PLUGIN, "-n2", f"--faultspec={TAXONOMY}")
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines(["4 exchanges judged by platform*: 2 findings, 0 known;*"])


@pytest.mark.full
def test_a_waiver_that_one_worker_needs_is_needed(pytester: pytest.Pytester) -> None:
    """Whether a waiver is unused is decided by all workers together."""
    pytest.importorskip("xdist")
    pytester.makepyfile(TESTS)
    pytester.makeini(
        f"[pytest]\nfaultspec_taxonomy = {TAXONOMY}\nfaultspec_waivers = waivers.yaml\n"
    )
    waivers = pytester.path / "waivers.yaml"
    waivers.write_text(
        "- {clause: leaks/stack-trace, reason: known, owner: us, expires: 2999-01-01}\n"
    )
    done = pytester.runpytest_subprocess(*PLUGIN, "-n2", "-k", "test_price")
    done.stdout.no_fnmatch_line("*not needed*")
    waivers.write_text("- {clause: leaks/sql, reason: known, owner: us, expires: 2999-01-01}\n")
    done = pytester.runpytest_subprocess(*PLUGIN, "-n2")
    done.stdout.fnmatch_lines(["the waiver leaks/sql is no longer needed*"])


def test_without_the_fixture_nothing_of_ours_is_loaded(pytester: pytest.Pytester) -> None:
    """Tests without the fixture load one small module and print nothing."""
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            ours = {name for name in sys.modules if name.startswith("faultspec")}
            assert ours == {"faultspec_conformance", "faultspec_conformance.observed", "faultspec_conformance.observed.pytest_plugin"}
        """
    )
    done = pytester.runpytest_subprocess(*PLUGIN)
    done.assert_outcomes(passed=1)
    assert "exchanges judged" not in done.stdout.str()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "needs a taxonomy"),
        (("--faultspec=nowhere.yaml",), "nowhere.yaml"),
        ((f"--faultspec={TAXONOMY}", "--faultspec-report=xml=x"), "FORMAT=FILE"),
    ],
)
def test_missing_coverage_is_reported(
    pytester: pytest.Pytester, options: tuple[str, ...], line: str
) -> None:
    """A test that uses the fixture without a taxonomy fails with a hint, and without a
    traceback of ours.
    """
    pytester.makepyfile("def test_one(faultspec): pass")
    done = pytester.runpytest_inprocess(*PLUGIN, *options)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([f"*{line}*"])
    assert "Traceback" not in done.stdout.str()


# The middleware


async def order(request: Request) -> JSONResponse:
    """One order."""
    return JSONResponse(
        {"id": request.path_params["id"], "sent": (await request.body()).decode()},
        headers={"X-Own": "1"},
    )


async def stream(request: Request) -> StreamingResponse:
    """Many pieces."""
    return StreamingResponse(iter([b"a" * 1000] * 20))


async def large(request: Request) -> StreamingResponse:
    """More than is kept."""
    return StreamingResponse(iter([b"a" * 1024 * 1024] * 6))


APP = Starlette(
    routes=[
        Route("/orders/{id}", order, methods=["GET", "POST"]),
        Route("/stream", stream),
        Route("/large", large),
    ]
)


def test_the_application_is_not_changed() -> None:
    """Answers pass unchanged, byte for byte, and are recorded as sent. Downloads are not held
    in memory.
    """
    seen: list[Exchange] = []
    plain, watched = TestClient(APP), TestClient(Watching(APP, seen.append))
    for method, path, body in (
        ("GET", "/orders/a%2Fb?x=1", ""),
        ("POST", "/orders/1", "hello"),
        ("GET", "/stream", ""),
        ("GET", "/nothing", ""),
    ):
        one, two = (client.request(method, path, content=body) for client in (plain, watched))
        assert (one.status_code, one.content, one.headers) == (
            two.status_code,
            two.content,
            two.headers,
        )
        last = seen[-1]
        assert (last.request.method, last.request.target, last.request.body) == (
            method,
            path,
            body.encode(),
        )
        assert (last.response.status, last.response.body) == (two.status_code, two.content)
        assert last.response_header("content-type") == two.headers.get("content-type")
    assert len(watched.get("/large").content) == 6 * 1024 * 1024
    assert seen[-1].response.body == b""
    assert "body" in seen[-1].lacks


def test_an_application_that_raises_is_left_alone() -> None:
    """An exception goes on as it was, with no exchange made of it."""
    seen: list[Exchange] = []

    async def failing(scope: object, receive: object, send: object) -> None:
        raise RuntimeError("cursor closed")

    with pytest.raises(RuntimeError, match="cursor closed"):
        TestClient(Watching(failing, seen.append)).get("/")
    assert seen == []
    with TestClient(Watching(APP, seen.append)):  # lifespan is none of our business
        assert seen == []


async def break_off(scope: Any, receive: Any, send: Any) -> None:
    """An application that does to its answer what the path says: `raise-200-4` raises after the
    beginning of an answer and four bytes.
    """
    how, status, sent = scope["path"].strip("/").split("-")
    fields = [(b"content-type", b"application/json")]
    if status != "none":
        await send({"type": "http.response.start", "status": int(status), "headers": fields})
    if sent != "none":
        more = how != "late"
        await send({"type": "http.response.body", "body": b"x" * int(sent), "more_body": more})
    if how == "left":
        await receive()
        assert (await receive())["type"] == "http.disconnect"
    if how in ("raise", "late"):
        raise RuntimeError("cursor closed")


@pytest.mark.parametrize(
    ("path", "trigger"),
    [
        ("raise-none-none", "the application raises RuntimeError"),
        ("raise-200-none", "the application raises RuntimeError, and its answer of 200 had begun"),
        ("raise-404-4", "the application raises RuntimeError, and its answer of 404 had begun"),
        ("return-none-none", "the application returns too early"),
        ("return-200-4", "the application returns too early, and its answer of 200 had begun"),
        ("late-200-4", None),
        ("left-200-4", None),
    ],
)
def test_an_answer_without_an_end_is_a_crash(path: str, trigger: str | None) -> None:
    """It is seen once, as the server error that it is to a client; an exception goes on. After the
    whole answer, or when the client has left, nothing is.
    """
    seen: list[Exchange] = []
    scope = {"type": "http", "method": "GET", "path": f"/{path}", "headers": []}
    received = [{"type": "http.request"}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return received.pop(0)

    async def send(message: Any) -> None:
        """Take it."""

    with pytest.raises(RuntimeError) if "ai" in path or "late" in path else nullcontext():
        asyncio.run(BrokenAnswers(break_off, seen.append)(scope, receive, send))
    assert [(each.response.status, each.trigger) for each in seen] == (
        [(500, trigger)] if trigger is not None else []
    )


def test_a_test_fails_for_an_application_that_raises(pytester: pytest.Pytester) -> None:
    """Also if its client turns exceptions into answers, or the answer has begun."""
    pytester.makepyfile(
        """
        import pytest
        from starlette.testclient import TestClient
        from observed.test_pytest_plugin import break_off

        @pytest.mark.parametrize("path", ["raise-none-none", "raise-200-4", "return-none-none"])
        def test_watched(faultspec, path):
            client = TestClient(faultspec.app(break_off), raise_server_exceptions=False)
            try:
                client.get(path)
            except AssertionError:
                pass
        """
    )
    done = pytester.runpytest_inprocess(*PLUGIN, f"--faultspec={TAXONOMY}")
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(["*sent: the application raises RuntimeError*"])


def test_a_file_that_the_server_sends_is_an_answer() -> None:
    """It is seen with the reason why its body is missing. Its fields may be any bytes."""
    seen: list[Exchange] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        fields = [(bytearray(b"x-id"), memoryview(b"7"))]
        await send({"type": "http.response.start", "status": 500, "headers": fields})
        await send({"type": "http.response.pathsend", "path": "/srv/error.json"})

    async def send(message: Any) -> None:
        """Take it."""

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(BrokenAnswers(Watching(app, seen.append), seen.append)(scope, send, send))
    assert [(each.response.status, each.response.cut) for each in seen] == [
        (500, "is a file that the server sends")
    ]
    assert seen[0].response.headers == (("x-id", "7"),)


def test_clients_are_listened_to() -> None:
    """Exchanges of httpx clients, synchronous or not, and of requests sessions are recorded."""
    seen: list[Exchange] = []
    with serving(service(None)) as url:
        with httpx.Client() as client:
            watch(client, seen.append)
            client.post(f"{url}/nothing", content=b"{}")
        session = requests.Session()
        watch(session, seen.append)
        session.post(f"{url}/nothing", data=b"{}")

        async def ask() -> None:
            async with httpx.AsyncClient() as other:
                watch(other, seen.append)
                await other.post(f"{url}/nothing", content=b"{}")

        asyncio.run(ask())
        targets = {f"{url}/nothing"}
    assert {(each.request.method, each.request.body, each.response.status) for each in seen} == {
        ("POST", b"{}", 404)
    }
    assert {each.request.target for each in seen} == targets
    assert all(json.loads(each.response.body)["code"] == "not_found" for each in seen)
    assert len(seen) == 3
    with pytest.raises(TypeError, match="neither"):
        watch(object(), seen.append)


@pytest.mark.parametrize("kind", ["httpx", "requests"])
def test_a_client_may_stream_an_endless_answer(kind: str) -> None:
    """A test that reads the beginning of an answer without end gets it, and the exchange is seen
    without its body.
    """
    seen: list[Exchange] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")
            for _ in range(200):  # ten seconds, so that a hook that reads them is late
                connection.sendall(b"data: x\n\n")
                time.sleep(0.05)

    threading.Thread(target=serve, daemon=True).start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    began = time.monotonic()
    if kind == "httpx":
        with httpx.Client(trust_env=False) as client:
            watch(client, seen.append)
            with client.stream("GET", url) as answer:
                line = next(answer.iter_lines())
    else:
        session = requests.Session()
        watch(session, seen.append)
        with session.get(url, stream=True) as streamed:
            line = next(streamed.iter_lines(chunk_size=1, decode_unicode=True))
    server.close()
    assert line in ("data: x", b"data: x")
    assert time.monotonic() - began < 5
    assert [each.response.status for each in seen] == [404]
    assert "body" in seen[0].lacks


def test_a_compressed_answer_is_seen_without_its_coding() -> None:
    """An answer is seen with its content, whatever its coding."""
    seen: list[Exchange] = []

    def answer(request: httpx.Request) -> httpx.Response:
        packed = httpx.ByteStream(gzip.compress(b'{"code": "x"}'))
        return httpx.Response(404, headers={"Content-Encoding": "gzip"}, stream=packed)

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        watch(client, seen.append)
        assert client.get("http://service/").json() == {"code": "x"}
    assert [each.response.body for each in seen] == [b'{"code": "x"}']


def test_a_client_sees_why_the_body_of_an_answer_is_missing() -> None:
    """A body beyond the limit, or in a coding that nobody reads, has its reason: else nobody
    would know that an error was not judged.
    """
    seen: list[Exchange] = []
    bodies = {"foreign": b"{}", "identity": bytes(5 * 1024 * 1024)}

    def answer(request: httpx.Request) -> httpx.Response:
        coding = request.url.path[1:]
        body = httpx.ByteStream(bodies[coding])
        return httpx.Response(500, headers={"Content-Encoding": coding}, stream=body)

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        watch(client, seen.append)
        for coding in bodies:
            client.get(f"http://service/{coding}")
    assert all(each.response.cut and "body" in each.lacks for each in seen)
    assert len(seen) == 2


def test_header_fields_may_come_from_an_iterator() -> None:
    """The fields of an answer are an iterable (ASGI): the server gets them, and so do we."""
    seen: list[Exchange] = []

    async def app(scope: object, receive: object, send: Any) -> None:
        fields = (field for field in [(b"content-type", b"text/plain")])
        await send({"type": "http.response.start", "status": 404, "headers": fields})
        await send({"type": "http.response.body", "body": b"no"})

    answer = TestClient(Watching(app, seen.append)).get("/")
    assert answer.headers["content-type"] == "text/plain"
    assert [each.response.headers for each in seen] == [(("content-type", "text/plain"),)]
