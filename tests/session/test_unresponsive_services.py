"""Services that one request is too much for: their ways to fail are distinguished, and the request
is named.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faultspec.exchange.model import Request, Response
from faultspec.language import read
from faultspec_conformance.config import ConfiguredCall, Identity, ResourceConfig, ServiceConfig
from faultspec_conformance.drivers import Limits, NoAnswer
from faultspec_conformance.drivers.http import HttpDriver
from faultspec_conformance.reports import FORMATS
from faultspec_conformance.results.model import Report, ReportedFinding, exit_code
from faultspec_conformance.run.service import judge_http
from faultspec_conformance.session.options import RunOptions

TAXONOMY = """
faultspec: 1
taxonomy: {name: tickets, version: 1.0.0, title: Tickets, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [400, 404, 405, 415], retriable: none, client_action: none, effect: none}
  taken: {summary: There is one, domain: request, http: 409, retriable: none, client_action: none, effect: none}
idempotency: {key: Idempotency-Key, methods: [POST], replay: {equal: [status, body]}}
"""

SERVICE = """
import json, os, socket, struct, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE = sys.argv[1]

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fatal = self.command == "POST" and self.path == "/tickets"
        self.server.stalled |= fatal and MODE == "stalls"
        if self.server.stalled:
            time.sleep(30)
            return
        if fatal and MODE == "dies":
            os._exit(1)
        if fatal and MODE == "resets":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if fatal and MODE == "hangs":
            time.sleep(30)
            return
        if fatal and MODE == "babbles":
            self.connection.sendall(b"Segmentation fault (core dumped)\\n")
            self.close_connection = True
            return
        known = self.path.partition("?")[0] in ("/tickets", "/openapi.json")
        status = 200 if known and self.command in ("GET", "POST") else 404
        body = open(sys.argv[2], "rb").read() if self.path == "/openapi.json" else b"[]" if status == 200 else b'{"code": "absent"}'
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if fatal and MODE == "answers and dies":
            self.wfile.flush()
            os._exit(1)

    do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = do_TRACE = answer

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.stalled = False
print(server.server_port, flush=True)
server.serve_forever()
"""

BODY = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Tickets", "version": "1"},
    "paths": {
        "/tickets": {
            "get": {"responses": {"200": {"description": "listed"}}},
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": BODY}},
                },
                "responses": {"200": {"description": "made"}},
            },
        }
    },
}


@contextmanager
def service(mode: str, tmp_path: Path) -> Iterator[str]:
    """A service in a process of its own, which may end."""
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    command = [sys.executable, "-c", SERVICE, mode, str(tmp_path / "openapi.json")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


Judge = Callable[..., Report]


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """Judge the service in one of its modes, with little patience for one that does not answer."""
    taxonomy = read(TAXONOMY, "tickets.yaml").taxonomy
    assert taxonomy is not None

    def judge(mode: str, driver: type[HttpDriver] = HttpDriver) -> Report:
        with service(mode, tmp_path) as url:
            create = ConfiguredCall("POST", "/tickets", body={"title": "One"})
            target = ServiceConfig(
                http=url,
                openapi="/openapi.json",
                identities={
                    "ben": Identity(
                        "ben",
                        (("Authorization", "Bearer bens-own-token"),),
                    )
                },
                resources={"ticket": ResourceConfig("ticket", create=create)},
                limits=Limits(writes=True),
            )
            report = judge_http(
                target,
                taxonomy,
                RunOptions(sweep=False),
                {},
                connect=partial(driver, timeout=1 if mode in ("hangs", "stalls") else 15),
            )
        assert isinstance(report, Report)
        return report

    return judge


def losses(report: Report) -> list[ReportedFinding]:
    """The findings about the service as a whole."""
    return [each for each in report.result.findings if each.finding.clause == "service/alive"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("dies", "ended on this request"),
        ("answers and dies", "nobody listens any more"),
        ("resets", "still there"),
        ("babbles", "still there"),
        ("hangs", "hangs"),
    ],
)
def test_the_request_that_was_too_much_is_named(judged: Judge, mode: str, words: str) -> None:
    """A failure of `service/alive` says what became of the service, and has the request and a
    command line, masked.
    """
    report = judged(mode)
    first = losses(report)[0]
    assert first.level == "error"
    assert words in first.finding.message
    asked = [(each.request.method, each.request.target) for each in first.finding.evidence]
    # The end of a service just after its answer shows at the next request, or on this one.
    assert asked[-1] == ("POST", "/tickets") or (
        mode == "answers and dies" and asked[-2] == ("POST", "/tickets")
    )
    assert report.result.clauses["service/alive"].verdict == "failed"
    assert exit_code(report.result) == 1
    for name, form in FORMATS.items():
        shown = form(report)
        assert "service/alive" in shown
        assert "bens-own-token" not in shown, name
    assert "curl -sS -i -X POST" in FORMATS["json"](report)


@pytest.mark.parametrize("mode", ["dies", "answers and dies"])
def test_after_the_end_nothing_else_is_judged(judged: Judge, mode: str) -> None:
    """Clauses that were not reached could not run, for that reason; without a service, none has
    failed or passed.
    """
    report = judged(mode)
    assert [each.finding.clause for each in report.result.findings if each.level == "error"] == [
        "service/alive"
    ]
    unreached = report.result.clauses["framework/malformed-json"]
    assert unreached.verdict == "could_not_run"
    assert "nobody listens any more since" in unreached.reason
    assert not [each for each in report.result.clauses.values() if each.verdict == "not_exercised"]
    assert report.result.clauses["framework/unknown-route"].verdict == "passed", (
        "what was seen before stands"
    )


@pytest.mark.parametrize("mode", ["resets", "babbles"])
def test_one_request_that_gets_no_answer_ends_nothing(judged: Judge, mode: str) -> None:
    """While the service lives the other requests are sent and judged."""
    report = judged(mode)
    assert report.result.clauses["framework/method"].verdict == "passed"
    assert {each.finding.operation for each in losses(report)} == {"POST /tickets"}


def test_a_service_that_hangs_is_left_in_peace(judged: Judge) -> None:
    """After three requests in a row without an answer in time, no more are sent.

    Each would cost the whole patience of the run.
    """
    answers: list[Response | NoAnswer] = []

    class ListeningDriver(HttpDriver):
        """A driver that keeps the answer of every request that it sends."""

        def transmit(self, request: Request, body: Any = None) -> Response | NoAnswer:
            answers.append(super().transmit(request, body))
            return answers[-1]

    report = judged("stalls", ListeningDriver)
    late = [isinstance(item, NoAnswer) and item.kind == "timeout" for item in answers]
    assert late[late.index(True) :] == [True] * 3
    assert "hangs since" in report.result.clauses["framework/malformed-json"].reason
    assert losses(report)


def test_a_service_that_answers_has_no_loss(judged: Judge) -> None:
    """A service that answers everything has no finding of its life."""
    report = judged("answers")
    assert losses(report) == []
    assert report.result.clauses["service/alive"].verdict == "passed"
