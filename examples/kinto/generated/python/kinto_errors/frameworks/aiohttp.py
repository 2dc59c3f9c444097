"""Every error of an aiohttp application leaves in the envelope.

    app = web.Application()
    install(app)

A raised error of this package is answered as itself. A body that ``Request.json``,
``text`` or ``post`` cannot read is a bare 400. A request that aiohttp cannot read never
reaches the application, and is answered by the server.
"""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml

# aiohttp need not be installed.
# mypy: disable-error-code="import-not-found, unused-ignore"
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Unpack

from aiohttp import web

from .._runtime.boundary import raised_in
from ..boundary import Answer, BoundaryExchange, BoundaryOptions, encoded, make_policy
from . import self_test

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

EXCHANGE: Any = "error_boundary"
if hasattr(web, "RequestKey"):  # aiohttp 3.14; others take texts alone
    EXCHANGE = web.RequestKey("error_boundary", BoundaryExchange)
"""The key of a request under which its ``BoundaryExchange`` is."""


def install(app: web.Application, **options: Unpack[BoundaryOptions]) -> None:
    """Make the boundary the outermost middleware of an application. Its ``body_limit``
    replaces ``client_max_size``. Raises ValueError as ``make_policy`` does.
    """
    policy = make_policy(**options)._replace(is_unread=_is_unread)

    async def answer_errors(
        request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        exchange = BoundaryExchange(
            policy, request.method, request.path, tuple(request.raw_headers)
        )
        request[EXCHANGE] = exchange
        if exchange.declares_too_large():
            return _response(exchange.answer(413))
        if policy.body_limit is not None:
            # aiohttp refuses a body of its limit, and we one beyond ours
            request = request.clone(client_max_size=policy.body_limit + 1)
            request[EXCHANGE] = exchange
        response: web.StreamResponse
        try:
            response = await handler(request)
            if not isinstance(response, web.StreamResponse):
                raise TypeError(f"the handler returned {type(response).__name__}")
        except web.HTTPException as failure:
            if exchange.begun or not exchange.is_held(failure.status):
                raise
            response = failure
        except Exception as exception:
            if exchange.begun:
                exchange.log(exception)
                raise
            return _response(exchange.answer(500, exception))
        if exchange.begun or not exchange.is_held(response.status):
            return response
        return _settled(exchange, response)

    async def note_begin(request: web.Request, response: web.StreamResponse) -> None:
        exchange: BoundaryExchange | None = request.get(EXCHANGE)
        if exchange is not None:
            exchange.begun = True
            if exchange.id_in(encoded(response.headers.items())) is None:
                response.headers[policy.correlation.header] = exchange.correlation_id

    app.middlewares.insert(0, web.middleware(answer_errors))
    app.on_response_prepare.append(note_begin)


def _is_unread(exception: Exception) -> bool:
    is_malformed = isinstance(exception, (ValueError, RecursionError))
    is_unknown_charset = type(exception) is LookupError
    readers = (web.BaseRequest.json, web.BaseRequest.text, web.BaseRequest.post)
    return (is_malformed or is_unknown_charset) and any(
        raised_in(exception, reader) for reader in readers
    )


def check(app: web.Application, headers: Mapping[str, str] | None = None) -> list[str]:
    """The parts of the boundary that are not wired, in plain words. The
    application is started on loopback and stopped again, so it cannot be served later.
    ``headers``: of each request, such as credentials.
    """
    from aiohttp.test_utils import TestClient, TestServer

    async def fail(request: web.Request) -> web.StreamResponse:
        self_test.raise_at(request.path)
        return web.Response()

    async def ask_all() -> dict[tuple[str, str], self_test.Reply]:
        replies = {}
        async with TestClient(TestServer(app)) as client:
            for method, path in (
                ("GET", self_test.UNKNOWN),
                ("HEAD", self_test.UNKNOWN),
                ("GET", self_test.RAISING),
                ("GET", self_test.CRASHING),
            ):
                with self_test.silence(path):
                    answer = await client.request(method, path, headers=headers)
                    body = await answer.read()
                fields = {n.lower(): value for n, value in answer.headers.items()}
                replies[method, path] = self_test.Reply(answer.status, fields, body)
        return replies

    for path in (self_test.RAISING, self_test.CRASHING):
        app.router.add_get(path, fail)
    with ThreadPoolExecutor(1) as thread:
        replies = thread.submit(asyncio.run, ask_all()).result()
    return self_test.find_problems(
        lambda method, path: replies[method, path], raises=True
    )


def _settled(
    exchange: BoundaryExchange, response: web.StreamResponse
) -> web.StreamResponse:
    body = getattr(response, "body", None)
    held = Answer(
        response.status,
        encoded(response.headers.items()),
        body if isinstance(body, bytes) else b"",
    )
    settled = _response(exchange.settle(held))
    settled.cookies.update(response.cookies)
    return settled


def _response(answer: Answer) -> web.Response:
    response = web.Response(body=answer.body, status=answer.status)
    response.headers.clear()
    for name, value in answer.fields:
        if name.lower() != "content-length":
            response.headers.add(name, value)
    return response
