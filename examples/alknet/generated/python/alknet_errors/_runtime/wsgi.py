# Copied from faultspec; do not edit
# pyright: basic
# A WSGI environment has values of any type; to the strict mode they are unknown.
"""The error boundary of a WSGI service: whatever goes wrong behind it leaves in the
envelope, with a correlation id. `boundary` has the rules.

The correlation id stands in `environ["correlation_id"]` for the application, and the
`BoundaryExchange` in `environ["error_boundary"]` for handlers of a framework.

A response that passes is not buffered. An error that is longer than an envelope may be
is answered without its rest. An exception is answered if nothing has been
sent yet; after that it is raised again, since half a response can't be taken back.
To HEAD the same headers go out, without a body.
"""

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

from .boundary import (
    LARGEST_ENVELOPE,
    Answer,
    BoundaryExchange,
    BoundaryPolicy,
    Headers,
    encoded,
    reason_phrase,
)

Environ = dict[str, Any]
ExcInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None]
    | tuple[None, None, None]
)
Write = Callable[[bytes], object]
StartResponse = Callable[..., Write]
App = Callable[[Environ, StartResponse], Iterable[bytes]]

EXCHANGE = "error_boundary"
"""The key of an environ under which its `BoundaryExchange` stands."""


class WsgiBoundary:
    """WSGI middleware; see the module's documentation."""

    def __init__(self, app: App, policy: BoundaryPolicy) -> None:
        self.app = app
        self.policy = policy

    def __call__(
        self, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Serve one request, as PEP 3333 has it."""
        exchange = open_exchange(self.policy, environ)
        call = _Call(exchange, start_response)
        if exchange.declares_too_large():
            return call.respond(exchange.answer(413))
        if self.policy.body_limit is not None:
            environ["wsgi.input"] = _CountedInput(environ["wsgi.input"], exchange)
        return call.run(self.app, environ)


def open_exchange(policy: BoundaryPolicy, environ: Environ) -> BoundaryExchange:
    """The exchange of a request, which the environ keeps."""
    path = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode(
        "latin-1", "replace"
    )
    exchange = BoundaryExchange(
        policy,
        environ["REQUEST_METHOD"],
        path.decode("utf-8", "replace"),
        request_headers(environ),
    )
    environ["correlation_id"] = exchange.correlation_id
    environ[EXCHANGE] = exchange
    return exchange


def request_headers(environ: Environ) -> Headers:
    """The headers of a request."""
    found = [
        (name.removeprefix("HTTP_").replace("_", "-").lower(), value)
        for name, value in environ.items()
        if isinstance(value, str)
        and (name.startswith("HTTP_") or name in ("CONTENT_LENGTH", "CONTENT_TYPE"))
    ]
    return encoded(found)


class _Call:
    """One request and its answer.

    `head` is what the application called `start_response` with, as far as it was not
    sent. `content` is the body of an error that may have to be replaced.
    """

    def __init__(
        self, exchange: BoundaryExchange, start_response: StartResponse
    ) -> None:
        self.exchange = exchange
        self.upstream = start_response
        self.head: Answer | None = None
        self.reason = ""
        self.content = bytearray()
        self.write: Write | None = None

    def run(self, app: App, environ: Environ) -> Iterable[bytes]:
        try:
            chunks = app(environ, self.start_response)
        except Exception as exception:
            if self.write is not None:
                self.exchange.log(exception)
                raise
            return self.fail(exception)
        files = environ.get("wsgi.file_wrapper")
        if isinstance(files, type) and isinstance(chunks, files) and self.passes():
            self.send_head()  # the server sends files by itself
            return chunks
        return _GuardedBody(self, chunks)

    def start_response(
        self,
        status: str,
        headers: list[tuple[str, str]],
        exc_info: ExcInfo | None = None,
    ) -> Write:
        if exc_info is not None and exc_info[1] is not None and self.write is not None:
            raise exc_info[1].with_traceback(exc_info[2])
        code, _, self.reason = status.partition(" ")
        self.head = Answer(int(code), encoded(headers), b"")
        self.content.clear()
        return self.put

    def passes(self) -> bool:
        """Whether a response is there that leaves as it comes."""
        return self.head is not None and not self.exchange.is_held(self.head.status)

    def put(self, data: bytes) -> None:
        """Take a part of the body from the callable that PEP 3333 calls `write`."""
        if self.passes():
            self.send_head()(data)
        else:
            self.keep(data)

    def keep(self, data: bytes) -> None:
        self.content += data[: LARGEST_ENVELOPE + 1 - len(self.content)]

    def send_head(self) -> Write:
        """Send the head of a response that passes, once."""
        if self.write is None:
            assert self.head is not None
            self.write = self.start(
                self.head._replace(headers=self.exchange.with_id(self.head.headers)),
                self.reason,
            )
        return self.write

    def start(self, answer: Answer, reason: str) -> Write:
        return self.upstream(f"{answer.status} {reason}", answer.fields)

    def fail(self, exception: Exception) -> list[bytes]:
        """Answer an exception, while nothing has been sent."""
        return self.respond(self.exchange.answer_exception(exception))

    def finish(self) -> list[bytes]:
        """Answer a request whose response has ended and was held."""
        exchange = self.exchange
        if self.head is None:
            silent = RuntimeError("the application returned without a response")
            return self.fail(silent)
        return self.respond(
            exchange.settle(self.head._replace(body=bytes(self.content)))
        )

    def respond(self, answer: Answer) -> list[bytes]:
        """Send an error, whole."""
        self.write = self.start(answer, reason_phrase(answer.status))
        return [] if self.exchange.method == "HEAD" else [answer.body]


class _GuardedBody:
    """The body of a response. A part of it may decide what the response is."""

    def __init__(self, call: _Call, chunks: Iterable[bytes]) -> None:
        self.call = call
        self.chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        call = self.call
        try:
            for chunk in self.chunks:
                if not call.passes():
                    call.keep(chunk)
                    if len(call.content) > LARGEST_ENVELOPE:
                        break  # the rest may have no end
                elif chunk:
                    call.send_head()
                    yield chunk
        except Exception as exception:
            if call.write is not None:
                call.exchange.log(exception)
                raise
            yield from call.fail(exception)
            return
        if call.passes():
            call.send_head()
        else:
            yield from call.finish()

    def close(self) -> None:
        """Let the application free what it holds, however the response ended."""
        close = getattr(self.chunks, "close", None)
        if close is not None:
            close()


class _CountedInput:
    """The body of a request, as far as the limit allows."""

    def __init__(self, source: Any, exchange: BoundaryExchange) -> None:
        self.source = source
        self.exchange = exchange

    def read(self, size: int = -1) -> bytes:
        limit = self.exchange.policy.body_limit
        if limit is not None and (size is None or size < 0):
            size = limit + 1 - self.exchange.received  # one more than is allowed
            parts = []
            while size > 0 and (part := self.counted(self.source.read(size))):
                parts.append(part)
                size -= len(part)
            return b"".join(parts)
        return self.counted(self.source.read(size))

    def readline(self, size: int = -1) -> bytes:
        limit = self.exchange.policy.body_limit
        if limit is not None and (size is None or size < 0):
            size = max(0, limit + 1 - self.exchange.received)
        return self.counted(self.source.readline(size))

    def readlines(self, hint: int = -1) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def counted(self, data: bytes) -> bytes:
        self.exchange.count(len(data))
        return data
