"""`faultspec lint --links`: dead links are found, and time and number are bounded."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from faultspec_conformance.drivers import links
from faultspec_conformance.drivers.links import find_dead_links
from support.command_line import faultspec

#: Bytes that fit into no buffer of sockets on loopback.
_LEAST = 64 * 1024 * 1024


class _Pages(BaseHTTPRequestHandler):
    """Pages: `/ok`, `/login` (401), `/moved` (to /ok), `/round` (to itself), `/get` (no HEAD),
    `/slow` (after 20 s); nothing else."""

    asked: list[str]

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.asked.append(f"{self.command} {self.path}")
        if self.path == "/slow":
            time.sleep(20)
        plain = {"/ok": 200, "/login": 401, "/moved": 302, "/round": 302, "/slow": 200}
        status = plain.get(self.path, 404)
        if self.path == "/get":
            status = 200 if self.command == "GET" else 405
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/ok" if self.path == "/moved" else "/round")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def site() -> Iterator[tuple[str, list[str]]]:
    """The address of a server with pages, and the requests that it got."""
    asked: list[str] = []
    handler = type("Pages", (_Pages,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


TAXONOMY = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
domains:
  orders: {summary: Orders., defaults: {runbook: SITE/gone}}
envelopes: {error: {shape: {code: $code, message: $message}}}
codes:
  missing: {summary: It is missing., http: 404, domain: orders, docs: SITE/ok}
  broken:
    summary: It broke.
    http: 500
    docs: SITE/nowhere
"""


def linted(folder: Path, site: str, *options: str) -> tuple[int, list[tuple[str, int, str]]]:
    """The exit code and the findings about links: code, line, message."""
    (folder / "taxonomy.yaml").write_text(TAXONOMY.replace("SITE", site))
    done = faultspec("lint", *options, "--format", "json", cwd=folder)
    found = json.loads(done.stdout)
    rows = found["diagnostics"] if isinstance(found, dict) else found
    return done.returncode, [
        (
            row["code"],
            row["span"]["line"],
            row["message"],
        )
        for row in rows
        if row["code"].endswith("-link")
    ]


def test_a_dead_link_is_an_error_at_its_line(tmp_path: Path, site: tuple[str, list[str]]) -> None:
    """Each dead link is one finding where it is written, that of a domain too; a page that is
    there is none, and each URL is requested once."""
    base, asked = site
    code, found = linted(tmp_path, base, "--links")
    assert code == 1
    assert found == [
        ("dead-link", 4, f"`{base}/gone` answers 404"),
        ("dead-link", 11, f"`{base}/nowhere` answers 404"),
    ]
    assert asked.count("HEAD /ok") == 1


def test_nothing_is_requested_unasked(tmp_path: Path, site: tuple[str, list[str]]) -> None:
    """Without `--links`, lint sends no request."""
    base, asked = site
    code, found = linted(tmp_path, base)
    assert (code, found, asked) == (0, [], [])


def test_pages_that_exist_are_not_findings(site: tuple[str, list[str]]) -> None:
    """A login, a redirect and a server without HEAD lead to a page; a circle does not."""
    base, _ = site
    urls = [f"{base}/{page}" for page in ("ok", "login", "moved", "get", "round")]
    problems = find_dead_links(urls)
    assert {url: each.what for url, each in problems.items()} == {
        f"{base}/round": "redirects more than 5 times"
    }


def test_no_body_is_read() -> None:
    """Of no answer the body is read, that of a redirect included: it may have no end."""
    sent: list[int] = []

    def serve(listening: socket.socket) -> None:
        for pages in (b"405 None", b"302 Found\r\nLocation: /there", b"200 OK"):
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 " + pages + b"\r\nConnection: close\r\n\r\n")
                sent.append(0)
                while not pages.startswith(b"405") and sent[-1] < _LEAST:
                    sent[-1] += connection.send(b"x" * 65536)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/page"
        assert find_dead_links([url]) == {}
        thread.join(10)
    assert len(sent) == 3
    assert max(sent) < _LEAST


def test_a_server_that_is_not_there_is_a_finding() -> None:
    """A refused connection and a host without an address are dead links."""
    problems = find_dead_links(["http://127.0.0.1:9/x", "http://[::bad/x"])
    assert all(each.is_checked for each in problems.values())
    assert set(problems) == {"http://127.0.0.1:9/x", "http://[::bad/x"}


def test_time_and_number_are_bounded(site: tuple[str, list[str]]) -> None:
    """A URL that is not reached in time, or is one too many, is not checked, and not called
    dead."""
    base, asked = site
    began = time.monotonic()
    problems = find_dead_links(
        [f"{base}/slow", f"{base}/ok?{1}", f"{base}/nowhere"], most=1, seconds=0.3
    )
    assert time.monotonic() - began < 15
    assert [each.is_checked for each in problems.values()] in (
        [False, False, False],
        [True, False, False],
        [False, False, True],
        [False, True, False],
    )
    assert all("GET" not in line and "nowhere" not in line for line in asked)
    assert links.MOST == 500


def test_a_public_page_does_not_lead_into_this_network() -> None:
    """The client for hosts of the public refuses loopback and private addresses, also after a
    redirect, and a URL with credentials is not requested.
    """
    for host in ("127.0.0.1", "localhost", "10.1.2.3", "169.254.169.254", "[::1]"):
        with pytest.raises(httpx.RequestError, match="not a public address"):
            links._refuse_private(httpx.Request("HEAD", f"http://{host}/"))
    links._refuse_private(httpx.Request("HEAD", "http://93.184.215.14/"))
    found = links.find_dead_links(["http://user:word@127.0.0.1:9/"])
    assert [each.is_checked for each in found.values()] == [False]


@pytest.mark.parametrize(
    ("first", "then", "followed"),
    [
        ("docs.example", "inside.example", False),
        ("docs.example", "2852039166", False),
        ("docs.example", "public.example", True),
        ("inside.example", "other.example", True),
        ("docs.example", "unknown.example", True),
    ],
)
def test_a_name_of_this_network_is_behind_no_public_page(
    first: str, then: str, monkeypatch: pytest.MonkeyPatch, *, followed: bool
) -> None:
    """A redirect of a public page to a name, or to a number, of a private address is not followed.
    A page of this network may lead to another one.
    """
    names = {
        "docs.example": "93.184.215.14",
        "public.example": "93.184.215.15",
        "inside.example": "10.1.2.3",
        "other.example": "10.1.2.4",
        "2852039166": "169.254.169.254",
    }

    def resolve(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        if host not in names:
            raise OSError(host)
        return [(2, 1, 6, "", (names[host], 0))]

    asked: list[str] = []

    def serve(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        moved = {"Location": f"http://{then}/b"} if len(asked) == 1 else {}
        return httpx.Response(302 if moved else 200, headers=moved)

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    with httpx.Client(transport=httpx.MockTransport(serve)) as client:
        request = client.build_request("HEAD", f"http://{first}/a")
        if followed:
            assert links._final_status(client, request) == 200
        else:
            with pytest.raises(httpx.RequestError, match="not a public address"):
                links._final_status(client, request)
    assert asked == [first, then][: 1 + followed]
