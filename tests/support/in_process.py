"""Runs whose requests reach an ASGI application without a connection, and the clock that such a run
moves.
"""

import asyncio
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from urllib.parse import unquote

import h11
import httpx
from starlette.types import ASGIApp, Message, Scope

REQUEST_SECONDS = 0.02
"""Seconds that a request takes by the clock: few enough that a burst stays in the window of a rate
limit.
"""


class Clock:
    """Seconds since the epoch. They pass by requests and pauses alone, however busy the machine
    is.
    """

    def __init__(self) -> None:
        self._now = time.time()

    def __call__(self) -> float:
        """The time."""
        return self._now

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds


@dataclass(slots=True)
class Exchange:
    """One call of an application: what it has to receive, and what it has sent."""

    pending: list[Message]
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    ended: bool = False

    async def receive(self) -> Message:
        """The body of the request, and after it that the client has gone."""
        return self.pending.pop() if self.pending else {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Take a part of the answer."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], [*message["headers"]]
        else:
            self.body += message.get("body", b"")
            self.ended = not message.get("more_body", False)


@dataclass(frozen=True, slots=True)
class InProcess(httpx.BaseTransport):
    """Calls an application on the event loop of the server that serves it too.

    What uvicorn adds to an answer, it adds; what h11 refuses to write, it refuses.
    """

    app: ASGIApp
    loop: asyncio.AbstractEventLoop
    clock: Clock

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer. Raises what a connection would raise."""
        fields, target = request.headers.raw, request.url.raw_path
        try:
            h11.Request(method=request.method, target=target, headers=fields)
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error), request=request) from None
        body = b"".join(request.stream)  # type: ignore[arg-type]  # never an asynchronous stream
        self.clock.pause(REQUEST_SECONDS)
        path, _, query = target.partition(b"?")
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "server": (request.url.host, request.url.port),
            "client": ("127.0.0.1", 1),
            "scheme": "http",
            "method": request.method,
            "root_path": "",
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "headers": [(name.lower(), value) for name, value in fields],
            "state": {},
        }
        exchange = Exchange([{"type": "http.request", "body": body, "more_body": False}])
        patience = request.extensions["timeout"]["read"]
        answered = asyncio.run_coroutine_threadsafe(
            asyncio.wait_for(self.app(scope, exchange.receive, exchange.send), patience), self.loop
        )
        try:
            answered.result()
        except TimeoutError:
            raise httpx.ReadTimeout("no answer", request=request) from None
        except Exception:
            if not exchange.status:  # as uvicorn answers for an application that raises
                exchange.status = 500
                exchange.headers = [
                    (b"content-type", b"text/plain; charset=utf-8"),
                    (b"connection", b"close"),
                ]
                exchange.body, exchange.ended = bytearray(b"Internal Server Error"), True
        stated = {name.lower(): value for name, value in exchange.headers}
        length = stated.get(b"content-length", b"")
        if not exchange.ended or (length and int(length) != len(exchange.body)):
            raise httpx.RemoteProtocolError("peer closed connection", request=request)
        headers = [(b"date", formatdate(usegmt=True).encode()), *exchange.headers]
        if not length and exchange.status not in (204, 304):
            headers.append((b"transfer-encoding", b"chunked"))
        return httpx.Response(
            exchange.status, headers=headers, stream=httpx.ByteStream(bytes(exchange.body))
        )
