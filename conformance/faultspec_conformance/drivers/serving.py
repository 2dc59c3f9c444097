"""Serving an ASGI application on loopback, from a thread of this process."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds for the server to start or end. It takes a few hundredths; a loaded machine may need
#: more.
START_SECONDS = 10.0

#: Seconds after which a signal is noticed that another thread received.
_LOOK_SECONDS = 0.5

#: uvicorn refuses longer header sections itself, in plain text. The limits of services are well
#: below.
HEAD_BYTES = 256 * 1024

#: Bytes of a request's body that our servers keep. They read the rest and forget it.
KEPT_BYTES = 64 * 1024

#: Connections at the same time. A request on another one is answered with 503.
CONNECTIONS = 256

#: Connections beyond which a new one is ended before it sends anything. An unfinished head takes up
#: to `HEAD_BYTES`, so all of them take 128 MiB.
MOST_CONNECTIONS = 2 * CONNECTIONS

#: Seconds in which the head of a request has to come.
HEAD_SECONDS = 30.0

Refused = Callable[[str], None]
"""Gets the reason of each answer that the server gives itself, without the application."""

#: The extension of the scope by which an application ends the connection without an answer.
HANG_UP = "faultspec.hang_up"


#: Seconds between two bytes of an answer that never ends, and between two looks whether an open
#: connection is over.
_DRIP, _LOOK = 0.5, 0.05


class _Protocol(H11Protocol):
    """HTTP/1.1 whose application may end the connection, which ASGI cannot express.

    ``refused``: gets the reason of each request that the application does not get.
    """

    def __init__(self, *arguments: Any, refused: Refused, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        inner = self.app
        self._refused = refused

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if len(self.connections) > CONNECTIONS:
                refused(f"more than {CONNECTIONS} connections at the same time")
                await service_unavailable(scope, receive, send)  # type: ignore[arg-type]
                return
            scope.setdefault("extensions", {})[HANG_UP] = self.transport.abort
            await inner(scope, receive, send)

        self.app = app
        self._due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._refused(f"more than {MOST_CONNECTIONS} connections at the same time")
            transport.abort()
        self._limit_head()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._limit_head()

    def _limit_head(self) -> None:
        """End the connection if the head of its request is not whole in time."""
        is_due = self.conn.their_state is h11.IDLE
        if is_due and self._due is None:
            self._due = self.loop.call_later(HEAD_SECONDS, self._end_unread)
        elif not is_due and self._due is not None:
            self._due.cancel()
            self._due = None

    def _end_unread(self) -> None:
        if self.conn.trailing_data[0]:  # an idle connection has no request
            self._refused(f"the head of the request was not whole after {HEAD_SECONDS:g} seconds")
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read."""
        self._refused("the request is not one of HTTP/1.1")
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the request, which refers to this connection: circles wait for the collector,
        and requests may be large.
        """
        super().connection_lost(exc)
        if self._due is not None:
            self._due.cancel()
        self.__dict__.update(app=None, cycle=None, scope=None, headers=None)


async def read_body(receive: Receive) -> bytes:
    """The first ``KEPT_BYTES`` of a request's body, when all of it has come."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")[: KEPT_BYTES - len(body)]
        if message["type"] != "http.request" or not message.get("more_body", False):
            return bytes(body)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def keep_open(receive: Receive, send: Send | None, is_over: Callable[[], bool]) -> None:
    """Return when the client has closed the connection, or ``is_over``. ``send``: sends a byte of
    the answer now and then; None sends nothing.
    """
    gone = asyncio.ensure_future(wait_for_disconnect(receive))
    due = time.monotonic()
    while not gone.done() and not is_over():
        if send is not None and time.monotonic() >= due:
            due += _DRIP
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.wait({gone}, timeout=_LOOK)
    gone.cancel()


def wait_for_interrupt() -> None:
    """Wait until the handler of a signal raises an exception. The system may hand a signal to
    another thread, which does not wake this one, so it looks now and then.
    """
    while True:
        time.sleep(_LOOK_SECONDS)


@contextmanager
def serving(
    app: ASGIApp,
    port: int = 0,
    *,
    adds_fields: bool = True,
    refused: Refused = lambda reason: None,
) -> Iterator[str]:
    """Yield the base URL of ``app`` on 127.0.0.1. Port 0 is a free one. The server ends with the
    block. ``adds_fields``: it adds `Date` and `Server` to each answer.

    Raises OSError if the port is taken, RuntimeError if the server does not start in
    ``START_SECONDS``.
    """
    # IPPROTO_TCP: asyncio disables Nagle's delay only on sockets that name it.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=partial(_Protocol, refused=refused),  # type: ignore[arg-type]
            ws="none",  # a request for an upgrade is one of HTTP for our applications
            h11_max_incomplete_event_size=HEAD_BYTES,
            lifespan="off",
            log_config=None,
            log_level="critical",  # no word of clients that the end of the server cuts off
            access_log=False,
            date_header=adds_fields,
            server_header=adds_fields,
            timeout_graceful_shutdown=1,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + START_SECONDS
        while not server.started:
            if time.monotonic() > deadline or not thread.is_alive():
                raise RuntimeError("the service did not start")
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(START_SECONDS)
        listening.close()
