"""Observing a team's own tests: every exchange between a test and its service goes to a callback,
unchanged.

`Watching` wraps an ASGI application. `watch` hooks into a client of httpx (such as Starlette's test
client) or a `requests.Session`. Both call ``see`` with the exchange once the answer is complete.
"""

import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from faultspec.exchange.decoding import (
    DecodedContent,
    UndecodableBody,
    content_codings,
    decode_content,
)
from faultspec.exchange.model import ABOUT_BODY, Exchange, Headers, Request, Response, has_content
from faultspec_conformance.observed.formats.record import ALWAYS
from faultspec_conformance.observed.received import as_received

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
See = Callable[[Exchange], object]

#: Bytes of a body that are kept. Errors are smaller, and downloads should not be held twice.
_KEPT = 4 * 1024 * 1024

#: Bytes of all bodies that an application around another keeps at the same time.
_KEPT_TOGETHER = 32 * 1024 * 1024

#: Bytes of each body that are kept all the same: errors must be judged beside large transfers.
_KEPT_ALWAYS = 64 * 1024

#: What the library demands of the streams of synchronous and other clients.
_STREAMS = frozenset({"SyncByteStream", "AsyncByteStream"})


class Watching:
    """An ASGI application around ``app``. Its HTTP exchanges go to ``see``."""

    def __init__(self, app: Application, see: See) -> None:
        self.app = app
        self.see = see
        self._kept = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass all messages on, and call ``see`` when the answer has ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        question, answer = bytearray(), bytearray()
        start: Message = {}
        cut: str | None = None
        asking = True

        async def receive_and_keep() -> Message:
            nonlocal asking
            message = await receive()
            if message["type"] == "http.request" and asking and len(question) < _KEPT:
                asking = self._keep(question, message.get("body", b""))
            return message

        async def send_and_keep(message: Message) -> None:
            nonlocal cut
            is_file = message["type"] == "http.response.pathsend"
            is_body = is_file or message["type"] == "http.response.body"
            if message["type"] == "http.response.start":
                # The server exhausts header fields that come from an iterator.
                message = {**message, "headers": [*message.get("headers", ())]}
                start.update(message)
            elif is_body:
                cut = cut or self._keep_answer(answer, message.get("body", b""))
                if is_file:
                    cut = _FROM_FILE
                    self._drop(answer)
            try:
                await send(message)
            except Exception:
                # Servers refuse content that no client reads. The client has the whole answer.
                if is_body and start and not has_content(start["status"]):
                    see_end(b"")
                raise
            if is_body and start and not message.get("more_body", False):
                see_end(bytes(answer))

        def see_end(body: bytes) -> None:
            fields = _decode_headers(start["headers"])
            content = _decode(fields, body)
            response = Response(
                start["status"],
                fields,
                content.content,
                elapsed=time.perf_counter() - began,
                cut=cut or content.cut,
            )
            self.see(asgi_exchange(scope, bytes(question), response))

        try:
            await self.app(scope, receive_and_keep, send_and_keep)
        finally:
            self._drop(question)
            self._drop(answer)

    def _keep_answer(self, answer: bytearray, body: bytes) -> str | None:
        """Keep a part of the body of an answer; why none of it is kept."""
        cut = CUT if len(answer) + len(body) > _KEPT else None
        if cut is None and not self._keep(answer, body):
            cut = _TOO_MANY
        if cut is not None:
            self._drop(answer)
        return cut

    def _keep(self, kept: bytearray, body: bytes) -> bool:
        """Keep a part of a body, if it fits; tell if it did."""
        fits = len(kept) + len(body) <= _KEPT_ALWAYS or self._kept + len(body) <= _KEPT_TOGETHER
        if fits:
            kept.extend(body)
            self._kept += len(body)
        return fits

    def _drop(self, kept: bytearray) -> None:
        self._kept -= len(kept)
        kept.clear()


def asgi_exchange(scope: Scope, body: bytes, response: Response) -> Exchange:
    """The exchange of a request, with its body, and an answer."""
    query = scope.get("query_string", b"").decode("latin-1")
    path = scope.get("raw_path") or scope["path"].encode()
    target = path.decode("latin-1").partition("?")[0] + (f"?{query}" if query else "")
    # Starlette and FastAPI leave the matched route in the scope, with its template.
    template = getattr(scope.get("route"), "path", None)
    exchange = Exchange(
        Request(scope["method"], target, _decode_headers(scope.get("headers", ())), body),
        response,
        route=template,
        operation=f"{scope['method']} {template}" if template is not None else None,
        lacks=answer_lacks(whole=response.cut is None),
    )
    return as_received(exchange)


def answer_lacks(*, whole: bool) -> frozenset[str]:
    """The facts that an exchange of a test does not give. ``whole``: its body has been read."""
    return ALWAYS | (frozenset() if whole else ABOUT_BODY)


def _decode_headers(pairs: Any) -> Headers:
    """The fields of a message of ASGI; servers also accept other kinds of bytes."""
    return tuple((str(name, "latin-1"), str(value, "latin-1")) for name, value in pairs)


def watch(client: Any, see: See) -> None:
    """Hook into an ``httpx.Client``, an ``httpx.AsyncClient`` or a ``requests.Session``.

    Raises TypeError for other objects.
    """
    if hasattr(client, "event_hooks"):
        _watch_httpx(client, see)
    elif isinstance(getattr(client, "hooks", None), dict) and hasattr(client, "mount"):
        client.hooks.setdefault("response", []).append(
            lambda answer, *_, **options: (
                see(requests_exchange(answer, _read(answer, options.get("stream", False)))) and None
            )
        )
    else:
        raise TypeError(
            f"{type(client).__name__} is neither an `httpx` client nor a `requests.Session`"
        )


def _watch_httpx(client: Any, see: See) -> None:
    def see_end(answer: Any, packed: bytes | None, cut: str | None) -> None:
        content = packed
        if packed is not None:
            decoded = _decode(_decode_headers(answer.headers.raw), packed)
            content, cut = decoded.content if decoded.cut is None else None, decoded.cut
        see(httpx_exchange(answer, content, cut))

    def on_answer(answer: Any) -> None:
        if answer.is_closed:  # a transport of tests made it up, whole
            see(httpx_exchange(answer, answer.content))
        else:
            answer.stream = _record(answer.stream, functools.partial(see_end, answer))

    async def on_async_answer(answer: Any) -> None:
        on_answer(answer)

    hook = on_async_answer if hasattr(client, "aclose") else on_answer
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks["response"], hook]}


_End = Callable[[bytes | None, str | None], object]
"""Called at the end of a body with its bytes, and why they are not kept. Both are None if not all
of it was read."""


def _record(stream: Any, end: _End) -> Any:
    """The stream of a body, recorded. It is one of the stream's own library: httpx or httpx2."""
    kinds = (each for each in type(stream).__mro__ if each.__name__ in _STREAMS)
    return type("RecordedBody", (_RecordedBody, *kinds), {})(stream, end)


class _RecordedBody:
    """The body of an answer, which passes as it comes."""

    def __init__(self, stream: Any, end: _End) -> None:
        self._stream = stream
        self._end: _End | None = end
        self._kept = bytearray()
        self._whole = False
        self._fits = True

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._keep(chunk)
            yield chunk
        self._whole = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._keep(chunk)
            yield chunk
        self._whole = True

    def close(self) -> None:
        self._stream.close()
        self._finish()

    async def aclose(self) -> None:
        await self._stream.aclose()
        self._finish()

    def _keep(self, chunk: bytes) -> None:
        self._fits = self._fits and len(self._kept) + len(chunk) <= _KEPT
        if self._fits:
            self._kept += chunk

    def _finish(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            whole = bytes(self._kept) if self._whole and self._fits else None
            end(whole, None if self._fits else CUT)


def _decode(headers: Headers, packed: bytes) -> DecodedContent:
    """A body without its content codings; empty if they cannot be undone."""
    try:
        decoded = decode_content((packed,), content_codings(headers), _KEPT)
    except UndecodableBody:
        return DecodedContent(b"", "is not in the content coding that its header names")
    return decoded if decoded.cut is None else DecodedContent(b"", decoded.cut)


CUT = f"is longer than {_KEPT} bytes"
"""Why a body is not kept."""

_FROM_FILE = "is a file that the server sends"
"""Why the body of an answer by the extension ``http.response.pathsend`` of ASGI is not kept."""

_TOO_MANY = "came with more bodies than are kept at the same time"


def kept_body(body: bytes | None) -> bytes | None:
    """A body; None if it has more bytes than are kept."""
    return body if body is not None and len(body) <= _KEPT else None


def answer_of(
    status: int,
    headers: Headers,
    body: bytes | None,
    *,
    elapsed: float = 0.0,
    cut: str | None = None,
) -> Response:
    """An answer without a body that is longer than are kept, was not read, or is ``cut``."""
    kept = kept_body(body)
    if body is not None and kept is None:
        cut = CUT
    return Response(status, headers, kept or b"", elapsed=elapsed, cut=cut)


def httpx_exchange(answer: Any, content: bytes | None, cut: str | None = None) -> Exchange:
    """The exchange of an answer of httpx. ``content``: its body, None if that is not whole.
    ``cut``: why the service's whole body is not kept.
    """
    request = answer.request
    body = kept_body(request.content) if hasattr(request, "_content") else None
    exchange = Exchange(
        Request(
            request.method, str(request.url), _decode_headers(request.headers.raw), body or b""
        ),
        answer_of(answer.status_code, _decode_headers(answer.headers.raw), content, cut=cut),
        lacks=answer_lacks(whole=kept_body(content) is not None)
        | {"elapsed"},  # httpx measures it when the answer is closed, which is later
    )
    return as_received(exchange)


def _read(answer: Any, streams: bool) -> bytes | None:
    """The body of an answer of requests. If the test streams it, only a short one is read here."""
    length = str(answer.headers.get("Content-Length", ""))
    is_read = not streams or (length.isascii() and length.isdigit() and float(length) <= _KEPT)
    return answer.content if is_read else None


def requests_exchange(answer: Any, content: bytes | None) -> Exchange:
    """The exchange of an answer of requests. ``content``: its body, None if that is not whole."""
    request = answer.request
    body = request.body.encode() if isinstance(request.body, str) else request.body
    body = kept_body(body) if isinstance(body, bytes) else None
    # Adapters of tests make up answers without a raw one.
    fields = answer.headers if answer.raw is None else answer.raw.headers
    exchange = Exchange(
        Request(
            method=request.method,
            target=request.url,
            headers=tuple((str(name), _text(value)) for name, value in request.headers.items()),
            body=body or b"",
        ),
        answer_of(
            answer.status_code,
            tuple(fields.items()),
            content,
            elapsed=answer.elapsed.total_seconds(),
        ),
        lacks=answer_lacks(whole=kept_body(content) is not None),
    )
    return as_received(exchange)


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
