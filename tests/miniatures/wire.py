"""One HTTP exchange as values, and the two ways to stand between a client and an ASGI
application.
"""

import json
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Pairs = tuple[tuple[str, str], ...]
Wrapper = Callable[[ASGIApp], ASGIApp]

RAW_WRITE = "miniatures.raw_write"
"""Scope extension of `serving`: writes bytes to the connection behind the back of the HTTP library.
"""

BODILESS = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: header names in lower case, `target` with its query."""

    method: str
    target: str
    headers: Pairs
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def with_header(self, name: str, value: str) -> "Asked":
        """The same request, with this as the only value of the header."""
        return replace(self, headers=(*self.without_header(name).headers, (name.lower(), value)))

    def without_header(self, name: str) -> "Asked":
        """The same request, without the header."""
        return replace(
            self, headers=tuple(pair for pair in self.headers if pair[0] != name.lower())
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: header names in lower case."""

    status: int
    headers: Pairs
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def with_header(self, name: str, value: str) -> "Answer":
        """The same response, with this as the only value of the header."""
        return replace(self, headers=(*self.without_header(name).headers, (name.lower(), value)))

    def without_header(self, name: str) -> "Answer":
        """The same response, without the header."""
        return replace(
            self, headers=tuple(pair for pair in self.headers if pair[0] != name.lower())
        )

    def with_text(self, media_type: str, text: str) -> "Answer":
        """The same status and other headers, with this body."""
        return replace(self.with_header("content-type", media_type), body=text.encode())

    def with_json(self, value: object) -> "Answer":
        """The same media type and other headers, with this value as the body."""
        return replace(self, body=json.dumps(value).encode())

    def json(self) -> Any:
        """The body as data, or None when it isn't JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def rewriting(change: Callable[[Asked, Answer], Answer]) -> Wrapper:
    """A wrapper that lets the application answer and then changes the answer."""
    return _between(lambda asked: asked, change)


def readdressing(change: Callable[[Asked], Asked]) -> Wrapper:
    """A wrapper that changes the request before the application sees it."""
    return _between(change, lambda _, answer: answer)


def _between(before: Callable[[Asked], Asked], after: Callable[[Asked, Answer], Answer]) -> Wrapper:
    def wrap(app: ASGIApp) -> ASGIApp:
        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            asked = await _read(scope, receive)
            answer = after(asked, await _run(app, scope, before(asked)))
            await _write(asked, answer, send)

        return wrapped

    return wrap


async def exchange(
    app: ASGIApp,
    method: str,
    target: str,
    headers: Mapping[str, str] | None = None,
    body: bytes | object = b"",
) -> Answer:
    """One exchange with an application in this process; a body that isn't bytes is sent as JSON."""
    sent = {key.lower(): value for key, value in (headers or {}).items()}
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
        sent.setdefault("content-type", "application/json")
    asked = Asked(method, target, tuple(sent.items()), body)
    return await _run(
        app, {"type": "http", "http_version": "1.1", "scheme": "http", "root_path": ""}, asked
    )


async def _read(scope: Scope, receive: Receive) -> Asked:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    query = scope["query_string"].decode("latin-1")
    path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
    pairs = tuple(
        (key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in scope["headers"]
    )
    return Asked(scope["method"], f"{path}?{query}" if query else path, pairs, body)


async def _run(app: ASGIApp, scope: MutableMapping[str, Any], asked: Asked) -> Answer:
    path, _, query = asked.target.partition("?")
    inner = {
        **scope,
        "method": asked.method,
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": [
            (key.encode("latin-1"), value.encode("latin-1")) for key, value in asked.headers
        ],
    }
    pending: list[Message] = [{"type": "http.request", "body": asked.body, "more_body": False}]
    status, body = 0, b""
    headers: Pairs = ()

    async def receive() -> Message:
        return pending.pop() if pending else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status, headers, body
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = tuple(
                (key.decode("latin-1").lower(), value.decode("latin-1"))
                for key, value in message["headers"]
            )
        else:
            body += message.get("body", b"")

    await app(inner, receive, send)
    return Answer(status, headers, body)


async def _write(asked: Asked, answer: Answer, send: Send) -> None:
    if asked.method != "HEAD":
        answer = answer.without_header("content-length")
        if answer.status not in BODILESS:
            answer = answer.with_header("content-length", str(len(answer.body)))
    raw = [(key.encode("latin-1"), value.encode("latin-1")) for key, value in answer.headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": raw})
    bodiless = asked.method == "HEAD" or answer.status in BODILESS
    await send({"type": "http.response.body", "body": b"" if bodiless else answer.body})
