"""Typed errors and retries for httpx, sync and async.

    client = httpx.Client(
        transport=RetryTransport(), event_hooks={"response": [raise_for_error]}
    )

``AsyncRetryTransport`` and ``raise_for_error_async`` are those of ``AsyncClient``.
"""

# Generated from examples/kinto/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/kinto/taxonomy.yaml

# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false
# (httpx need not be installed where this package is checked)

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import cast

import httpx

from ..retrying import (
    Call,
    Retries,
    error_of,
    may_be_error,
    missing_key,
)


def raise_for_error(response: httpx.Response) -> httpx.Response:
    """Raise the error of an answer; return any other answer. It is a hook for
    ``response`` events, too.
    """
    if may_be_error(response.status_code, response.headers):
        response.read()
        _raise(response)
    return response


async def raise_for_error_async(response: httpx.Response) -> httpx.Response:
    """The same for ``AsyncClient``."""
    if may_be_error(response.status_code, response.headers):
        await response.aread()
        _raise(response)
    return response


class RetryTransport(httpx.BaseTransport):
    """Sends a request again as the policy of its error says, and returns the last
    answer, whose error ``raise_for_error`` raises.

    A write that an idempotency key makes safe gets one, if the key is a header. A body
    that can be read only once is sent once.
    """

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        retries: Retries | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.transport = httpx.HTTPTransport() if transport is None else transport
        self.retries = Retries() if retries is None else retries
        self.sleep = sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request as often as its errors allow."""
        request.headers.update(missing_key(request.method, request.headers))
        call = self.retries.begin()
        while True:
            response = self.transport.handle_request(request)
            if not may_be_error(response.status_code, response.headers):
                call.succeed()
                return response
            raw = b"".join(cast(httpx.SyncByteStream, response.stream))
            response.close()
            delay = _delay(call, request, response, raw)
            if delay is None:
                return _answer(response, raw)
            self.sleep(delay)

    def close(self) -> None:
        """Close the connections."""
        self.transport.close()


class AsyncRetryTransport(httpx.AsyncBaseTransport):
    """``RetryTransport`` for ``AsyncClient``."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        retries: Retries | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.transport = httpx.AsyncHTTPTransport() if transport is None else transport
        self.retries = Retries() if retries is None else retries
        self.sleep = sleep

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request as often as its errors allow."""
        request.headers.update(missing_key(request.method, request.headers))
        call = self.retries.begin()
        while True:
            response = await self.transport.handle_async_request(request)
            if not may_be_error(response.status_code, response.headers):
                call.succeed()
                return response
            stream = cast(httpx.AsyncByteStream, response.stream)
            raw = b"".join([part async for part in stream])
            await response.aclose()
            delay = _delay(call, request, response, raw)
            if delay is None:
                return _answer(response, raw)
            await self.sleep(delay)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.transport.aclose()


def _raise(response: httpx.Response) -> None:
    error = error_of(response.status_code, response.headers, response.content)
    if error is not None:
        raise error


def _delay(
    call: Call, request: httpx.Request, response: httpx.Response, raw: bytes
) -> float | None:
    """The seconds to wait before the next try; None if there is none."""
    body = _answer(response, raw).read()
    return call.delay(
        error_of(response.status_code, response.headers, body),
        request.method,
        request.headers,
        repeatable=isinstance(request.stream, httpx.ByteStream),
    )


def _answer(response: httpx.Response, raw: bytes) -> httpx.Response:
    """An answer whose body was read, as it came."""
    return httpx.Response(
        response.status_code,
        headers=response.headers,
        stream=httpx.ByteStream(raw),
        extensions=response.extensions,
    )
