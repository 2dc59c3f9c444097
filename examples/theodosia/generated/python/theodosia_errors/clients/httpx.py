"""Typed errors and retries for httpx, sync and async.

    client = httpx.Client(
        transport=RetryTransport(), event_hooks={"response": [raise_for_error]}
    )

``AsyncRetryTransport`` and ``raise_for_error_async`` are those of ``AsyncClient``. The
body of an error is read as far as ``LARGEST_BODY``, packed or not.
"""

# Generated from examples/theodosia/taxonomy.yaml; do not edit. Regenerate: faultspec
# compile examples/theodosia/taxonomy.yaml

# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false
# (httpx need not be installed where this package is checked)

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import cast

import httpx

from ..retrying import (
    LARGEST_BODY,
    Call,
    Retries,
    error_of,
    is_error_status,
    may_be_error,
    missing_key,
)

# Bytes. No decoder makes more than 32 MB of so few: a block of Brotli has 16 MiB
_PIECE = 16


def raise_for_error(response: httpx.Response) -> httpx.Response:
    """Raise the error of an answer; return any other answer. It is a hook for
    ``response`` events, too.
    """
    if may_be_error(response.status_code, response.headers):
        body = _read_error(response) if _is_unread(response) else response.read()
        _raise(response, body)
    return response


async def raise_for_error_async(response: httpx.Response) -> httpx.Response:
    """The same for ``AsyncClient``."""
    if may_be_error(response.status_code, response.headers):
        unread = _is_unread(response)
        _raise(
            response,
            await _read_error_async(response) if unread else await response.aread(),
        )
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
            try:
                delay = _delay(call, request, response, _read_error(response))
            except BaseException:  # httpx closes only what it was given
                response.close()
                raise
            if delay is None:
                return response
            response.close()
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
            try:
                body = await _read_error_async(response)
                delay = _delay(call, request, response, body)
            except BaseException:  # httpx closes only what it was given
                await response.aclose()
                raise
            if delay is None:
                return response
            await response.aclose()
            await self.sleep(delay)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.transport.aclose()


class _Pieces(httpx.SyncByteStream):
    """A body that was read, for a decoder."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self.raw), _PIECE):
            yield self.raw[start : start + _PIECE]


class _Resumed(httpx.SyncByteStream):
    """A body whose beginning was read: that, and the rest."""

    def __init__(
        self, raw: bytes, parts: Iterator[bytes], stream: httpx.SyncByteStream
    ) -> None:
        self.raw = raw
        self.parts = parts
        self.stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield self.raw
        yield from self.parts

    def close(self) -> None:
        self.stream.close()


class _AsyncResumed(httpx.AsyncByteStream):
    """The same for ``AsyncClient``."""

    def __init__(
        self, raw: bytes, parts: AsyncIterator[bytes], stream: httpx.AsyncByteStream
    ) -> None:
        self.raw = raw
        self.parts = parts
        self.stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.raw
        async for part in self.parts:
            yield part

    async def aclose(self) -> None:
        await self.stream.aclose()


def _is_unread(response: httpx.Response) -> bool:
    """Whether the body of an error was not read. A success that its body may mark as an
    error is read whole: it is the caller's.
    """
    unread = not response.is_stream_consumed
    return unread and is_error_status(response.status_code)


def _read_error(response: httpx.Response) -> bytes:
    """The body of an error as far as it is read. It can be read again."""
    stream = cast(httpx.SyncByteStream, response.stream)
    parts = iter(stream)
    raw = _read(parts)
    response.stream = _Resumed(raw, parts, stream)
    return _decoded(response, raw)


async def _read_error_async(response: httpx.Response) -> bytes:
    stream = cast(httpx.AsyncByteStream, response.stream)
    parts = aiter(stream)
    raw = bytearray()
    while len(raw) <= LARGEST_BODY and (part := await anext(parts, None)) is not None:
        raw += part
    response.stream = _AsyncResumed(bytes(raw), parts, stream)
    return _decoded(response, bytes(raw))


def _read(parts: Iterator[bytes]) -> bytes:
    """The parts up to the first that goes beyond ``LARGEST_BODY``."""
    raw = bytearray()
    while len(raw) <= LARGEST_BODY and (part := next(parts, None)) is not None:
        raw += part
    return bytes(raw)


def _decoded(response: httpx.Response, raw: bytes) -> bytes:
    """A body without its content coding, as far as it is read. One with several codings
    is not decoded: each could make a thousand bytes of one. One that does not decode is
    empty, so that the status is still an error.
    """
    codings = response.headers.get_list("content-encoding", split_commas=True)
    if len(raw) > LARGEST_BODY or not codings:
        return raw
    if len(codings) > 1:
        return b""
    packed = httpx.Response(
        response.status_code, headers=response.headers, stream=_Pieces(raw)
    )
    try:
        return _read(packed.iter_bytes())
    except httpx.DecodingError:
        return b""


def _raise(response: httpx.Response, body: bytes) -> None:
    error = error_of(response.status_code, response.headers, body)
    if error is not None:
        raise error


def _delay(
    call: Call, request: httpx.Request, response: httpx.Response, body: bytes
) -> float | None:
    """The seconds to wait before the next try; None if there is none."""
    return call.delay(
        error_of(response.status_code, response.headers, body),
        request.method,
        request.headers,
        repeatable=isinstance(request.stream, httpx.ByteStream),
    )
