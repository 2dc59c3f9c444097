"""A reverse proxy on loopback, for services whose programs cannot be instrumented.

uvicorn serves and httpcore asks: both leave the octets of targets, header fields and bodies as they
are. Only what belongs to one connection (RFC 9110 section 7.6.1) is left out.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress

import httpcore
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faultspec_conformance.drivers.serving import wait_for_disconnect

#: Fields of one connection, which no proxy passes on: RFC 9110 section 7.6.1.
_OF_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"transfer-encoding", b"upgrade"}
)

#: Seconds for a connection to the service, and for it to take more of a request: while a body waits
#: to be sent, nobody learns that the client has left. An answer may take any time: the client
#: decides.
_TIMEOUTS = {"connect": 10.0, "write": 60.0}

#: The statuses of final answers: RFC 9110 section 15.
_STATUSES = range(200, 600)

#: What h11 quotes of an answer in the text of an error.
_QUOTED = re.compile(r":? ?(?:bytearray\()?b['\"].*", re.DOTALL)

#: Different reasons of requests without an answer that are counted one by one.
_REASONS = 20

_Fields = Sequence[tuple[bytes, bytes]]


class ReverseProxy:
    """An ASGI application that passes requests on to one service, and its answers back.

    ``url``: the address of the service, without a path. ``observe`` wraps the application that gets
    the service's own answers, whose fields of the connection are still there. A request that gets
    no answer is answered with 502, around that. If an answer breaks off, the connection to the
    client does, too.
    """

    def __init__(self, url: str, observe: Callable[[ASGIApp], ASGIApp]) -> None:
        self._url = httpcore.URL(url)
        # A connection that is kept may be closed by the service just when a request is sent.
        self._pool = httpcore.AsyncConnectionPool(max_connections=None, max_keepalive_connections=0)
        self._observed = observe(self._pass)
        self._unanswered: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()

    def reasons_without_answer(self) -> Iterator[str]:
        """Why requests got no answer of the service, or not all of it, with their number. Nothing
        was judged of them.
        """
        return _describe_counts(self._unanswered)

    def reasons_of_refusal(self) -> Iterator[str]:
        """Why requests did not reach the service, with their number."""
        return _describe_counts(self._refused)

    def refuse(self, reason: str) -> None:
        """Count a request that does not reach the service."""
        _count(self._refused, reason)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        begun = False

        async def send_on(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] == "http.response.start":
                message = {**message, "headers": _passed_fields(message["headers"])}
            await send(message)

        try:
            await self._observed(scope, receive, send_on)
        except Exception as error:  # others would be answers of the server, which nobody counts
            reason = _describe_failure(error, begun=begun)
            _count(self._unanswered, reason)
            if not begun:  # else the server closes the connection of an answer that is not whole
                await _send_gateway_error(send, reason)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on. The work ends if the client leaves."""
        whole = asyncio.Event()
        answering = asyncio.ensure_future(self._answer(scope, _read(receive, whole), send))
        leaving = asyncio.ensure_future(_wait_for_leaving(whole, receive))
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        for task in (leaving, answering):
            task.cancel()
            with suppress(asyncio.CancelledError, _ClientLeft):
                await task

    async def _answer(self, scope: Scope, body: AsyncIterator[bytes], send: Send) -> None:
        query = scope["query_string"]
        streamed = _has_body(scope["headers"])
        if not streamed:
            await _exhaust(body)
        async with self._pool.stream(
            scope["method"],
            httpcore.URL(
                scheme=self._url.scheme,
                host=self._url.host,
                port=self._url.port,
                target=scope["raw_path"] + (b"?" + query if query else b""),
            ),
            headers=_sent_fields(scope["headers"]),
            content=body if streamed else None,
            extensions={"timeout": _TIMEOUTS},
        ) as answer:
            if answer.status not in _STATUSES:
                raise httpcore.RemoteProtocolError(f"status {answer.status}")
            start = {"status": answer.status, "headers": answer.headers}
            await send({"type": "http.response.start", **start})
            async for chunk in answer.aiter_stream():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _count(reasons: Counter[str], reason: str) -> None:
    listed = reason in reasons or len(reasons) < _REASONS
    reasons[reason if listed else "other reasons"] += 1


def _describe_counts(reasons: Counter[str]) -> Iterator[str]:
    for reason, count in reasons.items():
        requests = "1 request" if count == 1 else f"{count} requests"
        yield f"{requests} got no whole answer: {reason}"


#: Failures of the service, or of the way to it. httpcore has no common class for them.
_FAILURES = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)


class _ClientLeft(Exception):
    """The client closed the connection before its request was whole."""


async def _read(receive: Receive, whole: asyncio.Event) -> AsyncIterator[bytes]:
    """The body of a request, as it comes. Raises _ClientLeft. ``whole`` is set at its end."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _ClientLeft
        yield message.get("body", b"")
        if not message.get("more_body", False):
            whole.set()
            return


async def _exhaust(body: AsyncIterator[bytes]) -> None:
    async for _ in body:
        pass


async def _wait_for_leaving(whole: asyncio.Event, receive: Receive) -> None:
    """Return when the client has closed the connection. Until the request is ``whole``, its
    messages belong to the reader of its body.
    """
    await whole.wait()
    await wait_for_disconnect(receive)


def _has_body(fields: _Fields) -> bool:
    return any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in fields)


def _sent_fields(fields: _Fields) -> list[tuple[bytes, bytes]]:
    """The fields of a request, without its host: the library names that of the service."""
    return [field for field in _passed_fields(fields) if field[0].lower() != b"host"]


def _passed_fields(fields: _Fields) -> list[tuple[bytes, bytes]]:
    named = (
        option.strip().lower()
        for name, value in fields
        if name.lower() == b"connection"
        for option in value.split(b",")
    )
    left_out = _OF_CONNECTION.union(named)
    if any(name.lower() == b"transfer-encoding" for name, _ in fields):
        left_out |= {b"content-length"}  # it does not count, and must go: RFC 9112 section 6.3
    return [(name, value) for name, value in fields if name.lower() not in left_out]


def _describe_failure(error: Exception, *, begun: bool) -> str:
    if isinstance(error, httpcore.WriteTimeout):
        return "the service took no more of the request"
    # The library quotes what it cannot read or write, which may be a secret of the request.
    why = _QUOTED.sub("", str(error)) or type(error).__name__
    if not isinstance(error, _FAILURES):
        return f"the proxy could not pass it on ({why})"
    if begun:
        return f"the service broke its answer off ({why})"
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
        return "the service could not be reached"
    return f"the service sent no answer of HTTP ({why})"


async def _send_gateway_error(send: Send, reason: str) -> None:
    """Send an answer of the proxy itself. It is not one of the service, and is not judged."""
    fields = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 502, "headers": fields})
    await send({"type": "http.response.body", "body": f"faultspec proxy: {reason}\n".encode()})
