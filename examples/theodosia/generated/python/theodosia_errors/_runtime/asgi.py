# Copied from faultspec; do not edit
"""The error boundary of an ASGI service: whatever goes wrong behind it leaves in the
envelope, with a correlation id. `boundary` has the rules.

The correlation id stands in `scope["state"]["correlation_id"]` for the application, and
the `BoundaryExchange` in `scope["error_boundary"]` for handlers of a framework.

A body without a declared length is answered with 413 as soon as it has grown too long.
A response that passes is not buffered. An error that is longer than an envelope may be
is answered without its rest: sending that raises OSError, as for a client that left.

An exception is answered if nothing has been sent yet; after that it is raised again,
since half a response can't be taken back. A framework that answers 500 by itself right
before it raises is overruled. If the application does something else after a 500, such
as a background task, the answer does not wait. An application that answers nothing to a
client that left is left alone.

To HEAD the same headers go out, without a body. WebSocket and lifespan scopes are
passed on untouched. Middleware that compresses, or adds headers to whatever goes out,
belongs around the boundary and not inside it.
"""

from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    MutableMapping,
)
from typing import Any

from .boundary import (
    LARGEST_ENVELOPE,
    Answer,
    BoundaryExchange,
    BoundaryPolicy,
    Headers,
)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

EXCHANGE = "error_boundary"
"""The key of a scope under which its `BoundaryExchange` stands."""


class AsgiBoundary:
    """ASGI middleware; see the module's documentation."""

    def __init__(self, app: App, policy: BoundaryPolicy) -> None:
        self.app = app
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI has it."""
        if scope["type"] == "http":
            await _Connection(self, scope, receive, send).run()
        else:
            await self.app(scope, receive, send)


class _Connection:
    """One request and its answer.

    `held` is the head of an error response that may have to be replaced, `content` what
    has come of its body, and `complete` that all of it has. `sent` says that a response
    is on its way, `done` that nothing more may follow, `unwanted` that more of a body
    was to follow, and `left` that the application knows of a client that left.
    """

    def __init__(
        self, boundary: AsgiBoundary, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self.app = boundary.app
        self.scope = scope
        self.upstream_receive = receive
        self.upstream_send = send
        self.exchange = BoundaryExchange(
            boundary.policy, scope["method"], scope["path"], tuple(scope["headers"])
        )
        self.held: Answer | None = None
        self.content = bytearray()
        self.complete = False
        self.sent = False
        self.done = False
        self.unwanted = False
        self.left = False

    async def run(self) -> None:
        exchange = self.exchange
        self.scope.setdefault("state", {})["correlation_id"] = exchange.correlation_id
        self.scope[EXCHANGE] = exchange
        if exchange.declares_too_large():
            await self.respond(exchange.answer(413))
            return
        try:
            await _WatchedRun(self.run_app(), self.settle_complete)
        except Exception as exception:
            if self.unwanted:
                await self.settle_complete()
                return
            if self.sent:
                exchange.log(exception)
                raise
            await self.respond(exchange.answer_exception(exception))
            return
        if self.sent:
            return
        if self.held is not None:
            await self.settle(self.held)
        elif exchange.too_large or not self.left:
            silent = RuntimeError("the application returned without a response")
            await self.respond(exchange.answer_exception(silent))

    async def run_app(self) -> None:
        await self.app(self.scope, self.receive, self.send)

    async def receive(self) -> Message:
        message = await self.upstream_receive()
        if message["type"] == "http.request":
            self.exchange.count(len(message.get("body", b"")))
        elif message["type"] == "http.disconnect":
            self.left = True
        return message

    async def send(self, message: Message) -> None:
        if self.unwanted:
            raise OSError("the error is answered, and the rest of its body not sent")
        if self.done:
            return
        kind = message["type"]
        if kind == "http.response.start" and not self.sent:
            headers: Headers = tuple(message.get("headers", ()))
            if self.exchange.is_held(message["status"]):
                self.held = Answer(message["status"], headers, b"")
            else:
                await self.forward_start(message, self.exchange.with_id(headers))
        elif self.held is None:
            await self.upstream_send(message)
        elif kind == "http.response.body":
            room = LARGEST_ENVELOPE + 1 - len(self.content)
            self.content += message.get("body", b"")[:room]
            whole = not message.get("more_body", False)
            if whole or len(self.content) > LARGEST_ENVELOPE:
                self.complete = True
                self.unwanted = not whole
                held = self.held._replace(body=bytes(self.content))
                if not self.awaits_exception(held):
                    await self.settle(held)

    async def settle_complete(self) -> None:
        """Send a complete error that waited for an exception, which did not follow."""
        if self.complete and self.held is not None and not self.sent:
            await self.settle(self.held)

    def awaits_exception(self, held: Answer) -> bool:
        """A bare 500 may be a framework's last word before it raises; the exception
        tells `render` more.
        """
        return held.status == 500 and not self.exchange.is_envelope(held)

    async def settle(self, held: Answer) -> None:
        """Send what was held if it is the envelope, and another in its place if not."""
        whole = held._replace(body=bytes(self.content))
        await self.respond(self.exchange.settle(whole))

    async def respond(self, answer: Answer) -> None:
        """Send an error, whole."""
        start: Message = {"type": "http.response.start", "status": answer.status}
        await self.forward_start(start, answer.headers)
        self.done = True
        content = b"" if self.scope["method"] == "HEAD" else answer.body
        await self.upstream_send({"type": "http.response.body", "body": content})

    async def forward_start(self, message: Message, headers: Headers) -> None:
        self.sent = True
        await self.upstream_send({**message, "headers": list(headers)})


class _WatchedRun(Generator[Any, Any, None]):
    """Awaits `app`, and `before()` each time that `app` is about to wait for something.

    It needs no event loop of its own: what `app` waits for is passed on as it is.
    """

    def __init__(
        self,
        app: Coroutine[Any, Any, None],
        before: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self.app = app
        self.before = before
        self.between: Coroutine[Any, Any, None] | None = None
        self.awaited: Any = None

    def __await__(self) -> Generator[Any, Any, None]:
        return self

    def send(self, value: Any) -> Any:
        if self.between is None:
            return self.first(self.app.send(value))
        return self.go_on(self.between, value)

    def throw(self, kind: Any, value: Any = None, trace: Any = None) -> Any:
        if self.between is not None:
            self.between.close()
            self.between = None
        return self.first(self.app.throw(kind if value is None else value))

    def first(self, awaited: Any) -> Any:
        """Begin with `before()`, then with what `app` waits for."""
        self.awaited, self.between = awaited, self.before()
        return self.go_on(self.between, None)

    def go_on(self, between: Coroutine[Any, Any, None], value: Any) -> Any:
        try:
            return between.send(value)
        except StopIteration:
            self.between = None
            return self.awaited
