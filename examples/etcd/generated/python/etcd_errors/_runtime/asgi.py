# Copied from faultspec; do not edit
"""The error boundary of an ASGI service: whatever goes wrong behind it leaves in the
envelope, with a correlation id.

What it does to an HTTP exchange, in order:

1. The correlation id is read from the request if it is one, and made otherwise; a
   malformed or repeated header is never reflected. It stands in
   `scope["state"]["correlation_id"]` for the application, and in every response, but
   for one that already names a well-formed id of its own (a replayed one, say).
2. A request body longer than `body_limit` is answered with 413, before the application
   sees it if its length is declared, and as soon as it has grown too long if it isn't.
3. A response below 400 passes through as it comes, unbuffered.
   So does an error of a surface that has no envelope, or whose bodies may keep another
   shape; an exception there is answered as anywhere.
4. A response from 400 on that `is_envelope` takes for the service's own passes, with
   `Cache-Control: no-store`. Any other (a framework's 404, 405 …) is answered anew by
   `render`; of its headers those in `KEPT` and the CORS headers survive.
5. An exception is logged and answered by `render` if nothing has been sent yet; after
   that it is raised again, since half a response can't be taken back. A framework that
   answers 500 by itself right before it raises is overruled. If the application does
   something else after a 500, such as a background task, the answer does not wait.
6. Where `render` fails, `last_resort` is the answer; an error never leaves without a
   body because of a mistake in how it is made.

To HEAD the same headers go out, without a body. WebSocket and lifespan scopes are
passed on untouched. Middleware that compresses, or adds headers to whatever goes out,
belongs around the boundary and not inside it.
"""

import logging
import re
import time
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from typing import Any, NamedTuple

from . import retry_after

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

KEPT = frozenset(
    (
        b"allow",
        b"retry-after",
        b"www-authenticate",
        b"proxy-authenticate",
        b"etag",
        b"vary",
        b"accept",
        b"accept-patch",
        b"set-cookie",
    )
)
"""Headers of an answer that outlive its body: they say what to do about the error, not
what the body was. A malformed or empty one is dropped.
"""

_REPEATED = frozenset(
    (
        b"set-cookie",
        b"vary",
        b"allow",
        b"accept",
        b"accept-patch",
        b"www-authenticate",
        b"proxy-authenticate",
    )
)
# RFC 9110 §5.1; anything else could begin another field
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")

_CORS = b"access-control-"  # without these a browser shows its user no error at all
# Bytes; a longer error body is not an envelope, and is not kept in memory
_LARGEST_ENVELOPE = 1 << 20
# Characters; a longer id would fill every log, whatever the format allows
_LONGEST_ID = 128

_logger = logging.getLogger(__name__)


class Problem(NamedTuple):
    """The failure that `render` puts into the envelope.

    `status` is the one that the framework chose, 413 for a body too long, 500 for an
    exception. `headers` are those that will be kept, names in lower case. `body` is
    what the application answered, which may hold anything.
    """

    status: int
    correlation_id: str
    exception: Exception | None
    headers: Headers
    body: bytes = b""


class Reply(NamedTuple):
    """An error that the application answered by itself. `correlation_id` is the one it
    will leave with; `headers` are those of the answer, names in lower case.
    """

    status: int
    content_type: str
    body: bytes
    correlation_id: str
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """The envelope on the wire. `headers` needn't name content-length, cache-control or
    the correlation id.
    """

    status: int
    headers: Headers
    body: bytes


class Correlation(NamedTuple):
    """Which header carries the correlation id, whether a value is one, and how a new
    one is made.
    """

    header: str
    accepts: Callable[[str], bool]
    new: Callable[[], str]


class BoundarySurface(NamedTuple):
    """Exchanges, and whether errors in them are `enveloped`; empty is any. `routes`: a
    method, or None for any, and a regular expression of the whole path.
    """

    enveloped: bool
    methods: Sequence[str] = ()
    routes: Sequence[tuple[str | None, str]] = ()
    statuses: Sequence[range] = ()

    def claims(self, method: str, path: str, status: int) -> bool:
        """Whether the exchange is one of them."""
        return (
            (not self.methods or method in self.methods)
            and (not self.statuses or any(status in each for each in self.statuses))
            and (
                not self.routes
                or any(
                    own in (None, method) and re.fullmatch(route, path, re.DOTALL)
                    for own, route in self.routes
                )
            )
        )


class ErrorBoundary:
    """ASGI middleware; see the module's documentation.

    `render` turns a `Problem` into the service's envelope, and `last_resort` does where
    that raises: it knows only the correlation id, and must not fail. `is_envelope` says
    of an error of the application whether it is the envelope already; `media_type` is
    the envelope's, which decides for HEAD, where there is no body. `body_limit` in
    bytes, or None. Of `surfaces` the first that claims an exchange counts.
    """

    def __init__(
        self,
        app: App,
        *,
        render: Callable[[Problem], Answer],
        last_resort: Callable[[str], Answer],
        is_envelope: Callable[[Reply], bool],
        correlation: Correlation,
        media_type: str = "application/json",
        body_limit: int | None = None,
        surfaces: Sequence[BoundarySurface] = (),
    ) -> None:
        self.app = app
        self.render = render
        self.last_resort = last_resort
        self.is_envelope = is_envelope
        self.correlation = correlation
        self.media_type = media_type
        self.body_limit = body_limit
        self.surfaces = surfaces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI has it."""
        if scope["type"] == "http":
            await _Exchange(self, scope, receive, send).run()
        else:
            await self.app(scope, receive, send)


class BodyTooLarge(Exception):
    """The request's body has grown beyond the limit; the answer is a 413 whatever the
    application makes of this.
    """


class _Exchange:
    """One request and its answer.

    `held` is the head of an error response that may have to be replaced, `content` what
    has come of its body, and `complete` that all of it has. `sent` says that a response
    is on its way, and `done` that nothing more may follow.
    """

    def __init__(
        self, boundary: ErrorBoundary, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self.boundary = boundary
        self.scope = scope
        self.upstream_receive = receive
        self.upstream_send = send
        self.id_header = boundary.correlation.header.lower().encode("latin-1")
        self.correlation_id = self.id_in(scope["headers"]) or boundary.correlation.new()
        self.received = 0
        self.too_large = False
        self.held: Answer | None = None
        self.content = bytearray()
        self.complete = False
        self.sent = False
        self.done = False

    def id_in(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """The id that the headers name, if it is one and the only one."""
        values = [value for name, value in headers if name.lower() == self.id_header]
        text = values[0].decode("latin-1") if len(values) == 1 else ""
        return text if text and self.is_id(text) else None

    def is_id(self, text: str) -> bool:
        # Nothing may split a header
        harmless = text.isascii() and text.isprintable() and len(text) <= _LONGEST_ID
        return harmless and self.boundary.correlation.accepts(text)

    async def run(self) -> None:
        self.scope.setdefault("state", {})["correlation_id"] = self.correlation_id
        if self.declared_too_large():
            await self.answer(413)
            return
        try:
            await _WatchedRun(self.run_app(), self.settle_complete)
        except Exception as exception:
            if self.sent:
                self.log(exception, logging.ERROR)
                raise
            await (self.answer(413) if self.too_large else self.answer(500, exception))
            return
        if self.sent:
            return
        if self.held is not None:
            await self.settle(self.held._replace(body=bytes(self.content)))
        elif self.too_large:
            await self.answer(413)
        else:
            await self.answer(
                500, RuntimeError("the application returned without a response")
            )

    async def run_app(self) -> None:
        await self.boundary.app(self.scope, self.receive, self.send)

    def log(self, exception: Exception, level: int) -> None:
        _logger.log(
            level,
            "%s %s failed (correlation id %s)",
            *self.log_arguments(),
            exc_info=exception if level >= logging.ERROR else None,
            extra={"correlation_id": self.correlation_id},
        )

    def log_arguments(self) -> tuple[str, str, str]:
        """The request that a line of the log is about. A path may hold line ends."""
        path = self.scope["path"].encode("unicode_escape").decode("ascii")
        return self.scope["method"], path, self.correlation_id

    def declared_too_large(self) -> bool:
        limit = self.boundary.body_limit
        lengths = [
            value
            for name, value in self.scope["headers"]
            if name.lower() == b"content-length"
        ]
        return limit is not None and any(
            each.isdigit() and float(each) > limit for each in lengths
        )

    async def receive(self) -> Message:
        message = await self.upstream_receive()
        if message["type"] == "http.request" and self.boundary.body_limit is not None:
            self.received += len(message.get("body", b""))
            if self.received > self.boundary.body_limit:
                self.too_large = True
                raise BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        if self.done:
            return
        kind = message["type"]
        if kind == "http.response.start" and not self.sent:
            headers: Headers = tuple(message.get("headers", ()))
            status = message["status"]
            if (status >= 400 and self.is_enveloped(status)) or self.too_large:
                self.held = Answer(status, headers, b"")
            else:
                await self.forward_start(message, self.with_id(headers))
        elif self.held is None:
            await self.upstream_send(message)
        elif kind == "http.response.body":
            room = _LARGEST_ENVELOPE + 1 - len(self.content)
            self.content += message.get("body", b"")[:room]
            whole = not message.get("more_body", False)
            if whole or len(self.content) > _LARGEST_ENVELOPE:
                self.complete = True
                held = self.held._replace(body=bytes(self.content))
                if not self.awaits_exception(held):
                    await self.settle(held)

    async def settle_complete(self) -> None:
        """Send a complete error that waited for an exception, which did not follow."""
        if self.complete and self.held is not None and not self.sent:
            await self.settle(self.held._replace(body=bytes(self.content)))

    def is_enveloped(self, status: int) -> bool:
        method, path = self.scope["method"], self.scope["path"]
        claims = (
            surface.enveloped
            for surface in self.boundary.surfaces
            if surface.claims(method, path, status)
        )
        return next(claims, True)

    def awaits_exception(self, held: Answer) -> bool:
        """A bare 500 may be a framework's last word before it raises; the exception
        tells `render` more.
        """
        return held.status == 500 and not self.is_envelope(held)

    def is_envelope(self, held: Answer) -> bool:
        content_type = next(
            (
                value.decode("latin-1")
                for name, value in held.headers
                if name.lower() == b"content-type"
            ),
            "",
        )
        if self.scope["method"] == "HEAD" and not held.body:
            return (
                content_type.partition(";")[0].strip().lower()
                == self.boundary.media_type
            )
        return len(held.body) <= _LARGEST_ENVELOPE and self.boundary.is_envelope(
            Reply(
                status=held.status,
                content_type=content_type,
                body=held.body,
                correlation_id=self.id_in(held.headers) or self.correlation_id,
                headers={
                    name.decode("latin-1").lower(): value.decode("latin-1")
                    for name, value in held.headers
                },
            )
        )

    async def settle(self, held: Answer) -> None:
        """Send what was held if it is the envelope, and another in its place if not."""
        if self.too_large:
            await self.answer(413)
        elif self.is_envelope(held):
            await self.respond(held)
        else:
            body = held.body if len(held.body) <= _LARGEST_ENVELOPE else b""
            await self.answer(held.status, kept=_kept(held.headers), body=body)

    async def answer(
        self,
        status: int,
        exception: Exception | None = None,
        kept: Headers = (),
        body: bytes = b"",
    ) -> None:
        try:
            answer = self.boundary.render(
                Problem(
                    status=status,
                    correlation_id=self.correlation_id,
                    exception=exception,
                    headers=kept,
                    body=body,
                )
            )
        except Exception:
            _logger.exception(
                "%s %s could not be answered (correlation id %s)", *self.log_arguments()
            )
            answer = self.boundary.last_resort(self.correlation_id)
        if exception is not None:
            self.log(exception, logging.ERROR if answer.status >= 500 else logging.INFO)
        rendered = ((name.lower(), _visible(value)) for name, value in answer.headers)
        settled = {b"content-length", *(name for name, _ in kept)}
        length = (b"content-length", str(len(answer.body)).encode("ascii"))
        headers = (
            *kept,
            *(each for each in rendered if each[0] not in settled),
            length,
        )
        await self.respond(answer._replace(headers=headers))

    async def respond(self, answer: Answer) -> None:
        """Send an error, whole."""
        start: Message = {"type": "http.response.start", "status": answer.status}
        await self.forward_start(start, _not_stored(self.with_id(answer.headers)))
        self.done = True
        content = b"" if self.scope["method"] == "HEAD" else answer.body
        await self.upstream_send({"type": "http.response.body", "body": content})

    async def forward_start(self, message: Message, headers: Headers) -> None:
        self.sent = True
        await self.upstream_send({**message, "headers": list(headers)})

    def with_id(self, headers: Headers) -> Headers:
        if self.id_in(headers) is not None:
            return headers
        rest = (header for header in headers if header[0].lower() != self.id_header)
        return (*rest, (self.id_header, self.correlation_id.encode("latin-1")))


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


def _visible(value: bytes) -> bytes:
    """A field value without control characters: a line break in one would begin another
    field (RFC 9110 §5.5).
    """
    return bytes(each if each >= 0x20 and each != 0x7F else 0x20 for each in value)


def _kept(headers: Headers) -> Headers:
    lower = [(name.lower(), value) for name, value in headers]
    values: dict[bytes, set[bytes]] = {}
    for name, value in lower:
        values.setdefault(name, set()).add(value)
    return tuple(
        dict.fromkeys(
            (name, _visible(value))
            for name, value in lower
            if (name in KEPT or name.startswith(_CORS))
            and _NAME.fullmatch(name)
            and value.strip()
            and (name in _REPEATED or len(values[name]) == 1)
            and (name != b"retry-after" or _is_hint(value))
        )
    )


def _is_hint(value: bytes) -> bool:
    """Whether a `Retry-After` is one that this service may send: well formed, and of a
    time to come.
    """
    read = retry_after.parse(value.decode("latin-1"), now=time.time(), lenient=False)
    return read.ok and (read.form == "delta-seconds" or bool(read.seconds))


def _not_stored(headers: Headers) -> Headers:
    """The headers with `Cache-Control: no-store`, alone unless they say so already."""
    directives = ",".join(
        value.decode("latin-1")
        for name, value in headers
        if name.lower() == b"cache-control"
    )
    if "no-store" in (each.strip().lower() for each in directives.split(",")):
        return headers
    rest = (header for header in headers if header[0].lower() != b"cache-control")
    return (*rest, (b"cache-control", b"no-store"))
