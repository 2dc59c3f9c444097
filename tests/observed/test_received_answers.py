"""An answer is judged by what its client got, wherever it was observed."""

import asyncio
import json
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

from faultspec.exchange.model import ABOUT_BODY, Exchange, Request, Response
from faultspec_conformance.drivers.serving import serving
from faultspec_conformance.observed.accumulator import Accumulator
from faultspec_conformance.observed.audit import audit
from faultspec_conformance.observed.middleware import Watching, watch
from faultspec_conformance.observed.received import as_received
from faultspec_conformance.results.conclusion import conclude
from observed.test_audit import KINDS, access, clauses, har, log, platform

TRACE = 'Traceback (most recent call last): File "/srv/shop/orders.py", line 3, in find'
ID = "01JAH8ZJ0Z8Z0N7M1X6JZ80001"
FIELDS = {"content-type": "application/json", "cache-control": "no-store", "x-correlation-id": ID}
ENVELOPE = {"code": "not_found", "message": "There is no such order", "correlation_id": ID}
LEAKING = {**ENVELOPE, "message": TRACE}

#: What an application sends, and the clauses that fail for HEAD and for GET.
ANSWERS: dict[str, tuple[int, bytes, dict[str, str], set[str], set[str]]] = {
    "/sound": (404, json.dumps(ENVELOPE).encode(), FIELDS, set(), set()),
    "/empty": (404, b"", FIELDS, set(), {"envelope/json"}),
    "/text": (404, b"<html>no</html>", FIELDS, set(), {"envelope/json"}),
    "/body": (404, json.dumps(LEAKING).encode(), FIELDS, set(), {"leaks/stack-trace"}),
    "/header": (
        *(404, json.dumps(ENVELOPE).encode(), {**FIELDS, "x-debug": TRACE}),
        *({"leaks/stack-trace"}, {"leaks/stack-trace"}),
    ),
    "/nothing": (204, b"", {}, set(), set()),
}


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Sends the answer of the path, with its body to HEAD too, as frameworks do."""
    if scope["type"] == "http":
        status, body, fields, *_ = ANSWERS[scope["path"]]
        headers = [(name.encode(), value.encode()) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def failing(exchange: Exchange) -> set[str]:
    """The clauses that an answer breaks. It never counts as an error that could not be judged."""
    tally = Accumulator(platform())
    tally.add(exchange)
    result = conclude(tally.result("t"), date(2026, 1, 1))
    assert not any("could be held" in line for line in result.not_run)
    return {
        clause.address for clause in result.clauses.values() if clause.failures + clause.warnings
    }


def test_head_is_judged_alike_in_process_and_over_a_server() -> None:
    """The middleware and a watched client, with Starlette's test client and with uvicorn, find the
    same in each answer: a leak in a header, and nothing about a body that the server cuts.
    """
    seen: dict[str, list[Exchange]] = {name: [] for name in ("app", "client", "server", "wire")}

    def ask(client: Any, base: str = "") -> None:
        for path in ANSWERS:
            for method in ("HEAD", "GET"):
                client.request(method, base + path)

    ask(TestClient(Watching(application, seen["app"].append)))
    client = TestClient(application)
    watch(client, seen["client"].append)
    ask(client)
    with serving(Watching(application, seen["server"].append)) as url, httpx.Client() as real:
        watch(real, seen["wire"].append)
        ask(real, url)
    for way, exchanges in seen.items():
        found = {
            (exchange.request.method, urlsplit(exchange.request.target).path): failing(exchange)
            for exchange in exchanges
        }
        assert found == {
            (method, path): answer[number]
            for path, answer in ANSWERS.items()
            for number, method in ((3, "HEAD"), (4, "GET"))
        }, way


@pytest.mark.parametrize("status", [204, 304])
def test_content_that_a_server_refuses_leaves_the_answer(status: int) -> None:
    """A server raises for content of 204 and 304. The client has the whole answer by then, and it
    is judged: a leak in its headers is seen.
    """
    seen: list[Exchange] = []

    async def careless(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = [(b"x-a", b"1")]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b"x"})

    async def refuse(message: Any) -> None:
        if message["type"] == "http.response.body":
            raise RuntimeError("Response content longer than Content-Length")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    scope = {"type": "http", "method": "GET", "path": "/x", "headers": []}
    with pytest.raises(RuntimeError):
        asyncio.run(Watching(careless, seen.append)(scope, receive, refuse))
    (exchange,) = seen
    assert (exchange.response.status, exchange.response.body) == (status, b"")
    assert exchange.response.headers == (("x-a", "1"),)


def test_a_recorded_body_that_no_client_gets_is_not_judged(tmp_path: Path) -> None:
    """The body of HEAD in an archive or a log, and what a browser shows of its cache for a 304, are
    not judged; headers are. Slots of a log entry about HEAD are not of the answer either.
    """
    archive = tmp_path / "a.har"
    for status, method, headers, wanted in (
        (404, "HEAD", FIELDS, set()),
        (404, "HEAD", {**FIELDS, "x-debug": TRACE}, {"leaks/stack-trace"}),
        (404, "GET", FIELDS, {"leaks/stack-trace"}),
        (304, "GET", {"etag": '"1"'}, set()),
        (204, "GET", {}, set()),
    ):
        text = har((status, json.dumps(LEAKING), headers))
        archive.write_text(text.replace('"method": "GET"', f'"method": "{method}"'))
        assert set(clauses(archive)) == wanted, (status, method)
        line = {**access(status, LEAKING, headers), "method": method}
        assert set(clauses(log(tmp_path / "a.ndjson", line), by=platform(KINDS))) == wanted
    slots = {"url": "HEAD /orders", "endpoint": "HEAD /orders", "http_status": 404, **LEAKING}
    assert clauses(log(tmp_path / "a.ndjson", slots)) == {}
    result = audit([str(archive)], platform()).result
    assert not any("could be held" in line for line in result.not_run)


def test_what_a_client_got_is_left_as_it_is() -> None:
    """Only the content of an answer that has none goes; its absence is known, not lacking."""
    whole = Exchange(Request("GET", "/x"), Response(404, (), b"{}"))
    assert as_received(whole, recorded=True) is whole
    lacking = Exchange(Request("head", "/x"), Response(404, cut="is long"), lacks=ABOUT_BODY)
    assert as_received(lacking).lacks == {"http/head-body"}
    assert as_received(lacking).response.cut is None
    for status in (100, 204, 304):
        empty = Exchange(Request("GET", "/x"), Response(status, (), b"{}"))
        assert as_received(empty) is empty
        assert as_received(empty, recorded=True).response.body == b""
