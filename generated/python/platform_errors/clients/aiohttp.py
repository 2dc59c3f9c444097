"""Typed errors and retries for aiohttp, from version 3.12 on.

    session = aiohttp.ClientSession(
        middlewares=[retrying()], raise_for_status=raise_for_error
    )

The middleware sends again, and the error of the last answer is raised. The body of an
error is cut at ``LARGEST_BODY``; so is what a compressed one unpacks to. It is read for
ten seconds: aiohttp does not show the bytes that unpack to nothing.
"""

# Generated from taxonomy.yaml; do not edit. Regenerate: faultspec compile taxonomy.yaml

# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false
# (aiohttp need not be installed where this package is checked)

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp

from ..errors import PlatformError
from ..retrying import (
    LARGEST_BODY,
    Retries,
    error_of,
    is_error_status,
    may_be_error,
    missing_key,
)

# Seconds in which the body of an error is read
_LONGEST = 10


async def raise_for_error(response: aiohttp.ClientResponse) -> None:
    """Raise the error of an answer, if it has one."""
    if may_be_error(response.status, response.headers):
        error = await _error_of(response)
        if error is not None:
            raise error


def retrying(
    retries: Retries | None = None,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> aiohttp.ClientMiddlewareType:
    """The middleware that sends a request again as the policy of its error says. The
    last answer is returned, whose error ``raise_for_error`` raises.

    A write that an idempotency key makes safe gets one, if the key is a header. A body
    that can be read only once is sent once.
    """
    shared = Retries() if retries is None else retries

    async def send(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        request.headers.update(missing_key(request.method, request.headers))
        call = shared.begin()
        while True:
            response = await handler(request)
            if not may_be_error(response.status, response.headers):
                call.succeed()
                return response
            try:
                delay = call.delay(
                    await _error_of(response),
                    request.method,
                    request.headers,
                    repeatable=isinstance(request.body, bytes | aiohttp.BytesPayload),
                )
            except BaseException:  # aiohttp closes only what it was given
                response.close()
                raise
            if delay is None:
                return response
            response.release()
            await sleep(delay)

    return send


async def _error_of(
    response: aiohttp.ClientResponse,
) -> PlatformError | None:
    """The error in an answer. A success that its body may mark as an error is read
    whole: it is the caller's.
    """
    if is_error_status(response.status) and response._body is None:
        # As ``read`` does, which closes a connection whose body was not read to its end
        response._body = await _beginning(response.content)
    return error_of(response.status, response.headers, await response.read())


async def _beginning(content: aiohttp.StreamReader) -> bytes:
    """A body as far as it is read."""
    body = bytearray()
    try:
        async with asyncio.timeout(_LONGEST) as limit:
            while len(body) <= LARGEST_BODY and (part := await content.readany()):
                body += part
    except TimeoutError:
        if not limit.expired():
            raise
    return bytes(body)
