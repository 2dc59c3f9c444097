"""Laws of the modules for httpx, requests and aiohttp: they raise the typed error of an answer, and
send again what the policy of the error allows, on real connections.
"""

import asyncio
import gzip
import io
import json
import os
import shutil
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import aiohttp
import brotli
import httpx
import pytest
import requests
from mypy import api as mypy
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.targets import SHIPPED
from miniatures.serve import serving
from paths import ROOT

KEY = "Idempotency-Key"

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "br": lambda body: brotli.compress(body, quality=1),
    "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
}

MOST = 48_000_000
"""Bytes that a client may take for an error. A block of Brotli alone unpacks to 16 MiB."""


@cache
def packed(coding: str) -> bytes:
    """A body that unpacks to 64 MiB."""
    return PACKERS[coding](bytes(1 << 26))


PATIENCE = 20
"""Seconds that a service sends a body that unpacks to nothing. A client gives up before."""

CLIENTS = ("httpx", "httpx-async", "requests", "aiohttp")


@dataclass
class Service:
    """A service that answers each request with the next status of a script, then with 200."""

    script: list[int]
    headers: Mapping[str, str] = field(default_factory=dict)
    zipped: bool = False
    code: str = "dependency_unavailable"
    padding: int = 0
    seen: list[tuple[str, str | None, bytes]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        """Answer one request, and keep its method, its key and its body."""
        body = await request.body()
        self.seen.append((request.method, request.headers.get(KEY), body))
        status = self.script.pop(0) if self.script else 200
        if status == 200:
            return Response(b'{"ok": true}', media_type="application/json")
        envelope = {"code": self.code, "message": "No", "correlation_id": "c" * 20}
        content, headers = json.dumps(envelope).encode(), dict(self.headers)
        content += b" " * self.padding
        if self.zipped:
            content, headers["Content-Encoding"] = gzip.compress(content), "gzip"
        return Response(content, status, headers, media_type="application/json")

    async def stream(self, _: Request) -> Response:
        """Answer without an end, as a stream of events does."""

        async def events() -> Any:
            while True:
                yield b"data: 1\n\n"
                await asyncio.sleep(0.01)

        return StreamingResponse(events(), media_type="text/event-stream")

    async def fail_at_length(self, request: Request) -> Response:
        """Answer 404 with a body of 32 MB, or a short one that unpacks to 64 MB."""

        async def body() -> Any:
            for _ in range(512):
                yield b"x" * (1 << 16)

        if not request.query_params["coding"]:
            return StreamingResponse(body(), 404, media_type="application/json")
        headers = {"Content-Encoding": request.query_params["coding"]}
        return Response(
            packed(request.query_params["coding"]), 404, headers, media_type="application/json"
        )

    async def fail_with_nothing(self, _: Request) -> Response:
        """Answer 404 with a body in gzip that has blocks, none of which unpacks to a byte."""

        async def body() -> Any:
            yield gzip.compress(b"")[:10]
            ends = time.monotonic() + PATIENCE
            while time.monotonic() < ends:
                yield b"\x00\x00\x00\xff\xff" * 12_000
                await asyncio.sleep(0.01)

        headers = {"Content-Encoding": "gzip"}
        return StreamingResponse(body(), 404, headers, media_type="application/json")

    async def fail_undecodable(self, _: Request) -> Response:
        """Answer 503 with a body that is not what its coding says."""
        headers = {"Content-Encoding": "gzip"}
        return Response(b"abcd", 503, headers, media_type="application/json")

    async def fail_cut(self, _: Request) -> Response:
        """Answer 503 with a body that ends before its length."""

        async def body() -> Any:
            yield b"{"

        headers = {"Content-Length": "400"}
        return StreamingResponse(body(), 503, headers, media_type="application/json")

    async def fail_slowly(self, _: Request) -> Response:
        """Answer 404 with a body that comes blank by blank."""

        async def body() -> Any:
            ends = time.monotonic() + PATIENCE
            while time.monotonic() < ends:
                yield b" "
                await asyncio.sleep(0.1)

        return StreamingResponse(body(), 404, media_type="application/json")

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve on 127.0.0.1."""
        routes = [
            Route("/", self.answer, methods=["GET", "POST", "PUT"]),
            Route("/events", self.stream),
            Route("/long", self.fail_at_length),
            Route("/nothing", self.fail_with_nothing),
            Route("/slow", self.fail_slowly),
            Route("/undecodable", self.fail_undecodable),
            Route("/cut", self.fail_cut),
        ]
        with serving(Starlette(routes=routes)) as base:
            yield base


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The package of the flagship, which can be imported."""
    loaded = load(str(ROOT / "taxonomy.yaml"))
    assert loaded.taxonomy is not None
    with importable(loaded.taxonomy, tmp_path_factory.mktemp("clients")) as name:
        yield name


@contextmanager
def importable(taxonomy: Taxonomy, folder: Path) -> Iterator[str]:
    """The generated package of a taxonomy, on the path."""
    write(render(taxonomy, [SHIPPED["python"]], "taxonomy.yaml"), folder, ["python"])
    (name,) = (path.name for path in (folder / "python").iterdir() if path.is_dir())
    kept = {key: sys.modules.pop(key) for key in [*sys.modules] if key.split(".")[0] == name}
    sys.path.insert(0, str(folder / "python"))
    try:
        yield name
    finally:
        sys.path.remove(str(folder / "python"))
        for key in [*sys.modules]:
            if key.split(".")[0] == name:
                del sys.modules[key]
        sys.modules.update(kept)


def module(package: str, name: str) -> Any:
    """A module of a generated package."""
    from importlib import import_module

    found: ModuleType = import_module(f"{package}.{name}")
    return found


@dataclass
class Sent:
    """The result of a call: the error that was raised or the status, and the waits before."""

    error: Any
    status: int | None
    waits: list[float]


def call(
    library: str,
    package: str,
    url: str,
    method: str = "GET",
    *,
    headers: Mapping[str, str] = {},  # it is only read
    body: bytes | None = None,
    retries: Any = None,
) -> Sent:
    """Send one request by a library, with the retries and the errors of a package."""
    waits: list[float] = []
    clients = module(package, f"clients.{library.partition('-')[0]}")
    error = module(package, "errors")
    base = next(one for one in vars(error).values() if _is_base(one))

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    try:
        if library == "httpx":
            transport = clients.RetryTransport(retries=retries, sleep=waits.append)
            hooks = {"response": [clients.raise_for_error]}
            with httpx.Client(transport=transport, event_hooks=hooks) as client:
                answer = client.request(method, url, headers=headers, content=body)
                return Sent(None, answer.status_code, waits)
        if library == "requests":
            with requests.Session() as session:
                adapter = clients.RetryAdapter(retries=retries, sleep=waits.append)
                session.mount("http://", adapter)
                session.hooks["response"].append(clients.raise_for_error)
                found = session.request(method, url, headers=dict(headers), data=body)
                return Sent(None, found.status_code, waits)
        run = _httpx_async if library == "httpx-async" else _aiohttp
        status = asyncio.run(
            run(clients, url, method, retries=retries, pause=pause, headers=headers, body=body)
        )
        return Sent(None, status, waits)
    except base as raised:
        return Sent(raised, None, waits)


def _is_base(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, Exception) and one.__bases__ == (Exception,)


async def _httpx_async(
    clients: Any, url: str, method: str, *, retries: Any, pause: Any, headers: Any, body: Any
) -> int:
    transport = clients.AsyncRetryTransport(retries=retries, sleep=pause)
    hooks = {"response": [clients.raise_for_error_async]}
    async with httpx.AsyncClient(transport=transport, event_hooks=hooks) as client:
        return (await client.request(method, url, headers=headers, content=body)).status_code


async def _aiohttp(
    clients: Any, url: str, method: str, *, retries: Any, pause: Any, headers: Any, body: Any
) -> int:
    middlewares = [clients.retrying(retries, pause)]
    async with (
        aiohttp.ClientSession(
            middlewares=middlewares, raise_for_status=clients.raise_for_error
        ) as session,
        session.request(method, url, headers=headers, data=body) as answer,
    ):
        return answer.status


@pytest.mark.parametrize("library", CLIENTS)
@pytest.mark.parametrize("zipped", [False, True])
def test_an_error_is_raised_as_itself(library: str, zipped: bool, package: str) -> None:
    """The exception of its code, with status, message and correlation id; packed bodies too."""
    service = Service([404], code="not_found", zipped=zipped)
    with service.served() as base:
        sent = call(library, package, base + "/")
    assert type(sent.error).__name__ == "NotFound"
    assert (sent.error.status, sent.error.message) == (404, "No")
    assert sent.error.correlation_id == "c" * 20
    assert len(service.seen) == 1
    assert sent.waits == []


@pytest.mark.parametrize("library", CLIENTS)
def test_a_success_passes(library: str, package: str) -> None:
    """An answer without an error is returned, after one request."""
    service = Service([])
    with service.served() as base:
        assert call(library, package, base + "/").status == 200
    assert len(service.seen) == 1


@pytest.mark.parametrize("library", CLIENTS)
def test_a_retriable_error_is_tried_again_until_the_policy_ends(library: str, package: str) -> None:
    """A read goes on until it succeeds, at most as often as the policy of the code allows."""
    healing = Service([503, 503])
    with healing.served() as base:
        sent = call(library, package, base + "/")
    assert (sent.status, len(healing.seen), len(sent.waits)) == (200, 3, 2)
    broken = Service([503] * 50)
    with broken.served() as base:
        sent = call(library, package, base + "/")
    policies = module(package, "retry").POLICIES
    policy = policies[sent.error.facts.retry]
    assert type(sent.error).__name__ == "DependencyUnavailable"
    assert len(broken.seen) == policy.max_attempts or policy.max_elapsed is not None
    assert 1 < len(broken.seen) <= policy.max_attempts


@pytest.mark.parametrize("library", CLIENTS)
def test_retry_after_is_kept(library: str, package: str) -> None:
    """The wait is at least that of the header."""
    service = Service([429], headers={"Retry-After": "7"}, code="rate_limited")
    with service.served() as base:
        sent = call(library, package, base + "/")
    assert sent.status == 200
    assert len(sent.waits) == 1
    assert sent.waits[0] >= 7


@pytest.mark.parametrize("library", CLIENTS)
def test_all_tries_of_a_write_have_one_key(library: str, package: str) -> None:
    """A write gets a key, the same in all its tries; another write has another. The body is the
    same each time.
    """
    service = Service([503, 503])
    with service.served() as base:
        assert call(library, package, base + "/", "POST", body=b"{}").status == 200
        assert call(library, package, base + "/", "POST", body=b"{}").status == 200
    keys = [key for _, key, _ in service.seen]
    assert None not in keys
    assert len(set(keys[:3])) == 1
    assert keys[3] not in keys[:3]
    assert {body for _, _, body in service.seen} == {b"{}"}
    own = Service([503])
    with own.served() as base:
        call(library, package, base + "/", "POST", headers={KEY: "mine"}, body=b"{}")
    assert [key for _, key, _ in own.seen] == ["mine", "mine"]


UNKEYED = """
faultspec: 1
taxonomy: {name: shelves, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
surfaces:
  api: {transport: http, error_when: {status: [4xx, 5xx], present: /errors}, envelope: error}
retry_policies:
  thrifty:
    max_attempts: 9
    budget: {tokens: 3, cost: 1}
codes:
  busy: {summary: Too much to do., http: 503, retriable: true, retry: thrifty, effect: unknown}
  full: {summary: No room., http: 507, retriable: true, retry: thrifty, effect: none}
"""


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A package without idempotency keys, with a shared budget and errors under any status."""
    loaded = read(UNKEYED, "t.yaml")
    assert loaded.taxonomy is not None, loaded.diagnostics
    with importable(loaded.taxonomy, tmp_path_factory.mktemp("shelves")) as name:
        yield name


@pytest.mark.parametrize("library", CLIENTS)
def test_nothing_is_sent_twice_that_may_have_taken_effect(library: str, shelves: str) -> None:
    """A write without a key is sent again only if its failure had no effect; a read always is."""
    for method, code, status, tries in (
        ("POST", "busy", 503, 1),
        ("POST", "full", 507, 2),
        ("GET", "busy", 503, 2),
        ("PUT", "busy", 503, 2),
    ):
        service = Service([status], code=code)
        with service.served() as base:
            call(library, shelves, base + "/", method, body=None if method == "GET" else b"{}")
        assert len(service.seen) == tries, (method, code)


@pytest.mark.parametrize("library", CLIENTS)
def test_calls_share_a_budget(library: str, shelves: str) -> None:
    """Retries of all calls are paid from one bucket, and a success gives back."""
    retries = module(shelves, "retrying").Retries()
    service = Service([507] * 4, code="full")
    with service.served() as base:
        assert call(library, shelves, base + "/", retries=retries).error.code == "full"
        assert len(service.seen) == 4  # three tokens paid for three retries
        service.script = [507]
        assert call(library, shelves, base + "/", retries=retries).error.code == "full"
        assert len(service.seen) == 5
        assert call(library, shelves, base + "/", retries=retries).status == 200
        service.script = [507]
        assert call(library, shelves, base + "/", retries=retries).status == 200


@pytest.mark.parametrize("library", CLIENTS)
def test_a_member_marks_an_error_under_any_status(library: str, shelves: str) -> None:
    """Where the taxonomy finds errors by a member of the body, so does the client."""

    async def answer(_: Request) -> Response:
        return Response(b'{"code": "full", "errors": []}', media_type="application/json")

    with serving(Starlette(routes=[Route("/", answer)])) as base:
        sent = call(library, shelves, base + "/")
    assert sent.error.code == "full"


@pytest.mark.parametrize("library", CLIENTS)
def test_a_stream_is_not_read_ahead(library: str, package: str) -> None:
    """An answer that is not an error reaches the caller while it is still sent."""
    clients = module(package, f"clients.{library.partition('-')[0]}")

    async def first_of_async() -> bytes:
        async with (
            httpx.AsyncClient(transport=clients.AsyncRetryTransport()) as client,
            client.stream("GET", base + "/events") as answer,
        ):
            return await anext(answer.aiter_bytes())

    async def first_of_aiohttp() -> bytes:
        async with (
            aiohttp.ClientSession(middlewares=[clients.retrying()]) as session,
            session.get(base + "/events") as answer,
        ):
            return await answer.content.readany()

    with Service([]).served() as base:
        if library == "httpx":
            with (
                httpx.Client(transport=clients.RetryTransport()) as client,
                client.stream("GET", base + "/events") as answer,
            ):
                got = next(answer.iter_bytes())
        elif library == "requests":
            with requests.Session() as session:
                session.mount("http://", clients.RetryAdapter())
                with session.get(base + "/events", stream=True) as found:
                    got = next(found.iter_content(None))
        else:
            run = first_of_async if library == "httpx-async" else first_of_aiohttp
            got = asyncio.run(run())
    assert got.startswith(b"data: 1")


@pytest.mark.parametrize("coding", ["", *PACKERS])
@pytest.mark.parametrize("library", CLIENTS)
def test_a_client_reads_an_error_within_bounds(library: str, coding: str, package: str) -> None:
    """A service that answers an error without an end, or one that unpacks to much, gets an
    unknown error, and not the memory of its client.
    """
    service = Service([])
    if coding:
        packed(coding)  # outside of what is measured
    with service.served() as base:
        tracemalloc.start()
        try:
            sent = call(library, package, f"{base}/long?coding={coding}")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (type(sent.error).__name__, sent.error.status) == ("UnknownError", 404)
    assert peak < MOST


@pytest.mark.parametrize("library", CLIENTS)
def test_a_client_gives_up_an_error_that_unpacks_to_nothing(
    library: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes that come are bounded too, or their time where the library does not show them."""
    monkeypatch.setattr(module(package, "clients.aiohttp"), "_LONGEST", 1)
    began = time.monotonic()
    with Service([]).served() as base:
        sent = call(library, package, f"{base}/nothing")
        took = time.monotonic() - began
    assert (type(sent.error).__name__, sent.error.status) == ("UnknownError", 404)
    assert took < PATIENCE / 2


@pytest.mark.parametrize(
    ("library", "path"),
    [
        *((library, path) for library in CLIENTS for path in ("/undecodable", "/cut")),
        ("httpx-async", "/slow"),
        ("aiohttp", "/slow"),
    ],
)
def test_an_error_that_cannot_be_read_keeps_no_connection(
    library: str, path: str, package: str
) -> None:
    """A client with one connection can call again, however the body of an error fails: it does not
    decode, it is cut short, or the caller's own time ends while it comes.
    """
    with Service([]).served() as base:
        if library in ("httpx", "requests"):
            left = _call_after_failures(library, package, base, path)
        else:
            failing = _call_httpx_after if library == "httpx-async" else _call_aiohttp_after
            clients = module(package, f"clients.{library.partition('-')[0]}")
            left = asyncio.run(failing(clients, base, path))
    assert left == 200


def _call_after_failures(library: str, package: str, base: str, path: str) -> int:
    clients = module(package, f"clients.{library}")
    if library == "requests":
        with requests.Session() as session:
            session.mount("http://", clients.RetryAdapter(pool_maxsize=1, pool_block=True))
            for _ in range(2):
                with pytest.raises(requests.RequestException):
                    session.get(base + path)
            return session.get(base).status_code
    limited = httpx.HTTPTransport(limits=httpx.Limits(max_connections=1))
    with httpx.Client(transport=clients.RetryTransport(limited), timeout=5) as client:
        for _ in range(2):
            with pytest.raises((httpx.DecodingError, httpx.RemoteProtocolError)):
                client.get(base + path)
        return client.get(base).status_code


async def _call_httpx_after(clients: Any, base: str, path: str) -> int:
    limited = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=1))
    transport = clients.AsyncRetryTransport(limited)
    async with httpx.AsyncClient(transport=transport, timeout=5) as client:
        for _ in range(2):
            failures = (httpx.DecodingError, httpx.RemoteProtocolError, TimeoutError)
            with pytest.raises(failures):
                async with asyncio.timeout(0.5):
                    await client.get(base + path)
        return (await client.get(base)).status_code


async def _call_aiohttp_after(clients: Any, base: str, path: str) -> int:
    one, patience = aiohttp.TCPConnector(limit=1), aiohttp.ClientTimeout(total=5)
    async with aiohttp.ClientSession(
        connector=one, timeout=patience, middlewares=[clients.retrying()]
    ) as session:
        for _ in range(2):
            with pytest.raises((aiohttp.ClientPayloadError, TimeoutError)):
                async with asyncio.timeout(0.5), session.get(base + path) as answer:
                    await answer.read()
        async with session.get(base) as last:
            return last.status


def test_a_client_of_requests_reads_bodies_of_other_libraries(package: str) -> None:
    """An adapter may give a file as the body, which no coding packs."""
    answer = requests.Response()
    answer.status_code = 404
    answer.raw = io.BytesIO(b'{"code": "not_found", "message": "No"}')
    with pytest.raises(Exception, match="not_found"):
        module(package, "clients.requests").raise_for_error(answer)
    assert answer.json()["message"] == "No"


@pytest.mark.parametrize("library", ["httpx", "httpx-async"])
def test_a_long_error_can_be_read_all_the_same(library: str, package: str) -> None:
    """The transports of httpx read no more than they judge, and lose nothing."""
    clients = module(package, "clients.httpx")

    async def read_async(url: str) -> bytes:
        async with httpx.AsyncClient(transport=clients.AsyncRetryTransport()) as client:
            return (await client.get(url)).content

    with Service([]).served() as base:
        if library == "httpx":
            with httpx.Client(transport=clients.RetryTransport()) as client:
                content = client.get(base + "/long?coding=").content
        else:
            content = asyncio.run(read_async(base + "/long?coding="))
    assert content == b"x" * (1 << 25)


def test_an_error_that_was_raised_can_be_read_again(package: str) -> None:
    """The hook of httpx leaves the body of a streamed answer to its caller."""
    clients = module(package, "clients.httpx")
    with (
        Service([404], code="not_found", zipped=True).served() as base,
        httpx.Client() as client,
        client.stream("GET", base + "/") as answer,
    ):
        with pytest.raises(Exception, match="not_found"):
            clients.raise_for_error(answer)
        assert json.loads(answer.read())["code"] == "not_found"


def test_a_body_that_is_read_once_is_sent_once(package: str) -> None:
    """A generator cannot be sent again, whatever the error says."""

    def parts() -> Iterator[bytes]:
        yield b"{}"

    clients = module(package, "clients.httpx")
    service = Service([503])
    with service.served() as base:
        transport = clients.RetryTransport(sleep=lambda _: None)
        with httpx.Client(transport=transport) as client:
            assert client.put(base + "/", content=parts()).status_code == 503
        with requests.Session() as session:
            adapter = module(package, "clients.requests").RetryAdapter(sleep=lambda _: None)
            session.mount("http://", adapter)
            service.script = [503]
            assert session.put(base + "/", data=parts()).status_code == 503
    assert len(service.seen) == 2


def test_the_runner_repeats_a_call(package: str) -> None:
    """``run`` and ``run_async`` call again while the errors allow it, and raise the last error."""
    errors, retrying = module(package, "errors"), module(package, "retrying")
    left: list[Exception] = []

    def send() -> str:
        if left:
            raise left.pop(0)
        return "done"

    async def send_async() -> str:
        return send()

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    waits: list[float] = []
    retries = retrying.Retries(random=lambda: 0.5)
    left[:] = [errors.bare(errors.DependencyUnavailable), errors.bare(errors.Timeout)]
    assert retries.run(send, idempotent=True, sleep=waits.append) == "done"
    assert len(waits) == 2
    left[:] = [errors.bare(errors.DependencyUnavailable)]
    assert asyncio.run(retries.run_async(send_async, idempotent=True, sleep=pause)) == "done"
    assert len(waits) == 3
    left[:] = [errors.bare(errors.NotFound)]
    with pytest.raises(errors.NotFound):
        retries.run(send, idempotent=True, sleep=waits.append)
    assert len(waits) == 3


def test_the_modules_obey_mypy_where_the_libraries_are_installed(
    package: str, tmp_path: Path
) -> None:
    """Each module asks mypy to pass over it, for packages that lack its library. Without that line
    mypy --strict has nothing to say.
    """
    folder = Path(module(package, "errors").__file__).parent
    copy = tmp_path / package
    shutil.copytree(folder, copy)
    for path in (copy / "clients").glob("[a-z]*.py"):
        text = path.read_text()
        assert "# mypy: ignore-errors\n" in text
        path.write_text(text.replace("# mypy: ignore-errors\n", ""))
    out, err, status = mypy.run(
        ["--strict", "--cache-dir", os.devnull, "--config-file", os.devnull, str(copy)]
    )
    assert status == 0, out + err
