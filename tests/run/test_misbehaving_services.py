"""Services that do not answer properly: the run ends in time, says what could not run, and
writes a whole report.
"""

import contextlib
import itertools
import json
import random
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from faultspec.language import read
from faultspec_conformance import reports
from faultspec_conformance.config import Identity, ServiceConfig
from faultspec_conformance.drivers.http import Limits
from faultspec_conformance.reports.reading import read_report as read_back
from faultspec_conformance.results.model import Report, exit_code
from faultspec_conformance.run import service
from faultspec_conformance.sanitize.masking import FIELDS, Masking
from faultspec_conformance.session.options import RunOptions, Unreachable

TAXONOMY = """
faultspec: 1
taxonomy: {name: chaos, version: 1.0.0, title: Chaos, owner: nobody}
domains: {request: What the caller can mend}
envelopes:
  error: {media_type: application/json, shape: {code: $code}, additional: forbid}
surfaces:
  api: {transport: http, match: {routes: ["/**"]}, error_when: {status: [4xx, 5xx]}, envelope: error, codes: closed}
codes:
  absent: {summary: Not there, domain: request, http: [400, 404, 405, 406], retriable: none, client_action: none, effect: none}
"""

DOCUMENT = json.dumps(
    {
        "openapi": "3.1.0",
        "info": {"title": "Chaos", "version": "1"},
        "paths": {
            f"/things{number}": {"get": {"responses": {"200": {"description": "said"}}}}
            for number in range(6)
        },
    }
).encode()

#: Seconds that a run has, and those that it may take beyond on a busy machine: judging what came
#: last, and the reports.
SECONDS, SLACK = 4.0, 60.0

#: So many requests are answered before the trouble begins: the document, and some probes.
SOUND = 4

Trouble = Callable[[socket.socket], None]


def plain(body: bytes, status: str = "404 Not Found", more: str = "") -> bytes:
    """An answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def hangs(connection: socket.socket) -> None:
    """Says nothing."""
    time.sleep(2 * SECONDS)


def resets(connection: socket.socket) -> None:
    """Hangs up as rudely as TCP allows."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def babbles(connection: socket.socket) -> None:
    """Random bytes."""
    connection.sendall(random.Random(time.monotonic()).randbytes(2_000))
    connection.close()


def drips_head(connection: socket.socket) -> None:
    """A header section, a byte at a time, and no end of it."""
    with contextlib.suppress(OSError):
        for byte in itertools.chain(b"HTTP/1.1 404 Not Found\r\nX-Long: ", itertools.repeat(65)):
            connection.sendall(bytes([byte]))
            time.sleep(0.1)


def drips_body(connection: socket.socket) -> None:
    """A body of a megabyte, a byte at a time."""
    with contextlib.suppress(OSError):
        connection.sendall(
            b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
        )
        while True:
            connection.sendall(b" ")
            time.sleep(0.1)


def floods(connection: socket.socket) -> None:
    """Ten megabytes of JSON."""
    connection.sendall(plain(b'{"code": "absent", "more": "' + b"x y=1 " * 1_747_000 + b'"}'))


def trickles(connection: socket.socket) -> None:
    """A body that breaks off."""
    connection.sendall(plain(b'{"code": "absent"}')[:-6])
    connection.close()


def bombs(connection: socket.socket) -> None:
    """Bodies whose headers claim gzip falsely, or that grow when decompressed."""
    connection.sendall(plain(b"no gzip", more="Content-Encoding: gzip\r\n"))


def circles(connection: socket.socket) -> None:
    """A redirect to itself."""
    connection.sendall(plain(b"", "302 Found", "Location: /things0\r\n"))


def heaps(connection: socket.socket) -> None:
    """Eight hundred header fields, and no body."""
    connection.sendall(
        plain(b"", more="".join(f"X-Heap-{number}: y{number}\r\n" for number in range(800)))
    )


TROUBLES: tuple[Trouble, ...] = (
    hangs,
    resets,
    babbles,
    drips_head,
    drips_body,
    floods,
    trickles,
    bombs,
    circles,
    heaps,
)


@contextmanager
def serving(trouble: Trouble | None, sound: int) -> Iterator[str]:
    """A service that makes trouble after so many requests, but on HEAD; with None it stops to
    listen, as a process that died.
    """
    asked = itertools.count()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                while head := self.head():
                    if next(asked) < sound or head.startswith(b"HEAD "):
                        refusal = plain(b'{"code": "absent"}', more="Allow: GET\r\n")
                        answer = (
                            plain(DOCUMENT, "200 OK")
                            if head.startswith(b"GET /openapi.json ")
                            else refusal
                        )
                        self.request.sendall(
                            answer[: answer.index(b"\r\n\r\n") + 4]
                            if head[:4] == b"HEAD"
                            else answer
                        )
                    elif trouble is None:
                        server.socket.close()
                        resets(self.request)
                        return
                    else:
                        trouble(self.request)

        def head(self) -> bytes:
            received = b""
            while b"\r\n\r\n" not in received:
                chunk = self.request.recv(65536)
                if not chunk:
                    return b""
                received += chunk
            return received

        def finish(self) -> None:
            """The socket may be closed already."""

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore the broken connections of clients that gave up."""

    server = Server(("127.0.0.1", 0), Handler)
    port = server.server_address[1]

    def serve() -> None:
        with contextlib.suppress(OSError, ValueError):
            server.serve_forever(0.05)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.shutdown()
        server.server_close()


def judged(trouble: Trouble | None, sound: int = SOUND) -> tuple[Report | Unreachable, float]:
    """The report of a run of probes, and how long it took with all formats written."""
    taxonomy = read(TAXONOMY, "chaos.yaml").taxonomy
    assert taxonomy is not None
    with serving(trouble, sound) as url:
        token = (("Authorization", "Bearer of-the-caller"),)
        caller = Identity("caller", token, secrets=(("of-the-caller", "${TOKEN}"),))
        limits = Limits(requests=100, seconds=SECONDS)
        target = ServiceConfig(
            http=url, openapi="/openapi.json", limits=limits, identities={"caller": caller}
        )
        began = time.monotonic()
        report = service.run(target, taxonomy, RunOptions(sweep=False))
        if isinstance(report, Report):
            for form in reports.FORMATS.values():
                form(report)
        return report, time.monotonic() - began


#: Those that cost no time, in every run of the tests; all of them in `make full`.
QUICK = (resets, babbles, trickles, bombs, circles)


@pytest.fixture(autouse=True)
def busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging what came last may take longer on a busy machine."""
    monkeypatch.setattr(service, "_CLOSING", SLACK)


@pytest.mark.full
@pytest.mark.parametrize(
    "trouble",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.full) for each in TROUBLES],
)
def test_the_run_ends_in_its_time_with_a_whole_report(trouble: Trouble) -> None:
    """A run ends in time with a readable report, whatever the service does. Clauses that were
    not reached are not passed.
    """
    report, seconds = judged(trouble)
    assert isinstance(report, Report)
    assert seconds < SECONDS + SLACK
    assert reports.json(read_back(reports.json(report))) == reports.json(report)
    verdicts = {address: each.verdict for address, each in report.result.clauses.items()}
    if trouble in (
        floods,
        circles,
        heaps,
    ):  # these are answers, which the judge has something to say of
        return
    assert verdicts["service/alive"] == "failed"
    assert exit_code(report.result) == 1
    if trouble in (hangs, drips_head, drips_body):
        assert verdicts["framework/method"] == "could_not_run"


@pytest.mark.full
def test_a_message_with_more_header_fields_than_anybody_reads_is_cut_off_and_says_so() -> None:
    """A report shows the first header fields of a message and the number of the others, in
    every exchange, masked.
    """
    report, _ = judged(heaps)
    assert isinstance(report, Report)
    shown = [
        each.response.headers for found in report.result.findings for each in found.finding.evidence
    ]
    long = [each for each in shown if len(each) > FIELDS]
    assert long
    assert {len(each) for each in long} == {FIELDS + 1}
    assert {each[-1] for each in long} == {("…", "702 more header fields, which are not shown")}


def test_header_fields_beyond_those_shown_hide_nothing_of_those_shown() -> None:
    """Secrets in the shown header fields are masked, however many fields there are."""
    secret = "s3cret-of-the-caller"
    hidden = Masking(((secret, "***"),))
    fields = tuple((f"X-{number}", secret) for number in range(3 * FIELDS))
    masked = hidden.headers(fields)
    assert [value for _, value in masked[:FIELDS]] == ["***"] * FIELDS
    assert secret not in str(masked)
    assert hidden.headers(fields[:FIELDS]) == masked[:FIELDS]


def test_a_service_that_dies_ends_the_run() -> None:
    """A run ends at once when the service has died, and unreached clauses could not run."""
    report, seconds = judged(None)
    assert isinstance(report, Report)
    assert seconds < SECONDS + SLACK
    assert report.result.clauses["service/alive"].verdict == "failed"
    assert report.result.clauses["framework/method"].verdict == "could_not_run"
    assert "nobody listens any more" in report.result.clauses["framework/method"].reason
    assert exit_code(report.result) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        each if each in QUICK else pytest.param(each, marks=pytest.mark.full)
        for each in TROUBLES
        if each is not hangs
    ],
)
def test_trouble_from_the_first_request_on(trouble: Trouble) -> None:
    """The first answer is none already: the service failed, or nothing can be judged, and never is
    the run clean.
    """
    report, seconds = judged(trouble, sound=0)
    assert seconds < SECONDS + SLACK
    assert isinstance(report, Unreachable) or exit_code(report.result) == 1
