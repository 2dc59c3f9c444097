"""The shops of `services/` as processes, and the laws of their answers.

Each shop has the same routes, and serves real HTTP on loopback with the server that suits its
framework. A law raises AssertionError.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent

#: Longer than a framework needs to start on a loaded machine, in seconds.
START_SECONDS = 60.0

#: Longer than a service needs to write a line after the end of a request, in seconds.
_QUIET = 0.3

#: Headers that an answer may have more than once.
REPEATED = {"set-cookie", "vary"}

ORIGIN = {"Origin": "http://shop.example"}
GIVEN = "01900000-0000-7000-8000-000000000001"


class ShopAnswer(NamedTuple):
    """One answer; `cut` if its body did not arrive whole."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes
    cut: bool

    @property
    def code(self) -> Any:
        """The code in the envelope."""
        return self.error["code"]

    @property
    def error(self) -> Any:
        """The envelope, which has to be sound."""
        assert self.headers.get_content_type() == "application/json", (self.status, self.body)
        names = [name.lower() for name in self.headers if name.lower() not in REPEATED]
        assert len(names) == len(set(names)), self.headers
        found = json.loads(self.body)
        assert found["request_id"] == self.headers["X-Request-Id"], (self.headers, self.body)
        assert self.headers["Cache-Control"] == "no-store"
        assert b"hunter2" not in self.body
        assert b"Traceback" not in self.body
        assert b".js:" not in self.body
        return found


class Shop(NamedTuple):
    """A running shop. ``has_405``: its framework tells a wrong method from an unknown route.
    ``shows_paths``: it hands a path that it cannot decode to the boundary.
    """

    port: int
    log: Path
    has_405: bool = True
    shows_paths: bool = True

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None = None,
        **headers: str,
    ) -> ShopAnswer:
        """Send one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            fields = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(
                method, path, body, fields, encode_chunked=not isinstance(body, bytes | None)
            )
            response = connection.getresponse()
            try:
                read, cut = response.read(), False
            except http.client.IncompleteRead as short:
                read, cut = short.partial, True
            return ShopAnswer(response.status, response.headers, read, cut)
        finally:
            connection.close()

    def end_of_head(self, path: str) -> bytes:
        """The bytes behind the headers of an answer to HEAD, which no client would read."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            head = f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        return received.partition(b"\r\n\r\n")[2]

    def order(self, **order: object) -> ShopAnswer:
        """Create an item."""
        return self.ask(
            "POST", "/items", json.dumps(order).encode(), Content_Type="application/json"
        )


@contextmanager
def running(framework: str, packages: list[Path], log: Path) -> Iterator[Shop]:
    """The shop of a framework, until the end of the block; `packages` come first on its path."""
    command = [sys.executable, str(HERE / "serve.py"), framework]
    path = os.pathsep.join(map(str, packages))
    with served(command, {"PYTHONPATH": path}, log) as port:
        yield Shop(port, log)


@contextmanager
def served(command: list[str], environment: dict[str, str], log: Path) -> Iterator[int]:
    """The free port of 127.0.0.1 on which a process serves, its last argument; until the end of
    the block.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(port)],
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _listens(port):
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def typed_errors(shop: Shop) -> None:
    """A raised error leaves as itself, with its details."""
    taken = shop.ask("GET", "/typed")
    assert (taken.status, taken.code) == (409, "sku_taken")
    few = shop.order(sku="few", amount=9)
    assert (few.status, few.code, few.error["details"]) == (409, "out_of_stock", {"available": 3})
    assert few.error["message"] == "Only 3 in stock"


def framework_errors(shop: Shop) -> None:
    """Errors that the framework makes are in the envelope."""
    unknown = shop.ask("GET", "/no/such/route")
    assert (unknown.status, unknown.code) == (404, "not_found")
    wrong = shop.ask("DELETE", "/typed")
    if shop.has_405:
        assert (wrong.status, wrong.code) == (405, "bad_request")
        assert "GET" in wrong.headers["Allow"]
    else:
        assert (wrong.status, wrong.code) == (404, "not_found")
    broken = shop.ask("POST", "/items", b"{", Content_Type="application/json")
    assert 400 <= broken.status < 500, broken
    assert broken.code in ("bad_request", "validation_failed")
    media = shop.ask("POST", "/items", b"x", Content_Type="application/x-unknown")
    assert 400 <= media.status < 500, media
    assert media.code in ("bad_request", "validation_failed")
    for item in ("%zz", "%c3%28") if shop.shows_paths else ():  # no escape, and no UTF-8
        odd = shop.ask("GET", f"/items/{item}")
        assert odd.status < 500, odd
        assert odd.status < 400 or odd.code in ("bad_request", "not_found"), odd


def bare_statuses(shop: Shop) -> None:
    """A bare 409 does not become a business code by luck."""
    bare = shop.ask("GET", "/bare")
    assert (bare.status, bare.code) == (400, "bad_request")


def validation(shop: Shop) -> None:
    """Refused input is the declared code, names its field and is not echoed."""
    refused = shop.order(sku="a", amount="hunter2")
    assert (refused.status, refused.code) == (422, "validation_failed"), refused.body
    assert refused.error["details"] == {"field": "amount"}


def crash(shop: Shop) -> None:
    """A bug is the internal error, without its trace, which the log has."""
    failed = shop.ask("GET", "/crash", X_Request_Id=GIVEN)
    assert (failed.status, failed.code) == (500, "internal_error")
    assert failed.headers["X-Request-Id"] == GIVEN
    wait_until(lambda: b"hunter2" in shop.log.read_bytes())


def streaming(shop: Shop) -> None:
    """A response that fails after its headers is cut, and nothing is added to it."""
    cut = shop.ask("GET", "/stream")
    assert (cut.status, cut.cut) == (200, True), cut
    assert re.fullmatch(b"(begin)*", cut.body), cut.body[-200:]


def cancellation(shop: Shop) -> None:
    """A client that leaves causes no line in the log, and the service goes on."""
    before = _quiet_log(shop)
    with socket.create_connection(("127.0.0.1", shop.port)) as leaving:
        leaving.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.1)
    time.sleep(0.6)
    assert shop.ask("GET", "/items/1").status == 200
    written = shop.log.read_bytes()[len(before) :].decode(errors="replace")
    assert "Traceback" not in written, written
    assert "Error" not in written, written
    assert "correlation id" not in written, written


def _quiet_log(shop: Shop) -> bytes:
    """The log, once no line of an earlier request comes any more."""
    text = shop.log.read_bytes()
    while True:
        time.sleep(_QUIET)
        before, text = text, shop.log.read_bytes()
        if text == before:
            return text


def cross_origin(shop: Shop) -> None:
    """A browser may read every error."""
    for path in ("/items/1", "/typed", "/no/such/route", "/crash", "/bare"):
        answer = shop.ask("GET", path, **ORIGIN)
        assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"], path


def cookies(shop: Shop) -> None:
    """Cookies that are set on every response are set on errors."""
    for path in ("/items/1", "/typed", "/bare"):
        assert "session=1" in shop.ask("GET", path).headers.get("Set-Cookie", ""), path


def body_limit(shop: Shop) -> None:
    """A body that is too long is 413, whether its length is declared or not."""
    text = json.dumps({"sku": "x" * 5000, "amount": 1}).encode()
    for body in (text, iter([text[:2000], text[2000:]])):
        long = shop.ask("POST", "/items", body, Content_Type="application/json")
        assert (long.status, long.code) == (413, "bad_request")


def head(shop: Shop) -> None:
    """HEAD has the headers of GET, and no body."""
    for path in ("/typed", "/no/such/route"):
        got, head = shop.ask("GET", path), shop.ask("HEAD", path)
        assert head.status in (got.status, 405)  # FastAPI does not answer HEAD with GET
        assert shop.end_of_head(path) == b""
        assert head.headers.get_content_type() == "application/json"
        assert head.headers["X-Request-Id"]


def correlation(shop: Shop) -> None:
    """A well-formed id comes back on successes and on errors, and no other does."""
    for path in ("/items/1", "/typed", "/no/such/route"):
        assert shop.ask("GET", path, X_Request_Id=GIVEN).headers["X-Request-Id"] == GIVEN
        assert shop.ask("GET", path, X_Request_Id="a b").headers["X-Request-Id"] != "a b"


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait, at most five seconds: a server may write a line after its answer has left."""
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


LAWS: dict[str, Callable[[Shop], None]] = {
    "typed error as itself": typed_errors,
    "framework-made errors": framework_errors,
    "bare 409": bare_statuses,
    "validation": validation,
    "crash": crash,
    "streaming": streaming,
    "cancelled request": cancellation,
    "correlation id": correlation,
    "CORS": cross_origin,
    "cookies": cookies,
    "body limit": body_limit,
    "HEAD": head,
}


def failures(shop: Shop) -> dict[str, str]:
    """The laws that a shop breaks, with the reason."""
    found = {}
    for name, law in LAWS.items():
        try:
            law(shop)
        except Exception as broken:
            place = traceback.extract_tb(broken.__traceback__)[-1]
            found[name] = f"{type(broken).__name__}: {broken} ({place.name}: {place.line})"
    return found
